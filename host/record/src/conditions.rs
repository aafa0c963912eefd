//! What the machine did besides while a cell was measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Through all measured rounds of a cell. `None` is what the machine does not tell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Conditions {
    /// Cores that other programs kept busy, on average.
    pub other_cores: Option<f64>,
    /// Cores that a hypervisor gave to others.
    pub stolen_cores: Option<f64>,
    /// Clock frequency, the mean and the least of what was seen.
    pub frequency_mhz: Option<f64>,
    pub frequency_least_mhz: Option<f64>,
    /// The highest of all sensors.
    pub temperature_c: Option<f64>,
    /// How often cores were slowed down for their heat.
    pub throttled: Option<u64>,
}
