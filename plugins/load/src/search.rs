//! Which rate to try next, in the search of the largest that keeps a limit.
//!
//! First the edge is put between a rate that keeps the limit and one that breaks it, then these are brought near each other, and the
//! trials that are left go to rates around the edge: how the share of late requests grows there is what the host reads the capacity
//! from, with its interval. No trial that says something is dropped; a void one is played again by the benchmark, and counted.

use skillbench_plugin_api::{Code, Error, Result};

/// One session of the search.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Requests a second that were asked for.
    pub per_s: f64,
    pub requests: usize,
    /// Requests that broke each of the limits, or were refused.
    pub over: Vec<usize>,
    /// Requests that broke any of them.
    pub over_any: usize,
    /// It was given up, since it had shown enough.
    pub given_up: bool,
}

impl Trial {
    /// Whether it keeps every limit. `allowed`: of each, the share of requests that may break it.
    fn holds(&self, allowed: &[f64]) -> bool {
        let few = |(over, allowed): (&usize, &f64)| *over as f64 <= allowed * self.requests as f64;
        !self.given_up && self.over.iter().zip(allowed).all(few)
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
    allowed: Vec<f64>,
    first: f64,
    /// Nobody can issue more, or a session has no room for them.
    most: f64,
    tried: Vec<Trial>,
    around: usize,
}

impl Search {
    /// `allowed`: of each limit, the share of requests that may break it. `first`: the rate to begin with. `most`: the highest to try.
    pub fn new(allowed: Vec<f64>, first: f64, most: f64) -> Search {
        Search { allowed, first: first.min(most), most, tried: vec![], around: 0 }
    }

    pub fn saw(&mut self, trial: Trial) {
        self.tried.push(trial);
    }

    /// The highest rate that held, and the lowest that did not.
    fn edge(&self) -> (Option<f64>, Option<f64>) {
        let rates = |held: bool| {
            self.tried.iter().filter(move |trial| trial.holds(&self.allowed) == held).map(|trial| trial.per_s)
        };
        (rates(true).reduce(f64::max), rates(false).reduce(f64::min))
    }

