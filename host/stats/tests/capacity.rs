//! The search of the benchmark `serving` and the capacity that is read from its trials, on servers whose capacity is known.

mod simulated;

use fastrand::Rng;
use simulated::{Limit, Simulated, exponential, p90, p99, queues};
use skillbench_load::arrivals::Arrivals;
use skillbench_stats::{Capacity, capacity};

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
fn more_requests_bring_a_search_nearer_to_what_a_server_bears() {
    for queue in queues() {
        let truth = queue.truth();
        let [short, usual] = [0.75, 1.5].map(|length_s| queue.server.cost(truth, queue.limit, length_s, 100));
        println!("{}: {short:?}, {usual:?}", queue.name);
        assert!(usual.requests > short.requests && usual.median < short.median, "{short:?} {usual:?}");
        assert!(usual.median < 0.035 && usual.p90 < 0.1 && usual.within > 0.8, "{usual:?}");
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
