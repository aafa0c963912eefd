//! The search of the benchmark `serving` and the capacity that is read from its trials, on servers whose capacity is known.

use fastrand::Rng;
use skillbench_load::arrivals::Arrivals;
use skillbench_load::search::{Search, Trial};
use skillbench_record::CapacityTrial;
use skillbench_stats::{Capacity, capacity};

/// As many as the benchmark lays its budget out for.
const TRIALS: usize = 40;

/// A server of one queue and so many workers, which needs as long as `service` says, in seconds, on a machine that others stop now and then.
struct Simulated<'a> {
    /// Every so many seconds on average, for so many.
    stalls: Option<[f64; 2]>,
    workers: usize,
    service: &'a dyn Fn(&mut Rng) -> f64,
    arrivals: Arrivals,
}

impl Simulated<'_> {
    /// How many of a session's requests take longer than `within_s`.
    fn over(&self, per_s: f64, requests: usize, within_s: f64, seed: u64) -> usize {
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
    fn search(&self, limit: Limit, trials: usize, length_s: f64, seed: u64) -> Vec<CapacityTrial> {
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
    fn coverage(&self, truth: f64, limit: Limit, length_s: f64, searches: u64) -> (f64, f64, f64) {
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

    /// The truth by a long simulation, where nobody has a formula.
    fn truth(&self, limit: Limit, from: f64, to: f64) -> f64 {
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

/// So large a share of requests may take longer.
#[derive(Clone, Copy)]
struct Limit {
    within_s: f64,
    allowed: f64,
}

fn p99(within_s: f64) -> Limit {
    Limit { within_s, allowed: 0.01 }
}

fn p90(within_s: f64) -> Limit {
    Limit { within_s, allowed: 0.1 }
}

fn exponential(rng: &mut Rng, mean: f64) -> f64 {
    -(1.0 - rng.f64()).ln() * mean
}

#[test]
fn the_interval_holds_the_capacity_of_a_queue_whose_formula_is_known() {
    let service = |rng: &mut Rng| exponential(rng, 1e-3);
    let server = Simulated { stalls: None, workers: 1, service: &service, arrivals: Arrivals::Poisson };
    // M/M/1: a stay is longer than t with probability exp(-(mu - lambda) t).
    let (within_s, mu) = (20e-3, 1_000.0);
    let truth = mu - 100.0_f64.ln() / within_s;
    let (held, found, width) = server.coverage(truth, p99(within_s), 1.5, 200);
    println!(
        "M/M/1: {held:.3} of the intervals hold {truth:.0}/s, {found:.2} of the searches have one, +-{:.1}%",
        width * 100.0
    );
    assert!(held >= 0.93 && found >= 0.85 && width < 0.1);
}

#[test]
fn the_interval_holds_the_capacity_of_servers_of_other_kinds() {
    let constant = |_: &mut Rng| 2e-3;
    let uneven = |rng: &mut Rng| if rng.f64() < 0.1 { 8e-3 } else { 1e-3 };
    let bursts = Arrivals::Gamma(0.5);
    let kinds: [(&str, Simulated<'_>, f64, f64); 5] = [
        (
            "one worker, constant",
            Simulated { stalls: None, workers: 1, service: &constant, arrivals: Arrivals::Poisson },
            10e-3,
            1.5,
        ),
        (
            "four workers, constant",
            Simulated { stalls: None, workers: 4, service: &constant, arrivals: Arrivals::Poisson },
            6e-3,
            1.5,
        ),
        (
            "two workers, uneven",
            Simulated { stalls: None, workers: 2, service: &uneven, arrivals: Arrivals::Poisson },
            20e-3,
            1.5,
        ),
        (
            "one worker that is stalled",
            Simulated { stalls: Some([10.0, 25e-3]), workers: 1, service: &constant, arrivals: Arrivals::Poisson },
            20e-3,
            1.5,
        ),
        (
            "one worker, in bursts",
            Simulated { stalls: None, workers: 1, service: &constant, arrivals: bursts },
            30e-3,
            3.0,
        ),
    ];
    let mut bad = false;
    for (name, server, within_s, length_s) in kinds {
        let truth = server.truth(p99(within_s), 50.0, 4_000.0);
        let (held, found, width) = server.coverage(truth, p99(within_s), length_s, 200);
        println!("{name}: {held:.3} hold {truth:.0}/s, {found:.2} have one, +-{:.1}%", width * 100.0);
        bad |= !(held >= 0.93 && found >= 0.75 && width < 0.15);
    }
    assert!(!bad, "see above");
}

#[test]
fn the_interval_holds_the_capacity_with_sessions_as_short_as_a_search_may_have() {
    // 40 ms for a request, as an accelerator takes for tokens or images; sessions of 20 limits or more, with two requests or more that may be late.
    let constant = |_: &mut Rng| 40e-3;
    let uneven = |rng: &mut Rng| exponential(rng, 40e-3);
    type Kind<'k> = (&'k str, &'k dyn Fn(&mut Rng) -> f64, usize, Limit, f64);
    let kinds: [Kind<'_>; 9] = [
        ("constant", &constant, 1, p99(0.4), 30.0),
        ("exponential", &uneven, 1, p99(0.4), 40.0),
        ("exponential, four workers", &uneven, 4, p99(0.4), 20.0),
        ("constant, four workers", &constant, 4, p99(0.4), 20.0),
        ("constant", &constant, 1, p99(2.0), 20.0),
        ("constant", &constant, 1, p90(0.4), 20.0),
        ("exponential", &uneven, 1, p90(0.4), 20.0),
        ("exponential, four workers", &uneven, 4, p90(1.0), 20.0),
        // Far longer than they need to be: there the share grows faster than the line.
        ("constant", &constant, 1, p99(2.0), 160.0),
    ];
    let mut bad = false;
    for (name, service, workers, limit, limits) in kinds {
        let server = Simulated { stalls: None, workers, service, arrivals: Arrivals::Poisson };
        let truth = server.truth(limit, 1.0, 200.0);
        let (held, found, width) = server.coverage(truth, limit, limits * limit.within_s, 200);
        println!(
            "{name}, p{:.0} of {} s, sessions of {limits} limits: {held:.3} hold {truth:.1}/s, {found:.2} have one, +-{:.1}%",
            100.0 * (1.0 - limit.allowed),
            limit.within_s,
            width * 100.0
        );
        let least = if limits > 100.0 { 0.7 } else { 0.92 };
        bad |= !(held >= least && found >= 0.9 && width < 0.25);
    }
    assert!(!bad, "see above");
}

#[test]
fn sessions_that_begin_with_an_empty_queue_show_more_than_is_borne_for_good_and_not_twice_the_limits_share() {
    let constant = |_: &mut Rng| 40e-3;
    let uneven = |rng: &mut Rng| exponential(rng, 40e-3);
    let services: [&dyn Fn(&mut Rng) -> f64; 2] = [&constant, &uneven];
    for service in services {
        let server = Simulated { stalls: None, workers: 1, service, arrivals: Arrivals::Poisson };
        let (limit, limits) = (p99(0.4), 20.0);
        let truth = server.truth(limit, 1.0, 200.0);
        let over_at = |per_s: f64| {
            let requests = (per_s * limits * limit.within_s) as usize;
            let sessions = 400_000 / requests;
            let over: usize =
                (0..sessions as u64).map(|seed| server.over(per_s, requests, limit.within_s, 990 + seed)).sum();
            over as f64 / (sessions * requests) as f64
        };
        assert!(over_at(truth) < 0.9 * limit.allowed, "fewer are late than for good");
        assert!(over_at(truth * (1.0 + 2.0 / limits)) > limit.allowed, "such a rate is seen to be too much");
    }
}

#[test]
fn requests_that_come_like_a_clock_to_a_server_that_works_like_one_show_a_cliff() {
    let constant = |_: &mut Rng| 2e-3;
    let server = Simulated { stalls: None, workers: 1, service: &constant, arrivals: Arrivals::Constant };
    let found = capacity(&server.search(p99(3e-3), 20, 3.0, 1), 0.01, 1e-3);
    let Some(Capacity::Edge { ci95: [low, high], cliff, .. }) = found else { panic!("{found:?}") };
    assert!(cliff && low <= 500.5 && high >= 499.0 && high / low < 1.2, "{found:?}");
}
