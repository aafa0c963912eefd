use crate::made::{at_batch, cell, ended, measured, run, with};
use serde_json::{Value, json};
use skillbench_record::Run;
use skillbench_results::frames;
use skillbench_results::matrix::{Entry, Matrix, Rating, Status, build};

pub fn matrix(runs: &[Run]) -> Matrix {
    build(&frames::cells(runs).unwrap()).unwrap()
}

fn of(runs: &[Run], model: &str, hardware: &str) -> Entry {
    let matrix = matrix(runs);
    let model = matrix.models().find(|one| one.id == model).expect("the model").clone();
    model.entries.into_iter().find(|entry| entry.hardware == hardware).expect("the hardware")
}

fn one(cells: Vec<Value>, model: &str, hardware: &str) -> Entry {
    of(&[run("a", 0, cells)], model, hardware)
}

/// Median latencies; the means are others, so that they are not mistaken for them.
fn took(plugin: &str, model: &str, median: f64) -> Value {
    measured(plugin, model, median * 10.0, median, 1.0)
}

fn close(found: f64, wanted: f64) -> bool {
    (found / wanted - 1.0).abs() < 1e-12
}

#[test]
fn a_rating_is_the_geometric_mean_of_the_speed_up_over_the_points() {
    let cells = vec![
        took("cpu", "m", 8.0),
        at_batch(took("cpu", "m", 36.0), 4),
        took("cuda", "m", 4.0),
        at_batch(took("cuda", "m", 2.0), 4),
    ];
    // 2 and 18: the root of 36.
    let entry = one(cells.clone(), "m", "cuda");
    let speedup = entry.speedup.as_ref().unwrap();
    assert!(close(speedup.value, 6.0), "{speedup:?}");
    assert_eq!(
        (entry.rating, entry.status, entry.compatible, speedup.points),
        (Rating::High, Status::Measured, Some(true), 2)
    );
    assert_eq!((&*speedup.precision, &*speedup.machine), ("float32", "here, A processor"));
    let cpu = one(cells, "m", "cpu");
    assert_eq!((cpu.rating, cpu.speedup.unwrap().value), (Rating::Medium, 1.0));
}

#[test]
fn failed_unavailable_and_not_tried_are_three_different_things() {
    let cells = vec![
        took("cpu", "m", 8.0),
        took("cpu", "n", 8.0),
        ended("cuda", "m", "crashed", "SIGSEGV; see its output"),
        ended("rocm", "m", "unavailable", "no driver; install it"),
        ended("qnn", "m", "unsupported", "no such operator"),
        ended("mps", "m", "skipped", "too many tokens"),
    ];
    let told = |hardware: &str| {
        let entry = one(cells.clone(), "m", hardware);
        (entry.status, entry.rating, entry.compatible, entry.reason.unwrap(), entry.next.unwrap())
    };
    let unknown = |status, why: &str, next: &str| (status, Rating::Unknown, None, why.to_string(), next.to_string());
    assert_eq!(
        told("cuda"),
        (
            Status::Failed,
            Rating::None,
            Some(false),
            "crashed: SIGSEGV; see its output".into(),
            "host why cuda m".into()
        )
    );
    assert_eq!(
        told("qnn"),
        (Status::Unsupported, Rating::None, Some(false), "no such operator".into(), "host why qnn m".into())
    );
    assert_eq!(told("rocm"), unknown(Status::Unavailable, "no driver; install it", "host why rocm"));
    assert_eq!(told("mps"), unknown(Status::NotTried, "skipped: too many tokens", "host run --plugin mps --model m"));
    let entry = one(cells.clone(), "n", "cuda");
    assert_eq!((entry.status, entry.reason.as_deref()), (Status::NotTried, Some("no stored run has tried it")));
    assert!(entry.history.is_empty());
}

#[test]
fn emulated_and_unverified_cells_have_a_status_and_no_rating_and_rate_nothing_else() {
    let emulated = with(took("qnn", "m", 1.0), json!({"emulated": true}));
    let loose = with(took("cuda", "m", 1.0), json!({"verification": {"status": "off"}}));
    let entry = one(vec![took("cpu", "m", 8.0), emulated], "m", "qnn");
    assert_eq!(
        (entry.status, entry.rating, entry.emulated, entry.compatible),
        (Status::Measured, Rating::Unknown, true, None)
    );
    assert!(entry.speedup.is_none() && entry.describe() == "unknown, emulated");
    let entry = one(vec![took("cpu", "m", 8.0), loose], "m", "cuda");
    assert_eq!((entry.rating, entry.verified, entry.compatible), (Rating::Unknown, Some(false), None));
    assert_eq!(entry.describe(), "unknown, unverified");
    let unsure = with(took("cpu", "m", 8.0), json!({"verification": {"status": "off"}}));
    assert_eq!(
        one(vec![unsure, took("cuda", "m", 1.0)], "m", "cuda").rating,
        Rating::Unknown,
        "an unverified CPU holds nothing"
    );
}

