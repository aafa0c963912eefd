//! `data/trend.toml`, typed: metrics, and what may explain a change of one.

use serde::Deserialize;
use std::sync::LazyLock;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Words {
    /// Of these the first that a history has, where none is asked for.
    pub default: Vec<String>,
    pub cell: Vec<Fact>,
    pub environment: Vec<Fact>,
    pub metric: Vec<Metric>,
}

/// Something recorded of each run that may explain a change.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    pub name: String,
    pub told: String,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    pub name: String,
    /// The column of the cells it is in.
    pub column: String,
    pub unit: String,
    #[serde(default)]
    pub less_is_better: bool,
    /// What a larger figure is called: slower where less is better, else faster.
    pub more: Option<String>,
    pub less: Option<String>,
}

impl Metric {
    /// Whether a figure that became so many times as large became worse.
    pub fn is_worse(&self, ratio: f64) -> bool {
        (ratio > 1.0) == self.less_is_better
    }

    /// What became of it: slower, faster, more, less.
    pub fn direction(&self, ratio: f64) -> &str {
        let (word, larger) = if ratio > 1.0 { (&self.more, true) } else { (&self.less, false) };
        let usual = if larger == self.less_is_better { "slower" } else { "faster" };
        word.as_deref().unwrap_or(usual)
    }

    /// "1.25x slower".
    pub fn told(&self, ratio: f64) -> String {
        format!("{:.2}x {}", ratio.max(1.0 / ratio), self.direction(ratio))
    }
}

/// What is compiled in. A test reads it, so that a slip in the file cannot ship.
pub fn words() -> &'static Words {
    static WORDS: LazyLock<Words> =
        LazyLock::new(|| toml::from_str(include_str!("../../data/trend.toml")).expect("data/trend.toml is valid"));
    &WORDS
}

/// The metric of this name.
pub fn metric(name: &str) -> Option<&'static Metric> {
    words().metric.iter().find(|metric| metric.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillbench_engine::document::Run;

    #[test]
    fn every_metric_and_fact_is_a_column_of_cells() {
        let cells = crate::frames::cells(std::iter::empty::<&Run>()).unwrap();
        let names =
            words().metric.iter().map(|metric| &metric.column).chain(words().cell.iter().map(|fact| &fact.name));
        names.for_each(|name| assert!(cells.column(name).is_ok(), "there is no column {name}"));
        assert!(words().default.iter().all(|name| metric(name).is_some()));
    }

    #[test]
    fn direction_goes_by_the_metric() {
        let [latency, throughput, memory] =
            ["latency_ms", "throughput_per_s", "memory_mb"].map(|name| metric(name).unwrap());
        assert_eq!((latency.told(1.25), latency.told(0.8)), ("1.25x slower".into(), "1.25x faster".into()));
        assert_eq!((throughput.told(1.25), throughput.told(0.5)), ("1.25x faster".into(), "2.00x slower".into()));
        assert_eq!((memory.told(2.0), memory.told(0.5)), ("2.00x more".into(), "2.00x less".into()));
        assert!(latency.is_worse(1.1) && memory.is_worse(1.1) && !throughput.is_worse(1.1) && throughput.is_worse(0.9));
    }
}
