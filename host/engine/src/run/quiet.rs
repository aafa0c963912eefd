//! What a cell waits for before it begins: a machine that has cooled down, and that other programs leave alone.

use super::execute::Runner;
use skillbench_worker::{Limits, busy_cores};
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
}

fn sleep(rest: Duration, limits: &Limits) {
    let begun = Instant::now();
    while begun.elapsed() < rest && !limits.stopped() {
        std::thread::sleep(TICK.min(rest));
    }
}
