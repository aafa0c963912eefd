//! The table of a run.

use crate::{Format, Table};
use polars::prelude::DataFrame;
use skillbench_record::catalog::column;

/// Other work on less of a core is what an idle machine does too.
const OTHER_WORK: f64 = 0.25;

/// The summary's frame as a table. For people, a column in which no cell has a value is left out; programs get every column.
pub fn summary(frame: &DataFrame, format: Format) -> Table {
    let mut table = Table::from_frame(frame);
    if matches!(format, Format::Table | Format::Markdown | Format::Html) {
        table.keep_columns(|name, values| match name {
            // Where the machine was its own, there is nothing to say.
            column::OTHER_CORES | column::THROTTLED => {
                values.iter().any(|value| value.value.as_f64().is_some_and(|value| value > OTHER_WORK))
            }
            column::EMULATED => values.iter().any(|value| value.shown != "no"),
            _ => values.iter().any(|value| !value.value.is_null()),
        });
    }
    table
}
