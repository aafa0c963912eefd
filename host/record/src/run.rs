//! A whole run.

use crate::{Cell, Environment};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub const RUN_SCHEMA: &str = "skillbench.run/1";

/// A whole run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "skillbench.run/1")]
pub struct Run {
    pub schema: String,
    pub run_id: String,
    pub started_at: String,
    pub command: Vec<String>,
    pub seed: u64,
    pub environment: Environment,
    /// Backends that were not asked for by name and have no cells, each with the reason.
    #[serde(default)]
    pub left_out: BTreeMap<String, String>,
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

impl Samples {
    /// A figure over the time of the measured rounds has two series: its values, and when each was read, in nanoseconds. Either has this before its name.
    pub const OVER_TIME: &str = "over_time.";
    pub const READ_AT: &str = "read_at.";
}
