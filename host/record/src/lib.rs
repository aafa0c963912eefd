//! What one measurement is. Everything that stores, compares, draws or tells a measurement takes its words from here.
//!
//! - [`Run`], [`Cell`], [`Outcome`], [`Metrics`] ...: the documents, as `run.json` and the journal hold them.
//! - [`CellKey`]: what makes two measurements the same. [`latest`](mod@latest): which of several counts now. [`Trust`]: how far it is believed.
//! - [`Axes`]: the point of the grid. [`load::Load`]: what a capacity is of. [`RunRequest`]: what was asked for. [`Environment`]: what the machine was.
//! - [`catalog`]: every column of a cell and every metric, once. [`schema`]: the JSON Schema of `run.json`.
//! - [`machine`]: what tells this machine from others. `upgrade`: runs that an older host recorded.
//! - [`paths`]: where files of users are. [`sealed`]: files whose content a run relies on.
//! - [`run_id`]: which text can be the id of a run. [`caught`](mod@caught): a panic as a text.
//! - [`time`], [`hash`](mod@hash), [`suggest`]: moments as text, SHA-256, and "did you mean".
//! - [`journal`]: the lines of a journal. [`cell_files`]: what a cell leaves beside its line. [`scratch`]: temporary files. [`Holder`]: who holds a lock.
//!
//! Not here: engines and plugins, the database, data frames, anything that measures.

mod audit;
mod axes;
pub mod catalog;
pub mod caught;
mod cell;
pub mod cell_files;
mod conditions;
pub mod defaults;
mod environment;
#[cfg(test)]
mod fuzz;
pub mod hash;
mod holder;
pub mod journal;
mod key;
mod label;
pub mod latest;
pub mod load;
pub mod located;
pub mod machine;
mod metrics;
mod outcome;
mod parallel;
pub mod paths;
mod phases;
mod precision;
mod profile;
mod request;
mod run;
pub mod run_id;
pub mod schema;
pub mod scratch;
pub mod sealed;
pub mod shown;
pub mod suggest;
pub mod time;
mod trust;
mod upgrade;
mod verification;

pub use audit::Audit;
pub use axes::Axes;
pub use caught::caught;
pub use cell::{Cell, FUNCTION, HardwareRecord, PlacementRecord, PoolRecord, Workaround};
pub use conditions::Conditions;
pub use environment::{BuildRecord, ClockOffset, Environment, FleetRecord};
pub use holder::Holder;
pub use key::{CellKey, options_text, subject};
pub use label::HardwareLabel;
pub use latest::{Latest, Seen, latest};
pub use metrics::{
    CapacityMetrics, CapacityTrial, CounterMetrics, EfficiencyMetrics, EnergyMetrics, GenerationMetrics, InitMetrics,
    MemoryMetrics, Metrics, MlperfMetrics, OtherEnergy, SeriesMetrics, ServingMetrics, Stats, TokenMetrics,
};
pub use outcome::{Outcome, OutcomeKind, Reason};
pub use parallel::ParallelRecord;
pub use phases::{PhaseTime, Phases};
pub use precision::{PRECISIONS, SHORT_PRECISIONS, precision};
pub use profile::{OperatorCost, PartProfile, ProfileReport};
pub use request::{BackendChoice, CellName, ModelSet, OptionChoice, PluginOptions, RunRequest, Selection};
pub use run::{RUN_SCHEMA, Run, Samples};
pub use trust::{Nature, Trust};
pub use verification::{Disagreement, Verification};
