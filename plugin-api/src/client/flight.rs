//! A submitted run, from `submit` until its callback came.

use crate::raw::*;
use crate::{Code, Error, Result, Timing, abi_size};
use std::ffi::c_void;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

type Done = Box<dyn FnOnce(Result<Timing>) + Send>;

/// The run of a request that was submitted last. The request keeps it, so that a callback too many finds it, and does no harm.
#[derive(Default)]
pub(super) struct Flight {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    under_way: bool,
    /// Whom the callback tells.
    done: Option<Done>,
    /// A callback came, and no run was under way.
    stray: bool,
}

impl Flight {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// # Errors
    /// `FailedPrecondition` while a run is under way, `Internal` where the backend called back twice.
    pub fn begin(&self, done: Done) -> Result<()> {
        let mut state = self.state();
        if state.stray {
            return Err(Error::internal("the backend called back more than once for one submitted run"));
        }
        if state.under_way {
            return Err(Error::new(Code::FailedPrecondition, "the run that was submitted before is still under way"));
        }
        (state.under_way, state.done) = (true, Some(done));
        Ok(())
    }

    /// The backend took no run: nobody is called back.
    pub fn refused(&self) {
        let mut state = self.state();
        (state.under_way, state.done) = (false, None);
    }

    /// Waits for the callback: until then the engine uses what is bound.
    pub fn wait(&self) {
        let mut state = self.state();
        while state.under_way {
            state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// What a backend gives back with the callback.
    pub fn user(self: &Arc<Flight>) -> *mut c_void {
        Arc::as_ptr(self).cast_mut().cast()
    }

    fn land(&self, ended: Result<Timing>) {
        let Some(done) = self.state().done.take() else {
            self.state().stray = true;
            return;
        };
        // A panic may not cross the contract.
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| done(ended)));
        self.state().under_way = false;
        self.ended.notify_all();
    }
}

/// # Safety
/// `user` is a [`Flight`] whose request is alive, `timing` and `error` are null or readable.
pub(super) unsafe extern "C" fn landed(
    user: *mut c_void,
    status: sb_status,
    timing: *const sb_timing,
    error: *const sb_error,
) {
    // SAFETY: the contract: the request waits for its callback before it goes.
    let flight = unsafe { &*user.cast::<Flight>() };
    // SAFETY: the contract: null or a struct with its size set.
    let (timing, error) = unsafe { (abi_size::read(timing), abi_size::read(error)) };
    flight.land(match status {
        SB_OK => Ok(timing.map_or_else(Timing::default, |raw| Timing::from_raw(&raw))),
        status => Err(Error::taken(status, &error.unwrap_or_else(abi_size::sized))),
    });
}
