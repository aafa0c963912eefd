//! What host and worker say to each other. The worker is a program of its own, and the first message names the version: a worker of
//! another build is refused, not misunderstood.

use super::{DeviceRecord, Failure, Library, OverTime};
use crate::description::Description;
use serde::{Deserialize, Serialize};
use skillbench_models::Manifest;
use skillbench_record::PluginOptions;
use skillbench_record::sealed::SealError;
use skillbench_record::{Audit, Axes, Disagreement, PlacementRecord, PoolRecord, ProfileReport, Verification};
use std::path::PathBuf;

pub const PROTOCOL: u32 = 6;

/// A plugin's library, and how to open it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PluginUse {
    pub id: String,
    pub library: Library,
    pub options: PluginOptions,
}

impl PluginUse {
    /// Takes the hash of the library and of the files that options name.
    ///
    /// # Errors
    /// One of them cannot be read.
    pub fn seal(&mut self) -> Result<(), SealError> {
        let paths =
            self.options.values().flat_map(std::env::split_paths).filter(|path| path.is_absolute() && path.is_file());
        let files: Vec<PathBuf> = paths.collect();
        self.library.seal(files)
    }
}

/// Where a built model is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ModelPaths {
    pub skill: String,
    /// The text of skill.json; empty for a user's own file.
    pub manifest: String,
    /// Name and graph of each part.
    pub parts: Vec<(String, PathBuf)>,
}

/// The option of a benchmark that divides the time itself, in seconds: its rounds may be long.
pub const BUDGET: &str = "budget_s";

/// When to stop measuring.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    /// Least number of warm-up iterations.
    pub warmup: u64,
    /// The warm-up ends after this long; `None`: its number was asked for.
    pub warmup_ns: Option<u64>,
    /// Least number of measured iterations; `None`: what a 90th percentile needs, where the budget allows.
    pub iterations: Option<u64>,
    /// Half width of the median's interval over the median, at which a series is settled.
    pub interval: f64,
    /// The same of the mean, which rates are made of.
    pub rate_interval: f64,
    /// For the measured rounds of one series.
    pub budget_ns: u64,
    /// No rounds at all: the outputs are verified, and that is it.
    pub verify_only: bool,
    /// Each round waits for its turn, lasts about so long, and the host says when there were enough: another worker runs in between.
    #[serde(default)]
    pub interleaved_round_ns: Option<u64>,
    /// A tight interval ends nothing: the budget does.
    #[serde(default)]
    pub whole_budget: bool,
}

/// How to verify.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum VerifyJob {
    Off,
    /// Finite and of the right shape; there is nothing to compare with, for this reason.
    Alone {
        why: String,
    },
    Against {
        file: PathBuf,
        reference: String,
        same_engine: bool,
        /// Who differs from it, and was outvoted.
        #[serde(default)]
        dissent: Vec<Disagreement>,
        /// How far two engines of float32 are apart; `None`: there is but one.
        spread: Option<f64>,
    },
}

/// Another size than the cell's, of which its benchmark has requests too.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SizeJob {
    /// All of the cell's, with another value of one.
    pub axes: Axes,
    pub verify: VerifyJob,
}

/// Whether a cell shares models and inputs with those before and after it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pooling {
    /// What an earlier cell left may be taken.
    pub take: bool,
    /// What this one loads is left for the next, which comes as the next command.
    pub keep: bool,
}

/// One cell.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CellJob {
    pub backend: PluginUse,
    /// An id or an index of the backend's device; `None`: its first usable one.
    pub device: Option<String>,
    pub benchmark_library: Library,
    pub benchmark: String,
    pub benchmark_options: PluginOptions,
    pub model: ModelPaths,
    pub axes: Axes,
    pub precision: Option<String>,
    pub seed: u64,
    /// What the inputs of timed runs are made from.
    pub audit_seed: u64,
    pub verify: VerifyJob,
    /// Other sizes of which the benchmark has requests.
    pub sizes: Vec<SizeJob>,
    pub policy: Policy,
    /// Empty folders of its own for compiled code.
    pub cache_dir: Option<PathBuf>,
    /// Where a benchmark's attachments go; `None`: nowhere.
    pub attachments: Option<PathBuf>,
    pub pooling: Pooling,
}

/// A benchmark that needs no target.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FunctionJob {
    pub library: Library,
    pub benchmark: String,
    pub options: PluginOptions,
    pub policy: Policy,
    /// Where its attachments go; `None`: nowhere.
    pub attachments: Option<PathBuf>,
}

