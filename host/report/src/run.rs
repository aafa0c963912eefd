//! The table of a run.

use crate::{Cell, Format, Table};
use polars::prelude::{AnyValue, DataFrame};

/// The summary's frame as a table. For people, a column in which no cell has a value is left out; programs get every column.
pub fn summary(frame: &DataFrame, format: Format) -> Table {
    let for_people = matches!(format, Format::Table | Format::Markdown | Format::Html);
    let mut table = Table::default();
    let mut columns: Vec<Vec<Cell>> = vec![];
    for column in frame.columns() {
        let name = column.name().as_str();
        let values: Vec<Cell> =
            (0..frame.height()).map(|row| cell(&column.get(row).unwrap_or(AnyValue::Null))).collect();
        let silent = match name {
            "emulated" => values.iter().all(|value| value.shown == "no"),
            _ => values.iter().all(|value| value.value.is_null()),
        };
        if !(silent && for_people) {
            table.columns.push(name.to_string());
            columns.push(values);
        }
    }
    table.rows = (0..frame.height()).map(|row| columns.iter().map(|column| column[row].clone()).collect()).collect();
    table
}

fn cell(value: &AnyValue<'_>) -> Cell {
    match value {
        AnyValue::Null => Cell::none(),
        AnyValue::Boolean(flag) => Cell::flag(*flag),
        AnyValue::String(text) => Cell::text(*text),
        AnyValue::StringOwned(text) => Cell::text(text.as_str()),
        AnyValue::Float64(number) => Cell::number(*number),
        AnyValue::Int64(number) => Cell { value: (*number).into(), shown: number.to_string() },
        other => Cell::text(other.to_string()),
    }
}
