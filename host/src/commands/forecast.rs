//! What `host predict` and `host recommend` share.

use super::db::refused;
use super::{CommandError, usage};
use crate::cli::{ForecastArgs, FormatArg, Global, Stored};
use crate::output;
use skillbench_engine::run::Inventory;
use skillbench_report::Format;
use skillbench_session::forecast::{Asked, Bench, Cells, Elsewhere, Models, Question};
use skillbench_store::Database;
use std::collections::BTreeMap;
use std::path::Path;

/// The form that was asked for, or the one that a file's name tells.
pub fn form(global: &Global, file: Option<&Path>) -> Format {
    let extension = file.and_then(Path::extension).and_then(|extension| extension.to_str());
    match (global.format, extension) {
        (FormatArg::Table, Some("json")) => Format::Json,
        (FormatArg::Table, Some("md")) => Format::Markdown,
        (FormatArg::Table, Some("csv")) => Format::Csv,
        (FormatArg::Table, Some("html")) => Format::Html,
        (format, _) => format.into(),
    }
}

/// Machines are not mixed; which others there are is told.
pub fn tell_other_machines(here: &str, known: &BTreeMap<&str, &str>) {
    let others: Vec<&str> = known.iter().filter(|(id, _)| **id != here).map(|(_, label)| *label).collect();
    if !others.is_empty() {
        output::say(&format!("there are cells of other machines, for --machine: {}", others.join("; ")));
    }
}

pub fn read(database: &Database) -> Result<Cells, CommandError> {
    Cells::read(database).map_err(refused)
}

/// The models that are asked about; what was understood otherwise than it was typed is told.
///
/// # Errors
/// A name that nobody knows; a point that cannot be.
pub fn models_asked(
    models: &mut Models,
    args: &ForecastArgs,
    cells: &Cells,
    all: bool,
) -> Result<Vec<Asked>, CommandError> {
    let asked = models.asked(&args.question(), cells, all).map_err(usage)?;
    models.notes.drain(..).for_each(|note| output::warning(&note));
    Ok(asked)
}

/// The hardware that is asked about, with what was measured of it on other machines.
///
/// # Errors
/// A machine or hardware that nobody knows; a file or folder of another machine that cannot be read.
pub fn bench_of(
    cells: &Cells,
    args: &ForecastArgs,
    models: &Models,
    inventory: &Inventory,
    global: &Global,
) -> Result<Bench, CommandError> {
    let mut elsewhere = Elsewhere::shipped();
    elsewhere.add_cells(cells, models);
    for place in &args.from {
        let training = place.extension().is_some_and(|ending| ending == "csv" || ending == "json");
        if training && !place.is_dir() {
            elsewhere.add_file(place).map_err(usage)?;
            continue;
        }
        let stored = match place.is_dir() {
            true => Stored { db: None, results_dir: Some(place.clone()) },
            false => Stored { db: Some(place.clone()), results_dir: None },
        };
        elsewhere.add_cells(&read(&stored.whole(global)?)?, models);
    }
    Bench::of(cells, &args.question(), models, inventory, &elsewhere).map_err(usage)
}

impl ForecastArgs {
    pub fn question(&self) -> Question {
        Question {
            models: self.model.clone(),
            machine: self.machine.clone(),
            hardware: self.hardware.clone(),
            precision: self.precision.clone(),
            threads: self.threads,
            batch_sizes: self.batch_size.clone(),
            sequence_lengths: self.sequence_length.clone(),
        }
    }
}
