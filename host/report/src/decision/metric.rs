//! What hardware is judged by. The metrics are data: `metrics.toml`.

use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// The metrics, those first that decide where several were measured.
pub static METRICS: LazyLock<Vec<Metric>> = LazyLock::new(|| {
    let file: File = toml::from_str(include_str!("metrics.toml")).expect("a test reads it");
    file.metric
});

#[derive(Deserialize)]
struct File {
    metric: Vec<Metric>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    pub name: String,
    /// For headings: "Latency".
    pub title: String,
    pub unit: String,
    pub better: Better,
    /// What a hardware that is best at it is called: "fastest".
    pub best: String,
    /// How two are compared by it: "as fast as".
    #[serde(rename = "as")]
    pub times: String,
    /// The benchmark that measures it.
    pub benchmark: String,
    /// The column of its value, and those of its interval where there are some.
    pub value: String,
    pub low: Option<String>,
    pub high: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    #[default]
    Less,
    More,
}

impl Better {
    /// A value as a cost: of costs less is always better.
    pub fn cost(self, value: f64) -> f64 {
        match self {
            Better::Less => value,
            Better::More => 1.0 / value,
        }
    }

    /// An interval as one of costs.
    pub fn costs(self, (low, high): (f64, f64)) -> (f64, f64) {
        match self {
            Better::Less => (low, high),
            Better::More => (1.0 / high, 1.0 / low),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::METRICS;

    #[test]
    fn every_metric_is_of_a_column_of_the_cells() {
        let cells = skillbench_results::frames::cells([]).unwrap();
        for metric in METRICS.iter() {
            let columns = [Some(&metric.value), metric.low.as_ref(), metric.high.as_ref()];
            for column in columns.into_iter().flatten() {
                assert!(cells.column(column).is_ok(), "{}: {column}", metric.name);
            }
            assert_eq!(metric.low.is_some(), metric.high.is_some());
        }
        assert_eq!(METRICS[0].name, "latency");
    }
}
