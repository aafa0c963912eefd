//! How long a worker may take, and how much memory. Enforced from outside.

use super::{Stage, Stop};
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Debug)]
pub struct Limits {
    /// The whole command.
    pub total: Duration,
    /// Opening the library, and opening the instance, each.
    pub opening: Duration,
    /// Resident set in bytes; `None`: no limit.
    pub memory: Option<u64>,
    /// Ends the worker from elsewhere in the host, beside the user's own wish.
    pub stop: Option<Arc<Stop>>,
}

impl Limits {
    /// For a look at a plugin: seconds, not minutes.
    pub fn probing() -> Limits {
        let (total, opening) = (Duration::from_secs(60), Duration::from_secs(30));
        Limits { total, opening, memory: default_memory(), stop: None }
    }

    /// For a cell: `total` is the user's time limit.
    pub fn working(total: Duration, memory: Option<u64>) -> Limits {
        let opening = total.min(Duration::from_secs(120));
        Limits { total, opening, memory: memory.or_else(default_memory), stop: None }
    }

    /// Whether the work is to end: the user's wish, or somebody's here.
    pub fn stopped(&self) -> bool {
        Stop::global().asked() || self.stop.as_ref().is_some_and(|stop| stop.asked())
    }

    /// How long a stage may last.
    pub fn of(&self, stage: &Stage) -> Duration {
        match stage {
            Stage::Import | Stage::Open => self.opening,
            _ => self.total,
        }
    }
}

/// Nine tenths of what is available now: a plugin that allocates without end is stopped before the machine suffers.
fn default_memory() -> Option<u64> {
    let available = crate::environment::memory_available()?;
    Some((available * 0.9) as u64)
}
