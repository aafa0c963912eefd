//! What a backend tells of a load, a run and its memory.

use super::{known, or_unknown};
use crate::raw::*;
use crate::{abi_size, text};

/// What really happened at load: never what was asked for. `None` where the engine cannot tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The effective precision: "float32", "float16", "bfloat16", "int8".
    pub precision: String,
    /// The id of the device that runs the model.
    pub device: String,
    /// Name and version of the engine.
    pub engine: String,
    pub nodes_total: Option<u64>,
    pub nodes_on_device: Option<u64>,
    /// Whether compiled code came from the cache folder; `None` for an engine that keeps no cache.
    pub cache_hit: Option<bool>,
    pub read_ns: Option<u64>,
    pub compile_ns: Option<u64>,
    pub upload_ns: Option<u64>,
}

impl Placement {
    pub(crate) fn to_raw(&self) -> sb_placement {
        let mut raw: sb_placement = abi_size::sized();
        raw.nodes_total = or_unknown(self.nodes_total);
        raw.nodes_on_device = or_unknown(self.nodes_on_device);
        raw.cache_hit = or_unknown(self.cache_hit.map(u64::from));
        raw.read_ns = or_unknown(self.read_ns);
        raw.compile_ns = or_unknown(self.compile_ns);
        raw.upload_ns = or_unknown(self.upload_ns);
        raw.precision = text::to_array(&self.precision);
        raw.device = text::to_array(&self.device);
        raw.engine = text::to_array(&self.engine);
        raw
    }

    /// A field beyond the size that the callee filled is unknown, not zero.
    pub(crate) fn from_raw(raw: &sb_placement) -> Placement {
        let size = raw.size as usize;
        let number = |offset: usize, value: u64| if size >= offset + 8 { known(value) } else { None };
        macro_rules! field {
            ($name:ident) => {
                number(std::mem::offset_of!(sb_placement, $name), raw.$name)
            };
        }
        Placement {
            precision: text::from_array(&raw.precision),
            device: text::from_array(&raw.device),
            engine: text::from_array(&raw.engine),
            nodes_total: field!(nodes_total),
            nodes_on_device: field!(nodes_on_device),
            cache_hit: field!(cache_hit).map(|hit| hit != 0),
            read_ns: field!(read_ns),
            compile_ns: field!(compile_ns),
            upload_ns: field!(upload_ns),
        }
    }
}

/// When a run happened, in nanoseconds of the host's clock. `None` where the engine cannot tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    pub start_ns: Option<u64>,
    pub end_ns: Option<u64>,
    pub host_to_device_ns: Option<u64>,
    pub device_to_host_ns: Option<u64>,
}

impl Timing {
    pub(crate) fn to_raw(self) -> sb_timing {
        let mut raw: sb_timing = abi_size::sized();
        raw.submit_ns = SB_UNKNOWN;
        raw.clock_error_ns = SB_UNKNOWN;
        raw.start_ns = or_unknown(self.start_ns);
        raw.end_ns = or_unknown(self.end_ns);
        raw.host_to_device_ns = or_unknown(self.host_to_device_ns);
        raw.device_to_host_ns = or_unknown(self.device_to_host_ns);
        raw
    }

    /// All unknown, for a callee to fill.
    pub(crate) fn unknown() -> sb_timing {
        Timing::default().to_raw()
    }

    pub(crate) fn from_raw(raw: &sb_timing) -> Timing {
        Timing {
            start_ns: known(raw.start_ns),
            end_ns: known(raw.end_ns),
            host_to_device_ns: known(raw.host_to_device_ns),
            device_to_host_ns: known(raw.device_to_host_ns),
        }
    }
}

/// Memory of a device in bytes. `None` where it cannot be told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    pub used: Option<u64>,
    pub peak: Option<u64>,
    pub total: Option<u64>,
}

impl Memory {
    pub(crate) fn to_raw(self) -> sb_memory {
        let mut raw: sb_memory = abi_size::sized();
        raw.scope = SB_SCOPE_DEVICE;
        raw.used = or_unknown(self.used);
        raw.peak = or_unknown(self.peak);
        raw.total = or_unknown(self.total);
        raw
    }

    pub(crate) fn from_raw(raw: &sb_memory) -> Memory {
        Memory { used: known(raw.used), peak: known(raw.peak), total: known(raw.total) }
    }
}
