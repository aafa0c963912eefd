//! Runs for tests, as their documents have them: cells that are worked out by hand.

#![allow(dead_code)]

use serde_json::{Value, json};
use skillbench_record::Run;

pub fn stats(n: u64, mean: f64, median: f64, std: Option<f64>) -> Value {
    json!({"n": n, "min": median, "mean": mean, "median": median, "p90": null, "p95": null, "p99": null, "max": mean * 2.0,
        "std": std, "mad": 0.0, "ci95": null, "outliers": 0})
}

/// A cell of `inference` at batch 1 that nobody has tried yet.
pub fn cell(plugin: &str, model: &str) -> Value {
    json!({
        "index": 0, "plugin": plugin, "plugin_version": "0.1.0", "device": plugin, "skill": model, "family": "embedding",
        "architecture": "encoder-only", "category": "text encoders", "task": "fill-mask", "parameters": null,
        "benchmark": "inference", "benchmark_version": "1", "precision_requested": null, "threads": 2,
        "hardware": {"name": "A device", "kind": if plugin == "cpu" { "cpu" } else { "gpu" }, "vendor": "", "arch": "", "driver": "", "memory_mb": null},
        "batch_size": 1, "sequence_length": 32, "axes": {"batch": 1, "sequence": 32},
        "outcome": "skipped", "reason": {"code": "rule", "message": "a rule"}, "emulated": false, "stable": false,
        "placement": null, "verification": null, "fixes": [], "pool": null, "phases": null, "profile": null, "metrics": null
    })
}

/// The same measured: mean and median latency in milliseconds, and a model that took `load` milliseconds to load.
pub fn measured(plugin: &str, model: &str, mean: f64, median: f64, load: f64) -> Value {
    with(
        cell(plugin, model),
        json!({
            "outcome": "measured", "reason": null, "stable": true,
            "placement": {"precision": "float32", "device": plugin, "engine": "an engine 1.0", "nodes_total": null, "nodes_on_device": null, "cache_hit": null},
            "verification": {"status": "passed", "reference": "rten", "same_engine": false, "max_relative_difference": 0.0, "tolerance": 1e-3, "elements_compared": 1},
            "metrics": {
                "latency_ms": stats(10, mean, median, Some(0.5)), "cpu_ms": null, "throughput_per_s": 1000.0 / mean, "sequential_per_s": null,
                "concurrent_per_s": null, "concurrent_workers": null, "speedup_over_sequential": null,
                "init_ms": {"import": stats(5, 4.0, 4.0, None), "instantiate": stats(5, 2.0, 2.0, None), "load": stats(1, load, load, None),
                    "read": null, "compile_cold": null, "compile_warm": null, "first_inference": null},
                "memory_mb": {"before": 10.0, "loaded": 30.0, "peak": 40.0, "average": 35.0, "device_peak": null},
                "energy_j_per_item": null, "energy": null, "efficiency": null, "counters": {}, "series": {}
            }
        }),
    )
}

/// The same, ended otherwise.
pub fn ended(plugin: &str, model: &str, outcome: &str, why: &str) -> Value {
    with(cell(plugin, model), json!({"outcome": outcome, "reason": {"code": "it", "message": why}}))
}

/// Some keys of a cell with other values.
pub fn with(mut cell: Value, changed: Value) -> Value {
    if let (Some(cell), Some(changed)) = (cell.as_object_mut(), changed.as_object()) {
        cell.extend(changed.clone());
    }
    cell
}

pub fn at_batch(cell: Value, batch: i64) -> Value {
    with(cell, json!({"batch_size": batch, "axes": {"batch": batch, "sequence": 32}}))
}

/// A run on the machine "here" at this second of 2026-11-21T12:00.
pub fn run(id: &str, second: u32, cells: Vec<Value>) -> Run {
    let cells: Vec<Value> =
        cells.into_iter().enumerate().map(|(index, cell)| with(cell, json!({"index": index}))).collect();
    serde_json::from_value(json!({
        "schema": "skillbench.run/1", "run_id": id, "started_at": format!("2026-11-21T12:00:{second:02}Z"), "command": ["host", "run"],
        "seed": 42, "left_out": {}, "cells": cells,
        "environment": {"host_version": "0.1.0", "os": "linux", "arch": "x86_64", "kernel": "6.1", "hostname": "here",
            "cpu_model": "A processor", "cpus_usable": 2, "cpus_online": 2, "clock": "monotonic", "plugin_sha256": {}}
    }))
    .expect("a run")
}

/// Holds a whole file against the one that is kept. With GOLDEN=write in the environment it is kept anew.
pub fn golden(folder: &str, name: &str, text: &str) {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder).join("golden").join(name);
    if std::env::var("GOLDEN").is_ok_and(|how| how == "write") {
        std::fs::create_dir_all(file.parent().expect("a folder"))
            .and_then(|()| std::fs::write(&file, text))
            .expect("written");
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let other = kept.lines().zip(text.lines()).enumerate().find(|(_, (kept, made))| kept != made);
    let hint = "look at it with GOLDEN=write and git diff";
    assert!(kept == text, "{} differs from what is made now, first at {other:?}; {hint}", file.display());
}

pub fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).expect("JSON") + "\n"
}
