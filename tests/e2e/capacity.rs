//! Which hardware bears the most of a load, and at what cost: searches that are made up, brought in as the runs that they would be.

use serde_json::{Value, json};
use skillbench_tests::{Ran, World};

const TIGHT: &str = "latency.p99<=20ms";
const LOOSE: &str = "latency.p99<=1s";

/// A cell on the hardware of a plugin, as `metrics` has it.
fn cell(plugin: &str, benchmark: &str, axes: Value, metrics: Value) -> Value {
    let mut all = json!({
        "latency_ms": null, "cpu_ms": null, "throughput_per_s": null, "sequential_per_s": null, "concurrent_per_s": null,
        "concurrent_workers": null, "speedup_over_sequential": null, "energy_j_per_item": null, "energy": null, "efficiency": null,
        "init_ms": {"import": null, "instantiate": null, "load": null, "read": null, "compile_cold": null, "compile_warm": null, "first_inference": null},
        "memory_mb": {"before": 10.0, "loaded": 30.0, "peak": 40.0, "average": 35.0, "device_peak": null},
        "counters": {}, "series": {}
    });
    for (name, value) in metrics.as_object().unwrap() {
        all[name] = value.clone();
    }
    json!({
        "index": 0, "plugin": plugin, "plugin_version": "1.0", "device": plugin, "skill": "bert-tiny", "family": "embedding",
        "architecture": "encoder-only", "category": "text encoders", "task": "fill-mask", "parameters": null,
        "benchmark": benchmark, "benchmark_version": "1", "precision_requested": null, "threads": 2,
        "hardware": {"name": "A device", "kind": "cpu", "vendor": "", "arch": "", "driver": "", "memory_mb": null},
        "batch_size": axes["batch"], "sequence_length": axes["sequence"], "axes": axes,
        "outcome": "measured", "reason": null, "emulated": false, "stable": true,
        "placement": {"precision": "float32", "device": plugin, "engine": "an engine 1.0", "nodes_total": null, "nodes_on_device": null, "cache_hit": null},
        "verification": {"status": "passed", "reference": "another", "same_engine": false, "max_relative_difference": 0.0, "tolerance": 1e-3, "elements_compared": 1},
        "fixes": [], "pool": null, "phases": null, "profile": null, "metrics": all
    })
}

/// A search that found so many requests a second, within 10% each way.
fn search(plugin: &str, axes: Value, slo: &str, per_s: f64) -> Value {
    let found = json!({"per_s": per_s, "ci95": [0.9 * per_s, 1.1 * per_s], "cliff": false, "slo": slo, "void": 0, "trials": []});
    let benchmark = if axes["new_tokens"].is_null() { "serving" } else { "generation-serving" };
    let stats = json!({"n": 1, "min": per_s, "mean": per_s, "median": per_s, "p90": null, "p95": null, "p99": null, "max": per_s,
        "std": null, "mad": 0.0, "ci95": null, "outliers": 0});
    let rates = json!({"unit": "1/s", "kind": "rate", "higher_is_better": null, "items_per_sample": 1.0, "rounds": 1, "stable": true,
        "stopped_by": null, "stats": stats});
    let mut cell = cell(plugin, benchmark, axes, json!({"capacity": found, "series": {"trial.per_s": rates}}));
    cell["options"] = json!({"slo": slo});
    cell["workers"] = json!(1);
    cell
}

fn world(cells: Vec<Value>) -> World {
    let world = World::default();
    let cells: Vec<Value> = cells
        .into_iter()
        .enumerate()
        .map(|(index, mut cell)| {
            cell["index"] = json!(index);
            cell
        })
        .collect();
    let run = json!({
        "schema": "skillbench.run/1", "run_id": "20260101-000000-00001", "started_at": "2026-01-01T02:00:00Z", "command": ["host", "run"],
        "seed": 42, "left_out": {}, "cells": cells,
        "environment": {"host_version": "0.1.0", "os": "linux", "arch": "x86_64", "kernel": "6.1", "hostname": "here",
            "cpu_model": "A processor", "cpus_usable": 2, "cpus_online": 2, "clock": "monotonic", "governor": "performance",
            "plugin_sha256": {}}
    });
    world.write("known/run.json", run.to_string());
    world.host(&["db", "import", "known", "--quiet"]).exits_with(0);
    world
}

/// What each bears within 20 ms, alone and together; what `cuda` bears within a second; and `openvino`, of which no capacity is known.
fn several() -> World {
    let alone = || json!({"batch": 1, "sequence": 32});
    let together = json!({"batch": 8, "batch_wait_us": 2000, "sequence": 32});
    world(vec![
        search("cpu", alone(), TIGHT, 200.0),
        search("cpu", together, TIGHT, 300.0),
        search("cuda", alone(), TIGHT, 1000.0),
        search("cuda", alone(), LOOSE, 2000.0),
        cell("openvino", "inference", alone(), json!({"throughput_per_s": 500.0})),
    ])
}

fn recommend(world: &World, more: &[&str]) -> Ran {
    world.host(&[&["recommend", "--machine", "here", "--model", "bert-tiny"], more].concat())
}

fn rows(world: &World, more: &[&str]) -> Vec<Value> {
    let ran = recommend(world, &[more, &["--format", "json"]].concat());
    serde_json::from_str(&ran.exits_with(0).stdout()).expect("rows")
}

