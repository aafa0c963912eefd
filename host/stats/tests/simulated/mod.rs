//! Servers whose capacity is known, and searches of it.

use fastrand::Rng;
use skillbench_load::arrivals::Arrivals;
use skillbench_load::search::{Search, Trial};
use skillbench_record::CapacityTrial;
use skillbench_stats::{Capacity, capacity};

/// As many as the benchmark lays its budget out for.
const TRIALS: usize = 40;

/// A server of one queue and so many workers, which needs as long as `service` says, in seconds, on a machine that others stop now and then.
#[derive(Clone, Copy)]
pub struct Simulated<'a> {
    /// Every so many seconds on average, for so many.
    pub stalls: Option<[f64; 2]>,
    pub workers: usize,
    pub service: &'a dyn Fn(&mut Rng) -> f64,
    pub arrivals: Arrivals,
}

impl Simulated<'_> {
    /// How many of a session's requests take longer than `within_s`.
    pub fn over(&self, per_s: f64, requests: usize, within_s: f64, seed: u64) -> usize {
        let mut rng = Rng::with_seed(seed ^ 0x5eed);
        let mut free = vec![0.0_f64; self.workers];
        let mut stall = self.stalls.map_or(f64::INFINITY, |[mean, _]| exponential(&mut rng, mean));
        let late = self.arrivals.due(per_s, requests, seed).into_iter().filter(|due| {
            let due = *due as f64 * 1e-9;
            let next = free.iter_mut().min_by(|a, b| a.total_cmp(b)).unwrap();
            *next = next.max(due) + (self.service)(&mut rng);
            let mut end = *next;
            while let Some([mean, length]) = self.stalls
                && end > stall
            {
                free.iter_mut().for_each(|free| *free = free.max(stall) + length);
                end = end.max(stall) + length;
                stall += exponential(&mut rng, mean);
            }
            end - due > within_s
        });
        late.count()
    }

    /// A search as the benchmark does it, of so many trials, each so many seconds long.
    pub fn search(&self, limit: Limit, trials: usize, length_s: f64, seed: u64) -> Vec<CapacityTrial> {
        let Limit { within_s, allowed } = limit;
        let first = 1.0 / (2.0 * (self.service)(&mut Rng::with_seed(seed)));
        let mut search = Search::new(vec![allowed], first, 1e6);
        let mut all = vec![];
        while all.len() < trials
            && let Some(per_s) = search.next_rate()
        {
            let requests = ((per_s * length_s) as usize).max(12);
            let over = self.over(per_s, requests, within_s, seed.wrapping_mul(1_000) + all.len() as u64);
            let given_up = over > ((allowed + (1.0 - allowed) * 0.3) * requests as f64) as usize + 12;
            search.saw(Trial { per_s, requests, over: vec![over], over_any: over, given_up });
            all.push(CapacityTrial {
                per_s,
                requests: requests as u64,
                over: over as u64,
                over_each: vec![],
                refused: 0,
                given_up,
                utilization: 0.5,
                requests_per_run: None,
            });
        }
        all
    }

    /// How often the interval holds the truth, how often there is one, and its median half width.
    pub fn coverage(&self, truth: f64, limit: Limit, length_s: f64, searches: u64) -> (f64, f64, f64) {
        let (mut held, mut widths) = (0, vec![]);
        for seed in 1..=searches {
            let trials = self.search(limit, TRIALS, length_s, seed);
            let found = capacity(&trials, limit.allowed, limit.within_s / length_s);
            if let Some(Capacity::Edge { ci95: [low, high], .. }) = found {
                held += u64::from(low <= truth && truth <= high);
                widths.push((high - low) / 2.0 / truth);
            }
        }
        widths.sort_by(f64::total_cmp);
        let found = widths.len() as f64;
        (held as f64 / found, found / searches as f64, widths[widths.len() / 2])
    }

    /// What searches cost, and how far they are off.
    pub fn cost(&self, truth: f64, limit: Limit, length_s: f64, searches: u64) -> Cost {
        let (mut requests, mut errors) = (vec![], vec![]);
        for seed in 1..=searches {
            let trials = self.search(limit, TRIALS, length_s, seed);
            requests.push(trials.iter().map(|trial| trial.requests).sum::<u64>());
            let found = match capacity(&trials, limit.allowed, limit.within_s / length_s) {
                Some(Capacity::Edge { per_s, .. }) => per_s,
                // One that finds none is as far off as can be.
                _ => f64::INFINITY,
            };
            errors.push((found / truth - 1.0).abs());
        }
        requests.sort_unstable();
        errors.sort_by(f64::total_cmp);
        let at = |share: f64| errors[(share * errors.len() as f64) as usize];
        let within = errors.iter().filter(|error| **error <= 0.05).count() as f64 / searches as f64;
        Cost { requests: requests[requests.len() / 2], median: at(0.5), p90: at(0.9), within }
    }

    /// The truth by a long simulation, where nobody has a formula.
    pub fn truth(&self, limit: Limit, from: f64, to: f64) -> f64 {
        let (mut low, mut high) = (from, to);
        while high / low > 1.002 {
            let middle = (low * high).sqrt();
            let requests = 400_000;
            let over: usize = (0..5).map(|seed| self.over(middle, requests, limit.within_s, 77 + seed)).sum();
            let holds = over as f64 <= limit.allowed * 5.0 * requests as f64;
            *(if holds { &mut low } else { &mut high }) = middle;
        }
        (low * high).sqrt()
    }
}

