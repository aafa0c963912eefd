//! Random sequences of runs, options, machines and outcomes: every consumer says what a model of ten lines says.

use fastrand::Rng;
use serde_json::{Value, json};
use skillbench_record::{OutcomeKind, Trust};
use skillbench_results::questions::{latest, relative_to_cpu};
use skillbench_results::{Stored, freshness, matrix, trend};
use skillbench_session::forecast::Cells;
use skillbench_store::database::Filter;
use skillbench_store::{Database, Recorded};
use std::collections::{BTreeMap, BTreeSet};

const MACHINES: [&str; 2] = ["one", "two"];
const OPTIONS: [Option<&str>; 3] = [None, Some("cache=off"), Some("cache=on")];

#[derive(Clone, Copy, Debug, PartialEq)]
struct Try {
    machine: &'static str,
    options: Option<&'static str>,
    outcome: OutcomeKind,
    trust: Trust,
    ms: f64,
}

fn any(rng: &mut Rng, time: usize) -> Try {
    let outcomes = [
        OutcomeKind::Measured,
        OutcomeKind::Measured,
        OutcomeKind::TimedOut,
        OutcomeKind::Failed,
        OutcomeKind::Skipped,
    ];
    Try {
        machine: MACHINES[rng.usize(..2)],
        options: OPTIONS[rng.usize(..3)],
        outcome: outcomes[rng.usize(..5)],
        trust: Trust::ALL[rng.usize(..3)],
        // Each has a figure of its own, by which it is known.
        ms: 1.0 + time as f64,
    }
}

/// What counts of one machine and its options: the figure, and how a newer try ended.
type Counts = BTreeMap<(String, Option<String>), (f64, Trust, Option<OutcomeKind>)>;

fn model(tries: &[Try]) -> Counts {
    let mut counts = Counts::new();
    for (machine, options) in MACHINES.iter().flat_map(|machine| OPTIONS.map(|options| (*machine, options))) {
        let all: Vec<(usize, &Try)> =
            tries.iter().enumerate().filter(|(_, one)| one.machine == machine && one.options == options).collect();
        let measured = all.iter().filter(|(_, one)| one.outcome == OutcomeKind::Measured);
        let Some((at, best)) = measured.max_by_key(|(at, one)| (one.trust, *at)) else { continue };
        let newer = all.iter().rfind(|(when, one)| when > at && one.outcome != OutcomeKind::Skipped);
        let newer = newer.map(|(_, one)| one.outcome);
        counts.insert((machine.into(), options.map(String::from)), (best.ms, best.trust, newer));
    }
    counts
}

fn stats(median: f64) -> Value {
    json!({"n": 20, "min": median, "mean": median, "median": median, "p90": null, "p95": null, "p99": null, "max": median,
        "std": 0.1, "mad": 0.05, "ci95": [median, median], "outliers": 0})
}

fn run(time: usize, one: &Try) -> Recorded {
    let is_measured = one.outcome == OutcomeKind::Measured;
    let options: BTreeMap<&str, &str> = one.options.iter().filter_map(|text| text.split_once('=')).collect();
    let verification = match one.trust {
        Trust::Unverified => json!({"status": "off"}),
        _ => json!({"status": "passed", "reference": "rten", "same_engine": false, "max_relative_difference": 0.0,
            "tolerance": 1e-3, "elements_compared": 1}),
    };
    let metrics = json!({"latency_ms": stats(one.ms), "cpu_ms": null, "throughput_per_s": 1000.0 / one.ms, "sequential_per_s": null,
        "concurrent_per_s": null, "concurrent_workers": null, "speedup_over_sequential": null, "init_ms": {}, "memory_mb": {},
        "energy_j_per_item": null, "energy": null, "efficiency": null, "counters": {}, "series": {}});
    let cell = json!({
        "index": 0, "plugin": "cpu", "plugin_version": "0.1.0", "skill": "bert-tiny", "family": "embedding", "architecture": "encoder-only",
        // A try that failed may not have reached its device.
        "device": if is_measured { "cpu" } else { "" },
        "benchmark": "inference", "benchmark_version": "1", "precision_requested": null, "threads": 2, "options": options,
        "axes": {"batch": 1}, "batch_size": 1, "sequence_length": null, "outcome": one.outcome,
        "reason": if is_measured { Value::Null } else { json!({"code": "it", "message": "a reason"}) },
        "emulated": is_measured && one.trust == Trust::Emulated, "stable": true,
        "placement": if is_measured { json!({"precision": "float32", "device": "cpu", "engine": "e", "nodes_total": null,
            "nodes_on_device": null, "cache_hit": null}) } else { Value::Null },
        "verification": if is_measured { verification } else { Value::Null },
        "implausible": if is_measured && one.trust == Trust::Implausible { json!(["too fast"]) } else { json!([]) },
        "metrics": if is_measured { metrics } else { Value::Null },
    });
    let id = format!("run-{time:03}");
    let document = json!({
        "schema": "skillbench.run/1", "run_id": id, "started_at": format!("2026-01-01T{:02}:{:02}:00Z", time / 60, time % 60),
        "command": [], "seed": 42, "left_out": {}, "cells": [cell],
        "environment": {"host_version": "0.1.0", "os": "linux", "arch": "x86_64", "hostname": one.machine, "machine": one.machine,
            "clock": "monotonic", "plugin_sha256": {}}
    });
    Recorded {
        request: None,
        fingerprint: id,
        run: serde_json::from_value(document).unwrap(),
        samples: vec![],
        damaged: vec![],
    }
}

