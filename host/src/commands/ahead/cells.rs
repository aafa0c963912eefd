//! The cells of the inference benchmark as the database has them, the newest of each; and the peaks of the hardware.

use serde_json::Value;
use skillbench_engine::document::Axes;
use skillbench_engine::environment::Environment;
use skillbench_predict::Peaks;
use skillbench_results::questions::rules::rules;
use skillbench_store::{Database, DatabaseError};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Whether a measured cell may be held against others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Hardware, with outputs that were checked.
    Hardware,
    Emulated,
    Unverified,
}

impl Standing {
    pub fn name(self) -> &'static str {
        match self {
            Standing::Hardware => "hardware",
            Standing::Emulated => "emulated",
            Standing::Unverified => "unverified",
        }
    }
}

/// Where a cell ran, and how.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub machine: String,
    pub plugin: String,
    pub device: String,
    /// What ran; `None`: the engine cannot tell.
    pub precision: Option<String>,
    pub threads: Option<u64>,
}

#[derive(Clone, Debug)]
pub struct MeasuredCell {
    pub run: String,
    /// "2026-01-31".
    pub date: String,
    pub place: Place,
    pub model: String,
    pub family: String,
    pub axes: Axes,
    pub standing: Standing,
    pub latency_ms: Option<f64>,
    /// Of the median.
    pub latency_low_ms: Option<f64>,
    pub latency_high_ms: Option<f64>,
    pub throughput_per_s: Option<f64>,
    pub memory_mb: Option<f64>,
    pub energy_j: Option<f64>,
    /// On a processor that others used too: its threads waited for much of the time.
    pub waited: bool,
}

/// A cell that ended otherwise when it was last tried.
#[derive(Clone, Debug)]
pub struct Tried {
    pub machine: String,
    pub plugin: String,
    /// Empty: it did not come so far.
    pub device: String,
    pub model: String,
    pub axes: Axes,
    pub outcome: String,
    pub reason: String,
}

/// Machine, plugin, device and threads.
type PeakKey = (String, String, String, Option<u64>);

#[derive(Default)]
pub struct Cells {
    pub measured: Vec<MeasuredCell>,
    pub tried: Vec<Tried>,
    /// Measured while others ran on the same machine, which nothing here makes use of.
    pub beside: usize,
    peaks: BTreeMap<PeakKey, BTreeMap<&'static str, f64>>,
}

const PEAKS: [(&str, &str); 5] = [
    ("float32", "peak_float32_per_sec"),
    ("float16", "peak_float16_per_sec"),
    ("bfloat16", "peak_bfloat16_per_sec"),
    ("int8", "peak_int8_per_sec"),
    (BANDWIDTH, "peak_bytes_per_sec"),
];
const BANDWIDTH: &str = "bandwidth";

const COLUMNS: [&str; 27] = [
    "run",
    "timestamp",
    "hostname",
    "cpu_model",
    "plugin",
    "device_id",
    "model_id",
    "family",
    "axes",
    "precision",
    "precision_requested",
    "threads",
    "emulated",
    "verified",
    "outcome",
    "reason",
    "beside",
    "benchmark",
    "latency_median_ms",
    "latency_ci95_low_ms",
    "latency_ci95_high_ms",
    "throughput_samples_per_sec",
    "peak_memory_mb",
    "energy_j_per_item",
    "cpu_median_ms",
    "device_kind",
    "cell",
];

struct Row<'a> {
    of: &'a BTreeMap<&'a str, &'a Value>,
}

impl Row<'_> {
    fn text(&self, column: &str) -> &str {
        self.of.get(column).and_then(|value| value.as_str()).unwrap_or_default()
    }

    fn number(&self, column: &str) -> Option<f64> {
        self.of.get(column).and_then(|value| value.as_f64())
    }

    fn threads(&self) -> Option<u64> {
        self.of.get("threads").and_then(|value| value.as_u64())
    }

    fn machine(&self) -> String {
        machine(self.text("hostname"), self.text("cpu_model"), self.text("run"))
    }

    fn axes(&self) -> Axes {
        let pair = |text: &str| {
            let (name, value) = text.split_once('=')?;
            Some((name.to_string(), value.parse().ok()?))
        };
        self.text("axes").split(' ').filter_map(pair).collect()
    }

    /// A device that is no processor lets one wait; so only of those it tells of others.
    fn waited(&self) -> bool {
        let busy = || {
            let over_wall = self.number("cpu_median_ms")? / self.number("latency_median_ms")?;
            Some(over_wall / self.threads()? as f64)
        };
        self.text("device_kind") == "cpu" && busy().is_some_and(|busy| busy < rules().clocks.waits)
    }

    fn standing(&self) -> Standing {
        let verified = self.text("verified");
        match self.of.get("emulated").and_then(|value| value.as_bool()) {
            Some(true) => Standing::Emulated,
            _ if verified.starts_with("yes") || verified == "itself" => Standing::Hardware,
            _ => Standing::Unverified,
        }
    }
}

