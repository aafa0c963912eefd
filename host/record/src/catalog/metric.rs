//! What the catalogue says of a metric.

use crate::Metrics;

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    Lower,
    Higher,
    /// It tells of the others, and is no better either way.
    Neither,
}

#[derive(Debug)]
pub struct Metric {
    /// The column.
    pub id: &'static str,
    /// What people type, in limits and for histories: "latency_ms", "latency_ms.p90".
    pub name: &'static str,
    /// Where it is among the `metrics` of a cell in `run.json`; empty: it is worked out from others.
    pub path: &'static str,
    /// "" for what has none.
    pub unit: &'static str,
    pub better: Better,
    /// What tables and charts call it.
    pub label: &'static str,
    pub meaning: &'static str,
    /// A whole number.
    pub is_count: bool,
    pub value: fn(&Metrics) -> Option<f64>,
}

impl PartialEq for Metric {
    fn eq(&self, other: &Metric) -> bool {
        self.id == other.id
    }
}

impl Metric {
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