/// What the operators of a model cost.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProfileJob {
    pub backend: PluginUse,
    /// As for a cell.
    pub device: Option<String>,
    pub model: ModelPaths,
    pub axes: Axes,
    pub precision: Option<String>,
    pub seed: u64,
    pub warmup: u64,
    pub runs: u64,
    /// Where the trace goes; `None`: nowhere.
    pub trace: Option<PathBuf>,
}

impl ProfileJob {
    /// The model of a cell, on its device, with its inputs.
    pub fn of(cell: &CellJob, trace: Option<PathBuf>) -> ProfileJob {
        let defaults = &skillbench_record::defaults::defaults().profile;
        ProfileJob {
            backend: cell.backend.clone(),
            device: cell.device.clone(),
            model: cell.model.clone(),
            axes: cell.axes_of_graphs(&Manifest::parse(&cell.model.manifest).unwrap_or_default()),
            precision: cell.precision.clone(),
            seed: cell.seed,
            warmup: defaults.warmup,
            runs: defaults.runs,
            trace,
        }
    }
}

/// Outputs that others are held against.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReferenceJob {
    pub backend: PluginUse,
    pub model: ModelPaths,
    pub axes: Axes,
    pub seed: u64,
    /// What further inputs are made from, which the measured engine sees while it is timed; `None`: none are.
    pub audit_seed: Option<u64>,
    /// The index. The outputs are written next to it, into a folder that is there.
    pub out: PathBuf,
}

/// One rule of `plugin check`, in a worker of its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CheckJob {
    pub rule: String,
    pub library: Library,
    pub probe: PathBuf,
    pub options: PluginOptions,
    /// A backend to measure with, where the rule is about a benchmark.
    pub backend: Option<PluginUse>,
    pub scratch: PathBuf,
}

/// Cases of the operator ladder, to be run on a backend one after the other.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LadderJob {
    pub backend: PluginUse,
    /// Their places in the list of all.
    pub cases: Vec<usize>,
    pub scratch: PathBuf,
}

/// Random use of a backend, once from each seed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FuzzJob {
    pub backend: PluginUse,
    /// The schema of its options, of which random ones are made.
    pub options_schema: String,
    pub first: u64,
    pub count: u64,
    /// No model is changed: what is found lies in slots and their order, not in the reading of files.
    pub whole_models: bool,
    pub scratch: PathBuf,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Command {
    Describe {
        library: Library,
    },
    /// Opens a backend, and times import and instantiation.
    Devices {
        backend: PluginUse,
    },
    /// Loads a model for these axes (none: as its file says) and tells its ports.
    Inspect {
        backend: PluginUse,
        model: ModelPaths,
        axes: Axes,
        /// As for a cell.
        device: Option<String>,
        precision: Option<String>,
    },
    Build {
        library: Library,
        skill: String,
        /// The form of the weights, one that the skill's description offers; `None`: float32.
        precision: Option<String>,
        directory: PathBuf,
    },
    /// Runs a model, and writes its outputs.
    Reference(Box<ReferenceJob>),
    Cell(Box<CellJob>),
    /// The answer to [`Event::RoundWaits`]: the round may begin, or there were enough of that series.
    Permit(bool),
    Function(Box<FunctionJob>),
    /// Loads a model so that it records its operators, and runs it.
    Profile(Box<ProfileJob>),
    Check(Box<CheckJob>),
    /// Runs cases of the operator ladder.
    Ladder(Box<LadderJob>),
    /// Uses a backend at random.
    Fuzz(Box<FuzzJob>),
}

/// Where a worker is. Each stage may have a limit of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    Import,
    Open,
    /// The machine is watched doing nothing, for its idle power.
    Sensors,
    Load,
    /// Inputs are made and bound.
    Prepare,
    Run,
    Verify,
    Close,
}

impl Stage {
    pub fn name(&self) -> &'static str {
        match self {
            Stage::Import => "import",
            Stage::Open => "open",
            Stage::Sensors => "the look at its sensors",
            Stage::Load => "load",
            Stage::Prepare => "the making of inputs",
            Stage::Run => "run",
            Stage::Verify => "verification",
            Stage::Close => "close",
        }
    }
}

