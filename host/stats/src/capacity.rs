//! How much load a target bears: the largest rate at which requests keep a limit, read from trials at many rates.
//!
//! The share of requests that are late grows with the rate, where few are late about exponentially: in a queue with exponential service
//! exactly so. A straight line is laid through its log-odds at the trials around the edge, each weighted by its requests, and the
//! capacity is where the line reaches the share that is allowed. Requests of one trial resemble each other, and more so near the edge,
//! so that how far each count is from the line says how uncertain it is, and not how many requests there were (White's covariance, in its form
//! HC3). The interval is Fieller's: all rates at which the line may reach that share.
//!
//! Where the line may as well not rise, since a machine that others use too makes requests late at any rate, the interval is from the
//! lowest rate that broke the limit to the highest that kept it.
//!
//! A trial begins with an empty queue, and a queue takes a while to be as long as it gets at a rate: trials show more than a target bears
//! for good, the more so the shorter they are beside the limit. The lower end of the interval has room for that.
//!
//! Where the share leaps from less than allowed to far more between two rates, there is no such line: a cliff, whose interval is what lies between
//! the two.

use super::student;
use skillbench_record::CapacityTrial;

fn share(trial: &CapacityTrial) -> f64 {
    trial.over as f64 / trial.requests.max(1) as f64
}

fn holds(trial: &CapacityTrial, allowed: f64) -> bool {
    !trial.given_up && share(trial) <= allowed
}

/// What trials show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Capacity {
    /// Requests a second, with a 95% interval.
    Edge { per_s: f64, ci95: [f64; 2], cliff: bool },
    /// Not even the lowest rate that was tried keeps the limit.
    NoRate { lowest: f64 },
    /// The highest rate that was tried keeps it.
    EveryRate { highest: f64 },
}

/// A line is laid through trials within these quotients of the edge, and no further: it is straight near by only.
const WINDOW: [f64; 2] = [0.75, 1.25];
/// Beyond this share of the way from what is allowed to all, requests are late because the queue grew for as long as the session went on.
const STEADY: f64 = 0.3;
/// The interval has room for trials that show so many times more than a target bears for good as the limit is of their length. Simulated queues show
/// about once as much (tests/capacity.rs).
const EMPTY_AT_FIRST: f64 = 2.0;
/// Fewer trials have no line.
const LEAST: usize = 5;
/// With fewer trials on the way between none and all late, the edge is a cliff.
const ON_THE_WAY: usize = 3;

/// `allowed`: the share of requests that may be late, 0.01 for p99. `of_length`: how long the limit is beside a trial. `None` without trials.
pub fn capacity(trials: &[CapacityTrial], allowed: f64, of_length: f64) -> Option<Capacity> {
    let found = of_trials(trials, allowed)?;
    let Capacity::Edge { per_s, ci95: [low, high], cliff } = found else { return Some(found) };
    let low = low * (1.0 - EMPTY_AT_FIRST * of_length).max(0.0);
    Some(Capacity::Edge { per_s, ci95: [low, high], cliff })
}

fn of_trials(trials: &[CapacityTrial], allowed: f64) -> Option<Capacity> {
    let rates = |held: bool| trials.iter().filter(move |trial| holds(trial, allowed) == held).map(|trial| trial.per_s);
    let (low, high) = match (rates(true).reduce(f64::max), rates(false).reduce(f64::min)) {
        (None, None) => return None,
        (None, Some(lowest)) => return Some(Capacity::NoRate { lowest }),
        (Some(highest), None) => return Some(Capacity::EveryRate { highest }),
        (Some(low), Some(high)) => (low, high),
    };
    let edge = (low * high).sqrt();
    let most = allowed + (1.0 - allowed) * STEADY;
    let near = |trial: &&CapacityTrial| {
        (WINDOW[0]..=WINDOW[1]).contains(&(trial.per_s / edge)) && !trial.given_up && share(trial) <= most
    };
    let around: Vec<&CapacityTrial> = trials.iter().filter(near).collect();
    let on_the_way = around.iter().filter(|trial| trial.over > 0).count();
    if low < high && on_the_way < ON_THE_WAY {
        return Some(Capacity::Edge { per_s: edge, ci95: [low, high], cliff: true });
    }
    let line = Line::through(&around, edge);
    let rate = |at: f64| edge * (1.0 + at);
    let of_line = line.and_then(|line| Some((rate(line.reaches(allowed)?), line.interval(allowed)?.map(rate))));
    let (per_s, ci95) = match of_line {
        Some((per_s, ci95)) if ci95[0] > 0.0 => (per_s, ci95),
        _ => (edge, [low.min(high), low.max(high)]),
    };
    Some(Capacity::Edge { per_s, ci95, cliff: false })
}

