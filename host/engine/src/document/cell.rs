//! A cell: one target, one point of the workload grid, one benchmark; and how it ended.

use super::{Metrics, ParallelRecord, Phases, ProfileReport};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The point of the workload grid: "batch", "sequence" and the model's other axes.
pub type Axes = BTreeMap<String, i64>;

/// Why a cell has no figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// A short, stable word: "signal", "exit", "memory-limit", "unimplemented" ...
    pub code: String,
    /// What happened, where, and what to do next.
    pub message: String,
}

impl Reason {
    pub fn new(code: &str, message: impl Into<String>) -> Reason {
        Reason { code: code.into(), message: message.into() }
    }
}

/// How a cell ended, or a benchmark without a target, which has figures of its own. Only a measured one has numbers; each other
/// has a reason.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome<M = Metrics> {
    Measured(Box<M>),
    Failed(Reason),
    Crashed(Reason),
    TimedOut(Reason),
    Unavailable(Reason),
    Unsupported(Reason),
    Wrong(Reason),
    Skipped(Reason),
}

impl<M> Outcome<M> {
    /// The name that `run.json` has for it.
    pub fn name(&self) -> &'static str {
        match self {
            Outcome::Measured(_) => "measured",
            Outcome::Failed(_) => "failed",
            Outcome::Crashed(_) => "crashed",
            Outcome::TimedOut(_) => "timed-out",
            Outcome::Unavailable(_) => "unavailable",
            Outcome::Unsupported(_) => "unsupported",
            Outcome::Wrong(_) => "wrong",
            Outcome::Skipped(_) => "skipped",
        }
    }

    /// The outcome of this name, as files have it.
    pub(crate) fn from_parts(name: &str, reason: Option<Reason>, metrics: Option<Box<M>>) -> Outcome<M> {
        let reason = || reason.unwrap_or_else(|| Reason::new("unknown", "no reason was recorded"));
        match (name, metrics) {
            ("measured", Some(metrics)) => Outcome::Measured(metrics),
            ("crashed", _) => Outcome::Crashed(reason()),
            ("timed-out", _) => Outcome::TimedOut(reason()),
            ("unavailable", _) => Outcome::Unavailable(reason()),
            ("unsupported", _) => Outcome::Unsupported(reason()),
            ("wrong", _) => Outcome::Wrong(reason()),
            ("skipped", _) => Outcome::Skipped(reason()),
            _ => Outcome::Failed(reason()),
        }
    }

    pub fn metrics(&self) -> Option<&M> {
        match self {
            Outcome::Measured(metrics) => Some(metrics),
            _ => None,
        }
    }

    pub fn reason(&self) -> Option<&Reason> {
        match self {
            Outcome::Measured(_) => None,
            Outcome::Failed(reason)
            | Outcome::Crashed(reason)
            | Outcome::TimedOut(reason)
            | Outcome::Unavailable(reason)
            | Outcome::Unsupported(reason)
            | Outcome::Wrong(reason)
            | Outcome::Skipped(reason) => Some(reason),
        }
    }
}

/// What the loaded model said of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacementRecord {
    /// `None` where the engine cannot tell.
    pub precision: Option<String>,
    pub device: String,
    pub engine: String,
    pub nodes_total: Option<u64>,
    pub nodes_on_device: Option<u64>,
    pub cache_hit: Option<bool>,
}

impl From<&skillbench_plugin_api::Placement> for PlacementRecord {
    fn from(placement: &skillbench_plugin_api::Placement) -> PlacementRecord {
        PlacementRecord {
            precision: Some(placement.precision.clone()).filter(|precision| !precision.is_empty()),
            device: placement.device.clone(),
            engine: placement.engine.clone(),
            nodes_total: placement.nodes_total,
            nodes_on_device: placement.nodes_on_device,
            cache_hit: placement.cache_hit,
        }
    }
}

/// The device of a cell, as its backend describes it; empty is what it does not tell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HardwareRecord {
    pub name: String,
    /// "cpu", "gpu", "npu", "browser" ...
    pub kind: String,
    pub vendor: String,
    pub arch: String,
    pub driver: String,
    pub memory_mb: Option<f64>,
}

/// What the check of the outputs found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "kebab-case")]
pub enum Verification {
    /// Finite, of the right shape, and within the tolerance of the reference.
    Passed {
        reference: String,
        /// The reference is the engine that is measured, in another process: that outputs repeat is all it shows.
        same_engine: bool,
        max_relative_difference: f64,
        tolerance: f64,
        elements_compared: u64,
        /// Other engines that differ from the reference here, outvoted by it and this one.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        dissent: Vec<Dissent>,
    },
    /// Finite, but there is no reference to hold the outputs against.
    NoReference { why: String },
    /// Switched off with `--no-verify`.
    Off,
}

/// An engine that two others outvoted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dissent {
    pub reference: String,
    /// From the reference that counted; `None`: the outputs have other shapes.
    pub max_relative_difference: Option<f64>,
}

/// What was done otherwise than asked, so that a cell could be measured at all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    /// "precision", "opset".
    pub what: String,
    pub from: String,
    pub to: String,
    /// What stood in the way.
    pub why: String,
}

impl Fix {
    /// "precision: that of the graph in place of int8".
    pub fn told(&self) -> String {
        format!("{}: {} in place of {}", self.what, self.to, self.from)
    }
}

/// What a cell took from the resource pool. A model from there was not loaded, so that nothing tells of its loading.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolRecord {
    pub model_hits: u64,
    pub model_misses: u64,
    pub input_hits: u64,
    pub input_misses: u64,
}

