//! What `host predict` and `host recommend` share: everything asked ahead of measuring.
//!
//! - `asked`: which models and points are meant.
//! - `bench`: the hardware that was measured, each with what predicts it. `answers`: what is known of each point on each.

mod answers;
mod asked;
mod bench;

pub use answers::{Answer, Figure, answers, by_hardware};
pub use asked::{Asked, Models};
pub use bench::{Bench, Hardware};

use super::{CommandError, failed, usage};
use crate::cli::{FormatArg, Global};
use crate::output;
use skillbench_report::Format;
use skillbench_session::forecast::Cells;
use skillbench_store::{Database, DatabaseError};
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
pub fn tell_other_machines(bench: &Bench, cells: &Cells) {
    let others: Vec<&str> =
        cells.machines().into_iter().filter(|id| *id != bench.machine).map(|id| cells.machine_label(id)).collect();
    if !others.is_empty() {
        output::say(&format!("there are cells of other machines, for --machine: {}", others.join("; ")));
    }
}

pub fn read(database: &Database) -> Result<Cells, CommandError> {
    Cells::read(database).map_err(|error| match error {
        DatabaseError::Missing { .. } => usage(error),
        other => failed(other),
    })
}