fn ranks(rows: &[Value]) -> Vec<(&str, Option<u64>)> {
    rows.iter().map(|row| (row["hardware"].as_str().unwrap(), row["rank"].as_u64())).collect()
}

#[test]
fn hardware_is_ranked_by_the_load_that_it_bears_at_its_best_policy_within_the_same_limits() {
    let world = several();
    let tight = rows(&world, &["--optimize", "capacity", "--slo", TIGHT]);
    assert_eq!(ranks(&tight), [("cuda", Some(1)), ("cpu", Some(2)), ("openvino", None)]);
    assert_eq!((&tight[0]["figure"], &tight[0]["limits"]), (&json!(1000.0), &json!(TIGHT)));
    assert_eq!(tight[1]["axes"], "batch=8 batch_wait_us=2000 sequence=32", "the policy at which it bears the most");
    let not_measured = tight[2]["note"].as_str().unwrap();
    assert!(not_measured.contains("host run --plugin openvino --model bert-tiny --slo"), "{not_measured}");
    let all = rows(&world, &["--optimize", "capacity"]);
    let first: Vec<&Value> = all.iter().filter(|row| row["rank"] == 1).collect();
    assert_eq!(first.iter().map(|row| &row["limits"]).collect::<Vec<_>>(), [LOOSE, TIGHT], "each limit by itself");
    recommend(&world, &["--optimize", "capacity"]).tells("cuda, 1000 requests/s within latency.p99<=20ms");
}

#[test]
fn limits_within_which_nothing_was_searched_are_told_with_those_that_were() {
    let ran = recommend(&several(), &["--optimize", "capacity", "--slo", "latency.p90<=5ms"]);
    ran.exits_with(3).tells("no capacity to rank").tells(TIGHT).tells("--slo \"latency.p90<=5ms\"");
    let none = world(vec![cell("cpu", "inference", json!({"batch": 1}), json!({"throughput_per_s": 500.0}))]);
    recommend(&none, &["--optimize", "capacity"]).exits_with(3).tells("host run --plugin all --model bert-tiny --slo");
}

#[test]
fn the_cheapest_by_the_million_is_not_the_one_that_bears_the_most() {
    let world = several();
    let asked = ["--optimize", "cost", "--slo", TIGHT, "--price", "cuda=7.2,cpu=0.54"];
    let found = rows(&world, &asked);
    assert_eq!(ranks(&found), [("cpu", Some(1)), ("cuda", Some(2)), ("openvino", None)]);
    let of = |row: usize, name: &str| found[row][name].as_f64().unwrap_or_else(|| panic!("{name}: {found:#?}"));
    assert!((of(0, "cost_per_million_requests") - 0.5).abs() < 1e-9, "0.54 / 3600 / 300 x 1,000,000");
    assert!((of(0, "cost_per_million_requests_low") - 0.5 / 1.1).abs() < 1e-9, "of the most that it may bear");
    assert!((of(0, "cost_per_million_requests_high") - 0.5 / 0.9).abs() < 1e-9, "of the least");
    assert_eq!((of(1, "price_per_hour"), of(0, "figure")), (7.2, 300.0), "from which price and which figure");
    recommend(&world, &asked).tells("0.500 for a million requests").tells("price_per_hour (--price) / 3600 / figure");
    let beside = rows(&world, &["--optimize", "capacity", "--slo", TIGHT, "--price", "1"]);
    assert_eq!(ranks(&beside)[0], ("cuda", Some(1)));
    assert!(beside[0]["cost_per_million_requests"].is_f64(), "{beside:#?}");
    let items = rows(&world, &["--optimize", "throughput", "--price", "1.8"]);
    let of_items = items[0]["cost_per_million_items"].as_f64().unwrap_or_else(|| panic!("{items:#?}"));
    assert!((of_items - 1.0).abs() < 1e-9, "1.8 / 3600 / 500 x 1,000,000");
}

#[test]
fn requests_for_tokens_have_a_cost_by_the_token_too() {
    let axes = json!({"batch": 4, "new_tokens": 8, "past": 0, "prompt": 16, "sequence": 16});
    let world = world(vec![search("cpu", axes, "ttft.p99<=1s", 10.0)]);
    let row = &rows(&world, &["--optimize", "cost", "--price", "0.36"])[0];
    let of = |name: &str| row[name].as_f64().unwrap_or_else(|| panic!("{name}: {row:#}"));
    assert!((of("cost_per_million_requests") - 10.0).abs() < 1e-9, "{row:#}");
    assert!((of("cost_per_million_tokens") - 1.25).abs() < 1e-9, "eight tokens in a request: {row:#}");
}

#[test]
fn prices_and_limits_that_say_nothing_are_refused_with_what_would() {
    let world = several();
    let refused = |more: &[&str], told: &str| {
        recommend(&world, more).exits_with(2).tells(told);
    };
    refused(&["--optimize", "cost"], "--price cuda=2.50");
    for price in ["0", "cpu=-1", "cpu=nan", "cpu=much"] {
        refused(&["--optimize", "cost", "--price", price], "a number above 0");
    }
    refused(&["--optimize", "capacity", "--price", "cpux=1"], "did you mean cpu");
    refused(&["--optimize", "latency", "--price", "1"], "--optimize capacity, cost or throughput");
    refused(&["--slo", TIGHT], "--optimize capacity");
    refused(&["--optimize", "capacity", "--within", "20ms"], "--slo");
    refused(&["--optimize", "capacity", "--from", "results"], "no capacity is predicted");
}
