//! Which of several measurements counts now. This is the only place that says so; the views of the database say the same in SQL, and a
//! test holds both against each other.
//!
//! - Figures come from the newest measured cell of a key.
//! - A newer try that ended otherwise is told beside them, never in their place.
//! - Lower trust never takes the place of higher, and a cell without a figure never that of one with figures.
//! - Only where nothing is measured does the newest try stand for itself.

use crate::{OutcomeKind, Trust};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What the rule needs to know of a stored cell.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// [`crate::CellKey::digest`].
    pub key: &'a str,
    /// [`crate::CellKey::attempt_digest`].
    pub attempt: &'a str,
    /// Empty: no device was reached.
    pub device: &'a str,
    pub outcome: OutcomeKind,
    /// `None`: it is not measured.
    pub trust: Option<Trust>,
    pub has_figures: bool,
    /// When its run began, in microseconds since 1970-01-01.
    pub time: Option<i64>,
    pub run: &'a str,
    pub cell: i64,
}

/// In the order of time and plan.
pub type Order<'a> = (Option<i64>, &'a str, i64);

impl<'a> Seen<'a> {
    pub fn order(&self) -> Order<'a> {
        (self.time, self.run, self.cell)
    }

    fn is_measured(&self) -> bool {
        self.outcome == OutcomeKind::Measured
    }

    /// What a rule skipped was not tried.
    fn is_tried(&self) -> bool {
        self.outcome != OutcomeKind::Skipped
    }
}

/// A cell that counts now, by its place among those that were seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Latest {
    pub place: usize,
    /// A newer try of a measured cell, which failed, or is believed less.
    pub newer: Option<usize>,
}

/// The cells that count now, in the order in which they were seen.
pub fn latest(all: &[Seen<'_>]) -> Vec<Latest> {
    let mut measured: HashMap<&str, usize> = HashMap::new();
    let mut attempts: HashMap<&str, Vec<usize>> = HashMap::new();
    for (place, seen) in all.iter().enumerate() {
        attempts.entry(seen.attempt).or_default().push(place);
        if seen.is_measured() {
            let rank = |place: usize| (all[place].has_figures, all[place].trust, all[place].order());
            let best = measured.entry(seen.key).or_insert(place);
            if rank(place) > rank(*best) {
                *best = place;
            }
        }
    }
    let with_newer = |place: usize| Latest { place, newer: newer(all, &attempts[all[place].attempt], place) };
    let mut found: Vec<Latest> = measured.values().map(|place| with_newer(*place)).collect();
    for tries in attempts.values() {
        found.extend(never_measured(all, tries).into_iter().map(|place| Latest { place, newer: None }));
    }
    found.sort_unstable();
    found
}

/// The newest try of a measured cell that is newer than it.
fn newer(all: &[Seen<'_>], tries: &[usize], measured: usize) -> Option<usize> {
    let counts = &all[measured];
    let is_of_it = |place: &usize| {
        let seen = &all[*place];
        let same_device = seen.device.is_empty() || seen.device == counts.device;
        let same_measurement = !seen.is_measured() || seen.key == counts.key;
        same_device && same_measurement && seen.is_tried() && seen.order() > counts.order()
    };
    tries.iter().copied().filter(is_of_it).max_by_key(|place| all[*place].order())
}

/// Of the tries of one thing the newest on each device on which it was never measured.
fn never_measured(all: &[Seen<'_>], tries: &[usize]) -> Vec<usize> {
    let devices: BTreeSet<&str> = tries.iter().map(|place| all[*place].device).filter(|id| !id.is_empty()).collect();
    let devices = if devices.is_empty() { BTreeSet::from([""]) } else { devices };
    let mut newest: BTreeMap<usize, ()> = BTreeMap::new();
    for device in devices {
        let mut of_device = tries
            .iter()
            .copied()
            .filter(|place| all[*place].device.is_empty() || all[*place].device == device)
            .peekable();
        if of_device.clone().any(|place| all[place].is_measured()) || of_device.peek().is_none() {
            continue;
        }
        let best = of_device.max_by_key(|place| (all[*place].is_tried(), all[*place].order()));
        newest.extend(best.map(|place| (place, ())));
    }
    newest.into_keys().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(time: i64, outcome: OutcomeKind, trust: Option<Trust>) -> Seen<'static> {
        let measured = outcome == OutcomeKind::Measured;
        Seen {
            key: if measured { "k" } else { "failed" },
            attempt: "a",
            device: if measured { "cpu" } else { "" },
            outcome,
            trust,
            has_figures: measured,
            time: Some(time),
            run: "run",
            cell: 0,
        }
    }

    fn good(time: i64) -> Seen<'static> {
        seen(time, OutcomeKind::Measured, Some(Trust::Hardware))
    }

    #[test]
    fn a_newer_failed_try_stands_beside_the_figures_and_not_in_their_place() {
        let all = [good(1), good(2), seen(3, OutcomeKind::TimedOut, None)];
        assert_eq!(latest(&all), [Latest { place: 1, newer: Some(2) }]);
        let older = [seen(1, OutcomeKind::TimedOut, None), good(2)];
        assert_eq!(latest(&older), [Latest { place: 1, newer: None }]);
    }

    #[test]
    fn lower_trust_does_not_take_the_place_of_higher_and_is_told() {
        let all = [good(1), seen(2, OutcomeKind::Measured, Some(Trust::Unverified))];
        assert_eq!(latest(&all), [Latest { place: 0, newer: Some(1) }]);
        let only = [seen(1, OutcomeKind::Measured, Some(Trust::Emulated))];
        assert_eq!(latest(&only), [Latest { place: 0, newer: None }]);
    }

    #[test]
    fn a_cell_whose_outputs_were_only_checked_does_not_take_the_place_of_figures() {
        let all = [good(1), Seen { has_figures: false, ..good(2) }];
        assert_eq!(latest(&all)[0].place, 0);
    }

    #[test]
    fn what_was_never_measured_stands_for_itself_and_what_was_skipped_was_not_tried() {
        let (failed, skipped) = (seen(1, OutcomeKind::Failed, None), seen(2, OutcomeKind::Skipped, None));
        assert_eq!(latest(&[failed, skipped]), [Latest { place: 0, newer: None }]);
        assert_eq!(latest(&[skipped]), [Latest { place: 0, newer: None }]);
        assert_eq!(latest(&[good(1), skipped]), [Latest { place: 0, newer: None }]);
    }

    #[test]
    fn a_failure_on_one_device_says_nothing_of_another() {
        let gpu = Seen { device: "GPU", ..seen(2, OutcomeKind::Crashed, None) };
        assert_eq!(latest(&[good(1), gpu]), [Latest { place: 0, newer: None }, Latest { place: 1, newer: None }]);
    }

    #[test]
    fn another_measurement_of_the_same_try_is_no_newer_try() {
        let float16 = Seen { key: "float16", ..good(2) };
        assert_eq!(latest(&[good(1), float16]), [Latest { place: 0, newer: None }, Latest { place: 1, newer: None }]);
    }
}
