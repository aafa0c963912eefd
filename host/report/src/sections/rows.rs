//! Frames as tables, with what filters act on at each row.

use crate::page::{PageCell, PageRow, PageTable, Tone};
use crate::{Cell, Table};
use polars::prelude::*;
use skillbench_record::catalog::column;
use skillbench_record::shown;
use skillbench_results::questions::latest;

/// Attributes that readers filter by: the name, what it is called, and the column it is in.
pub const ATTRIBUTES: [(&str, &str, &str); 10] = [
    ("hardware", "Hardware", "hardware"),
    ("model", "Model", column::MODEL_ID),
    (column::FAMILY, "Family", column::FAMILY),
    (column::BENCHMARK, "Benchmark", column::BENCHMARK),
    (column::PRECISION, "Precision", column::PRECISION),
    (column::OUTCOME, "Outcome", column::OUTCOME),
    ("batch", "Batch", column::BATCH_SIZE),
    ("length", "Sequence length", column::SEQUENCE_LENGTH),
    (column::THREADS, "Threads", column::THREADS),
    (column::MACHINE, "Machine", column::MACHINE),
];

/// The cells with `machine`, `hardware` and `trust`.
pub fn placed(cells: DataFrame) -> PolarsResult<DataFrame> {
    latest::placed(cells)?.collect()
}

/// Of these the cells that count now, each with what became of a newer try.
pub fn now(cells: DataFrame) -> PolarsResult<DataFrame> {
    latest::latest(placed(cells)?)
}

/// A frame, read by row and column. What is not there is not told.
pub struct Rows<'a>(pub &'a DataFrame);

impl<'a> Rows<'a> {
    pub fn len(&self) -> usize {
        self.0.height()
    }

    fn value(&self, row: usize, column: &str) -> Option<AnyValue<'a>> {
        let value = self.0.column(column).ok()?.get(row).ok()?;
        (!value.is_null()).then_some(value)
    }

    pub fn text(&self, row: usize, column: &str) -> Option<&'a str> {
        // A column of one value for all rows is a scalar until it is asked for as a series.
        self.0.column(column).ok()?.as_materialized_series().str().ok()?.get(row)
    }

    pub fn number(&self, row: usize, column: &str) -> Option<f64> {
        self.value(row, column)?.extract::<f64>().filter(|number| number.is_finite())
    }

    pub fn count(&self, row: usize, column: &str) -> usize {
        self.number(row, column).map_or(0, |number| number as usize)
    }

    pub fn flag(&self, row: usize, column: &str) -> Option<bool> {
        match self.value(row, column)? {
            AnyValue::Boolean(flag) => Some(flag),
            _ => None,
        }
    }

    /// A text, or a whole number as one.
    pub fn said(&self, row: usize, column: &str) -> Option<String> {
        match self.text(row, column) {
            Some(text) => Some(text.to_string()),
            None => self.value(row, column)?.extract::<i64>().map(|number| number.to_string()),
        }
    }

    /// What filters act on in this row.
    pub fn attributes(&self, row: usize) -> std::collections::BTreeMap<String, String> {
        let known = ATTRIBUTES
            .iter()
            .filter_map(|(key, _, column)| self.said(row, column).map(|value| (key.to_string(), value)));
        known.collect()
    }
}

/// The whole frame as a table of programs.
pub fn table(frame: &DataFrame) -> Table {
    Table::from_frame(frame)
}

/// These columns of a frame, each under a name for people, where any row has a value in it. Reasons stand at the outcome.
pub fn page_table(frame: &DataFrame, columns: &[(&str, &str)]) -> PageTable {
    let rows = Rows(frame);
    let said: Vec<_> = columns
        .iter()
        .filter(|(column, _)| frame.column(column).is_ok_and(|values| values.null_count() < frame.height()))
        .filter(|(column, _)| {
            *column != column::EMULATED || (0..rows.len()).any(|row| rows.flag(row, column) == Some(true))
        })
        .collect();
    let cell = |row: usize, column: &str| {
        let cell = PageCell::from(Cell::of_value(&rows.value(row, column).unwrap_or(AnyValue::Null)));
        match column {
            column::OUTCOME | "state" => toned(cell, rows.text(row, column::REASON)),
            column::TRUST if cell.shown != latest::HARDWARE => cell.tone(Tone::Emulated),
            column::STABLE if rows.flag(row, column) == Some(false) => cell.tone(Tone::Warn),
            column::AXES => PageCell { shown: shown::axes(&cell.shown), ..cell },
            _ => cell,
        }
    };
    PageTable {
        columns: said.iter().map(|(_, name)| name.to_string()).collect(),
        rows: (0..rows.len())
            .map(|row| PageRow {
                attributes: rows.attributes(row),
                cells: said.iter().map(|(column, _)| cell(row, column)).collect(),
            })
            .collect(),
    }
}

/// What stands in the table of all cells, and not again behind every chart.
const ONCE: [&str; 26] = [
    column::RUN,
    column::TIMESTAMP,
    column::CELL,
    column::PLUGIN,
    column::DEVICE_ID,
    column::DEVICE_KIND,
    column::FAMILY,
    column::CATEGORY,
    column::ARCHITECTURE_TYPE,
    column::TASK,
    column::PARAMETER_COUNT,
    column::BATCH_SIZE,
    column::SEQUENCE_LENGTH,
    column::THREADS,
    column::EMULATED,
    "cpu_run",
    "cpu_hardware",
    "cpu_threads",
    "cpu_latency_ci95_low_ms",
    "cpu_latency_ci95_high_ms",
    "cpu_time_per_output_token_ci95_low_ms",
    "cpu_time_per_output_token_ci95_high_ms",
    "cpu_throughput_samples_per_sec",
    "cpu_throughput_ci95_low_per_sec",
    "cpu_throughput_ci95_high_per_sec",
    column::REASON_CODE,
];

/// The table of a plot, with what filters act on: its columns are named as those of frames.
pub fn attributed(table: Table) -> PageTable {
    let keys: Vec<(usize, &str)> = ATTRIBUTES
        .iter()
        .filter_map(|(key, _, column)| Some((table.columns.iter().position(|name| name == column)?, *key)))
        .collect();
    let once: Vec<bool> = table.columns.iter().map(|name| ONCE.contains(&name.as_str())).collect();
    let mut table = PageTable::from(table);
    for row in &mut table.rows {
        let told = keys.iter().filter(|(place, _)| !row.cells[*place].value.is_null());
        // Filters compare what is meant, which a page may show otherwise.
        let meant = |cell: &PageCell| cell.value.as_str().unwrap_or(&cell.shown).to_string();
        row.attributes = told.map(|(place, key)| (key.to_string(), meant(&row.cells[*place]))).collect();
    }
    let seldom = |place: &mut usize| {
        *place += 1;
        !once[*place - 1]
    };
    let mut place = 0;
    table.columns.retain(|_| seldom(&mut place));
    for row in &mut table.rows {
        let mut place = 0;
        row.cells.retain(|_| seldom(&mut place));
    }
    table
}

fn toned(cell: PageCell, reason: Option<&str>) -> PageCell {
    let tone = match cell.shown.as_str() {
        "measured" => return cell,
        column::EMULATED | "unverified" => Tone::Emulated,
        "remote" => Tone::Info,
        "unavailable" | "skipped" | "not-tried" => Tone::Info,
        _ => Tone::Bad,
    };
    let cell = cell.tone(tone);
    match reason {
        Some(reason) => cell.why(reason),
        None => cell,
    }
}
