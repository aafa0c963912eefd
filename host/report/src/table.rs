//! A table, before it is drawn in one form or another.

use crate::page::Tone;
use polars::prelude::{AnyValue, DataFrame};
use serde_json::Value;
use skillbench_record::shown;

/// A value with the number of digits people want to see; files get it whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    pub value: Value,
    pub shown: String,
    /// How it is meant, where it is not plain.
    pub tone: Option<Tone>,
}

impl Cell {
    /// A value for programs, and what people see of it.
    pub fn new(value: impl Into<Value>, shown: impl Into<String>) -> Cell {
        Cell { value: value.into(), shown: shown.into(), tone: None }
    }

    #[must_use]
    pub fn tone(self, tone: Tone) -> Cell {
        Cell { tone: Some(tone), ..self }
    }

    /// People see it on one line, whoever wrote it.
    pub fn text(text: impl Into<String>) -> Cell {
        let text = text.into();
        let shown = shown::line(&text);
        Cell::new(text, shown)
    }

    /// A line for each text.
    pub fn lines(texts: &[String]) -> Cell {
        let shown: Vec<String> = texts.iter().map(|text| shown::line(text)).collect();
        Cell::new(texts.join("\n"), shown.join("\n"))
    }

    pub fn flag(flag: bool) -> Cell {
        Cell::new(flag, if flag { "yes" } else { "no" })
    }

    pub fn count(count: u64) -> Cell {
        Cell::new(count, count.to_string())
    }

    /// Three significant digits, and whole numbers in full.
    pub fn number(number: f64) -> Cell {
        Cell::new(number, shown::number(number))
    }

    /// Shows people no more than so many characters; files still get all of it.
    pub fn shorten(&mut self, most: usize) {
        if let Some((end, _)) = self.shown.char_indices().nth(most) {
            self.shown.truncate(end);
            self.shown.push_str(" ...");
        }
    }

    /// What is not known, or was not measured.
    pub fn none() -> Cell {
        Cell::new(Value::Null, "-")
    }

    /// A value out of a frame.
    pub fn of_value(value: &AnyValue<'_>) -> Cell {
        match value {
            AnyValue::Null => Cell::none(),
            AnyValue::Boolean(flag) => Cell::flag(*flag),
            AnyValue::String(text) => Cell::text(*text),
            AnyValue::StringOwned(text) => Cell::text(text.as_str()),
            AnyValue::Float64(number) => Cell::number(*number),
            AnyValue::Int64(number) => Cell::new(*number, number.to_string()),
            other => Cell::text(other.to_string()),
        }
    }

    pub fn maybe<T>(value: Option<T>, cell: impl FnOnce(T) -> Cell) -> Cell {
        value.map_or_else(Cell::none, cell)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::text(text)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::text(text)
    }
}

impl From<Value> for Cell {
    fn from(value: Value) -> Cell {
        match value {
            Value::Null => Cell::none(),
            Value::Bool(flag) => Cell::flag(flag),
            Value::String(text) => Cell::text(text),
            Value::Number(number) if number.is_f64() => number.as_f64().map_or_else(Cell::none, Cell::number),
            other => {
                let shown = other.to_string();
                Cell::new(other, shown)
            }
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Cell>>,
    /// The columns that a narrow terminal does without, the first to go first. All others are shown at any width.
    pub least: Vec<String>,
    /// Whether the first column is a heading over the rows that share it.
    pub grouped: bool,
}

impl Table {
    pub fn new<const N: usize>(columns: [&str; N]) -> Table {
        Table { columns: columns.map(String::from).to_vec(), ..Table::default() }
    }

    /// A table of values as programs have them.
    pub fn from_values(columns: Vec<String>, rows: Vec<Vec<Value>>) -> Table {
        let rows = rows.into_iter().map(|row| row.into_iter().map(Cell::from).collect()).collect();
        Table { columns, rows, ..Table::default() }
    }

    /// A frame with all its columns and rows.
    pub fn from_frame(frame: &DataFrame) -> Table {
        let columns = frame.columns().iter().map(|column| column.name().to_string()).collect();
        let cell = |row: usize| {
            move |column: &polars::prelude::Column| Cell::of_value(&column.get(row).unwrap_or(AnyValue::Null))
        };
        let rows = (0..frame.height()).map(|row| frame.columns().iter().map(cell(row)).collect()).collect();
        Table { columns, rows, ..Table::default() }
    }

    /// Leaves out the columns that do not pass: their name, and their cells from top to bottom.
    pub fn keep_columns(&mut self, passes: impl Fn(&str, &[&Cell]) -> bool) {
        let kept: Vec<bool> = self
            .columns
            .iter()
            .enumerate()
            .map(|(place, name)| {
                let cells: Vec<&Cell> = self.rows.iter().filter_map(|row| row.get(place)).collect();
                passes(name, &cells)
            })
            .collect();
        let keep = |place: usize| kept.get(place).copied().unwrap_or(true);
        let mut place = 0..;
        self.columns.retain(|_| place.next().is_none_or(keep));
        for row in &mut self.rows {
            let mut place = 0..;
            row.retain(|_| place.next().is_none_or(keep));
        }
    }

    /// Names the columns that a narrow terminal does without, the first to go first.
    #[must_use]
    pub fn least<const N: usize>(self, columns: [&str; N]) -> Table {
        Table { least: columns.map(String::from).to_vec(), ..self }
    }

    pub fn row<const N: usize>(&mut self, cells: [Cell; N]) {
        self.rows.push(cells.to_vec());
    }
}
