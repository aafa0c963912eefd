//! When a run happened, as the engine itself saw it.

use super::{known, or_unknown};
use crate::abi_size;
use crate::raw::*;

/// When a run happened, in nanoseconds of the host's clock. `None` where the engine cannot tell.
///
/// `start_ns` to `end_ns` is the work of the device. Copies to and from it are told apart, and lie beside that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// When the run was handed to the device's queue.
    pub submit_ns: Option<u64>,
    pub start_ns: Option<u64>,
    pub end_ns: Option<u64>,
    /// How far the device's clock may be from the host's.
    pub clock_error_ns: Option<u64>,
    pub host_to_device_ns: Option<u64>,
    pub device_to_host_ns: Option<u64>,
}

impl Timing {
    /// How long the device worked. `None` where the engine cannot tell, or tells an end before the start.
    pub fn device_ns(&self) -> Option<u64> {
        self.end_ns?.checked_sub(self.start_ns?)
    }

    pub(crate) fn to_raw(self) -> sb_timing {
        let mut raw: sb_timing = abi_size::sized();
        raw.submit_ns = or_unknown(self.submit_ns);
        raw.start_ns = or_unknown(self.start_ns);
        raw.end_ns = or_unknown(self.end_ns);
        raw.clock_error_ns = or_unknown(self.clock_error_ns);
        raw.host_to_device_ns = or_unknown(self.host_to_device_ns);
        raw.device_to_host_ns = or_unknown(self.device_to_host_ns);
        raw
    }

    /// All unknown, for a callee to fill.
    pub(crate) fn unknown() -> sb_timing {
        Timing::default().to_raw()
    }

    /// What a callee filled: no further than the size it set.
    pub(crate) fn from_raw(raw: &sb_timing) -> Timing {
        Timing {
            submit_ns: known(raw.submit_ns),
            start_ns: known(raw.start_ns),
            end_ns: known(raw.end_ns),
            clock_error_ns: known(raw.clock_error_ns),
            host_to_device_ns: known(raw.host_to_device_ns),
            device_to_host_ns: known(raw.device_to_host_ns),
        }
    }
}
