//! What a finished run leaves in its folder, made from its journal. Each file is written whole or not at all.

use crate::matrix::{self, Matrix};
use crate::{csv, frames, questions};
use polars::prelude::{ParquetWriter, PolarsResult};
use skillbench_record::scratch::write_whole;
use skillbench_store::Recorded;
use std::fs::File;
use std::io::{BufWriter, Write};
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
    let summary = questions::summary(frames::cells([&recorded.run])?, &questions::added(&recorded.run.cells))?;
    put(folder, "summary.csv", |file| csv::write(&summary, file))
}

/// The names of the matrix's files.
pub const MATRIX_JSON: &str = "compatibility_matrix.json";
pub const MATRIX_MARKDOWN: &str = "compatibility_matrix.md";

/// Writes the matrix, for programs and for people.
///
/// # Errors
/// A file that cannot be written.
pub fn write_matrix(folder: &Path, matrix: &Matrix) -> std::io::Result<()> {
    let text = |name: &str, text: String| put(folder, name, |file| Ok(file.write_all(text.as_bytes())?));
    let json = serde_json::to_string_pretty(&matrix::json(matrix))? + "\n";
    text(MATRIX_JSON, json)
        .and_then(|()| text(MATRIX_MARKDOWN, matrix::markdown(matrix)))
        .map_err(std::io::Error::other)
}

fn put(folder: &Path, name: &str, write: impl FnOnce(&mut BufWriter<File>) -> PolarsResult<()>) -> PolarsResult<()> {
    write_whole(&folder.join(name), write)
}
