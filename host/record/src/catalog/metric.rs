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
