//! Figures over the time of the measured rounds: what a mean hides, such as a clock that falls or memory that grows.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A figure is read about so often while a measured round is under way, of rounds that are long: others are disturbed by no reading.
pub(crate) const EVERY: Duration = Duration::from_millis(500);
pub(crate) const LONG: Duration = Duration::from_secs(1);
/// The worker's memory, with what it started.
pub const WORKER_MEMORY: &str = "memory";
/// So many moments of a figure are kept, half a day of them.
const MOST: usize = 100_000;

/// One figure over the time of the measured rounds, breaks between them left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OverTime {
    pub name: String,
    pub unit: String,
    /// When each value was read, in nanoseconds of measured rounds.
    pub at_ns: Vec<f64>,
    pub values: Vec<f64>,
}

/// Adds what was read at one moment.
pub(crate) fn read(all: &mut Vec<OverTime>, at: Duration, name: &str, unit: &str, value: f64) {
    if !value.is_finite() {
        return;
    }
    let index = all.iter().position(|one| one.name == name).unwrap_or_else(|| {
        all.push(OverTime { name: name.into(), unit: unit.into(), at_ns: vec![], values: vec![] });
        all.len() - 1
    });
    let one = &mut all[index];
    if one.values.len() < MOST {
        one.at_ns.push(at.as_nanos() as f64);
        one.values.push(value);
    }
}

/// Adds what was read of another process, whose rounds come after `before` of them.
pub fn append(all: &mut Vec<OverTime>, other: &[OverTime], before: Duration) {
    for one in other {
        for (at, value) in one.at_ns.iter().zip(&one.values) {
            read(all, before + Duration::from_nanos(*at as u64), &one.name, &one.unit, *value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_several_processes_come_one_after_the_other() {
        let second = Duration::from_secs(1);
        let (mut all, mut other) = (vec![], vec![]);
        read(&mut all, second, "memory", "MiB", 5.0);
        read(&mut all, second, "clock", "MHz", f64::NAN);
        read(&mut other, second, "clock", "MHz", 2_000.0);
        read(&mut other, 2 * second, "memory", "MiB", 7.0);
        append(&mut all, &other, 10 * second);
        let told = |one: &OverTime| (one.name.clone(), one.at_ns.clone(), one.values.clone());
        let told: Vec<_> = all.iter().map(told).collect();
        assert_eq!(
            told,
            [("memory".into(), vec![1e9, 12e9], vec![5.0, 7.0]), ("clock".into(), vec![11e9], vec![2_000.0])]
        );
    }
}
