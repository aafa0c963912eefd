//! Which rate to try next, in the search of the largest that keeps a limit.
//!
//! First the edge is put between a rate that keeps the limit and one that breaks it, then these are brought near each other, and the
//! trials that are left go to rates around the edge: how the share of late requests grows there is what the host reads the capacity
//! from, with its interval. No trial that says something is dropped; a void one is played again by the benchmark, and counted.

use skillbench_plugin_api::{Code, Error, Result};

/// One session of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// Requests a second that were asked for.
    pub per_s: f64,
    pub requests: usize,
    /// Requests that took longer than the limit, or were refused.
    pub over: usize,
    /// It was given up, since it had shown enough.
    pub given_up: bool,
}

impl Trial {
    fn holds(&self, allowed: f64) -> bool {
        !self.given_up && self.over as f64 <= allowed * self.requests as f64
    }
}

/// The ends of the edge are near enough at this quotient.
const NEAR: f64 = 1.2;
/// What is left is spread from so far below the edge to so far above it.
const BELOW: f64 = 0.88;
const ABOVE: f64 = 1.14;
/// From one try to the next while nothing is known on one side.
const STEP: f64 = 2.0;
/// No more tries in one direction: a limit is none that so many halvings do not meet.
const HALVINGS: usize = 12;
/// Spreads numbers over an interval, however many there will be.
const GOLDEN: f64 = 0.618_033_988_749_895;

pub struct Search {
    allowed: f64,
    first: f64,
    /// Nobody can issue more.
    most: f64,
    tried: Vec<Trial>,
    around: usize,
}

impl Search {
    /// `allowed`: the share of requests that may take longer. `first`: the rate to begin with. `most`: the highest to try.
    pub fn new(allowed: f64, first: f64, most: f64) -> Search {
        Search { allowed, first: first.min(most), most, tried: vec![], around: 0 }
    }

    pub fn saw(&mut self, trial: Trial) {
        self.tried.push(trial);
    }

    /// The highest rate that held, and the lowest that did not.
    fn edge(&self) -> (Option<f64>, Option<f64>) {
        let rates = |held: bool| {
            self.tried.iter().filter(move |trial| trial.holds(self.allowed) == held).map(|trial| trial.per_s)
        };
        (rates(true).reduce(f64::max), rates(false).reduce(f64::min))
    }

    /// Whether the edge lies between two rates that were tried.
    ///
    /// # Errors
    /// What was seen instead, and what to ask for.
    pub fn edges(&self, within_ns: u64) -> Result<()> {
        let within = within_ns as f64 * 1e-6;
        let text = match self.edge() {
            (None, None) | (Some(_), Some(_)) => return Ok(()),
            (None, Some(_)) => {
                let lowest = self.tried.iter().min_by(|one, other| one.per_s.total_cmp(&other.per_s));
                let seen = lowest.map_or(String::new(), |trial| {
                    let Trial { per_s, requests, over, .. } = trial;
                    format!(
                        " at {per_s:.4} requests a second {over} of {requests} were not answered within {within} ms;"
                    )
                });
                format!("no rate keeps the limit:{seen} ask for a longer time, or for a longer --budget")
            }
            (Some(high), None) => format!(
                "every rate that was tried keeps the limit, up to {high:.4} requests a second: ask for a shorter time, or for a longer --budget"
            ),
        };
        Err(Error::new(Code::FailedPrecondition, text))
    }

    /// `None`: no further trial would show more, since no rate keeps the limit, or every one that can be issued does. Then [`Search::edges`]
    /// says which.
    pub fn next_rate(&mut self) -> Option<f64> {
        match self.edge() {
            (None, None) => Some(self.first),
            (Some(low), None) => (low < self.most).then(|| (low * STEP).min(self.most)),
            (None, Some(high)) => (self.tried.len() <= HALVINGS).then_some(high / STEP),
            (Some(low), Some(high)) if high / low > NEAR => Some((low * high).sqrt()),
            (Some(_), Some(_)) => {
                let edge = self.likely_edge();
                self.around += 1;
                let place = (self.around as f64 * GOLDEN).fract();
                Some((edge * BELOW * (ABOVE / BELOW).powf(place)).min(self.most))
            }
        }
    }