/// The log-odds of the share, as a line over how far a rate is from the edge; with the covariance of its two numbers.
#[derive(Clone, Copy, Debug)]
struct Line {
    start: f64,
    slope: f64,
    covariance: [[f64; 2]; 2],
    freedom: u64,
}

impl Line {
    /// By the likelihood of counts; how uncertain it is, by how far they are from it.
    fn through(trials: &[&CapacityTrial], edge: f64) -> Option<Line> {
        if trials.len() < LEAST {
            return None;
        }
        let at = |trial: &CapacityTrial| trial.per_s / edge - 1.0;
        let all: (f64, f64) = trials
            .iter()
            .fold((0.0, 0.0), |(over, requests), trial| (over + trial.over as f64, requests + trial.requests as f64));
        let (mut start, mut slope) = (logit((all.0 + 0.5) / (all.1 + 1.0)), 0.0);
        let mut information = [[0.0; 2]; 2];
        for _ in 0..100 {
            let (mut gradient, mut matrix) = ([0.0; 2], [[0.0; 2]; 2]);
            for trial in trials {
                let x = at(trial);
                let share = logistic(start + slope * x);
                let apart = trial.over as f64 - trial.requests as f64 * share;
                gradient = [gradient[0] + apart, gradient[1] + apart * x];
                let weight = trial.requests as f64 * share * (1.0 - share);
                matrix[0][0] += weight;
                matrix[0][1] += weight * x;
                matrix[1][1] += weight * x * x;
            }
            matrix[1][0] = matrix[0][1];
            information = matrix;
            let inverse = inverse(matrix)?;
            let step = [0, 1].map(|row| inverse[row][0] * gradient[0] + inverse[row][1] * gradient[1]);
            // A long step from a bad start would leave where the likelihood is known.
            let short = (2.0 / step[0].abs().max(step[1].abs() / 10.0)).min(1.0);
            (start, slope) = (start + short * step[0], slope + short * step[1]);
            if !(start.is_finite() && slope.is_finite()) {
                return None;
            }
            if step[0].abs() < 1e-9 && step[1].abs() < 1e-7 {
                break;
            }
        }
        let bread = inverse(information)?;
        let mut filling = [[0.0; 2]; 2];
        for trial in trials {
            let x = [1.0, at(trial)];
            let share = logistic(start + slope * x[1]);
            let weight = trial.requests as f64 * share * (1.0 - share);
            let pull: f64 =
                [0, 1].iter().flat_map(|row| [0, 1].map(|column| x[*row] * bread[*row][column] * x[column])).sum();
            let apart = (trial.over as f64 - trial.requests as f64 * share) / (1.0 - weight * pull).max(0.05);
            // Chance alone makes counts differ by this much.
            let square = (apart * apart).max(weight);
            for (row, line) in filling.iter_mut().enumerate() {
                line.iter_mut().enumerate().for_each(|(column, cell)| *cell += square * x[row] * x[column]);
            }
        }
        let covariance = product(product(bread, filling), bread);
        Some(Line { start, slope, covariance, freedom: trials.len() as u64 - 2 })
    }

    /// `None` of a line that does not rise.
    fn reaches(&self, share: f64) -> Option<f64> {
        (self.slope > 0.0).then(|| (logit(share) - self.start) / self.slope)
    }

    /// Fieller's interval; `None`: the line may as well not rise.
    fn interval(&self, share: f64) -> Option<[f64; 2]> {
        let t2 = student(self.freedom).powi(2);
        let apart = self.start - logit(share);
        let a = self.slope.powi(2) - t2 * self.covariance[1][1];
        let b = 2.0 * (apart * self.slope - t2 * self.covariance[0][1]);
        let c = apart.powi(2) - t2 * self.covariance[0][0];
        let under = b * b - 4.0 * a * c;
        (a > 0.0 && under >= 0.0).then(|| [(-b - under.sqrt()) / (2.0 * a), (-b + under.sqrt()) / (2.0 * a)])
    }
}

