//! A cell: one target, one point of the workload grid, one benchmark; and how it ended.

use crate::{
    Audit, Axes, Conditions, Metrics, Nature, Outcome, OutcomeKind, ParallelRecord, Phases, ProfileReport, Reason,
    Trust, Verification,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the loaded model said of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlacementRecord {
    /// `None` where the engine cannot tell.
    pub precision: Option<String>,
    pub device: String,
    pub engine: String,
    pub nodes_total: Option<u64>,
    pub nodes_on_device: Option<u64>,
    pub cache_hit: Option<bool>,
}

/// The device of a cell, as its backend describes it; empty is what it does not tell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HardwareRecord {
    pub name: String,
    /// "cpu", "gpu", "npu", "browser" ...
    pub kind: String,
    pub vendor: String,
    pub arch: String,
    pub driver: String,
    pub memory_mb: Option<f64>,
}

/// What was done otherwise than asked, so that a cell could be measured at all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Workaround {
    /// "precision", "opset".
    pub what: String,
    pub from: String,
    pub to: String,
    /// What stood in the way.
    pub why: String,
}

impl Workaround {
    /// "precision: that of the graph in place of int8".
    pub fn describe(&self) -> String {
        format!("{}: {} in place of {}", self.what, self.to, self.from)
    }
}

/// What a cell took from the resource pool. A model from there was not loaded, so that nothing tells of its loading.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PoolRecord {
    pub model_hits: u64,
    pub model_misses: u64,
    pub input_hits: u64,
    pub input_misses: u64,
}

/// One target × one point of the grid × one benchmark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "CellForm", into = "CellForm")]
pub struct Cell {
    /// Place in the plan; stays the same when a run is resumed.
    pub index: usize,
    pub plugin: String,
    pub plugin_version: String,
    /// The way into its library: "C table" or "abi_stable root module"; `None`: no library was described, or an older host wrote this.
    pub plugin_door: Option<String>,
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
    /// What the graph is to the model that it is known as: "full" (the published configuration), "reduced", or "part" of it; `None`: nobody
    /// published it, or it is the user's own.
    pub relation: Option<String>,
    /// The model that a function is about; `None`: a function of no model, or no function.
    pub about: Option<String>,
    pub benchmark: String,
    pub benchmark_version: String,
    pub precision_requested: Option<String>,
    pub threads: Option<u64>,
    /// Requests at once, of a benchmark that takes a number of them.
    pub workers: Option<u64>,
    /// The options of the plugin that differ from its defaults; without `threads`, and without those that name a file, unless what it holds is measured: then the beginning of its SHA-256.
    pub options: BTreeMap<String, String>,
    pub axes: Axes,
    /// `None`: no device was reached.
    pub hardware: Option<HardwareRecord>,
    pub emulated: bool,
    /// The device is behind a network.
    pub remote: bool,
    /// The interval of the median reached its target.
    pub stable: bool,
    pub placement: Option<PlacementRecord>,
    pub verification: Option<Verification>,
    /// `None`: nothing was verified while it was timed.
    pub audit: Option<Audit>,
    /// Why the figures cannot be: they are kept, and never ranked.
    pub implausible: Vec<String>,
    /// `None`: nothing was timed, or nobody looked.
    pub conditions: Option<Conditions>,
    /// Safe ways around that were taken.
    pub fixes: Vec<Workaround>,
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
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Cell")]
struct CellForm {
    index: usize,
    plugin: String,
    plugin_version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    plugin_door: Option<String>,
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
    #[serde(default)]
    relation: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    about: Option<String>,
    benchmark: String,
    benchmark_version: String,
    precision_requested: Option<String>,
    threads: Option<u64>,
    #[serde(default)]
    workers: Option<u64>,
    #[serde(default)]
    options: BTreeMap<String, String>,
    #[serde(default)]
    hardware: Option<HardwareRecord>,
    batch_size: Option<i64>,
    sequence_length: Option<i64>,
    axes: Axes,
    outcome: OutcomeKind,
    reason: Option<Reason>,
    emulated: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    remote: bool,
    stable: bool,
    placement: Option<PlacementRecord>,
    verification: Option<Verification>,
    #[serde(default)]
    audit: Option<Audit>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    implausible: Vec<String>,
    #[serde(default)]
    conditions: Option<Conditions>,
    #[serde(default)]
    fixes: Vec<Workaround>,
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
            plugin_door: cell.plugin_door,
            device: cell.device,
            skill: cell.skill,
            family: cell.family,
            architecture: cell.architecture,
            category: cell.category,
            task: cell.task,
            parameters: cell.parameters,
            relation: cell.relation,
            about: cell.about,
            benchmark: cell.benchmark,
            benchmark_version: cell.benchmark_version,
            precision_requested: cell.precision_requested,
            threads: cell.threads,
            workers: cell.workers,
            options: cell.options,
            batch_size: cell.axes.get("batch").copied(),
            sequence_length: cell.axes.get("sequence").copied(),
            axes: cell.axes,
            outcome: cell.outcome.kind(),
            reason: cell.outcome.reason().cloned(),
            hardware: cell.hardware,
            emulated: cell.emulated,
            remote: cell.remote,
            stable: cell.stable,
            placement: cell.placement,
            verification: cell.verification,
            audit: cell.audit,
            implausible: cell.implausible,
            conditions: cell.conditions,
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

impl TryFrom<CellForm> for Cell {
    type Error = String;

