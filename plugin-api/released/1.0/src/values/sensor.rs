//! What a vendor's sensors tell: energy, and figures of its own.

use super::{known, or_unknown};
use crate::raw::*;
use crate::{abi_size, text};

/// An energy counter at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Energy {
    /// Since some moment that does not change while the process lives.
    pub microjoules: u64,
    /// When the sensor was read, on the host's clock; `None` where that cannot be told.
    pub at_ns: Option<u64>,
    /// How often the sensor renews its figure; `None` where that cannot be told.
    pub period_ns: Option<u64>,
    pub scope: Scope,
    /// The name of the sensor: "NVML".
    pub source: String,
}

/// What a sensor counts the energy of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Process,
    Device,
    /// A processor with its memory controllers.
    Package,
    Board,
}

impl Scope {
    const ALL: [(Scope, u32, &'static str); 4] = [
        (Scope::Process, SB_SCOPE_PROCESS, "process"),
        (Scope::Device, SB_SCOPE_DEVICE, "device"),
        (Scope::Package, SB_SCOPE_PACKAGE, "package"),
        (Scope::Board, SB_SCOPE_BOARD, "board"),
    ];

    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|row| row.0 == self).map_or("board", |row| row.2)
    }

    /// Its number in the contract.
    pub fn to_raw(self) -> u32 {
        Self::ALL.iter().find(|row| row.0 == self).map_or(SB_SCOPE_BOARD, |row| row.1)
    }

    /// A number that this version does not know counts as the widest scope.
    pub fn from_raw(raw: u32) -> Scope {
        Self::ALL.iter().find(|row| row.1 == raw).map_or(Scope::Board, |row| row.0)
    }
}

impl Energy {
    pub(crate) fn to_raw(&self) -> sb_energy {
        let mut raw: sb_energy = abi_size::sized();
        raw.scope = self.scope.to_raw();
        raw.microjoules = self.microjoules;
        raw.at_ns = or_unknown(self.at_ns);
        raw.period_ns = or_unknown(self.period_ns);
        raw.source = text::to_array(&self.source);
        raw
    }

    /// `None` where the counter itself is unknown.
    pub(crate) fn from_raw(raw: &sb_energy) -> Option<Energy> {
        Some(Energy {
            microjoules: known(raw.microjoules)?,
            at_ns: known(raw.at_ns),
            period_ns: known(raw.period_ns),
            scope: Scope::from_raw(raw.scope),
            source: text::from_array(&raw.source),
        })
    }
}

/// A figure of a vendor's own.
#[derive(Clone, Debug, PartialEq)]
pub struct Counter {
    /// "sm_clock".
    pub name: String,
    /// "MHz", "%", "C".
    pub unit: String,
    /// NaN where it cannot be told now.
    pub value: f64,
}

impl Counter {
    pub fn new(name: &str, unit: &str, value: f64) -> Counter {
        Counter { name: name.into(), unit: unit.into(), value }
    }

    pub(crate) fn to_raw(&self) -> sb_counter {
        let mut raw: sb_counter = abi_size::sized();
        raw.value = self.value;
        raw.name = text::to_array(&self.name);
        raw.unit = text::to_array(&self.unit);
        raw
    }

    pub(crate) fn from_raw(raw: &sb_counter) -> Counter {
        Counter { name: text::from_array(&raw.name), unit: text::from_array(&raw.unit), value: raw.value }
    }
}
