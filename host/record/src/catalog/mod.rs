//! A cell as one flat row: each column with its unit and its meaning. What was not measured is null.
//!
//! - `cell`: what was measured and how it ended. `metrics`: the numbers, each an entry. `metric`: what an entry says.
//! - `limit`: a bound on a metric, as people write it. `plugin`: metrics that plugins add at run time.
//!
//! The order is that of the table `benchmark_results`.

mod cell;
pub mod column;
mod limit;
mod metric;
mod metrics;
mod plugin;

pub use limit::{Checked, Limit, LimitError};
pub use metric::{Better, Metric};
pub use plugin::{PluginMetric, added_series, plugin_metrics};

use crate::{Cell, Run};
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
    fn filled(text: &'a str) -> Value<'a> {
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

#[derive(Clone, Copy)]
pub struct Column {
    pub name: &'static str,
    pub kind: Kind,
    /// "" for what has none.
    pub unit: &'static str,
    pub meaning: &'static str,
    of: Source,
}

#[derive(Clone, Copy)]
enum Source {
    Cell(for<'a> fn(Row<'a>) -> Value<'a>),
    Metric(&'static Metric),
}

impl Column {
    pub fn of<'a>(&self, row: Row<'a>) -> Value<'a> {
        match self.of {
            Source::Cell(of) => of(row),
            Source::Metric(metric) => match row.cell.outcome.metrics().and_then(metric.value) {
                None => Value::Null,
                Some(value) if metric.is_count => Value::Int(value as i64),
                Some(value) => Value::Float(value),
            },
        }
    }
}

/// All of them, in order.
pub fn all() -> impl Iterator<Item = Column> {
    let of_metric = |metric: &'static Metric| Column {
        name: metric.id,
        kind: if metric.is_count { Kind::Int } else { Kind::Float },
        unit: metric.unit,
        meaning: metric.meaning,
        of: Source::Metric(metric),
    };
    cell::COLUMNS.iter().copied().chain(metrics::METRICS.iter().map(of_metric))
}

/// Every metric, in the order of its column.
pub fn metrics() -> &'static [Metric] {
    metrics::METRICS
}

/// A metric by its id, by the name that people type, or by its place in `run.json`.
pub fn metric(name: &str) -> Option<&'static Metric> {
    let is = |metric: &&Metric| [metric.id, metric.name, metric.path].contains(&name);
    metrics().iter().find(is).filter(|_| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_a_name_of_its_own_and_a_meaning() {
        let names: std::collections::BTreeSet<&str> = all().map(|column| column.name).collect();
        assert_eq!(names.len(), all().count());
        assert!(all().all(|column| !column.meaning.is_empty()
            && column.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')));
    }

    #[test]
    fn the_first_inference_is_a_multiple_of_the_median_where_both_were_measured() {
        let stats = |median: f64| -> crate::Stats {
            let text =
                format!(r#"{{"n": 1, "min": 1, "mean": 1, "median": {median}, "max": 1, "mad": 0, "outliers": 0}}"#);
            serde_json::from_str(&text).unwrap()
        };
        let factor = metric("first_inference_factor").unwrap().value;
        let mut metrics = crate::Metrics { latency_ms: Some(stats(2.0)), ..crate::Metrics::default() };
        assert_eq!(factor(&metrics), None);
        metrics.init_ms.first_inference = Some(stats(7.0));
        assert_eq!(factor(&metrics), Some(3.5));
        assert_eq!("first_inference_factor<=3".parse::<Limit>().unwrap().known().unwrap().id, "first_inference_factor");
    }
}
