//! How far the figures of a measured cell may be believed.

use crate::Verification;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Ordered: the last is the highest. Figures of lower trust never take the place of higher ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// The figures contradict the host's own clock, the CPU time or what the device can do.
    Implausible,
    /// The device is emulated: its times are no hardware's.
    Emulated,
    /// On hardware, and the outputs were held against nothing.
    Unverified,
    /// Somewhere behind a network, and the outputs agree with an engine of this machine: the figure is that of a service.
    Remote,
    /// On hardware, and the outputs agree with another engine, or with the same one in another process.
    Hardware,
}

/// What a device is, by its own account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nature {
    Local,
    Emulated,
    Remote,
}

impl Nature {
    /// What is emulated somewhere else is emulated.
    pub fn of(is_emulated: bool, is_remote: bool) -> Nature {
        match (is_emulated, is_remote) {
            (true, _) => Nature::Emulated,
            (false, true) => Nature::Remote,
            (false, false) => Nature::Local,
        }
    }
}

impl Trust {
    pub const ALL: [Trust; 5] =
        [Trust::Implausible, Trust::Emulated, Trust::Unverified, Trust::Remote, Trust::Hardware];

    /// Of a measured cell.
    pub fn of(nature: Nature, verification: Option<&Verification>) -> Trust {
        match (nature, verification) {
            (Nature::Emulated, _) => Trust::Emulated,
            (_, Some(Verification::NoReference { .. } | Verification::Off) | None) => Trust::Unverified,
            (Nature::Remote, Some(Verification::Passed { .. })) => Trust::Remote,
            (Nature::Local, Some(Verification::Passed { .. })) => Trust::Hardware,
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Trust::Implausible => "implausible",
            Trust::Emulated => "emulated",
            Trust::Unverified => "unverified",
            Trust::Remote => "remote",
            Trust::Hardware => "hardware",
        }
    }

    /// Whether the outputs were held against another engine's, and the figures are of no emulation.
    pub fn is_verified(self) -> bool {
        matches!(self, Trust::Hardware | Trust::Remote)
    }

    /// Whether it may be ranked.
    pub fn is_comparable(self) -> bool {
        self == Trust::Hardware
    }
}

impl fmt::Display for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Trust {
    type Err = String;

    fn from_str(text: &str) -> Result<Trust, String> {
        let found = Trust::ALL.into_iter().find(|trust| trust.name() == text);
        found.ok_or_else(|| format!("unknown trust '{text}'; a newer host may have written it"))
    }
}
