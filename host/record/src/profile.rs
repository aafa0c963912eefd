//! What the operators of a cell's model cost, as its engine told it. All figures are of one run, on average.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The operators of every part of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProfileReport {
    pub parts: Vec<PartProfile>,
    /// Parts without a profile, each with the reason.
    #[serde(default)]
    pub left_out: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PartProfile {
    /// "" for a model of one part.
    pub part: String,
    pub engine: String,
    pub device: String,
    pub precision: Option<String>,
    /// How long each recorded run took, the recording included: no latency.
    pub runs_ms: Vec<f64>,
    /// The sum over the operators of a run.
    pub operators_ms: f64,
    pub operators_per_run: f64,
    /// What the engine cannot tell, in sentences.
    pub notes: Vec<String>,
    /// The costliest first.
    pub by_type: Vec<OperatorCost>,
    /// The costliest nodes.
    pub by_node: Vec<OperatorCost>,
    /// How many nodes there are; those that `by_node` leaves out are in the trace.
    pub nodes: usize,
}

/// Operators of one type, or a single node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OperatorCost {
    /// "MatMul", or what the engine made of several nodes.
    #[serde(rename = "type")]
    pub kind: String,
    /// The node; `None` for all of a type.
    pub name: Option<String>,
    /// `None` where the engine cannot tell, and where several computed those of a type.
    pub kernel: Option<String>,
    pub device: String,
    /// In one run.
    pub count: f64,
    pub total_ms: f64,
    pub mean_ms: f64,
    /// Of the sum over all operators.
    pub share: f64,
}
