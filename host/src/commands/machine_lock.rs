//! Whose turn it is to measure on this machine, and Ctrl-C, which ends the wait for it as it ends a run.

use super::Exit;
use crate::cli::{Global, LockArgs};
use crate::output;
use skillbench_engine::lock::{self, Guard, LockError};
use skillbench_engine::worker::Stop;
use std::sync::Arc;
use std::time::Duration;

/// A turn, once it is taken, as long as this lives.
#[derive(Default)]
pub struct MachineLock {
    guard: Option<Arc<Guard>>,
    told: bool,
}

impl MachineLock {
    /// Takes the turn, or keeps it. From here on Ctrl-C asks for an end.
    ///
    /// # Errors
    /// How the program ends that does not get it; that is told.
    pub fn take(&mut self, global: &Global, args: &LockArgs) -> Result<(), Exit> {
        // A second Ctrl-C ends the program at once.
        let _ = ctrlc::set_handler(|| {
            if Stop::global().asked() {
                std::process::exit(130);
            }
            Stop::global().ask();
        });
        if args.no_lock || self.guard.is_some() || self.told {
            return Ok(());
        }
        let mut tell = |who: &str| {
            if !global.quiet {
                output::say(&format!("waiting for {who}"));
            }
        };
        match lock::hold(&lock::place(), args.lock_wait.map(Duration::from_secs_f64), &mut tell) {
            Ok(guard) => self.guard = Some(guard),
            Err(LockError::Stopped) => return Err(Exit::Stopped),
            Err(busy @ LockError::Busy { .. }) => {
                output::error(&busy.to_string());
                return Err(Exit::Unmeasured);
            }
            Err(unlockable @ LockError::Unlockable { .. }) => {
                output::warning(&format!("{unlockable}; another benchmark may measure at the same time"));
                self.told = true;
            }
        }
        Ok(())
    }
}
