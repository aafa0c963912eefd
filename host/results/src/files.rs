//! What a finished run leaves in its folder, made from its journal. Each file is written whole or not at all.

use crate::{frames, questions};
use polars::prelude::{CsvWriter, ParquetWriter, PolarsResult, SerWriter};
use skillbench_store::Recorded;
use std::io::Write;
use std::path::Path;

/// Writes `run.json`, `config.json`, `samples.parquet` and `summary.csv`.
///
/// # Errors
/// A file that cannot be written.
pub fn write(folder: &Path, recorded: &Recorded) -> PolarsResult<()> {
    put(folder, "run.json", |file| {
        serde_json::to_writer_pretty(file, &recorded.run).map_err(std::io::Error::from)?;
        Ok(())
    })?;
    // What was asked for, with all that was filled in: the run can be made again from it.
    if let Some(request) = &recorded.request {
        put(folder, "config.json", |file| {
            serde_json::to_writer_pretty(file, request).map_err(std::io::Error::from)?;
            Ok(())
        })?;
    }
    let mut samples = frames::samples(&recorded.run.run_id, &recorded.samples)?;
    put(folder, "samples.parquet", |file| ParquetWriter::new(file).finish(&mut samples).map(drop))?;
    let mut summary = questions::summary(frames::cells([&recorded.run])?)?;
    put(folder, "summary.csv", |file| CsvWriter::new(file).finish(&mut summary))
}

fn put(folder: &Path, name: &str, write: impl FnOnce(&mut std::fs::File) -> PolarsResult<()>) -> PolarsResult<()> {
    let unfinished = folder.join(format!(".{name}.unfinished"));
    let mut file = std::fs::File::create(&unfinished)?;
    write(&mut file)?;
    file.flush()?;
    std::fs::rename(&unfinished, folder.join(name))?;
    Ok(())
}
