//! A comparison as data: what `host compare --format json` prints and `comparison.json` holds.

use super::{Bar, Evidence, Metric, Verdict};
use serde::{Deserialize, Serialize};
use skillbench_record::{Axes, Cell, Environment, Reason, Trust};

pub const COMPARISON_SCHEMA: &str = "skillbench.comparison/2";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Both sides in turns, round by round.
    Interleaved,
    /// Runs that were measured one after the other.
    Apart,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Comparison {
    pub schema: String,
    pub id: String,
    pub compared_at: String,
    pub command: Vec<String>,
    pub mode: Mode,
    pub before: Party,
    pub after: Party,
    /// Of a live comparison.
    pub environment: Option<Environment>,
    /// What is compared although it should not be, as it was asked for: "machine", "precision", "model", "plugin".
    pub across: Vec<String>,
    pub notes: Vec<String>,
    pub cells: Vec<ComparedCell>,
}

/// One of the two, as it was named.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Party {
    pub name: String,
    /// `None`: it was measured for this comparison.
    pub run: Option<String>,
    pub started_at: Option<String>,
    pub machine: String,
}

/// What ran on one side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    pub plugin: String,
    pub plugin_version: String,
    pub device: Option<String>,
    pub model: String,
    pub precision: Option<String>,
    pub threads: Option<u64>,
    pub engine: Option<String>,
    /// Options of the plugin that differ from its defaults.
    #[serde(default)]
    pub options: Option<String>,
    /// Requests at once.
    #[serde(default)]
    pub workers: Option<u64>,
    /// `None`: it is not measured.
    #[serde(alias = "standing")]
    pub trust: Option<Trust>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ComparedCell {
    pub model: String,
    pub benchmark: String,
    pub axes: Axes,
    pub before: Subject,
    pub after: Subject,
    /// The second side, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
    /// Why nothing is compared here.
    pub reason: Option<Reason>,
    /// What to know before believing it: "emulated", "precision float32 against float16".
    pub labels: Vec<String>,
    pub metrics: Vec<ComparedMetric>,
    /// Of a live comparison: both cells, with the figures of all their rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cells: Option<[Cell; 2]>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ComparedMetric {
    #[serde(flatten)]
    pub metric: Metric,
    #[serde(flatten)]
    pub evidence: Evidence,
    #[serde(flatten)]
    pub bar: Bar,
    pub verdict: Verdict,
    pub reason: String,
    /// The run that the figures after are of, where it is another than the one that was named: what looked worse was measured again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The first measurement, where a difference was measured again before it was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<Evidence>,
    /// Of a live comparison: before and after in each pair of rounds, by launch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<Vec<[f64; 2]>>,
}
