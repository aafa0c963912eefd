//! How long a worker may take, and how much memory. Enforced from outside.

use super::{Stage, Stop};
use std::time::Duration;

#[derive(Clone, Debug)]
pub struct Limits {
    /// The whole command.
    pub total: Duration,
    /// Opening the library, and opening the instance, each.
    pub opening: Duration,
    /// Each other stage; `None`: the whole command is the limit.
    pub step: Option<Duration>,
    /// Resident set in bytes; `None`: no limit.
    pub memory: Option<u64>,
    /// Ends the worker before.
    pub stop: Stop,
    /// Whether the user can set them: `--timeout`, `--memory-limit`.
    pub can_be_set: bool,
}

impl Limits {
    /// For a look at a plugin: seconds, not minutes.
    pub fn probing(stop: &Stop) -> Limits {
        let (total, opening) = (Duration::from_secs(60), Duration::from_secs(30));
        Limits { total, opening, step: None, memory: default_memory(), stop: stop.clone(), can_be_set: false }
    }

    /// For a cell: `total` is the user's time limit.
    pub fn working(total: Duration, memory: Option<u64>, stop: &Stop) -> Limits {
        let opening = total.min(Duration::from_secs(120));
        let (step, memory) = (None, memory.or_else(default_memory));
        Limits { total, opening, step, memory, stop: stop.clone(), can_be_set: true }
    }

    /// Whether the work is to end.
    pub fn stopped(&self) -> bool {
        self.stop.asked()
    }

    /// How long a stage may last.
    pub fn of(&self, stage: &Stage) -> Duration {
        match stage {
            Stage::Import | Stage::Open => self.opening,
            _ => self.step.unwrap_or(self.total),
        }
    }
}

/// Nine tenths of what is available now: a plugin that allocates without end is stopped before the machine suffers.
fn default_memory() -> Option<u64> {
    let available = memory_available()?;
    Some((available * 0.9) as u64)
}

/// Bytes of memory that can be used without swapping; `None` where the system does not say.
pub fn memory_available() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let kib = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    kib.split_whitespace().next()?.parse::<f64>().ok().map(|kib| kib * 1024.0)
}