/// Of many searches.
#[derive(Debug)]
pub struct Cost {
    /// Median.
    pub requests: u64,
    /// Of the errors beside the truth.
    pub median: f64,
    pub p90: f64,
    /// The share of searches that are within 5% of it.
    pub within: f64,
}

/// So large a share of requests may take longer.
#[derive(Clone, Copy)]
pub struct Limit {
    pub within_s: f64,
    pub allowed: f64,
}

pub fn p99(within_s: f64) -> Limit {
    Limit { within_s, allowed: 0.01 }
}

pub fn p90(within_s: f64) -> Limit {
    Limit { within_s, allowed: 0.1 }
}

pub fn exponential(rng: &mut Rng, mean: f64) -> f64 {
    -(1.0 - rng.f64()).ln() * mean
}

/// Queues that textbooks have, with a limit that each keeps up to about half of what it can serve.
pub struct Queue {
    pub name: &'static str,
    pub server: Simulated<'static>,
    /// Mean, and whether each takes as long.
    pub service_s: f64,
    pub is_constant: bool,
    pub limit: Limit,
}

impl Queue {
    pub fn truth(&self) -> f64 {
        if self.is_constant || self.server.workers > 1 {
            let most = self.server.workers as f64 / self.service_s;
            return self.server.truth(self.limit, most / 10.0, most);
        }
        // M/M/1: a stay is longer than t with probability exp(-(mu - lambda) t).
        1.0 / self.service_s + self.limit.allowed.ln() / self.limit.within_s
    }
}

pub fn queues() -> [Queue; 3] {
    let server = |workers, service| Simulated { stalls: None, workers, service, arrivals: Arrivals::Poisson };
    let constant: &dyn Fn(&mut Rng) -> f64 = &|_: &mut Rng| 2e-3;
    let uneven: &dyn Fn(&mut Rng) -> f64 = &|rng: &mut Rng| exponential(rng, 1e-3);
    let (one, exponential, four) = (server(1, constant), server(1, uneven), server(4, constant));
    [
        Queue { name: "M/D/1", server: one, service_s: 2e-3, is_constant: true, limit: p99(10e-3) },
        Queue { name: "M/M/1", server: exponential, service_s: 1e-3, is_constant: false, limit: p99(20e-3) },
        Queue { name: "M/D/4", server: four, service_s: 2e-3, is_constant: true, limit: p99(6e-3) },
    ]
}
