//! A cell as one flat row: each column with its unit and its meaning. What was not measured is null.
//!
//! `cell` has what was measured and how it ended, `figures` the numbers. The order is that of the table `benchmark_results`.

mod cell;
mod figures;

use skillbench_engine::document::{Cell, Run};
use std::borrow::Cow;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    Int,
    Float,
    Flag,
    /// Microseconds since 1970-01-01 in UTC.
    Time,
}

impl Kind {
    /// The type in the database.
    pub fn sql(self) -> &'static str {
        match self {
            Kind::Text => "VARCHAR",
            Kind::Int => "BIGINT",
            Kind::Float => "DOUBLE",
            Kind::Flag => "BOOLEAN",
            Kind::Time => "TIMESTAMP",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    Null,
    Text(Cow<'a, str>),
    Int(i64),
    Float(f64),
    Flag(bool),
    Time(i64),
}

impl<'a> Value<'a> {
    pub fn text(&self) -> Option<&str> {
        if let Value::Text(text) = self { Some(text) } else { None }
    }

    pub fn int(&self) -> Option<i64> {
        if let Value::Int(value) = self { Some(*value) } else { None }
    }

    /// `None` also for what is no number, which files of numbers cannot hold.
    pub fn float(&self) -> Option<f64> {
        if let Value::Float(value) = self { Some(*value).filter(|value| value.is_finite()) } else { None }
    }

    pub fn flag(&self) -> Option<bool> {
        if let Value::Flag(value) = self { Some(*value) } else { None }
    }

    pub fn time(&self) -> Option<i64> {
        if let Value::Time(value) = self { Some(*value) } else { None }
    }

    /// Text; an empty one is not known.
    fn told(text: &'a str) -> Value<'a> {
        if text.is_empty() { Value::Null } else { Value::Text(text.into()) }
    }

    fn some<T>(value: Option<T>, make: impl FnOnce(T) -> Value<'a>) -> Value<'a> {
        value.map_or(Value::Null, make)
    }
}

/// A cell and the run it is of.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    pub run: &'a Run,
    /// When the run began, in microseconds since 1970-01-01.
    pub started: Option<i64>,
    pub cell: &'a Cell,
}

pub struct Column {
    pub name: &'static str,
    pub kind: Kind,
    /// "" for what has none.
    pub unit: &'static str,
    pub meaning: &'static str,
    pub of: for<'a> fn(Row<'a>) -> Value<'a>,
}

/// All of them, in order.
pub fn all() -> impl Iterator<Item = &'static Column> {
    cell::COLUMNS.iter().chain(figures::COLUMNS)
}

/// The moment of "2026-01-31T12:00:00Z", in microseconds since 1970-01-01; `None`: it is no such text.
pub fn moment(text: &str) -> Option<i64> {
    let digits = |from: usize, to: usize| text.get(from..to)?.parse::<i64>().ok();
    let marks = [(4, '-'), (7, '-'), (10, 'T'), (13, ':'), (16, ':')];
    if marks.iter().any(|(at, mark)| text.get(*at..*at + 1) != Some(mark.encode_utf8(&mut [0; 4]))) {
        return None;
    }
    let (year, month, day) = (digits(0, 4)?, digits(5, 7)?, digits(8, 10)?);
    let (hours, minutes, seconds) = (digits(11, 13)?, digits(14, 16)?, digits(17, 19)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hours > 23 || minutes > 59 || seconds > 60 {
        return None;
    }
    // Days from civil, with years that begin in March.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let era = y.div_euclid(400);
    let year_of_era = y.rem_euclid(400);
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + (153 * m + 2) / 5 + day - 1;
    let days = era * 146_097 + day_of_era - 719_468;
    Some(((days * 86_400) + hours * 3600 + minutes * 60 + seconds) * 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_read_as_it_was_written() {
        assert_eq!(moment("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(moment("2000-02-29T12:34:56Z"), Some(951_827_696_000_000));
        assert_eq!(moment("2026-11-21T22:53:20Z"), Some(1_795_301_600_000_000));
        for text in ["", "yesterday", "2026-13-01T00:00:00Z", "2026-11-21 22:53:20", "2026-11-21T22:53"] {
            assert_eq!(moment(text), None, "{text}");
        }
    }

    #[test]
    fn every_column_has_a_name_of_its_own_and_a_meaning() {
        let names: std::collections::BTreeSet<&str> = all().map(|column| column.name).collect();
        assert_eq!(names.len(), all().count());
        assert!(all().all(|column| !column.meaning.is_empty()
            && column.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')));
    }
}
