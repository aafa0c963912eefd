//! Submitted runs, as an engine of the SDK sees them.

use crate::raw::*;
use crate::{Code, Error, Result, Timing, abi_size};
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Owed for a submitted run: the engine finishes it once, from any thread, when the outputs can be read. One that is dropped tells the
/// host that the run got lost.
pub struct Done {
    callback: Option<(unsafe extern "C" fn(*mut c_void, sb_status, *const sb_timing, *const sb_error), User)>,
    under_way: Arc<AtomicBool>,
}

struct User(*mut c_void);

// SAFETY: the contract: the callback may come on any thread, with what the submitter gave.
unsafe impl Send for User {}

impl Done {
    pub(super) fn new(
        callback: unsafe extern "C" fn(*mut c_void, sb_status, *const sb_timing, *const sb_error),
        user: *mut c_void,
        under_way: Arc<AtomicBool>,
    ) -> Done {
        under_way.store(true, Ordering::SeqCst);
        Done { callback: Some((callback, User(user))), under_way }
    }

    /// Tells the host how the run ended.
    pub fn finish(mut self, ended: Result<Timing>) {
        self.tell(ended);
    }

    fn tell(&mut self, ended: Result<Timing>) {
        let Some((callback, user)) = self.callback.take() else { return };
        self.under_way.store(false, Ordering::SeqCst);
        match ended {
            Ok(timing) => {
                let raw = timing.to_raw();
                // SAFETY: called once; the struct lives through the call.
                unsafe { callback(user.0, SB_OK, &raw const raw, std::ptr::null()) }
            }
            Err(failure) => {
                let mut raw: sb_error = abi_size::sized();
                // SAFETY: a writable struct of this side, which lives through the call.
                unsafe { callback(user.0, failure.give(&raw mut raw), std::ptr::null(), &raw const raw) }
            }
        }
    }
}

impl Drop for Done {
    fn drop(&mut self) {
        self.tell(Err(Error::internal("the engine lost a run that was submitted to it")));
    }
}

/// Ends a submitted run early, from any thread. The run's [`Done`] is still finished, with `Cancelled` where it did not end before.
pub type Cancel = Arc<dyn Fn() -> Result<()> + Send + Sync>;

pub(super) fn under_way() -> Error {
    Error::new(Code::FailedPrecondition, "a submitted run of this request is under way: wait for its callback")
}
