//! One benchmark at a time measures on a machine: the lock, and the wait for it.

use crate::event::{Event, Listener};
use skillbench_engine::lock::{self, Guard, LockError};
use skillbench_worker::Stop;
use std::sync::Arc;
use std::time::Duration;

/// The machine, held from the first [`MachineLock::take`] as long as this lives.
#[derive(Default)]
pub struct MachineLock {
    /// Nothing is locked: another benchmark may measure at the same time.
    pub off: bool,
    /// How long to wait at the longest; `None`: as long as it takes.
    pub patience: Option<Duration>,
    guard: Option<Arc<Guard>>,
    is_unlockable: bool,
}

impl MachineLock {
    pub fn new(off: bool, patience: Option<Duration>) -> MachineLock {
        MachineLock { off, patience, ..MachineLock::default() }
    }

    /// Takes the lock, or keeps it. Where no lock can be had, that is a warning.
    ///
    /// # Errors
    /// Another benchmark held it for too long, or the wait was stopped.
    pub fn take(&mut self, stop: &Stop, on: &mut Listener<'_>) -> Result<(), LockError> {
        on(Event::Locking);
        if self.off || self.guard.is_some() || self.is_unlockable {
            return Ok(());
        }
        let mut tell = |holder: &str| on(Event::Waiting { holder });
        match lock::hold(&lock::place(), self.patience, stop, &mut tell) {
            Ok(guard) => self.guard = Some(guard),
            Err(unlockable @ LockError::Unlockable { .. }) => {
                on(Event::Warning(&format!("{unlockable}; another benchmark may measure at the same time")));
                self.is_unlockable = true;
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}