#[test]
fn only_the_cpu_of_the_same_machine_point_and_precision_is_held_against() {
    let half = json!({"precision": "float16", "device": "cuda", "engine": "an engine", "nodes_total": null, "nodes_on_device": null, "cache_hit": null});
    let entry = one(vec![took("cpu", "m", 8.0), with(took("cuda", "m", 1.0), json!({"placement": half}))], "m", "cuda");
    assert_eq!((entry.rating, entry.next.as_deref()), (Rating::Unknown, Some("host run --plugin cpu,cuda --model m")));
    let entry = one(vec![took("cpu", "m", 8.0), at_batch(took("cuda", "m", 1.0), 2)], "m", "cuda");
    assert_eq!(entry.rating, Rating::Unknown);
    let mut elsewhere = run("b", 1, vec![took("cuda", "m", 1.0)]);
    elsewhere.environment.hostname = Some("there".into());
    assert_eq!(of(&[run("a", 0, vec![took("cpu", "m", 8.0)]), elsewhere], "m", "cuda").rating, Rating::Unknown);
    let unknown = with(took("cuda", "m", 1.0), json!({"placement": null}));
    let entry = one(vec![took("cpu", "m", 8.0), unknown], "m", "cuda");
    assert!(entry.reason.unwrap().contains("does not tell in which precision"));
}

#[test]
fn the_cpu_of_the_same_run_counts_before_a_newer_one() {
    let first = run("a", 0, vec![took("cpu", "m", 8.0), took("cuda", "m", 2.0)]);
    let second = run("b", 1, vec![took("cpu", "m", 4.0)]);
    assert_eq!(of(&[first, second.clone()], "m", "cuda").speedup.unwrap().value, 4.0);
    let alone = run("a", 0, vec![took("cuda", "m", 2.0)]);
    assert_eq!(of(&[alone, second], "m", "cuda").speedup.unwrap().value, 2.0);
}

#[test]
fn a_backend_on_the_cpu_is_held_against_as_many_threads() {
    let processor =
        json!({"name": "A processor", "kind": "cpu", "vendor": "", "arch": "", "driver": "", "memory_mb": null});
    let single = |cell: Value| with(cell, json!({"threads": 1}));
    let cells = vec![
        took("cpu", "m", 8.0),
        single(took("cpu", "m", 15.0)),
        with(single(took("rten", "m", 10.0)), json!({"hardware": processor})),
    ];
    assert_eq!(one(cells.clone(), "m", "rten").speedup.unwrap().value, 1.5);
    let cells = vec![cells[0].clone(), cells[1].clone(), single(took("cuda", "m", 10.0))];
    assert_eq!(
        one(cells, "m", "cuda").speedup.unwrap().value,
        0.8,
        "another device against the CPU with the most threads"
    );
}

#[test]
fn of_two_precisions_each_is_rated_and_the_first_of_the_rule_is_shown() {
    let placed = |cell: Value, precision: &str| {
        with(
            cell,
            json!({"placement": {"precision": precision, "device": "x", "engine": "an engine", "nodes_total": null, "nodes_on_device": null, "cache_hit": null}, "precision_requested": precision}),
        )
    };
    let cells = vec![
        took("cpu", "m", 8.0),
        placed(took("cpu", "m", 2.0), "int8"),
        placed(took("cuda", "m", 1.0), "int8"),
        took("cuda", "m", 2.0),
    ];
    let entry = one(cells, "m", "cuda");
    let told =
        |speedup: &skillbench_results::matrix::Speedup| (speedup.precision.clone(), speedup.value, speedup.rating);
    assert_eq!(told(entry.speedup.as_ref().unwrap()), ("float32".into(), 4.0, Rating::High));
    assert_eq!(entry.others.iter().map(told).collect::<Vec<_>>(), [("int8".into(), 2.0, Rating::High)]);
    assert_eq!(entry.history.len(), 2, "one line of history for each precision");
}