#[test]
fn every_consumer_gives_the_figure_of_the_newest_measured_cell_and_tells_what_failed_since() {
    let mut rng = Rng::with_seed(14);
    for round in 0..12 {
        let tries: Vec<Try> = (0..rng.usize(1..30)).map(|time| any(&mut rng, time)).collect();
        let runs: Vec<Recorded> = tries.iter().enumerate().map(|(time, one)| run(time, one)).collect();
        let folder = tempfile::tempdir().unwrap();
        let database = Database::at(folder.path().join("b.duckdb"));
        database.store(&runs).unwrap();
        let expected = model(&tries);
        let about = format!("round {round}: {tries:?}");
        assert_eq!(of_the_reader(&database), expected, "the reader of the store, {about}");
        assert_eq!(of_the_view(&database), expected, "the view, {about}");
        assert_eq!(of_the_frame(Stored::from_recorded(&runs).unwrap()), expected, "the questions, {about}");
        assert_eq!(
            of_the_frame(Stored::that_count(&database).unwrap()),
            expected,
            "the report of a large one, {about}"
        );
        assert_eq!(of_forecasts(&database), expected, "predict and recommend, {about}");
        assert_eq!(of_freshness(&database), without_trust(&expected), "update and --incremental, {about}");
        the_matrix_agrees(&runs, &expected, &about);
        histories_do_not_mix(&runs, &tries, &about);
    }
}

#[test]
fn a_failure_between_measurements_of_two_precisions_stays_in_the_report_of_a_large_database() {
    let one = |outcome| Try { outcome, trust: Trust::Hardware, options: None, machine: MACHINES[0], ms: 1.0 };
    let outcomes = [OutcomeKind::Measured, OutcomeKind::Failed, OutcomeKind::Measured];
    let mut runs: Vec<Recorded> = outcomes.iter().enumerate().map(|(time, kind)| run(time, &one(*kind))).collect();
    runs[1].run.cells[0].device = "cpu".into();
    runs[2].run.cells[0].placement.as_mut().unwrap().precision = Some("float16".into());
    let folder = tempfile::tempdir().unwrap();
    let database = Database::at(folder.path().join("b.duckdb"));
    database.store(&runs).unwrap();
    let newer = |stored: Stored| {
        let frame = latest::latest(stored.cells).unwrap();
        let newer = frame.column("newer_run").unwrap().str().unwrap();
        newer.iter().map(|run| run.map(String::from)).collect::<Vec<_>>()
    };
    let expected = newer(Stored::from_recorded(&runs).unwrap());
    assert_eq!(expected, [Some("run-001".to_string()), None]);
    assert_eq!(newer(Stored::that_count(&database).unwrap()), expected);
}

fn of_the_reader(database: &Database) -> Counts {
    let median = skillbench_record::catalog::metric("latency_ms").unwrap();
    let latest = database.latest(&Filter::all()).unwrap();
    let measured = latest.into_iter().filter(|latest| latest.cell.trust.is_some());
    let of = |latest: skillbench_store::database::StoredLatest| {
        let (cell, newer) = (latest.cell, latest.newer.map(|newer| newer.outcome));
        let figure = (cell.figure(median).unwrap(), cell.trust.unwrap(), newer);
        ((cell.machine, cell.options), figure)
    };
    measured.map(of).collect()
}

