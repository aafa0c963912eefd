//! Waits for a moment, exactly: sleeps while there is time, then spins.

use std::time::{Duration, Instant};

/// How many sleeps are tried to see how late this machine wakes, and how long each is.
const TRIALS: usize = 32;
const TRIAL: Duration = Duration::from_micros(200);
/// Spinning takes a processor from what is measured, so that it has an end; below the other the clock alone costs as much.
const MOST: Duration = Duration::from_micros(500);
const LEAST: Duration = Duration::from_micros(20);

/// Of one thread, which made it.
pub struct Timer {
    /// What is spun of a wait.
    spin: Duration,
}

impl Timer {
    /// Looks how late sleeps end on this machine now: all but one of ten of them end within the time that is spun.
    pub fn calibrated() -> Timer {
        let _exact = ExactSleep::begin();
        let mut late: Vec<Duration> = (0..TRIALS)
            .map(|_| {
                let start = Instant::now();
                std::thread::sleep(TRIAL);
                start.elapsed().saturating_sub(TRIAL)
            })
            .collect();
        late.sort();
        Timer { spin: late[TRIALS * 9 / 10].clamp(LEAST, MOST) }
    }

    /// Asks the system for exact sleeps of this thread, until what is returned is dropped.
    pub fn exactly(&self) -> ExactSleep {
        ExactSleep::begin()
    }

    pub fn spins(&self) -> Duration {
        self.spin
    }

    /// Returns at `due`, or at once where that is over.
    pub fn until(&self, due: Instant) {
        let now = Instant::now();
        if let Some(sleep) = due.checked_duration_since(now).and_then(|left| left.checked_sub(self.spin)) {
            std::thread::sleep(sleep);
        }
        while Instant::now() < due {
            std::hint::spin_loop();
        }
    }
}

/// Linux ends sleeps up to 50 us late, so that it has to wake less often, unless a thread asks otherwise.
pub struct ExactSleep {
    #[cfg(target_os = "linux")]
    before: Option<u64>,
}

impl ExactSleep {
    #[cfg(target_os = "linux")]
    pub(crate) fn begin() -> ExactSleep {
        let before = rustix::thread::current_timer_slack().ok();
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        ExactSleep { before }
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn begin() -> ExactSleep {
        ExactSleep {}
    }
}

#[cfg(target_os = "linux")]
impl Drop for ExactSleep {
    fn drop(&mut self) {
        if let Some(before) = self.before.and_then(std::num::NonZeroU64::new) {
            let _ = rustix::thread::set_current_timer_slack(Some(before));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_never_ends_early_and_one_that_is_over_ends_at_once() {
        let timer = Timer::calibrated();
        let start = Instant::now();
        for step in 1..=50 {
            let due = start + Duration::from_micros(300 * step);
            timer.until(due);
            assert!(Instant::now() >= due);
        }
        let before = Instant::now();
        timer.until(start);
        assert!(before.elapsed() < Duration::from_millis(5));
        assert!((LEAST..=MOST).contains(&timer.spins()));
    }
}
