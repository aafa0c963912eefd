//! What the matrix needs of the cells' frame.

use polars::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The columns it is built from.
pub const COLUMNS: [&str; 24] = [
    "run",
    "timestamp",
    "hostname",
    "cpu_model",
    "cell",
    "plugin",
    "device_id",
    "device_kind",
    "emulated",
    "model_id",
    "family",
    "benchmark",
    "axes",
    "precision_requested",
    "precision",
    "threads",
    "outcome",
    "reason_code",
    "reason",
    "stable",
    "verified",
    "latency_mean_ms",
    "latency_median_ms",
    "throughput_samples_per_sec",
];

#[derive(Clone, Debug)]
pub(super) struct Row<'a> {
    pub run: &'a str,
    /// Microseconds since 1970-01-01.
    pub timestamp: Option<i64>,
    pub cell: Option<i64>,
    /// Its name and its processor; where it has no name, a run is a machine of its own.
    pub machine: String,
    /// The backend, and its device where several of it are in the frame.
    pub hardware: String,
    pub plugin: &'a str,
    pub on_cpu: bool,
    pub emulated: bool,
    pub model: &'a str,
    pub family: &'a str,
    pub benchmark: &'a str,
    pub axes: &'a str,
    pub precision_requested: Option<&'a str>,
    pub precision: Option<&'a str>,
    pub threads: Option<i64>,
    pub outcome: &'a str,
    pub reason: Option<&'a str>,
    pub verified: bool,
    pub mean_ms: Option<f64>,
    pub median_ms: Option<f64>,
    pub throughput: Option<f64>,
}

impl Row<'_> {
    pub fn measured(&self) -> bool {
        self.outcome == "measured"
    }

    /// Hardware itself, with outputs that were held against others: what may be ranked.
    pub fn comparable(&self) -> bool {
        self.measured() && !self.emulated && self.verified
    }

    pub fn order(&self) -> (Option<i64>, &str, Option<i64>) {
        (self.timestamp, self.run, self.cell)
    }

    pub fn moment(&self) -> Option<String> {
        self.timestamp.map(|us| skillbench_engine::environment::utc(us.div_euclid(1_000_000)))
    }
}

/// The rows of cells that have a model, a backend and an outcome, in the order of time and plan.
pub(super) fn rows(frame: &DataFrame) -> PolarsResult<Vec<Row<'_>>> {
    let text = |name: &str| frame.column(name)?.str().map(|column| column.iter().collect::<Vec<Option<&str>>>());
    let whole = |name: &str| frame.column(name)?.i64().map(|column| column.iter().collect::<Vec<_>>());
    let number = |name: &str| frame.column(name)?.f64().map(|column| column.iter().collect::<Vec<_>>());
    let microseconds = DataType::Datetime(TimeUnit::Microseconds, None);
    let times = frame.column("timestamp")?.cast(&microseconds)?.cast(&DataType::Int64)?;
    let times: Vec<Option<i64>> = times.i64()?.iter().collect();
    let emulated: Vec<Option<bool>> = frame.column("emulated")?.bool()?.iter().collect();
    let (run, hostname, cpu, plugin, device) =
        (text("run")?, text("hostname")?, text("cpu_model")?, text("plugin")?, text("device_id")?);
    let (kind, model, family, benchmark) =
        (text("device_kind")?, text("model_id")?, text("family")?, text("benchmark")?);
    let (axes, requested, precision) = (text("axes")?, text("precision_requested")?, text("precision")?);
    let (outcome, reason, verified) = (text("outcome")?, text("reason")?, text("verified")?);
    let (cell, threads) = (whole("cell")?, whole("threads")?);
    let (mean, median, rate) =
        (number("latency_mean_ms")?, number("latency_median_ms")?, number("throughput_samples_per_sec")?);
    let several = several_devices(&plugin, &device);
    let row = |at: usize| {
        let (run, plugin) = (run[at]?, plugin[at]?);
        let machine = match (hostname[at], cpu[at]) {
            (Some(host), Some(cpu)) => format!("{host}, {cpu}"),
            (Some(host), None) => host.to_string(),
            (None, _) => run.to_string(),
        };
        Some(Row {
            run,
            timestamp: times[at],
            cell: cell[at],
            machine,
            hardware: match device[at] {
                Some(device) if several.contains(plugin) => format!("{plugin}:{device}"),
                _ => plugin.to_string(),
            },
            plugin,
            on_cpu: kind[at] == Some("cpu"),
            emulated: emulated[at] == Some(true),
            model: model[at]?,
            family: family[at].unwrap_or("unknown"),
            benchmark: benchmark[at].unwrap_or_default(),
            axes: axes[at].unwrap_or_default(),
            precision_requested: requested[at],
            precision: precision[at],
            threads: threads[at],
            outcome: outcome[at]?,
            reason: reason[at],
            verified: verified[at].is_some_and(|how| how.starts_with("yes") || how == "itself"),
            mean_ms: mean[at],
            median_ms: median[at],
            throughput: rate[at],
        })
    };
    let mut rows: Vec<Row<'_>> = (0..frame.height()).filter_map(row).collect();
    rows.sort_by(|one, other| one.order().cmp(&other.order()));
    Ok(rows)
}

fn several_devices<'a>(plugins: &[Option<&'a str>], devices: &[Option<&'a str>]) -> BTreeSet<&'a str> {
    let mut ids: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (plugin, device) in plugins.iter().zip(devices) {
        if let (Some(plugin), Some(device)) = (plugin, device) {
            ids.entry(plugin).or_default().insert(device);
        }
    }
    ids.into_iter().filter(|(_, devices)| devices.len() > 1).map(|(plugin, _)| plugin).collect()
}