/// What a worker says on the way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Event {
    /// The first message.
    Hello {
        protocol: u32,
        /// The process that opens plugins: not the one that the host started, but a child of it.
        process: u32,
    },
    Stage(Stage),
    /// A slot of the plugin is called, or has returned: where rules and fuzzing say what hangs or crashes.
    Slot(Option<String>),
    /// When the next message was sent, on the system's monotonic clock: it may be read later.
    At {
        ns: u64,
    },
    /// A long step is alive.
    Phase {
        name: String,
        fraction: Option<f64>,
    },
    Log {
        level: i32,
        message: String,
    },
    /// Something was looked at while a backend opened.
    Evidence {
        what: String,
        found: String,
    },
    /// Rounds that warm up have begun, or ended.
    WarmingUp(bool),
    /// Measured rounds of a series have begun, or ended: the host samples memory in between.
    Measuring(bool),
    /// A measured round has begun, or ended: the host times it by its own clock, in its own process.
    Round(bool),
    /// A round of a series waits for its turn. Until the answer comes, nothing is computed here.
    RoundWaits {
        series: String,
        measured: bool,
    },
    /// `share` of the cell is done, 0 to 1, as far as it can be told.
    Progress {
        share: f64,
    },
    /// A case of the operator ladder begins; with what became of it: it has ended.
    Rung {
        case: usize,
        rung: Option<crate::ladder::Rung>,
    },
    /// Random use from a seed begins; with what became of it: it has ended.
    Played {
        seed: u64,
        ended: Option<crate::fuzz::Played>,
    },
    /// The last message of a command.
    Done(Box<Reply>),
    Failed(Failure),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PortRecord {
    pub name: String,
    pub dtype: String,
    pub shape: Vec<Option<usize>>,
    pub dim_names: Vec<Option<String>>,
}

/// One load of a model part, as the host timed it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LoadRecord {
    pub total_ns: u64,
    pub read_ns: Option<u64>,
    pub compile_ns: Option<u64>,
    pub cache_hit: Option<bool>,
}

/// What a backend tells of the time within one run, or within several together, in nanoseconds. `None`: it cannot tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceTimes {
    /// The device's own work.
    pub compute_ns: Option<u64>,
    pub to_device_ns: Option<u64>,
    pub from_device_ns: Option<u64>,
    pub runs: u64,
    /// Of so many runs it cannot be: it lies outside of the run, or is more than the run took.
    pub impossible: u64,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RoundRecord {
    pub id: u64,
    pub measured: bool,
    /// What the audit took is in no time of a round.
    pub wall_ns: u64,
    pub audit_ns: u64,
    pub cpu_ns: Option<u64>,
    /// What the backend tells of the time within its runs, all together.
    #[serde(default)]
    pub device: DeviceTimes,
    pub settled: u64,
    /// Which of the processes that shared the measuring time it was in.
    #[serde(default)]
    pub launch: u64,
    pub values: Vec<f64>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SeriesRecord {
    pub name: String,
    pub unit: String,
    pub kind: String,
    pub higher_is_better: Option<bool>,
    /// Samples of one round may overlap in time.
    pub concurrent: bool,
    pub items_per_sample: f64,
    pub rounds: Vec<RoundRecord>,
    /// How long rounds took that were played for an energy counter alone, in nanoseconds.
    #[serde(default)]
    pub for_counter_ns: Vec<u64>,
    /// Figures that came without a round.
    pub singles: Vec<f64>,
    pub stable: bool,
    pub stopped_by: Option<String>,
    /// Binding inputs costs so much more than a copy that it is part of the samples.
    pub binding_counts: bool,
    /// Why its samples cannot be.
    pub implausible: Vec<String>,
    /// Over the measured rounds; `None` without a sensor.
    pub energy: Option<EnergyRecord>,
}

/// What a sensor counted between two moments.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EnergyRecord {
    pub source: String,
    pub scope: String,
    /// The measured rounds, in order.
    pub rounds: Vec<RoundEnergy>,
    /// Rounds that were played for the counter alone, since it moves too seldom for the others; no other figure has them.
    #[serde(default)]
    pub long: Vec<RoundEnergy>,
    /// Half of the 95% interval of the idle power.
    pub idle_half_watts: f64,
    /// The time from one move of the counter to the next; `None`: it was not seen to move twice.
    pub period_s: Option<f64>,
    pub other: Option<OtherEnergy>,
}

/// What a sensor counted in a round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoundEnergy {
    /// Idle power included.
    pub joules: f64,
    /// Between the two readings.
    pub seconds: f64,
    /// What flowed in its process just before the rounds, with nothing being done.
    pub idle_watts: f64,
    /// Iterations, those that settled it among them.
    pub samples: u64,
    /// The median of them, as the series has samples; of rounds of [`EnergyRecord::long`], whose samples are nowhere else.
    pub median: Option<f64>,
    /// What the second sensor counted; `None`: nothing, or there is none.
    pub other_joules: Option<f64>,
}

