//! The table of a run.

use crate::{Format, Table};
use polars::prelude::DataFrame;
use skillbench_record::catalog::column;

/// The summary's frame as a table. For people, a column in which no cell has a value is left out; programs get every column.
pub fn summary(frame: &DataFrame, format: Format) -> Table {
    let mut table = Table::from_frame(frame);
    if matches!(format, Format::Table | Format::Markdown | Format::Html) {
        table.keep_columns(|name, values| match name {
            column::EMULATED => values.iter().any(|value| value.shown != "no"),
            _ => values.iter().any(|value| !value.value.is_null()),
        });
    }
    table
}
