//! What a cell waits for before it begins: a machine that has cooled down, and that other programs leave alone. Where they did not, it is
//! measured again.

use super::execute::Runner;
use super::measure::Measured;
use super::plan::PlannedCell;
use skillbench_worker::{Failure, Limits, busy_cores};
use std::time::{Duration, Instant};

/// So much of a core may be busy on a machine that is quiet.
const QUIET: f64 = 0.2;
/// Busy cores are counted over so long.
const WINDOW: Duration = Duration::from_millis(500);
/// How often a rest looks whether the run is to end.
const TICK: Duration = Duration::from_millis(50);

impl Runner<'_, '_> {
    /// Waits as the request asks before a cell; `first`: it has nothing to cool down from.
    pub(super) fn settle(&mut self, first: bool) {
        if let Some(rest) = self.plan.request.cool_down_s.filter(|_| !first) {
            self.observer.step("cooling down");
            sleep(Duration::from_secs_f64(rest), &self.limits);
        }
        let Some(most) = self.plan.request.wait_quiet_s else { return };
        self.observer.step("waiting for a quiet machine");
        let begun = Instant::now();
        loop {
            let busy = busy_cores(WINDOW);
            match busy {
                Some(busy) if busy > QUIET && begun.elapsed().as_secs_f64() < most && !self.limits.stopped() => {}
                Some(busy) if busy > QUIET => {
                    let text = format!(
                        "the machine did not become quiet in {most} s: other programs keep {busy:.1} cores busy"
                    );
                    return self.observer.warning(&text);
                }
                Some(_) => return,
                None => return self.observer.warning("this system does not tell whether it is quiet"),
            }
        }
    }

    /// Measures a cell; once more where a quiet machine was asked for and other programs worked meanwhile. The quieter one of both counts.
    ///
    /// # Errors
    /// As for a cell.
    pub(super) fn measure_in_quiet(
        &mut self,
        planned: &PlannedCell,
        next: Option<&PlannedCell>,
    ) -> Result<Measured, Failure> {
        let waits = self.plan.request.wait_quiet_s.is_some();
        let first = self.measure(planned, next)?;
        let disturbed = other_cores(&first).filter(|busy| *busy > QUIET);
        let Some(busy) = disturbed.filter(|_| waits && !self.limits.stopped()) else { return Ok(first) };
        // The worker that waits for the next cell has done this one's work already.
        self.warm = None;
        let text =
            format!("other programs kept {busy:.1} cores busy while this cell was measured: it is measured again");
        self.observer.warning(&text);
        self.settle(true);
        // A failure counts as one, whatever the first measurement said.
        let again = self.measure(planned, next)?;
        let quieter = other_cores(&again).is_some_and(|now| now < busy);
        let (mut kept, other) = if quieter { (again, first) } else { (first, again) };
        let left_out = other_cores(&other);
        // What could not be in one of both is not made good by the other.
        for (series, more) in kept.main.series.iter_mut().zip(other.main.series) {
            series.implausible.extend(more.implausible.into_iter().filter(|_| series.name == more.name));
        }
        if let Some(conditions) = &mut kept.watched.conditions {
            conditions.other_cores_of_the_other = left_out;
        }
        Ok(kept)
    }
}

/// Cores that other programs kept busy, on average over the measured rounds.
fn other_cores(measured: &Measured) -> Option<f64> {
    measured.watched.conditions.as_ref()?.other_cores
}

fn sleep(rest: Duration, limits: &Limits) {
    let begun = Instant::now();
    while begun.elapsed() < rest && !limits.stopped() {
        std::thread::sleep(TICK.min(rest));
    }
}