    fn try_from(form: CellForm) -> Result<Cell, String> {
        Ok(Cell {
            outcome: Outcome::from_parts(form.outcome, form.reason, form.metrics)?,
            index: form.index,
            plugin: form.plugin,
            plugin_version: form.plugin_version,
            plugin_door: form.plugin_door,
            device: form.device,
            skill: form.skill,
            family: form.family,
            architecture: form.architecture,
            category: form.category,
            task: form.task,
            parameters: form.parameters,
            relation: form.relation,
            about: form.about,
            benchmark: form.benchmark,
            benchmark_version: form.benchmark_version,
            precision_requested: form.precision_requested,
            threads: form.threads,
            workers: form.workers,
            options: form.options,
            axes: form.axes,
            hardware: form.hardware,
            emulated: form.emulated,
            remote: form.remote,
            stable: form.stable,
            placement: form.placement,
            verification: form.verification,
            audit: form.audit,
            implausible: form.implausible,
            conditions: form.conditions,
            fixes: form.fixes,
            pool: form.pool,
            phases: form.phases,
            profile: form.profile,
            parallel: form.parallel,
        })
    }
}

/// The family of cells of no model: those of benchmarks that are plain functions.
pub const FUNCTION: &str = "function";

impl Cell {
    /// Whether it is of a benchmark that is a plain function. It then has no model and no device; `category` and `options` are its own.
    pub fn is_function(&self) -> bool {
        self.family == FUNCTION
    }

    /// Whether its figures may be believed, and how far; `None`: it is not measured.
    pub fn trust(&self) -> Option<Trust> {
        self.outcome.metrics()?;
        if !self.implausible.is_empty() {
            return Some(Trust::Implausible);
        }
        Some(Trust::of(self.nature(), self.verification.as_ref()))
    }

    pub fn nature(&self) -> Nature {
        Nature::of(self.emulated, self.remote)
    }

    /// Whether it has a figure at all: of a run that only checked outputs it has none.
    pub fn has_figures(&self) -> bool {
        self.outcome.metrics().is_some_and(Metrics::has_figures)
    }

    /// What ran, read back from the loaded model; `None`: it was not loaded, or the engine cannot tell.
    pub fn precision(&self) -> Option<&str> {
        self.placement.as_ref()?.precision.as_deref()
    }

    /// Whose cells ran at the same time.
    pub fn beside(&self) -> &[String] {
        self.parallel.as_ref().map_or(&[], |parallel| &parallel.beside)
    }

    /// A cell of which nothing is known.
    pub fn blank() -> Cell {
        Cell {
            index: 0,
            plugin: String::new(),
            plugin_version: String::new(),
            plugin_door: None,
            device: String::new(),
            skill: String::new(),
            family: String::new(),
            architecture: String::new(),
            category: String::new(),
            task: String::new(),
            parameters: None,
            relation: None,
            about: None,
            benchmark: String::new(),
            benchmark_version: String::new(),
            precision_requested: None,
            threads: None,
            workers: None,
            options: BTreeMap::new(),
            axes: Axes::new(),
            hardware: None,
            emulated: false,
            remote: false,
            stable: false,
            placement: None,
            verification: None,
            audit: None,
            implausible: vec![],
            conditions: None,
            fixes: vec![],
            pool: None,
            phases: None,
            profile: None,
            parallel: None,
            outcome: Outcome::Skipped(Reason::new("planned", "not run yet")),
        }
    }
}
