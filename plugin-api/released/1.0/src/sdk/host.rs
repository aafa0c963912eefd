//! The services of the host, as a plugin sees them.

use crate::raw::*;
use crate::{abi_size, text};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Error = SB_LOG_ERROR as isize,
    Warn = SB_LOG_WARN as isize,
    Info = SB_LOG_INFO as isize,
    Debug = SB_LOG_DEBUG as isize,
}

/// A handle to the worker's services. It outlives every other handle and may be used from any thread.
#[derive(Clone, Copy)]
pub struct Host(sb_host);

// SAFETY: every slot of sb_host is [any], and `ctx` is the worker's to share.
unsafe impl Send for Host {}
// SAFETY: as for Send.
unsafe impl Sync for Host {}

impl Host {
    /// # Safety
    /// `raw` is null or the host table of this process, which lives as long as the process.
    pub(crate) unsafe fn new(raw: *const sb_host) -> Host {
        // SAFETY: the caller promises it. Without a host every service is silent.
        Host(unsafe { abi_size::read(raw) }.unwrap_or_else(abi_size::zeroed))
    }

    pub fn log(&self, level: Level, message: &str) {
        if let Some(log) = self.0.log {
            let (target, message) = (c"plugin", text::c_string(message));
            // SAFETY: [any]; the strings live through the call.
            unsafe { log(self.0.ctx, level as i32, target.as_ptr(), message.as_ptr()) }
        }
    }

    /// Tells the host that a long step is alive. `fraction` of it is done, from 0 to 1; NaN where unknown.
    pub fn phase(&self, name: &str, fraction: f64) {
        if let Some(phase) = self.0.phase {
            let name = text::c_string(name);
            // SAFETY: [any]; the string lives through the call.
            unsafe { phase(self.0.ctx, name.as_ptr(), fraction) }
        }
    }

    /// Tells what was looked at while opening, and what was found there: "libcuda.so.1", "not found". It reaches the user also
    /// where opening fails.
    pub fn evidence(&self, what: &str, found: &str) {
        if let Some(evidence) = self.0.evidence {
            let (what, found) = (text::c_string(what), text::c_string(found));
            // SAFETY: [any]; the strings live through the call.
            unsafe { evidence(self.0.ctx, what.as_ptr(), found.as_ptr()) }
        }
    }

    /// The run's monotonic clock, in nanoseconds. `None` on a host without one.
    pub fn now_ns(&self) -> Option<u64> {
        // SAFETY: [any].
        self.0.now_ns.map(|now| unsafe { now(self.0.ctx) })
    }

    /// Whether the run is being stopped; long loops ask, and return `Cancelled`.
    pub fn stopping(&self) -> bool {
        // SAFETY: [any].
        self.0.stopping.is_some_and(|stopping| unsafe { stopping(self.0.ctx) } != 0)
    }
}