fn logistic(value: f64) -> f64 {
    1.0 / (1.0 + (-value).exp())
}

fn logit(share: f64) -> f64 {
    (share / (1.0 - share)).ln()
}

fn product(one: [[f64; 2]; 2], other: [[f64; 2]; 2]) -> [[f64; 2]; 2] {
    one.map(|row| [0, 1].map(|column| row[0] * other[0][column] + row[1] * other[1][column]))
}

fn inverse([[a, b], [c, d]]: [[f64; 2]; 2]) -> Option<[[f64; 2]; 2]> {
    let determinant = a * d - b * c;
    (determinant > 0.0).then(|| [[d / determinant, -b / determinant], [-c / determinant, a / determinant]])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(per_s: f64, over: u64) -> CapacityTrial {
        CapacityTrial {
            per_s,
            requests: 1_000,
            over,
            over_each: vec![],
            refused: 0,
            given_up: false,
            utilization: 0.5,
            requests_per_run: None,
        }
    }

    #[test]
    fn the_edge_is_where_the_line_reaches_the_share_that_is_allowed() {
        // 1% at 200.
        let on_line = |per_s: f64| {
            let share = logistic(logit(0.01) + 20.0 * (per_s / 200.0 - 1.0));
            CapacityTrial { requests: 100_000, over: (share * 1e5).round() as u64, ..trial(per_s, 0) }
        };
        let trials: Vec<CapacityTrial> = (0..9u32).map(|at| on_line(180.0 + 5.0 * f64::from(at))).collect();
        let Some(Capacity::Edge { per_s, ci95: [low, high], cliff: false }) = capacity(&trials, 0.01, 0.0) else {
            panic!("{:?}", capacity(&trials, 0.01, 0.0))
        };
        assert!((per_s - 200.0).abs() < 0.5 && low < 200.0 && high > 200.0, "{per_s} {low} {high}");
    }

    #[test]
    fn an_interval_begins_lower_where_trials_are_short_beside_the_limit() {
        let trials = [trial(150.0, 0), trial(158.0, 0), trial(162.0, 900)];
        let low = |of_length| match capacity(&trials, 0.01, of_length) {
            Some(Capacity::Edge { ci95: [low, 162.0], .. }) => low,
            other => panic!("{other:?}"),
        };
        assert_eq!((low(0.0), low(0.05), low(0.9)), (158.0, 158.0 * 0.9, 0.0));
    }

    #[test]
    fn a_leap_from_none_to_all_is_a_cliff_between_the_two() {
        let trials = [trial(100.0, 0), trial(150.0, 0), trial(158.0, 0), trial(162.0, 900), trial(200.0, 990)];
        let per_s = (158.0_f64 * 162.0).sqrt();
        assert_eq!(capacity(&trials, 0.01, 0.0), Some(Capacity::Edge { per_s, ci95: [158.0, 162.0], cliff: true }));
    }

    #[test]
    fn a_limit_that_nothing_keeps_and_one_that_everything_keeps_have_no_edge() {
        assert_eq!(capacity(&[trial(10.0, 500), trial(5.0, 400)], 0.01, 0.0), Some(Capacity::NoRate { lowest: 5.0 }));
        assert_eq!(capacity(&[trial(10.0, 0), trial(5.0, 0)], 0.01, 0.0), Some(Capacity::EveryRate { highest: 10.0 }));
        assert_eq!(capacity(&[], 0.01, 0.0), None);
    }

    #[test]
    fn trials_that_do_not_rise_say_that_the_edge_is_among_them() {
        let trials: Vec<CapacityTrial> =
            [95, 97, 99, 101, 103, 105].map(|rate| trial(f64::from(rate), 5 + 12 * (rate as u64 % 4 / 2))).into();
        let Some(Capacity::Edge { ci95, .. }) = capacity(&trials, 0.01, 0.0) else { panic!() };
        assert_eq!(ci95, [95.0, 105.0], "{:?}", capacity(&trials, 0.01, 0.0));
    }
}
