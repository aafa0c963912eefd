//! The compatibility matrix: what runs where, and how well, by a published rule.
//!
//! - `rule`: the rule, its words and its colours, from `data/matrix.toml`. `rows`: the cells it is about. `speedup`: held against the CPU.
//! - `build`: from the cells of all runs to the matrix. `family`: what the models of a family have in common. `history`: every run.
//! - `json` and `read`: the file that other tools know. `text`: Markdown, and tables.
//!
//! Failed, unavailable and not tried are three different things. Emulated, unverified and remote cells have a status, and never a rating.
//!
//! Not here: drawing a page (`skillbench-report`), where the files lie (the command line).

mod build;
mod family;
mod history;
mod json;
mod read;
mod rows;
mod rule;
mod speedup;
mod text;

pub use build::{COLUMNS, build};
pub use json::json;
pub use read::{MatrixError, read};
pub use rule::{RatingRule, Rule, StatusRule, rule};
pub use text::{markdown, table};

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How well a model runs on hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rating {
    High,
    MediumHigh,
    Medium,
    Low,
    /// Tried, and does not run.
    #[serde(rename = "n/a")]
    None,
    /// Not tried, not available, or nothing to hold it against.
    Unknown,
}

/// How far it came, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    NotTried,
    Unavailable,
    Unsupported,
    Failed,
    Measured,
}

/// A speed-up over the CPU: of one machine and one precision, the geometric mean over the points of the grid, and over models.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Speedup {
    pub value: f64,
    pub rating: Rating,
    pub precision: String,
    pub machine: String,
    /// Cells it is worked out from.
    pub points: u64,
    pub models: u64,
    /// The newest of them.
    pub timestamp: Option<String>,
}

/// What a run found out. Of several precisions there is one of each; figures are means over the points of the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measurement {
    pub timestamp: Option<String>,
    pub run: Option<String>,
    pub model_name: Option<String>,
    /// As in `run.json`; `None`: the file does not tell.
    pub outcome: Option<String>,
    /// Seconds.
    pub mean_latency: Option<f64>,
    /// Items per second.
    pub mean_throughput: Option<f64>,
    pub precision: Option<String>,
    pub cells: Option<u64>,
    pub emulated: bool,
    pub verified: Option<bool>,
}

/// Cells that are not measured, all for the same reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Failure {
    pub outcome: String,
    pub reason: String,
    pub cells: u64,
    /// They are measured, and this became of a newer try: the figures hold.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub since: bool,
}

impl Model {
    /// "tinyllama-1.1b-kv (full, 1.1 B)".
    pub fn describe(&self) -> String {
        let size = self.parameters.map(skillbench_record::shown::parameters);
        let facts: Vec<String> = self.relation.clone().into_iter().chain(size).collect();
        if facts.is_empty() { self.id.clone() } else { format!("{} ({})", self.id, facts.join(", ")) }
    }
}

/// A model on hardware, or a family.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    pub hardware: String,
    pub status: Status,
    pub rating: Rating,
    /// On hardware itself, with verified outputs. `None`: nobody knows.
    pub compatible: Option<bool>,
    /// Why it is not measured, or has no rating.
    pub reason: Option<String>,
    /// A command that brings it further.
    pub next: Option<String>,
    pub emulated: bool,
    pub verified: Option<bool>,
    /// What the rating is by.
    pub speedup: Option<Speedup>,
    /// Those of other precisions and machines.
    pub others: Vec<Speedup>,
    /// Of a family: how many models have which status. Empty for a model.
    pub models: BTreeMap<Status, u64>,
    /// Of the newest cells those that are not measured.
    pub failures: Vec<Failure>,
    pub history: Vec<Measurement>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Model {
    pub id: String,
    /// Of its newest cell; `None`: nobody counted.
    pub parameters: Option<u64>,
    /// To the model it is known as: "full", "reduced", "part".
    pub relation: Option<String>,
    /// In the order of the matrix's hardware.
    pub entries: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Family {
    pub name: String,
    pub entries: Vec<Entry>,
    /// None where a file does not tell them apart.
    pub models: Vec<Model>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Matrix {
    /// Of the newest run in it.
    pub timestamp: Option<String>,
    pub hardware: Vec<String>,
    pub families: Vec<Family>,
}

impl Matrix {
    /// The part of some hardware and some models; an empty list means all. Families are worked out anew from what is left of them.
    pub fn only(mut self, hardware: &[String], models: &[String]) -> Matrix {
        if !models.is_empty() {
            for family in &mut self.families {
                family.models.retain(|model| models.contains(&model.id));
            }
            self.families.retain(|family| !family.models.is_empty());
            for family in &mut self.families {
                family.entries = family::entries(&self.hardware, &family.models);
            }
        }
        if !hardware.is_empty() {
            let meant = |entry: &Entry| hardware.contains(&entry.hardware);
            for family in &mut self.families {
                family.entries.retain(meant);
                family.models.iter_mut().for_each(|model| model.entries.retain(meant));
            }
            self.hardware.retain(|id| hardware.contains(id));
        }
        self
    }

    pub fn models(&self) -> impl Iterator<Item = &Model> {
        self.families.iter().flat_map(|family| &family.models)
    }
}
