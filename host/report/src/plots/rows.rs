//! A frame, looked at row by row.

use polars::prelude::*;
use skillbench_record::catalog::column;
use skillbench_results::questions::latest;

/// Rows of a frame. A column that is not there is as one without values.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    pub frame: &'a DataFrame,
}

impl<'a> Rows<'a> {
    pub(super) fn of(frame: &'a DataFrame) -> Rows<'a> {
        Rows { frame }
    }

    pub(super) fn all(self) -> impl Iterator<Item = Row<'a>> {
        (0..self.frame.height()).map(move |place| Row { frame: self.frame, place })
    }

    /// The rows in groups that have the same texts in these columns, in the order in which the groups begin.
    pub(super) fn groups(self, by: &[&str]) -> Vec<Vec<Row<'a>>> {
        let mut groups: Vec<(Vec<String>, Vec<Row<'a>>)> = vec![];
        let mut places = std::collections::HashMap::new();
        for row in self.all() {
            let key: Vec<String> = by.iter().map(|column| row.shown(column)).collect();
            let place = *places.entry(key.clone()).or_insert(groups.len());
            match groups.get_mut(place) {
                Some((_, rows)) => rows.push(row),
                None => groups.push((key, vec![row])),
            }
        }
        groups.into_iter().map(|(_, rows)| rows).collect()
    }
}

#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    frame: &'a DataFrame,
    pub place: usize,
}

impl<'a> Row<'a> {
    fn value(self, column: &str) -> AnyValue<'a> {
        self.frame.column(column).ok().and_then(|column| column.get(self.place).ok()).unwrap_or(AnyValue::Null)
    }

    /// Empty where there is none.
    pub(super) fn text(self, column: &str) -> &'a str {
        let texts = self.frame.column(column).ok().and_then(|column| column.str().ok());
        texts.and_then(|texts| texts.get(self.place)).unwrap_or("")
    }

    /// A value of any kind as text; empty where there is none.
    pub(super) fn shown(self, column: &str) -> String {
        match self.value(column) {
            AnyValue::Null => String::new(),
            AnyValue::String(text) => text.into(),
            other => other.to_string(),
        }
    }

    pub(super) fn number(self, column: &str) -> Option<f64> {
        match self.value(column) {
            AnyValue::Datetime(micros, TimeUnit::Microseconds, _) => Some(micros as f64 / 1e6),
            value if value.is_primitive_numeric() => value.extract::<f64>().filter(|number| number.is_finite()),
            _ => None,
        }
    }

    pub(super) fn count(self, column: &str) -> i64 {
        self.value(column).extract().unwrap_or(0)
    }

    pub(super) fn flag(self, column: &str) -> Option<bool> {
        self.value(column).extract_bool()
    }

    pub(super) fn is_emulated(self) -> bool {
        self.text(column::TRUST) == latest::EMULATED || self.flag(column::EMULATED) == Some(true)
    }
}

/// These rows as a frame of their own.
pub(super) fn taken(frame: &DataFrame, rows: &[Row<'_>]) -> PolarsResult<DataFrame> {
    let places: Vec<IdxSize> = rows.iter().map(|row| row.place as IdxSize).collect();
    frame.take(&IdxCa::from_vec("places".into(), places))
}
