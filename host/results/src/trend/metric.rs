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

/// The metrics that can become better or worse.
pub fn metrics() -> impl Iterator<Item = &'static Metric> {
    catalog::metrics().iter().filter(|metric| metric.better != Better::Neither)
}

/// Of these the metric of this name.
pub fn metric(name: &str) -> Option<&'static Metric> {
    catalog::metric(name).filter(|metric| metric.better != Better::Neither)
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
