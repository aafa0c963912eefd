//! Metrics that plugins add at run time: the series of benchmarks and the counters of backends, under the names that they give.

use crate::Metrics;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PluginMetric<'a> {
    /// "acme.cycles".
    pub name: &'a str,
    /// "series" or "counter".
    pub source: &'static str,
    pub unit: &'a str,
    /// `None`: the plugin does not say.
    pub higher_is_better: Option<bool>,
    pub n: u64,
    /// `None` of a counter.
    pub median: Option<f64>,
    pub mean: f64,
    pub min: f64,
    pub max: f64,
    pub ci95: Option<[f64; 2]>,
}

/// Series that metrics of the catalogue are worked out from.
const CATALOGUED: [&str; 8] = [
    "latency",
    "execution_time",
    "first_execution",
    "sequential",
    "concurrent",
    "time_to_first_token",
    "inter_token",
    "end_to_end",
];

/// Series of requests that arrive, where figures of them are in the cell: elsewhere these names are anybody's.
const OF_SERVING: [&str; 19] = [
    "session",
    "requests",
    "requests_per_run",
    "issued_per_s",
    "due",
    "lateness",
    "queue",
    "service",
    "utilization",
    "generator.cpu",
    "within_slo",
    "refused",
    "trial",
    "tokens",
    "ttft",
    "ttft.from_issue",
    "tpot",
    "tpot.of_all",
    "itl",
];

const PARTS_OF_SERVING: [&str; 2] = ["trial.", "slo."];

/// Series of the benchmarks that come with the host, which have a figure of their own elsewhere, and what they are split into.
const KNOWN: [&str; 4] = ["first_inference", "time_per_output_token", "cache_kept_by_backend", "tokens_checked"];
const SPLIT: [&str; 3] = ["first_inference.", "latency.", "part."];

/// The series of a cell that no metric of the catalogue stands for.
pub fn added_series(metrics: &Metrics) -> impl Iterator<Item = PluginMetric<'_>> {
    let is_known = |name: &str| KNOWN.contains(&name) || SPLIT.iter().any(|of| name.starts_with(of));
    plugin_metrics(metrics).filter(move |metric| metric.source == "series" && !is_known(metric.name))
}

fn is_catalogued(series: &str) -> bool {
    CATALOGUED.contains(&series) || series.starts_with("peak.")
}

/// All of a cell, the series first.
pub fn plugin_metrics(metrics: &Metrics) -> impl Iterator<Item = PluginMetric<'_>> {
    let serves = metrics.serving.is_some() || metrics.capacity.is_some();
    let of_serving = move |name: &str| {
        serves && (OF_SERVING.contains(&name) || PARTS_OF_SERVING.iter().any(|of| name.starts_with(of)))
    };
    let others = metrics.series.iter().filter(move |(name, _)| !is_catalogued(name) && !of_serving(name));
    let series = others.map(|(name, series)| PluginMetric {
        name,
        source: "series",
        unit: &series.unit,
        higher_is_better: series.higher_is_better,
        n: series.stats.n,
        median: Some(series.stats.median),
        mean: series.stats.mean,
        min: series.stats.min,
        max: series.stats.max,
        ci95: series.stats.ci95,
    });
    let counters = metrics.counters.iter().map(|(name, counter)| PluginMetric {
        name,
        source: "counter",
        unit: &counter.unit,
        higher_is_better: None,
        n: counter.n,
        median: None,
        mean: counter.mean,
        min: counter.min,
        max: counter.max,
        ci95: None,
    });
    series.chain(counters)
}
