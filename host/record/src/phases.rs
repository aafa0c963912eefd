//! Where the time of a cell went.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The phases of a cell, in the order in which they began. Every moment is in one of them, or in what is left: they add up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Phases {
    /// From the first preparation to the end, on the host's clock.
    pub total_ms: f64,
    pub parts: Vec<PhaseTime>,
    /// In none of the phases: what the benchmark does between its rounds, and the host between its steps.
    pub other_ms: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseTime {
    /// "load.compile", "measured-rounds" ...
    pub name: String,
    pub ms: f64,
}

impl fmt::Display for Phases {
    /// "12.3 ms: load 10.1 ms, measured-rounds 2.0 ms, other 0.2 ms".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} ms: ", self.total_ms)?;
        self.parts.iter().try_for_each(|part| write!(f, "{} {:.1} ms, ", part.name, part.ms))?;
        write!(f, "other {:.1} ms", self.other_ms)
    }
}
