//! How the outputs of a cell were checked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the check of the outputs found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
        /// How far two engines of float32 are apart on this model; `None`: there was but one, or it was not asked.
        #[serde(default)]
        spread: Option<f64>,
        /// Other engines that differ from the reference here, outvoted by it and this one.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        dissent: Vec<Disagreement>,
    },
    /// Finite, but there is no reference to hold the outputs against.
    NoReference { why: String },
    /// Switched off with `--no-verify`.
    Off,
}

/// An engine that two others outvoted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Disagreement {
    pub reference: String,
    /// From the reference that counted; `None`: the outputs have other shapes.
    pub max_relative_difference: Option<f64>,
}