/// As results have it: the name and the processor; where it has no name, a run is a machine of its own.
fn machine(hostname: &str, cpu_model: &str, run: &str) -> String {
    match (hostname, cpu_model) {
        ("", _) => run.to_string(),
        (name, "") => name.to_string(),
        (name, processor) => format!("{name}, {processor}"),
    }
}

/// What this machine is called in results.
pub fn machine_here() -> String {
    let here = Environment::probe();
    machine(here.hostname.as_deref().unwrap_or_default(), here.cpu_model.as_deref().unwrap_or_default(), "")
}

impl Cells {
    /// # Errors
    /// As for any use of the database.
    pub fn read(database: &Database) -> Result<Cells, DatabaseError> {
        let peaks = PEAKS.map(|(_, column)| column);
        let columns = [&COLUMNS[..], &peaks].concat().join(", ");
        let answer = database.query(&format!(
            "SELECT {columns} FROM benchmark_results WHERE benchmark IN ('inference', 'roofline')
             ORDER BY timestamp DESC, run DESC, cell DESC"
        ))?;
        let mut cells = Cells::default();
        let rows: Vec<BTreeMap<&str, &Value>> =
            answer.rows.iter().map(|row| answer.columns.iter().map(String::as_str).zip(row).collect()).collect();
        let rows: Vec<Row<'_>> = rows.iter().map(|of| Row { of }).collect();
        // A cell that did not come so far as to have a device is of the backend's first.
        let mut first = BTreeMap::new();
        for row in rows.iter().rev().filter(|row| !row.text("device_id").is_empty()) {
            first.entry(row.text("plugin")).or_insert(row.text("device_id"));
        }
        let (mut seen, mut placed) = (HashSet::new(), BTreeSet::new());
        for row in &rows {
            if row.text("benchmark") == "roofline" {
                cells.learn_peaks(row);
                continue;
            }
            if !row.text("beside").is_empty() {
                cells.beside += 1;
                continue;
            }
            let device = match row.text("device_id") {
                "" => first.get(row.text("plugin")).copied().unwrap_or_default(),
                device => device,
            };
            let key = ["plugin", "model_id", "axes", "precision_requested"].map(|column| row.text(column).to_string());
            // The newest first: what comes after is older.
            if !seen.insert((key, row.machine(), device.to_string(), row.threads())) {
                continue;
            }
            if row.text("outcome") != "measured" {
                cells.tried.push(Tried {
                    machine: row.machine(),
                    plugin: row.text("plugin").into(),
                    device: row.text("device_id").into(),
                    model: row.text("model_id").into(),
                    axes: row.axes(),
                    outcome: row.text("outcome").into(),
                    reason: row.text("reason").into(),
                });
                continue;
            }
            let place = Place {
                machine: row.machine(),
                plugin: row.text("plugin").into(),
                device: device.into(),
                precision: Some(row.text("precision").to_string()).filter(|precision| !precision.is_empty()),
                threads: row.threads(),
            };
            // Asked for by its name, or left to the graph, what ran may be the same.
            if !placed.insert((place.clone(), row.text("model_id"), row.text("axes"))) {
                continue;
            }
            cells.measured.push(MeasuredCell {
                run: row.text("run").into(),
                date: row.text("timestamp").chars().take(10).collect(),
                place,
                model: row.text("model_id").into(),
                family: row.text("family").into(),
                axes: row.axes(),
                standing: row.standing(),
                latency_ms: row.number("latency_median_ms"),
                latency_low_ms: row.number("latency_ci95_low_ms"),
                latency_high_ms: row.number("latency_ci95_high_ms"),
                throughput_per_s: row.number("throughput_samples_per_sec"),
                memory_mb: row.number("peak_memory_mb"),
                energy_j: row.number("energy_j_per_item"),
                waited: row.waited(),
            });
        }
        Ok(cells)
    }

    /// Of several measurements the highest counts, of those whose outputs were checked.
    fn learn_peaks(&mut self, row: &Row<'_>) {
        if row.text("outcome") != "measured" || row.standing() != Standing::Hardware || !row.text("beside").is_empty() {
            return;
        }
        let key = (row.machine(), row.text("plugin").into(), row.text("device_id").into(), row.threads());
        let known = self.peaks.entry(key).or_default();
        for (of, column) in PEAKS {
            if let Some(value) = row.number(column) {
                let best = known.entry(of).or_insert(value);
                *best = best.max(value);
            }
        }
    }

    pub fn peaks(&self, place: &Place) -> Peaks {
        let key = (place.machine.clone(), place.plugin.clone(), place.device.clone(), place.threads);
        let of = |name: &str| self.peaks.get(&key)?.get(name).copied();
        Peaks { flops_per_s: of(place.precision.as_deref().unwrap_or_default()), bytes_per_s: of(BANDWIDTH) }
    }

    pub fn machines(&self) -> BTreeSet<&str> {
        self.measured.iter().map(|cell| cell.place.machine.as_str()).collect()
    }
}
