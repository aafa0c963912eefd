//! Turns on a device whose queue may not be used from several threads at once.
//!
//! ONNX Runtime lets one run of a session in at a time where a provider wants it so, and copies of tensors at any time. Who copies takes a
//! turn; runs that ONNX Runtime works on by itself are waited for.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// How many submitted runs are under way.
static FLYING: Mutex<usize> = Mutex::new(0);
static LANDED: Condvar = Condvar::new();

fn flying() -> MutexGuard<'static, usize> {
    FLYING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The device for this thread alone, for as long as the guard lives.
pub(crate) fn alone() -> MutexGuard<'static, usize> {
    LANDED.wait_while(flying(), |flying| *flying > 0).unwrap_or_else(PoisonError::into_inner)
}

/// A submitted run, from before it is handed over until it has ended.
pub(crate) struct Flight(());

impl Flight {
    pub fn begin() -> Flight {
        *flying() += 1;
        Flight(())
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        *flying() -= 1;
        LANDED.notify_all();
    }
}
