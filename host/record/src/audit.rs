//! What was looked at while a cell was timed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The audit of a cell whose outputs were verified.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Audit {
    /// Measured rounds in which an input that the engine had never seen was held against the reference.
    pub rounds: u64,
    /// All measured rounds.
    pub rounds_of: u64,
    /// Inputs that were held against the reference, that of the first check included.
    pub inputs: u64,
    /// Of them after the last round.
    pub after_last: u64,
    /// Of requests of several sizes those of each part at each size, without the first checks: "model at batch=1 sequence=16", and "model" at
    /// the cell's own size.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs_by_size: BTreeMap<String, u64>,
    /// Runs with inputs of their own, whose outputs were seen to be written.
    pub runs: u64,
    /// What the audit took, over the time of the rounds.
    pub share_of_time: f64,
    /// How far the outputs of the same input were apart, over their largest magnitude; 0: an engine that repeats itself. `None`: no
    /// input was run twice.
    pub repeat_difference: Option<f64>,
    /// How far outputs move, at the least, from one input to another, in the scale of the tolerance. `None`: nobody could tell.
    pub movement: Option<f64>,
    /// How far the outputs of any input that was compared were from the reference, in the scale of the tolerance. `None`: none was.
    #[serde(default)]
    pub furthest: Option<f64>,
    /// Why passing proves little; `None`: it proves what it should.
    pub weak: Option<String>,
    /// Which lower precision might pass for the one that was read back; `None`: none that is known.
    pub undecidable: Option<String>,
    /// Binding inputs takes more than a copy, and is part of the samples.
    pub binding_counts: bool,
}

impl Audit {
    /// "14 rounds of 212, 17 inputs".
    pub fn describe(&self) -> String {
        let count = |n: u64, noun: &str| format!("{n} {noun}{}", if n == 1 { "" } else { "s" });
        format!("{} of {}, {}", count(self.rounds, "round"), self.rounds_of, count(self.inputs, "input"))
    }
}
