//! Capacities that are made up: what goes first, beside what, and at what cost.

use super::*;
use crate::forecast::{Figure, Vain};
use skillbench_record::{Axes, OutcomeKind, Trust};

const LIMITS: &str = "latency.p99<=20ms";

fn load(limits: &str, request: &str) -> Load {
    let request: Axes = request.parse().unwrap();
    Load { benchmark: "serving".into(), limits: limits.into(), request, ..Load::default() }
}

fn place(plugin: &str) -> Place {
    Place {
        machine: "here".into(),
        plugin: plugin.into(),
        device: plugin.into(),
        precision: Some("float32".into()),
        threads: Some(1),
        options: None,
    }
}

fn bears(plugin: &str, per_s: f64, axes: &str) -> Capacity {
    Capacity {
        model: "m".into(),
        load: load(LIMITS, "batch=1"),
        place: place(plugin),
        workers: Some(1),
        precision_asked: None,
        axes: axes.parse().unwrap(),
        figure: Figure {
            value: per_s,
            interval: Some((per_s / 1.05, per_s * 1.05)),
            run: format!("run-{plugin}-{per_s}"),
            date: "2026-01-01".into(),
            trust: Trust::Hardware,
            newer: None,
        },
    }
}

fn of(found: Vec<Capacity>) -> Capacities {
    Capacities { found, ..Capacities::default() }
}

fn bearing<'a>(capacities: &'a Capacities, question: &'a Question) -> Bearing<'a> {
    Bearing {
        capacities,
        question,
        machine: "here".into(),
        models: vec!["m".into()],
        limits: None,
        hardware: capacities.found.iter().map(|one| Hardware::of(&one.place)).collect(),
        unmeasured: vec![],
        several: BTreeSet::new(),
    }
}