#[test]
fn figures_stay_when_a_newer_try_fails_and_history_has_both() {
    let first = run("a", 0, vec![took("cpu", "m", 8.0), took("cuda", "m", 2.0), at_batch(took("cuda", "m", 4.0), 4)]);
    let gone = || with(ended("cuda", "m", "unavailable", "no driver"), json!({"device": ""}));
    let second = run("b", 1, vec![took("cpu", "m", 8.0), gone(), at_batch(gone(), 4)]);
    let entry = of(&[first, second], "m", "cuda");
    assert_eq!((entry.status, entry.rating), (Status::Measured, Rating::High));
    let [failure] = &entry.failures[..] else { panic!("{:?}", entry.failures) };
    assert_eq!((failure.outcome.as_str(), failure.cells, failure.since), ("unavailable", 2, true));
    let [was, is] = &entry.history[..] else { panic!("two runs: {:?}", entry.history) };
    assert_eq!((was.run.as_deref(), was.outcome.as_deref(), was.cells), (Some("a"), Some("measured"), Some(2)));
    assert_eq!(
        (was.mean_latency, was.mean_throughput),
        (Some(0.03), Some(37.5)),
        "means of 20 and 40 ms, of 50 and 25 a second"
    );
    assert_eq!((is.outcome.as_deref(), is.mean_latency, is.mean_throughput), (Some("unavailable"), None, None));
    assert_eq!(was.timestamp.as_deref(), Some("2026-11-21T12:00:00Z"));
}

#[test]
fn what_failed_beside_what_is_measured_is_told() {
    let cells =
        vec![took("cpu", "m", 8.0), took("cuda", "m", 2.0), at_batch(ended("cuda", "m", "failed", "no memory"), 64)];
    let entry = one(cells, "m", "cuda");
    assert_eq!((entry.status, entry.rating, entry.failures.len()), (Status::Measured, Rating::High, 1));
    assert_eq!(
        (&*entry.failures[0].outcome, &*entry.failures[0].reason, entry.failures[0].cells),
        ("failed", "no memory", 1)
    );
}

#[test]
fn other_benchmarks_tell_that_it_runs_and_rate_nothing() {
    let load = |plugin: &str| with(took(plugin, "m", 2.0), json!({"benchmark": "throughput-load"}));
    let entry = one(vec![load("cpu"), load("cuda")], "m", "cuda");
    assert_eq!((entry.status, entry.rating), (Status::Measured, Rating::Unknown));
    assert_eq!(entry.next.as_deref(), Some("host run --plugin cuda --model m --bench inference"));
    assert_eq!(entry.history[0].mean_latency, None);
}

#[test]
fn a_family_is_the_geometric_mean_over_its_models_and_says_over_how_many() {
    let cells = vec![
        took("cpu", "m", 8.0),
        took("cuda", "m", 4.0),
        took("cpu", "n", 8.0),
        took("cuda", "n", 1.0),
        took("cpu", "o", 8.0),
        ended("cuda", "o", "failed", "no memory"),
    ];
    let matrix = matrix(&[run("a", 0, cells)]);
    let [family] = &matrix.families[..] else { panic!("one family") };
    let entry = family.entries.iter().find(|entry| entry.hardware == "cuda").unwrap();
    let speedup = entry.speedup.as_ref().unwrap();
    assert!(close(speedup.value, 4.0), "2 and 8: the root of 16");
    assert_eq!((speedup.models, entry.rating, entry.compatible), (2, Rating::High, Some(true)));
    assert_eq!(
        entry.models.iter().map(|(status, n)| (*status, *n)).collect::<Vec<_>>(),
        [(Status::Failed, 1), (Status::Measured, 2)]
    );
    assert_eq!(entry.history.len(), 3);
    let part = matrix.only(&["cuda".into()], &["n".into()]);
    assert_eq!((part.hardware.len(), part.families[0].models.len()), (1, 1));
    assert!(close(part.families[0].entries[0].speedup.as_ref().unwrap().value, 8.0), "of what is left");
}

#[test]
fn no_cells_are_a_matrix_of_nothing() {
    let matrix = matrix(&[run("a", 0, vec![])]);
    assert_eq!((matrix.timestamp, matrix.hardware.len(), matrix.families.len()), (None, 0, 0));
    let skipped = one(vec![cell("cpu", "m")], "m", "cpu");
    assert_eq!(skipped.status, Status::NotTried);
}
