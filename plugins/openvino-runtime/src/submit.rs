//! Runs that OpenVINO works on by itself: `start_async`, with a callback.

use crate::failure::{Failure, check};
use openvino_sys::*;
use skillbench_plugin_api::sdk::{Clock, Done};
use skillbench_plugin_api::{Code, Error, Timing};
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// The submitted runs of a request, one at a time. OpenVINO keeps the address of the callback, not a copy of it, and calls it after
/// every run, also of those that are waited for: so it lies here, as long as the request.
pub(crate) struct Runs {
    callback: ov_callback_t,
    under_way: Mutex<Option<UnderWay>>,
    cancelled: AtomicBool,
}

struct UnderWay {
    done: Done,
    clock: Clock,
    submitted: Option<u64>,
}

// SAFETY: the callback holds a function and the address of this very value, and is not written after it was made.
unsafe impl Send for Runs {}
// SAFETY: as for Send; the rest is behind a lock, or atomic.
unsafe impl Sync for Runs {}

impl Runs {
    pub fn new() -> Box<Runs> {
        let callback = ov_callback_t { callback_func: Some(ended), args: ptr::null_mut() };
        let mut runs = Box::new(Runs { callback, under_way: Mutex::new(None), cancelled: AtomicBool::new(false) });
        runs.callback.args = (&raw const *runs).cast_mut().cast();
        runs
    }

    /// Starts a run; `done` is finished in any case. How it ended tells [`Runs::wait`], which may be asked once the callback is over.
    ///
    /// # Safety
    /// `request` is a live request with no run under way, which goes before `self`; what is bound to it is lent until `done` is finished.
    pub unsafe fn submit(&self, request: *mut ov_infer_request_t, clock: Clock, done: Done) {
        self.cancelled.store(false, Ordering::SeqCst);
        let submitted = clock.now_ns();
        *self.slot() = Some(UnderWay { done, clock, submitted });
        // SAFETY: a live request; the callback lies still in its box, longer than the request.
        let started = unsafe {
            check(ov_infer_request_set_callback(request, &raw const self.callback))
                .and_then(|()| check(ov_infer_request_start_async(request)))
        };
        let Err(failure) = started else { return };
        let run = self.slot().take();
        if let Some(UnderWay { done, .. }) = run {
            done.finish(Err(failing(failure)));
        }
    }

    /// The run that is under way is to end.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
    }

    /// Waits until a submitted run and its callback are over. Returns whether its outputs can be read.
    ///
    /// # Errors
    /// How it ended, unless it was cancelled.
    ///
    /// # Safety
    /// `request` is a live request.
    pub unsafe fn wait(&self, request: *mut ov_infer_request_t) -> Result<bool, Error> {
        // SAFETY: the caller promises it.
        match unsafe { check(ov_infer_request_wait(request)) } {
            Ok(()) => Ok(true),
            Err(_) if self.cancelled.load(Ordering::SeqCst) => Ok(false),
            Err(failure) => Err(failing(failure)),
        }
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, Option<UnderWay>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn failing(failure: Failure) -> Error {
    failure.error("run the model")
}

unsafe extern "C" fn ended(runs: *mut c_void) {
    // SAFETY: the address that `new` wrote; the request, which calls, goes first.
    let runs = unsafe { &*runs.cast::<Runs>() };
    let run = runs.slot().take();
    // After a run that was waited for there is nobody to tell.
    let Some(UnderWay { done, clock, submitted }) = run else { return };
    let timing = Timing { submit_ns: submitted, end_ns: clock.now_ns(), ..Timing::default() };
    // OpenVINO calls back in either case, and does not say which.
    done.finish(match runs.cancelled.load(Ordering::SeqCst) {
        true => Err(Error::new(Code::Cancelled, "the run was cancelled")),
        false => Ok(timing),
    });
}