/// One target × one point of the grid × one benchmark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "CellForm", into = "CellForm")]
pub struct Cell {
    /// Place in the plan; stays the same when a run is resumed.
    pub index: usize,
    pub plugin: String,
    pub plugin_version: String,
    pub device: String,
    pub skill: String,
    pub family: String,
    pub architecture: String,
    /// Of the model: "vision", "text-encoders" ...; empty: nobody told.
    pub category: String,
    /// "image-classification", "fill-mask" ...
    pub task: String,
    /// Of the model, with what is looked up in tables.
    pub parameters: Option<u64>,
    pub benchmark: String,
    pub benchmark_version: String,
    pub precision_requested: Option<String>,
    pub threads: Option<u64>,
    pub axes: Axes,
    /// `None`: no device was reached.
    pub hardware: Option<HardwareRecord>,
    pub emulated: bool,
    /// The interval of the median reached its target.
    pub stable: bool,
    pub placement: Option<PlacementRecord>,
    pub verification: Option<Verification>,
    /// Safe ways around that were taken.
    pub fixes: Vec<Fix>,
    /// `None`: the pool was not used.
    pub pool: Option<PoolRecord>,
    /// `None`: nobody asked for them.
    pub phases: Option<Phases>,
    pub profile: Option<ProfileReport>,
    /// `None`: no other was to run beside it.
    pub parallel: Option<ParallelRecord>,
    pub outcome: Outcome,
}

/// The flat form in files: `outcome`, `reason` and `metrics` side by side.
#[derive(Serialize, Deserialize)]
struct CellForm {
    index: usize,
    plugin: String,
    plugin_version: String,
    device: String,
    skill: String,
    family: String,
    architecture: String,
    #[serde(default)]
    category: String,
    #[serde(default)]
    task: String,
    #[serde(default)]
    parameters: Option<u64>,
    benchmark: String,
    benchmark_version: String,
    precision_requested: Option<String>,
    threads: Option<u64>,
    #[serde(default)]
    hardware: Option<HardwareRecord>,
    batch_size: Option<i64>,
    sequence_length: Option<i64>,
    axes: Axes,
    outcome: String,
    reason: Option<Reason>,
    emulated: bool,
    stable: bool,
    placement: Option<PlacementRecord>,
    verification: Option<Verification>,
    #[serde(default)]
    fixes: Vec<Fix>,
    #[serde(default)]
    pool: Option<PoolRecord>,
    #[serde(default)]
    phases: Option<Phases>,
    #[serde(default)]
    profile: Option<ProfileReport>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parallel: Option<ParallelRecord>,
    metrics: Option<Box<Metrics>>,
}

impl From<Cell> for CellForm {
    fn from(cell: Cell) -> CellForm {
        CellForm {
            index: cell.index,
            plugin: cell.plugin,
            plugin_version: cell.plugin_version,
            device: cell.device,
            skill: cell.skill,
            family: cell.family,
            architecture: cell.architecture,
            category: cell.category,
            task: cell.task,
            parameters: cell.parameters,
            benchmark: cell.benchmark,
            benchmark_version: cell.benchmark_version,
            precision_requested: cell.precision_requested,
            threads: cell.threads,
            batch_size: cell.axes.get("batch").copied(),
            sequence_length: cell.axes.get("sequence").copied(),
            axes: cell.axes,
            outcome: cell.outcome.name().into(),
            reason: cell.outcome.reason().cloned(),
            hardware: cell.hardware,
            emulated: cell.emulated,
            stable: cell.stable,
            placement: cell.placement,
            verification: cell.verification,
            fixes: cell.fixes,
            pool: cell.pool,
            phases: cell.phases,
            profile: cell.profile,
            parallel: cell.parallel,
            metrics: match cell.outcome {
                Outcome::Measured(metrics) => Some(metrics),
                _ => None,
            },
        }
    }
}

impl From<CellForm> for Cell {
    fn from(form: CellForm) -> Cell {
        Cell {
            outcome: Outcome::from_parts(&form.outcome, form.reason, form.metrics),
            index: form.index,
            plugin: form.plugin,
            plugin_version: form.plugin_version,
            device: form.device,
            skill: form.skill,
            family: form.family,
            architecture: form.architecture,
            category: form.category,
            task: form.task,
            parameters: form.parameters,
            benchmark: form.benchmark,
            benchmark_version: form.benchmark_version,
            precision_requested: form.precision_requested,
            threads: form.threads,
            axes: form.axes,
            hardware: form.hardware,
            emulated: form.emulated,
            stable: form.stable,
            placement: form.placement,
            verification: form.verification,
            fixes: form.fixes,
            pool: form.pool,
            phases: form.phases,
            profile: form.profile,
            parallel: form.parallel,
        }
    }
}

#[cfg(test)]
impl Cell {
    /// A cell of which nothing is known.
    pub(crate) fn blank() -> Cell {
        Cell {
            index: 0,
            plugin: String::new(),
            plugin_version: String::new(),
            device: String::new(),
            skill: String::new(),
            family: String::new(),
            architecture: String::new(),
            category: String::new(),
            task: String::new(),
            parameters: None,
            benchmark: String::new(),
            benchmark_version: String::new(),
            precision_requested: None,
            threads: None,
            axes: Axes::new(),
            hardware: None,
            emulated: false,
            stable: false,
            placement: None,
            verification: None,
            fixes: vec![],
            pool: None,
            phases: None,
            profile: None,
            parallel: None,
            outcome: Outcome::Skipped(Reason::new("planned", "not run yet")),
        }
    }
}
