//! How long a worker may take, and how much memory. Enforced from outside.

use super::{Stage, Stop};
use std::collections::BTreeSet;
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
    /// Processors that are kept for one thread of the worker: it is told where more may run there while rounds are measured.
    pub kept: BTreeSet<usize>,
}

impl Limits {
    /// For a look at a plugin: seconds, not minutes.
    pub fn probing(stop: &Stop) -> Limits {
        let (total, opening) = (Duration::from_secs(60), Duration::from_secs(30));
        Limits {
            total,
            opening,
            step: None,
            memory: default_memory(),
            stop: stop.clone(),
            can_be_set: false,
            kept: BTreeSet::new(),
        }
    }

    /// For a cell: `total` is the user's time limit.
    pub fn working(total: Duration, memory: Option<u64>, stop: &Stop) -> Limits {
        let opening = total.min(Duration::from_secs(120));
        let (step, memory) = (None, memory.or_else(default_memory));
        Limits { total, opening, step, memory, stop: stop.clone(), can_be_set: true, kept: BTreeSet::new() }
    }

    /// The same for work that is asked to measure for so long: a limit that nobody asked for leaves it twice the time.
    #[must_use]
    pub fn for_budget(&self, budget: Duration) -> Limits {
        Limits { total: self.total.max(2 * budget), ..self.clone() }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_measures_for_longer_has_twice_its_time() {
        let limits = Limits::working(Duration::from_secs(600), None, &Stop::default());
        for (budget, total) in [(60, 600), (1_980, 3_960)] {
            assert_eq!(limits.for_budget(Duration::from_secs(budget)).total, Duration::from_secs(total));
        }
    }
}