    /// Where the share of late requests reaches what is allowed, if it only ever grows with the rate: chance may have put a rate that holds
    /// above one that does not. By isotonic regression of all trials.
    fn likely_edge(&self) -> f64 {
        struct Pool {
            rates: [f64; 2],
            over: f64,
            requests: f64,
        }
        let mut sorted: Vec<&Trial> = self.tried.iter().collect();
        sorted.sort_by(|one, other| one.per_s.total_cmp(&other.per_s));
        let mut pools: Vec<Pool> = vec![];
        for trial in sorted {
            let mut pool =
                Pool { rates: [trial.per_s; 2], over: trial.over as f64, requests: trial.requests.max(1) as f64 };
            while let Some(last) = pools.pop_if(|last| last.over * pool.requests >= pool.over * last.requests) {
                pool.rates[0] = last.rates[0];
                (pool.over, pool.requests) = (pool.over + last.over, pool.requests + last.requests);
            }
            pools.push(pool);
        }
        let holds = |pool: &&Pool| pool.over <= self.allowed * pool.requests;
        let low = pools.iter().rfind(holds).map(|pool| pool.rates[1]);
        let high = pools.iter().find(|pool| !holds(pool)).map(|pool| pool.rates[0]);
        match (low, high) {
            (Some(low), Some(high)) => (low * high).sqrt(),
            (one, other) => one.or(other).unwrap_or(self.first),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tries a server that bears `capacity`, without noise.
    fn rates(capacity: f64, first: f64, most: f64, trials: usize) -> Vec<f64> {
        let mut search = Search::new(0.01, first, most);
        let mut rates = vec![];
        while rates.len() < trials
            && let Some(per_s) = search.next_rate()
        {
            rates.push(per_s);
            search.saw(Trial { per_s, requests: 1_000, over: if per_s > capacity { 500 } else { 0 }, given_up: false });
        }
        rates
    }

    #[test]
    fn trials_gather_around_the_edge_wherever_the_search_begins() {
        for first in [1.0, 80.0, 300.0, 20_000.0] {
            let rates = rates(300.0, first, 1e6, 24);
            let near = rates.iter().filter(|rate| (0.85..1.18).contains(&(*rate / 300.0))).count();
            assert!(rates.len() == 24 && near >= 8, "{first}: {rates:?}");
        }
    }

    #[test]
    fn a_limit_that_nothing_keeps_or_everything_is_soon_given_up() {
        assert!(rates(0.0, 100.0, 1e6, 100).len() <= HALVINGS + 1);
        let all = rates(1e9, 100.0, 10_000.0, 100);
        assert_eq!(all.last(), Some(&10_000.0));
        assert!(all.len() < 10);
    }

    #[test]
    fn a_search_without_two_sides_says_what_it_saw() {
        let mut search = Search::new(0.01, 10.0, 1e6);
        assert!(search.edges(1_000_000).is_ok(), "nothing was tried");
        search.saw(Trial { per_s: 10.0, requests: 100, over: 100, given_up: false });
        let told = search.edges(1_000_000).unwrap_err().message;
        assert!(told.contains("at 10.0000 requests a second 100 of 100 were not answered within 1 ms"), "{told}");
        search.saw(Trial { per_s: 5.0, requests: 100, over: 0, given_up: false });
        assert!(search.edges(1_000_000).is_ok());
        search.tried.remove(0);
        assert!(search.edges(1_000_000).unwrap_err().message.contains("every rate"));
    }

    #[test]
    fn a_trial_that_was_given_up_does_not_hold() {
        let trial = Trial { per_s: 1.0, requests: 1_000, over: 0, given_up: true };
        assert!(!trial.holds(0.01) && Trial { given_up: false, ..trial }.holds(0.01));
    }
}