    /// Whether the edge lies between two rates that were tried.
    ///
    /// # Errors
    /// What was seen instead, and what to ask for.
    pub fn edges(&self, slo: &str) -> Result<()> {
        let text = match self.edge() {
            (None, None) | (Some(_), Some(_)) => return Ok(()),
            (None, Some(_)) => {
                let lowest = self.tried.iter().min_by(|one, other| one.per_s.total_cmp(&other.per_s));
                let seen = lowest.map_or(String::new(), |trial| {
                    let Trial { per_s, requests, over_any, .. } = trial;
                    format!(" at {per_s:.4} requests a second {over_any} of {requests} were not within {slo};")
                });
                format!("no rate keeps the limit:{seen} ask for a longer time, or for a longer --budget")
            }
            (Some(high), None) => {
                let next = match high < self.most {
                    true => "ask for a shorter time, or for a longer --budget",
                    false => {
                        "no higher rate can be tried in sessions of this length: ask for a shorter time, and for a --budget that is as much shorter"
                    }
                };
                format!("every rate that was tried keeps the limit, up to {high:.4} requests a second: {next}")
            }
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

    /// About where the edge is, from when both of its sides are near.
    pub fn found(&self) -> Option<f64> {
        (self.around > 0).then(|| self.likely_edge())
    }

    /// Where the share of requests that break a limit reaches what is allowed: the lowest such rate of all limits.
    fn likely_edge(&self) -> f64 {
        let edges = self.allowed.iter().enumerate().filter_map(|(limit, allowed)| self.edge_of(limit, *allowed));
        // Where no limit has one, what broke a rate was chance: the edge is above all that held.
        edges.reduce(f64::min).or(self.edge().0).unwrap_or(self.first)
    }

    /// Of one limit, if the share only ever grows with the rate: chance may have put a rate that holds above one that does not. By isotonic
    /// regression of all trials.
    fn edge_of(&self, limit: usize, allowed: f64) -> Option<f64> {
        struct Pool {
            rates: [f64; 2],
            over: f64,
            requests: f64,
        }
        let mut sorted: Vec<&Trial> = self.tried.iter().collect();
        sorted.sort_by(|one, other| one.per_s.total_cmp(&other.per_s));
        let mut pools: Vec<Pool> = vec![];
        for trial in sorted {
            let over = trial.over.get(limit).copied().unwrap_or_default() as f64;
            let mut pool = Pool { rates: [trial.per_s; 2], over, requests: trial.requests.max(1) as f64 };
            while let Some(last) = pools.pop_if(|last| last.over * pool.requests >= pool.over * last.requests) {
                pool.rates[0] = last.rates[0];
                (pool.over, pool.requests) = (pool.over + last.over, pool.requests + last.requests);
            }
            pools.push(pool);
        }
        let holds = |pool: &&Pool| pool.over <= allowed * pool.requests;
        let low = pools.iter().rfind(holds).map(|pool| pool.rates[1]);
        let high = pools.iter().find(|pool| !holds(pool)).map(|pool| pool.rates[0]);
        match (low, high) {
            (Some(low), Some(high)) => Some((low * high).sqrt()),
            // No rate breaks it: another limit does.
            (Some(_), None) if self.allowed.len() > 1 => None,
            (one, other) => one.or(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(per_s: f64, requests: usize, over: &[usize]) -> Trial {
        let over_any = over.iter().copied().max().unwrap_or_default();
        Trial { per_s, requests, over: over.to_vec(), over_any, given_up: false }
    }

    /// Tries a server that bears `capacity`, without noise.
    fn rates(capacity: f64, first: f64, most: f64, trials: usize) -> Vec<f64> {
        let mut search = Search::new(vec![0.01], first, most);
        let mut rates = vec![];
        while rates.len() < trials
            && let Some(per_s) = search.next_rate()
        {
            rates.push(per_s);
            search.saw(trial(per_s, 1_000, &[if per_s > capacity { 500 } else { 0 }]));
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
        let mut search = Search::new(vec![0.01], 10.0, 1e6);
        assert!(search.edges("latency.p99<=1ms").is_ok(), "nothing was tried");
        search.saw(trial(10.0, 100, &[100]));
        let told = search.edges("latency.p99<=1ms").unwrap_err().message;
        assert!(told.contains("at 10.0000 requests a second 100 of 100 were not within latency.p99<=1ms"), "{told}");
        search.saw(trial(5.0, 100, &[0]));
        assert!(search.edges("latency.p99<=1ms").is_ok());
        search.tried.remove(0);
        let told = |search: &Search| search.edges("latency.p99<=1ms").unwrap_err().message;
        assert!(told(&search).contains("every rate") && told(&search).contains("longer --budget"));
        search.saw(trial(1e6, 100, &[0]));
        assert!(told(&search).contains("no higher rate can be tried"));
    }

    #[test]
    fn a_trial_that_was_given_up_does_not_hold() {
        let whole = trial(1.0, 1_000, &[0]);
        assert!(!Trial { given_up: true, ..whole.clone() }.holds(&[0.01]) && whole.holds(&[0.01]));
    }

    #[test]
    fn one_trial_that_broke_by_chance_does_not_send_a_search_back_whatever_the_number_of_limits() {
        for limits in [1, 2] {
            let mut search = Search::new(vec![0.01; limits], 50.0, 1e6);
            for (per_s, over) in [(50.0, 0), (100.0, 0), (200.0, 3), (141.0, 0), (168.0, 0), (209.0, 0)] {
                search.saw(trial(per_s, 200, &vec![over; limits]));
            }
            let next = search.next_rate().unwrap();
            assert!((180.0..250.0).contains(&next), "{limits}: {next}");
        }
    }

    #[test]
    fn of_several_limits_the_one_that_breaks_first_is_the_edge() {
        let mut search = Search::new(vec![0.01, 0.5], 100.0, 1e6);
        let mut rates = vec![];
        while rates.len() < 24
            && let Some(per_s) = search.next_rate()
        {
            rates.push(per_s);
            // The first breaks at 900, the second at 300, of which half may.
            let over = |edge: f64, share: usize| if per_s > edge { share } else { 0 };
            search.saw(trial(per_s, 1_000, &[over(900.0, 20), over(300.0, 600)]));
        }
        let near = rates.iter().filter(|rate| (0.85..1.18).contains(&(*rate / 300.0))).count();
        assert!(rates.len() == 24 && near >= 8, "{rates:?}");
    }
}
