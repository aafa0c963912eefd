//! The cells of the inference benchmark that count now, as the database has them; and the peaks of the hardware.

use skillbench_predict::Peaks;
use skillbench_record::catalog;
use skillbench_record::catalog::column;
use skillbench_record::{Axes, OutcomeKind, Trust};
use skillbench_results::freshness::Newer;
use skillbench_results::questions::rules::rules;
use skillbench_store::database::{Filter, StoredCell, StoredLatest};
use skillbench_store::{Database, DatabaseError};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Where a cell ran, and how.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub machine: String,
    pub plugin: String,
    pub device: String,
    /// What ran; `None`: the engine cannot tell.
    pub precision: Option<String>,
    pub threads: Option<u64>,
    /// Options of the plugin that differ from its defaults.
    pub options: Option<String>,
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
    pub trust: Trust,
    pub latency_ms: Option<f64>,
    /// Of the median.
    pub latency_low_ms: Option<f64>,
    pub latency_high_ms: Option<f64>,
    pub throughput_per_s: Option<f64>,
    pub memory_mb: Option<f64>,
    pub energy_j: Option<f64>,
    /// On a processor that others used too: its threads waited for much of the time.
    pub waited: bool,
    /// What became of a newer try.
    pub newer: Option<Newer>,
}

/// A cell that was never measured, and how its newest try ended.
#[derive(Clone, Debug)]
pub struct Tried {
    pub machine: String,
    pub plugin: String,
    /// Empty: it did not come so far.
    pub device: String,
    pub model: String,
    pub axes: Axes,
    pub options: Option<String>,
    pub outcome: OutcomeKind,
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
    /// What people call each machine, by its id.
    labels: BTreeMap<String, String>,
    peaks: BTreeMap<PeakKey, BTreeMap<&'static str, f64>>,
}

const PEAKS: [(&str, &str); 5] = [
    ("float32", column::PEAK_FLOAT32_PER_SEC),
    ("float16", column::PEAK_FLOAT16_PER_SEC),
    ("bfloat16", column::PEAK_BFLOAT16_PER_SEC),
    ("int8", column::PEAK_INT8_PER_SEC),
    (BANDWIDTH, column::PEAK_BYTES_PER_SEC),
];
const BANDWIDTH: &str = "bandwidth";

fn figure(cell: &StoredCell, metric: &str) -> Option<f64> {
    cell.figure(catalog::metric(metric)?)
}

/// A device that is no processor lets one wait; so only of those it tells of others.
fn waited(cell: &StoredCell) -> bool {
    let busy = || {
        let over_wall = figure(cell, column::CPU_MEDIAN_MS)? / figure(cell, column::LATENCY_MEDIAN_MS)?;
        Some(over_wall / cell.threads? as f64)
    };
    cell.device_kind.as_deref() == Some("cpu") && busy().is_some_and(|busy| busy < rules().clocks.waits)
}

pub(super) fn date(cell: &StoredCell) -> String {
    let began = cell.began.map(|began| skillbench_record::time::utc(began.div_euclid(1_000_000)));
    began.unwrap_or_default().chars().take(10).collect()
}

impl Place {
    pub(super) fn of(cell: &StoredCell) -> Place {
        Place {
            machine: cell.machine.clone(),
            plugin: cell.plugin.clone(),
            device: cell.device.clone(),
            precision: cell.precision.clone(),
            threads: cell.threads,
            options: cell.options.clone(),
        }
    }
}

impl Cells {
    /// # Errors
    /// As for any use of the database.
    pub fn read(database: &Database) -> Result<Cells, DatabaseError> {
        let mut cells = Cells::default();
        let mut latest = database.latest(&Filter::sql("benchmark IN ('inference', 'roofline')"))?;
        // The newest first: of a model whose content changed only the newest content counts.
        latest.sort_by(|one, other| other.cell.seen().order().cmp(&one.cell.seen().order()));
        let mut contents: HashMap<(String, String, Axes), usize> = HashMap::new();
        for StoredLatest { cell, newer } in latest {
            cells.labels.entry(cell.machine.clone()).or_insert_with(|| cell.machine_label());
            if cell.benchmark == "roofline" {
                cells.learn_peaks(&cell);
                continue;
            }
            if cell.beside.is_some() {
                cells.beside += 1;
                continue;
            }
            let Some(trust) = cell.trust.filter(|_| cell.has_figures) else {
                if cell.outcome != OutcomeKind::Measured {
                    cells.tried.push(Tried {
                        machine: cell.machine,
                        plugin: cell.plugin,
                        device: cell.device,
                        model: cell.model,
                        axes: cell.axes,
                        options: cell.options,
                        outcome: cell.outcome,
                        reason: cell.reason.unwrap_or_default(),
                    });
                }
                continue;
            };
            let place = Place::of(&cell);
            let known = (format!("{place:?}"), cell.model.clone(), cell.axes.clone());
            if contents.insert(known, cells.measured.len()).is_some() {
                continue;
            }
            cells.measured.push(MeasuredCell {
                date: date(&cell),
                trust,
                latency_ms: figure(&cell, column::LATENCY_MEDIAN_MS),
                latency_low_ms: figure(&cell, column::LATENCY_CI95_LOW_MS),
                latency_high_ms: figure(&cell, column::LATENCY_CI95_HIGH_MS),
                throughput_per_s: figure(&cell, column::THROUGHPUT_SAMPLES_PER_SEC),
                memory_mb: figure(&cell, column::PEAK_MEMORY_MB),
                energy_j: figure(&cell, column::ENERGY_J_PER_ITEM),
                waited: waited(&cell),
                newer: newer.map(|newer| Newer { run: newer.run, outcome: newer.outcome, reason: newer.reason }),
                run: cell.run,
                model: cell.model,
                family: cell.family,
                axes: cell.axes,
                place,
            });
        }
        Ok(cells)
    }

    /// Of several measurements the highest counts, of those whose outputs were checked.
    fn learn_peaks(&mut self, cell: &StoredCell) {
        if !cell.trust.is_some_and(Trust::is_comparable) || cell.beside.is_some() {
            return;
        }
        let key = (cell.machine.clone(), cell.plugin.clone(), cell.device.clone(), cell.threads);
        let known = self.peaks.entry(key).or_default();
        for (of, column) in PEAKS {
            if let Some(value) = figure(cell, column) {
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

    /// Hardware of a machine whose peak at a precision was measured.
    pub(super) fn peaked(&self, machine: &str, precision: &str) -> Vec<Place> {
        let of = self.peaks.iter().filter(|((on, ..), peaks)| on == machine && peaks.contains_key(precision));
        of.map(|((machine, plugin, device, threads), _)| Place {
            machine: machine.clone(),
            plugin: plugin.clone(),
            device: device.clone(),
            precision: Some(precision.to_string()),
            threads: *threads,
            options: None,
        })
        .collect()
    }

    /// The ids of all machines.
    pub fn machines(&self) -> BTreeSet<&str> {
        self.measured.iter().map(|cell| cell.place.machine.as_str()).collect()
    }

    /// All machines by id, with what people call them.
    pub fn labelled(&self) -> BTreeMap<&str, &str> {
        self.machines().into_iter().map(|id| (id, self.machine_label(id))).collect()
    }

    /// What people call a machine.
    pub fn machine_label<'a>(&'a self, id: &'a str) -> &'a str {
        self.labels.get(id).map_or(id, String::as_str)
    }
}
