//! A series while it is measured: how long to warm up, how many iterations, and when it is enough.

use super::claims::Claims;
use super::energy::Used;
use super::sensors::Readings;
use crate::{Policy, RoundRecord};
use skillbench_plugin_api::{RoundKind, SeriesInfo, SeriesKind};
use skillbench_stats::{HalfWidths, half_widths};

/// About how long a round takes: long enough for the clock, short enough to stop soon.
const ROUND_NS: f64 = 25e6;
/// A tight interval of fewer rounds says nothing of how rounds differ.
const ROUNDS: usize = 8;
/// Warm-up rounds agree when their medians are this close.
const AGREE: f64 = 0.05;
/// An iteration that takes more of the budget than that is a session, or as long.
const LARGE_SHARE: f64 = 0.1;
/// Warming up ends after this share of the budget, agreed or not.
const WARM_SHARE: f64 = 0.25;
/// What a 90th percentile needs.
const ENOUGH: u64 = 64;
/// Rounds that are played for an energy counter that moves seldom: so many, in each of which it moves so often.
const LONG: usize = 3;
const MOVES: f64 = 20.0;
/// No such round has more iterations.
const MOST_OF_LONG: f64 = 1e6;
/// The series whose energy is a figure.
const ENERGY: [&str; 3] = ["latency", "concurrent", "end_to_end"];
/// No series keeps more samples.
pub(super) const MOST: u64 = 1_000_000;

pub(super) struct Series {
    pub info: SeriesInfo,
    pub rounds: Vec<RoundRecord>,
    pub singles: Vec<f64>,
    /// Wall time of one iteration, as the latest round showed it.
    pub iteration_ns: Option<f64>,
    pub spent_ns: f64,
    pub warm_ns: f64,
    pub stable: bool,
    pub stopped_by: Option<&'static str>,
    /// What the measured rounds claim, beside what the host saw.
    pub claims: Claims,
    /// Of the measured rounds that a sensor counted; `None` before the first.
    pub energy: Option<Used>,
    /// The counter as the measured round began that is running now.
    pub before: Option<Readings>,
    /// How many rounds for the counter alone were handed out, and how long they took.
    pub long: usize,
    pub long_ns: Vec<u64>,
}

impl Series {
    pub fn new(info: SeriesInfo) -> Series {
        Series {
            info,
            rounds: vec![],
            singles: vec![],
            iteration_ns: None,
            spent_ns: 0.0,
            warm_ns: 0.0,
            stable: false,
            stopped_by: None,
            claims: Claims::begin(),
            energy: None,
            before: None,
            long: 0,
            long_ns: vec![],
        }
    }

    /// How many iterations a further round has that is played for an energy counter alone; `None`: none is needed, or the iterations are no
    /// choice of the host's. `coarse`: how far apart the counter's moves are where it tells too little of the measured rounds.
    pub fn for_counter(&mut self, policy: &Policy, coarse: impl Fn(&Used) -> Option<f64>) -> Option<u64> {
        let free = !policy.verify_only && policy.iterations.is_none() && policy.interleaved_round_ns.is_none();
        let counts = self.info.kind == SeriesKind::Duration && ENERGY.contains(&self.info.name.as_str());
        let energy = self.energy.as_ref().filter(|_| free && counts && self.long < LONG)?;
        let iterations = (MOVES * coarse(energy)? * 1e9 / self.iteration_ns?.max(1.0)).ceil();
        self.long += 1;
        (iterations <= MOST_OF_LONG).then_some(iterations.max(1.0) as u64)
    }

    pub fn count(&self, measured: bool) -> u64 {
        self.rounds.iter().filter(|r| r.measured == measured).map(|r| r.values.len() as u64).sum()
    }

    pub fn measured(&self) -> Vec<f64> {
        self.rounds.iter().filter(|r| r.measured).flat_map(|r| r.values.iter().copied()).collect()
    }

    /// Whether the intervals of median and mean are as tight as asked, within this process.
    pub fn is_tight(&self, policy: &Policy) -> bool {
        let tight = |half: HalfWidths| half.median <= policy.interval && half.mean <= policy.rate_interval;
        half_widths(&self.measured(), None).is_some_and(tight)
    }

    /// The last two warm-up rounds show the same speed.
    pub fn agrees(&self) -> bool {
        let medians: Vec<f64> =
            self.rounds.iter().rev().take(2).filter_map(|r| skillbench_stats::median(&r.values)).collect();
        matches!(medians[..], [a, b] if (a - b).abs() <= AGREE * a.max(b))
    }

    /// The next round's kind and iterations; `None`: enough.
    pub fn plan(&mut self, policy: &Policy) -> Option<(RoundKind, u64)> {
        if policy.verify_only {
            return None;
        }
        let budget = policy.budget_ns as f64;
        let warmed = self.count(false);
        let Some(iteration) = self.iteration_ns else {
            let kind = if policy.warmup > 0 { RoundKind::WarmUp } else { RoundKind::Measured };
            return Some((kind, 1));
        };
        let size = (ROUND_NS / iteration.max(1.0)).clamp(1.0, 100_000.0) as u64;
        let has_measured = self.rounds.iter().any(|r| r.measured);
        let patient = policy.warmup_ns.is_none_or(|limit| self.warm_ns < limit as f64);
        if !has_measured && warmed < policy.warmup && patient {
            return Some((RoundKind::WarmUp, size.min(policy.warmup - warmed).max(1)));
        }
        if !has_measured && policy.warmup > 0 && self.warm_ns < WARM_SHARE * budget && !self.agrees() {
            return Some((RoundKind::WarmUp, size));
        }
        if let Some(turn) = policy.interleaved_round_ns {
            let size = (turn as f64 / iteration.max(1.0)).clamp(1.0, 100_000.0) as u64;
            return Some((RoundKind::Measured, size));
        }
        let done = self.count(true);
        let fits = (budget / iteration.max(1.0)) as u64;
        let least = policy.iterations.unwrap_or_else(|| ENOUGH.min(fits)).max(3);
        // Where a tight interval ends nothing, nobody looks for it between rounds.
        // Of iterations that take much of the budget none is begun for what is left of it: three sessions of a third are three, though they end a
        // moment early.
        let room = if iteration > LARGE_SHARE * budget { iteration / 2.0 } else { 0.0 };
        let is_over = self.spent_ns + room >= budget;
        let is_asked = !policy.whole_budget || is_over;
        self.stable = is_asked && self.is_tight(policy);
        self.stopped_by = match () {
            () if done < least => None,
            () if self.stable
                && !policy.whole_budget
                && self.rounds.iter().filter(|r| r.measured).count() >= ROUNDS =>
            {
                Some("interval")
            }
            () if is_over || done >= MOST => Some("budget"),
            () => None,
        };
        if self.stopped_by.is_some() {
            return None;
        }
        let left = ((budget - self.spent_ns) / iteration.max(1.0)).max(0.0) as u64;
        let want = size.min(left.max(least.saturating_sub(done))).min(MOST - done);
        Some((RoundKind::Measured, want.max(1)))
    }
}