fn of_the_view(database: &Database) -> Counts {
    let sql = "SELECT machine, options, latency_median_ms, trust, newer_outcome FROM latest_measured";
    let of = |row: Vec<Value>| {
        let text = |at: usize| row[at].as_str().map(String::from);
        let newer = text(4).map(|text| text.parse().unwrap());
        ((text(0).unwrap(), text(1)), (row[2].as_f64().unwrap(), text(3).unwrap().parse().unwrap(), newer))
    };
    database.query(sql).unwrap().rows.into_iter().map(of).collect()
}

fn of_the_frame(stored: Stored) -> Counts {
    let cells = stored.cells;
    let frame = latest::latest(cells.clone()).unwrap();
    let text = |name: &str, row: usize| frame.column(name).unwrap().str().unwrap().get(row).map(String::from);
    let figure = |row: usize| frame.column("latency_median_ms").unwrap().f64().unwrap().get(row);
    let of = |row: usize| {
        let newer = text("newer_outcome", row).map(|text| text.parse().unwrap());
        let trust = text("trust", row)?.parse().unwrap();
        Some(((text("machine", row).unwrap(), text("options", row)), (figure(row).unwrap(), trust, newer)))
    };
    let found: Counts = (0..frame.height()).filter_map(of).collect();
    // What is held against the CPU is the same cells.
    let relative = relative_to_cpu(cells).unwrap();
    let own = relative.column("latency_median_ms").unwrap().f64().unwrap();
    let shown: BTreeSet<u64> = own.iter().flatten().map(f64::to_bits).collect();
    assert_eq!(shown, found.values().map(|(ms, ..)| ms.to_bits()).collect());
    found
}

fn of_forecasts(database: &Database) -> Counts {
    let of = |cell: skillbench_session::forecast::MeasuredCell| {
        let newer = cell.newer.map(|newer| newer.outcome);
        ((cell.place.machine, cell.place.options), (cell.latency_ms.unwrap(), cell.trust, newer))
    };
    Cells::read(database).unwrap().measured.into_iter().map(of).collect()
}

type WithoutTrust = BTreeMap<(String, Option<String>), Option<OutcomeKind>>;

fn without_trust(counts: &Counts) -> WithoutTrust {
    counts.iter().map(|(key, (_, _, newer))| (key.clone(), *newer)).collect()
}

fn of_freshness(database: &Database) -> WithoutTrust {
    let of_machine = |machine: &str| {
        let found = freshness::of_machine(database, machine).unwrap();
        let of = |one: freshness::Measured| ((machine.to_string(), one.options), one.newer.map(|newer| newer.outcome));
        found.into_iter().map(of).collect::<Vec<_>>()
    };
    MACHINES.iter().flat_map(|machine| of_machine(machine)).collect()
}

fn the_matrix_agrees(runs: &[Recorded], expected: &Counts, about: &str) {
    let built = matrix::build(&Stored::from_recorded(runs).unwrap().cells).unwrap();
    for entry in built.models().flat_map(|model| &model.entries) {
        let options = entry.hardware.strip_prefix("cpu (").map(|text| text.trim_end_matches(')').to_string());
        let of_it: Vec<_> =
            expected.iter().filter(|((_, known), _)| *known == options).map(|(_, found)| found).collect();
        let is_measured = entry.status == matrix::Status::Measured;
        assert_eq!(is_measured, !of_it.is_empty(), "the matrix of {}, {about}", entry.hardware);
        let since: u64 = entry.failures.iter().filter(|failure| failure.since).map(|failure| failure.cells).sum();
        assert_eq!(since, of_it.iter().filter(|(_, _, newer)| newer.is_some()).count() as u64, "{about}");
    }
}

fn histories_do_not_mix(runs: &[Recorded], tries: &[Try], about: &str) {
    let heads: Vec<_> = runs.iter().map(|one| one.run.clone()).collect();
    let cells = Stored::from_recorded(runs).unwrap().cells;
    for history in trend::histories(cells, &heads, None).unwrap() {
        for point in &history.points {
            let one = tries.iter().find(|one| {
                one.outcome == OutcomeKind::Measured && 1000.0 / one.ms == point.value || one.ms == point.value
            });
            let one = one.unwrap();
            let known = (one.options.map(String::from), one.trust.name().to_string());
            assert_eq!((history.of.options.clone(), history.of.trust.clone()), known, "{about}");
        }
    }
}