/// What a counter that moves every `period_s` may have missed at the ends of rounds, in joules, at 95%: each end falls somewhere between two
/// of its moves.
pub fn missed_joules(rounds: &[RoundEnergy], period_s: f64) -> f64 {
    let [joules, seconds] = [|one: &RoundEnergy| one.joules, |one: &RoundEnergy| one.seconds]
        .map(|of: fn(&RoundEnergy) -> f64| rounds.iter().map(of).sum::<f64>());
    skillbench_stats::student(u64::MAX) * (rounds.len() as f64 / 6.0).sqrt() * period_s * joules / seconds
}

/// What was used in rounds above what flows when nothing is done.
pub fn above_idle(rounds: &[RoundEnergy]) -> f64 {
    rounds.iter().map(|round| round.joules - round.idle_watts * round.seconds).sum()
}

/// Whether the counter tells too little of rounds: what it may have missed is more than a tenth of what they used above idle.
pub fn too_coarse(rounds: &[RoundEnergy], period_s: f64) -> bool {
    missed_joules(rounds, period_s) > 0.1 * above_idle(rounds)
}

/// A second sensor, which counted the same rounds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OtherEnergy {
    pub source: String,
    pub scope: String,
}

/// A figure of the backend's own, at moments of the measured rounds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CounterRecord {
    pub name: String,
    pub unit: String,
    pub values: Vec<f64>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CellReport {
    /// So many processes brought it back together.
    pub launches: u64,
    pub device: DeviceRecord,
    pub placement: Option<PlacementRecord>,
    pub loads: Vec<LoadRecord>,
    pub series: Vec<SeriesRecord>,
    pub verification: Option<Verification>,
    /// What was looked at while it was timed, without what the host alone can say; `None`: nothing was verified.
    pub audit: Option<Audit>,
    pub memory_before: Option<u64>,
    pub memory_loaded: Option<u64>,
    /// The highest until the first load was over, until the first outputs were taken, and of the measured rounds.
    pub memory_load_peak: Option<u64>,
    pub memory_first_peak: Option<u64>,
    pub memory_peak: Option<u64>,
    pub device_peak: Option<u64>,
    pub counters: Vec<CounterRecord>,
    /// The device's sensors over the time of the measured rounds, where these are long.
    #[serde(default)]
    pub over_time: Vec<OverTime>,
    /// The process ran no other cell before.
    pub fresh: bool,
    /// `None`: the cell had nothing to do with the pool.
    pub pool: Option<PoolRecord>,
}

impl CellReport {
    /// Of a device behind a network, what the processes of this machine took is left out: it is the cost of asking, and none of the
    /// model's.
    pub fn only_of_the_device(mut self) -> CellReport {
        if !self.device.remote {
            return self;
        }
        for series in &mut self.series {
            series.energy = None;
            series.rounds.iter_mut().for_each(|round| round.cpu_ns = None);
        }
        let (memory_before, memory_loaded, memory_load_peak, memory_first_peak, memory_peak) = Default::default();
        CellReport { memory_before, memory_loaded, memory_load_peak, memory_first_peak, memory_peak, ..self }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FunctionReport {
    pub series: Vec<SeriesRecord>,
    /// With the library open, before the first call.
    pub memory_before: Option<u64>,
    /// The highest of the first calls, before samples are kept beside them.
    pub memory_first: Option<u64>,
    /// The highest of the measured rounds.
    pub memory_peak: Option<u64>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Reply {
    Described(Box<Description>),
    Devices { import_ns: u64, instantiate_ns: u64, devices: Vec<DeviceRecord> },
    Inspected { inputs: Vec<PortRecord>, outputs: Vec<PortRecord> },
    Built,
    Referenced,
    Cell(Box<CellReport>),
    Function(Box<FunctionReport>),
    Profiled(Box<ProfileReport>),
    Checked(crate::check::Verdict),
    Climbed,
    Fuzzed,
}

impl Reply {
    pub fn name(&self) -> &'static str {
        match self {
            Reply::Described(_) => "a description",
            Reply::Devices { .. } => "devices",
            Reply::Inspected { .. } => "ports",
            Reply::Built => "a built model",
            Reply::Referenced => "a reference",
            Reply::Cell(_) => "a cell",
            Reply::Function(_) => "a function's figures",
            Reply::Profiled(_) => "a profile",
            Reply::Checked(_) => "a rule's verdict",
            Reply::Climbed => "the end of a ladder",
            Reply::Fuzzed => "the end of random use",
        }
    }
}
