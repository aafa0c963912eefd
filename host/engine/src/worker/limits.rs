//! How long a worker may take, and how much memory. Enforced from outside.

use super::Stage;
use std::time::Duration;

#[derive(Clone, Debug)]
pub struct Limits {
    /// The whole command.
    pub total: Duration,
    /// Opening the library, and opening the instance, each.
    pub opening: Duration,
    /// Resident set in bytes; `None`: no limit.
    pub memory: Option<u64>,
}

impl Limits {
    /// For a look at a plugin: seconds, not minutes.
    pub fn looking() -> Limits {
        Limits { total: Duration::from_secs(60), opening: Duration::from_secs(30), memory: default_memory() }
    }

    /// For a cell: `total` is the user's time limit.
    pub fn working(total: Duration, memory: Option<u64>) -> Limits {
        Limits { total, opening: total.min(Duration::from_secs(120)), memory: memory.or_else(default_memory) }
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
    let available = crate::environment::Environment::memory_available_now()?;
    Some((available * 0.9) as u64)
}
