//! `data/trend.toml`, typed: which metrics histories are made of, and what may explain a change of one.

use serde::Deserialize;
use skillbench_record::catalog::{self, Better, Metric};
use std::sync::LazyLock;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Words {
    /// Of these the first that a history has, where none is asked for.
    pub default: Vec<String>,
    pub cell: Vec<Fact>,
    pub environment: Vec<Fact>,
}

/// Something recorded of each run that may explain a change.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    pub name: String,
    pub label: String,
}

/// What is compiled in. A test reads it, so that a slip in the file cannot ship.
pub fn words() -> &'static Words {
    static WORDS: LazyLock<Words> =
        LazyLock::new(|| toml::from_str(include_str!("../../data/trend.toml")).expect("data/trend.toml is valid"));
    &WORDS
}

/// What a history is of: a metric of the catalogue, or one that a plugin adds.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// Where a frame of cells has it.
    pub column: String,
    /// What people type.
    pub name: String,
    pub unit: String,
    pub better: Better,
}

impl From<&'static Metric> for Measure {
    fn from(metric: &'static Metric) -> Measure {
        let (column, name, unit) = (metric.id.into(), metric.name.into(), metric.unit.into());
        Measure { column, name, unit, better: metric.better }
    }
}

impl Measure {
    /// Whether a figure that became so many times as large became worse.
    pub fn is_worse(&self, ratio: f64) -> bool {
        match self.better {
            Better::Lower => ratio > 1.0,
            Better::Higher => ratio < 1.0,
            Better::Neither => false,
        }
    }

    /// What became of a figure that is so many times as large: slower, faster, more, less.
    pub fn direction(&self, ratio: f64) -> &'static str {
        let is_larger = ratio > 1.0;
        let is_time_or_rate = self.unit == "ms" || self.unit.ends_with("/s");
        match (self.better, is_larger) {
            (Better::Lower, true) | (Better::Higher, false) if is_time_or_rate => "slower",
            (Better::Lower, false) | (Better::Higher, true) if is_time_or_rate => "faster",
            (_, true) => "more",
            (_, false) => "less",
        }
    }

    /// "1.25x slower".
    pub fn describe(&self, ratio: f64) -> String {
        format!("{:.2}x {}", ratio.max(1.0 / ratio), self.direction(ratio))
    }
}

/// The metrics of the catalogue that can become better or worse.
pub fn metrics() -> impl Iterator<Item = Measure> {
    catalog::metrics().iter().filter(|metric| metric.better != Better::Neither).map(Measure::from)
}

/// Of these the ones of which a history has the first that it can, where none is asked for.
pub(super) fn usual() -> Vec<Measure> {
    words().default.iter().filter_map(|name| metric(name)).collect()
}

/// Of these the metric of this name.
pub fn metric(name: &str) -> Option<Measure> {
    catalog::metric(name).filter(|metric| metric.better != Better::Neither).map(Measure::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillbench_record::Run;

    #[test]
    fn every_fact_is_a_column_of_cells_and_every_default_a_metric() {
        let cells = crate::frames::cells(std::iter::empty::<&Run>()).unwrap();
        let names = words().cell.iter().map(|fact| &fact.name);
        names.for_each(|name| assert!(cells.column(name).is_ok(), "there is no column {name}"));
        assert!(words().default.iter().all(|name| metric(name).is_some()));
    }

    #[test]
    fn direction_goes_by_the_metric() {
        let [latency, throughput, memory] =
            ["latency_ms", "throughput_per_s", "memory_mb"].map(|name| metric(name).unwrap());
        assert_eq!((latency.describe(1.25), latency.describe(0.8)), ("1.25x slower".into(), "1.25x faster".into()));
        let both = (throughput.describe(1.25), throughput.describe(0.5));
        assert_eq!(both, ("1.25x faster".into(), "2.00x slower".into()));
        assert_eq!((memory.describe(2.0), memory.describe(0.5)), ("2.00x more".into(), "2.00x less".into()));
        assert!(latency.is_worse(1.1) && memory.is_worse(1.1) && !throughput.is_worse(1.1) && throughput.is_worse(0.9));
    }
}
