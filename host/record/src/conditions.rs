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
    /// The cell was measured twice, for a quiet machine was asked for: `other_cores` of the measurement that does not count.
    #[serde(default)]
    pub other_cores_of_the_other: Option<f64>,
}

impl Conditions {
    /// The worse of both in each respect.
    pub fn worse(&self, other: &Conditions) -> Conditions {
        let most =
            |pick: fn(&Conditions) -> Option<f64>| [pick(self), pick(other)].into_iter().flatten().reduce(f64::max);
        let least =
            |pick: fn(&Conditions) -> Option<f64>| [pick(self), pick(other)].into_iter().flatten().reduce(f64::min);
        Conditions {
            other_cores: most(|one| one.other_cores),
            stolen_cores: most(|one| one.stolen_cores),
            frequency_mhz: least(|one| one.frequency_mhz),
            frequency_least_mhz: least(|one| one.frequency_least_mhz),
            temperature_c: most(|one| one.temperature_c),
            other_cores_of_the_other: None,
            throttled: self.throttled.into_iter().chain(other.throttled).reduce(|one, more| one + more),
        }
    }
}
