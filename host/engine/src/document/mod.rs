//! The outcome of a run as data: what `run.json` holds, and what its JSON Schema (`docs/run.schema.json`) describes.
//!
//! A number lives only inside [`Outcome::Measured`]: a cell that failed has none, in the types.

mod cell;
mod metrics;
mod parallel;
mod phases;
mod profile;

pub use cell::{Axes, Cell, Dissent, Fix, HardwareRecord, Outcome, PlacementRecord, PoolRecord, Reason, Verification};
pub use metrics::{
    CounterMetrics, EfficiencyMetrics, EnergyMetrics, GenerationMetrics, InitMetrics, MemoryMetrics, Metrics,
    SeriesMetrics, Stats,
};

pub use parallel::ParallelRecord;
pub use phases::{PhaseTime, Phases};
pub use profile::{OperatorCost, PartProfile, ProfileReport, Recorded};

use serde::{Deserialize, Serialize};

pub const RUN_SCHEMA: &str = "skillbench.run/1";

/// A whole run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    pub schema: String,
    pub run_id: String,
    pub started_at: String,
    pub command: Vec<String>,
    pub seed: u64,
    pub environment: crate::environment::Environment,
    /// Backends that were not asked for by name and have no cells, each with the reason.
    #[serde(default)]
    pub left_out: std::collections::BTreeMap<String, String>,
    pub cells: Vec<Cell>,
}

/// Every sample of one series of one cell; they go into `samples.parquet`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Samples {
    pub cell: usize,
    pub series: String,
    pub unit: String,
    pub round: u64,
    pub values: Vec<f64>,
    /// CPU and wall time of the whole round; `None` for a figure that needed no round.
    pub cpu_ns: Option<u64>,
    pub wall_ns: Option<u64>,
}