fn ranked(capacities: &Capacities, price: &[&str], by: By) -> Vec<Candidate> {
    let prices = Prices::parse(&price.iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap();
    bearing(capacities, &Question::default()).rank(&prices, by).unwrap()
}

fn order(ranked: &[Candidate]) -> Vec<(&str, Option<usize>)> {
    ranked.iter().map(|one| (one.hardware.as_str(), one.rank)).collect()
}

#[test]
fn the_hardware_that_bears_the_most_goes_first_at_the_policy_at_which_it_does() {
    let together = "batch=8 batch_wait_us=2000";
    let all = of(vec![bears("cpu", 270.0, "batch=1"), bears("cpu", 410.0, together), bears("rten", 300.0, "batch=1")]);
    let found = ranked(&all, &[], By::MostFigure);
    assert_eq!(order(&found), [("cpu", Some(1)), ("rten", Some(2))], "a row for each hardware");
    assert_eq!((found[0].axes.as_str(), found[0].value), (together, Some(410.0)));
    assert_eq!(found[0].note, "");
}

#[test]
fn of_two_whose_intervals_overlap_the_first_is_not_clearly_ahead() {
    let all = of(vec![bears("cpu", 300.0, "batch=1"), bears("rten", 310.0, "batch=1")]);
    assert_eq!(ranked(&all, &[], By::MostFigure)[0].note, "not clearly ahead of cpu");
}

#[test]
fn capacities_within_other_limits_or_of_larger_requests_are_ranked_by_themselves() {
    let other = |load: Load| Capacity { load, ..bears("rten", 900.0, "batch=1") };
    let of_eight = other(load(LIMITS, "batch=8"));
    let all = of(vec![bears("cpu", 300.0, "batch=1"), other(load("latency.p99<=1s", "batch=1")), of_eight]);
    let found = ranked(&all, &[], By::MostFigure);
    let first: Vec<&Candidate> = found.iter().filter(|one| one.rank == Some(1)).collect();
    assert_eq!(first.len(), 3, "{found:#?}");
    assert!(found.iter().all(|one| one.rank.is_none_or(|rank| rank == 1)), "{found:#?}");
    assert!(first.iter().any(|one| one.note == "a request is 8 items"), "{first:#?}");
    let question = Question::default();
    let chosen = Bearing { limits: Some("latency.p99<=1s".into()), ..bearing(&all, &question) };
    let chosen = chosen.rank(&Prices::default(), By::MostFigure).unwrap();
    assert!(chosen.iter().all(|one| one.limits.as_deref() == Some("latency.p99<=1s")), "{chosen:#?}");
}

#[test]
fn what_is_emulated_unverified_or_remote_has_no_rank_and_gives_way_to_what_is_verified() {
    let trusted = |plugin: &str, per_s: f64, trust: Trust| {
        let mut one = bears(plugin, per_s, "batch=4 batch_wait_us=0");
        one.figure.trust = trust;
        one
    };
    let all = of(vec![
        bears("cpu", 300.0, "batch=1"),
        trusted("cpu", 999.0, Trust::Unverified),
        trusted("qnn", 999.0, Trust::Emulated),
        trusted("endpoint", 999.0, Trust::Remote),
    ]);
    let found = ranked(&all, &["1"], By::MostFigure);
    assert_eq!(order(&found), [("cpu", Some(1)), ("endpoint", None), ("qnn", None)]);
    assert_eq!(found[0].value, Some(300.0));
    assert!(found[2].costs.is_empty(), "nobody pays for what is emulated");
}

#[test]
fn the_cheapest_may_bear_less_and_what_has_no_price_has_no_rank() {
    let all =
        of(vec![bears("cuda", 1000.0, "batch=1"), bears("cpu", 300.0, "batch=1"), bears("rten", 200.0, "batch=1")]);
    let found = ranked(&all, &["cuda=3.6", "cpu=0.54"], By::Cost);
    assert_eq!(order(&found), [("cpu", Some(1)), ("cuda", Some(2)), ("rten", None)]);
    let cost = found[0].cost(Per::Requests).unwrap();
    assert!((cost.value - 0.5).abs() < 1e-9 && cost.low < Some(0.5) && cost.high > Some(0.5), "{cost:?}");
    assert_eq!(found[2].note, "it has no price (--price)");
    let bearing_most = ranked(&all, &["cuda=3.6", "cpu=0.54"], By::MostFigure);
    assert_eq!(bearing_most[0].hardware, "cuda", "costs are shown beside, and rank nothing");
    assert!(bearing_most[0].cost(Per::Requests).is_some());
}

#[test]
fn a_request_for_tokens_costs_as_its_tokens_do_together() {
    let of_tokens = load("ttft.p99<=1s", "new_tokens=8 prompt=16");
    let all = of(vec![Capacity { load: of_tokens, ..bears("cpu", 10.0, "batch=4 new_tokens=8 prompt=16") }]);
    let found = ranked(&all, &["1"], By::Cost);
    let value = |per: Per| found[0].cost(per).unwrap().value;
    assert!((value(Per::Requests) / value(Per::Tokens) - 8.0).abs() < 1e-9, "{found:#?}");
}

#[test]
fn hardware_without_a_capacity_is_named_with_what_measures_it_or_with_what_came_of_it() {
    let mut all = of(vec![bears("cpu", 300.0, "batch=1")]);
    let (model, reason) = ("m".to_string(), "no rate keeps the limit".to_string());
    let (load, place) = (load(LIMITS, "batch=1"), place("rten"));
    all.vain.push(Vain { model, load, place, outcome: OutcomeKind::Failed, reason });
    let question = Question::default();
    let mut bearing = bearing(&all, &question);
    bearing.hardware.extend([Hardware::of(&self::place("rten")), Hardware::of(&self::place("openvino"))]);
    let found = bearing.rank(&Prices::default(), By::MostFigure).unwrap();
    assert_eq!(order(&found), [("cpu", Some(1)), ("openvino", None), ("rten", None)]);
    let command = "host run --plugin openvino --model m --slo \"latency.p99<=20ms\" --batch-sizes 1";
    assert_eq!(found[1].note, format!("not measured: {command}"));
    assert_eq!(found[2].note, "tried and failed: no rate keeps the limit");
    assert!(found[1..].iter().all(|one| one.evidence == Evidence::None && one.value.is_none()));
}
