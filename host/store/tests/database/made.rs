//! Runs for tests, as their documents have them.

use serde_json::{Value, json};
use skillbench_store::Recorded;

fn stats(median: f64) -> Value {
    json!({"n": 20, "min": median * 0.9, "mean": median * 1.01, "median": median, "p90": null, "p95": null, "p99": null,
        "max": median * 1.5, "std": 0.1, "mad": 0.05, "ci95": [median * 0.98, median * 1.02], "outliers": 1})
}

/// A measured cell of `model` on `plugin`; its median latency is given.
pub fn measured(index: usize, plugin: &str, model: &str, batch: i64, median: f64) -> Value {
    json!({
        "index": index, "plugin": plugin, "plugin_version": "0.1.0", "device": plugin, "skill": model,
        "family": "embedding", "architecture": "encoder-only", "category": "text-encoders", "task": "fill-mask",
        "parameters": 4_400_000, "benchmark": "inference", "benchmark_version": "0.1.0", "precision_requested": null,
        "threads": 2, "batch_size": batch, "sequence_length": 32, "axes": {"batch": batch, "sequence": 32},
        "hardware": {"name": "A processor", "kind": "cpu", "vendor": "", "arch": "x86-64", "driver": "", "memory_mb": 4096.0},
        "outcome": "measured", "reason": null, "emulated": false, "stable": true,
        "placement": {"precision": "float32", "device": plugin, "engine": "an engine 1.0", "nodes_total": 10, "nodes_on_device": 10, "cache_hit": null},
        "verification": {"status": "passed", "reference": "rten 0.27", "same_engine": false, "max_relative_difference": 1e-6, "tolerance": 1e-3, "elements_compared": 64},
        "fixes": [], "pool": null, "phases": null, "profile": null,
        "metrics": {
            "latency_ms": stats(median), "cpu_ms": stats(median * 2.0), "throughput_per_s": 1000.0 * batch as f64 / median,
            "sequential_per_s": null, "concurrent_per_s": null, "concurrent_workers": null, "speedup_over_sequential": null,
            "init_ms": {"import": stats(5.0), "instantiate": stats(1.0), "load": stats(20.0), "read": null, "compile_cold": null, "compile_warm": null, "first_inference": stats(median * 3.0)},
            "memory_mb": {"before": 10.0, "loaded": 30.0, "peak": 40.0, "average": 35.0, "device_peak": null},
            "energy_j_per_item": null, "energy": null, "efficiency": null, "counters": {}, "series": {}
        }
    })
}

/// The same, ended otherwise.
pub fn ended(index: usize, plugin: &str, model: &str, outcome: &str) -> Value {
    let mut cell = measured(index, plugin, model, 1, 1.0);
    cell["outcome"] = outcome.into();
    cell["reason"] = json!({"code": "signal", "message": "the worker was ended by SIGSEGV; see its output"});
    cell["metrics"] = Value::Null;
    cell["stable"] = false.into();
    cell
}

pub fn document(id: &str, cells: Vec<Value>) -> Value {
    json!({
        "schema": "skillbench.run/1", "run_id": id, "started_at": "2026-11-21T12:00:00Z", "command": ["host", "run"], "seed": 42,
        "environment": {"host_version": "0.1.0", "os": "linux", "arch": "x86_64", "kernel": "6.1", "hostname": "here",
            "cpu_model": "A processor", "cpus_usable": 2, "cpus_online": 2, "clock": "monotonic",
            "plugin_sha256": {"cpu": "aa"}, "runtime_sha256": {}, "models": {}},
        "left_out": {}, "cells": cells
    })
}

/// A run of these cells, each with three samples.
pub fn run(id: &str, cells: Vec<Value>) -> Recorded {
    let samples: Vec<Value> = (0..cells.len())
        .map(|cell| json!({"cell": cell, "series": "latency", "unit": "ms", "round": 0, "values": [1.0, 2.0, 4.0], "cpu_ns": 10, "wall_ns": 7}))
        .collect();
    let document = document(id, cells);
    Recorded {
        request: None,
        fingerprint: skillbench_record::hash::sha256_text(&document.to_string()),
        run: serde_json::from_value(document).unwrap(),
        samples: serde_json::from_value(Value::Array(samples)).unwrap(),
        damaged: vec![],
    }
}
