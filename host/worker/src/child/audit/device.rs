//! What a backend tells of the time within a run, held against the host's own clock.

use crate::DeviceTimes;
use skillbench_plugin_api::Timing;
use std::time::Instant;

/// Clocks are read at different moments.
const SLACK_NS: u64 = 2_000;

/// From one moment of the host's clock to another.
#[derive(Clone, Copy)]
pub(super) struct Span {
    pub start: Instant,
    pub end: Instant,
}

impl Span {
    pub fn nanoseconds(&self) -> u64 {
        (self.end - self.start).as_nanos() as u64
    }
}

impl DeviceTimes {
    /// `epoch`: when the clock began that the backend asks.
    pub(super) fn of(timing: &Timing, run: Span, epoch: Instant) -> DeviceTimes {
        let at = |moment: Instant| moment.saturating_duration_since(epoch).as_nanos() as u64;
        let slack = SLACK_NS + timing.clock_error_ns.unwrap_or(0);
        let (from, to) = (at(run.start).saturating_sub(slack), at(run.end).saturating_add(slack));
        let moments = [timing.submit_ns, timing.start_ns, timing.end_ns].into_iter().flatten();
        let backwards = matches!((timing.start_ns, timing.end_ns), (Some(start), Some(end)) if end < start);
        let compute_ns = timing.device_ns();
        let parts = [compute_ns, timing.host_to_device_ns, timing.device_to_host_ns].into_iter().flatten();
        let whole = parts.fold(0, u64::saturating_add);
        let outside = moments.clone().any(|moment| !(from..=to).contains(&moment));
        // An error of the clock moves both ends of a span alike: how long it is remains.
        let impossible = backwards || outside || whole > run.nanoseconds() + SLACK_NS;
        DeviceTimes {
            compute_ns,
            to_device_ns: timing.host_to_device_ns,
            from_device_ns: timing.device_to_host_ns,
            runs: 1,
            impossible: u64::from(impossible),
        }
    }

    /// Of all runs together; what one of them does not tell, nobody knows of all.
    pub(super) fn together(runs: impl IntoIterator<Item = DeviceTimes>) -> DeviceTimes {
        let both = |one: Option<u64>, other: Option<u64>| Some(one?.saturating_add(other?));
        let added = runs.into_iter().reduce(|all, one| DeviceTimes {
            compute_ns: both(all.compute_ns, one.compute_ns),
            to_device_ns: both(all.to_device_ns, one.to_device_ns),
            from_device_ns: both(all.from_device_ns, one.from_device_ns),
            runs: all.runs + one.runs,
            impossible: all.impossible + one.impossible,
        });
        added.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// A run from 100 to 200 us of the clock, of which `timing` is told.
    fn told(timing: Timing) -> DeviceTimes {
        let epoch = Instant::now();
        let at = |us| epoch + Duration::from_micros(us);
        DeviceTimes::of(&timing, Span { start: at(100), end: at(200) }, epoch)
    }

    fn from_to(start: u64, end: u64) -> Timing {
        Timing { start_ns: Some(start), end_ns: Some(end), ..Timing::default() }
    }

    #[test]
    fn work_within_the_run_is_device_time() {
        let times = told(Timing { host_to_device_ns: Some(20_000), ..from_to(120_000, 190_000) });
        let (compute_ns, to_device_ns) = (Some(70_000), Some(20_000));
        let expected = DeviceTimes { compute_ns, to_device_ns, runs: 1, ..DeviceTimes::default() };
        assert_eq!(times, expected);
    }

    #[test]
    fn times_outside_of_the_run_or_longer_than_it_cannot_be() {
        assert_eq!(told(from_to(50_000, 150_000)).impossible, 1, "it began before the run");
        assert_eq!(told(from_to(150_000, 250_000)).impossible, 1, "it ended after it");
        assert_eq!(told(from_to(180_000, 120_000)).impossible, 1, "it ended before it began");
        let more = Timing { host_to_device_ns: Some(60_000), ..from_to(110_000, 190_000) };
        assert_eq!(told(more).impossible, 1, "its parts are more than the whole");
    }

    #[test]
    fn a_clock_that_is_off_excuses_where_the_work_lies_and_not_how_long_it_is() {
        let off = |timing| Timing { clock_error_ns: Some(100_000), ..timing };
        assert_eq!(told(off(from_to(20_000, 110_000))).impossible, 0);
        assert_eq!(told(off(from_to(20_000, 190_000))).impossible, 1);
    }

    #[test]
    fn what_one_run_does_not_tell_is_unknown_of_all() {
        let one = DeviceTimes { compute_ns: Some(5), to_device_ns: Some(1), runs: 1, ..DeviceTimes::default() };
        let other = DeviceTimes { compute_ns: Some(7), runs: 1, impossible: 1, ..DeviceTimes::default() };
        let all = DeviceTimes { compute_ns: Some(12), runs: 2, impossible: 1, ..DeviceTimes::default() };
        assert_eq!(DeviceTimes::together([one, other]), all);
        assert_eq!(DeviceTimes::together([]), DeviceTimes::default());
    }
}
