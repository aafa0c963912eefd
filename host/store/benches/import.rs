//! How long it takes to bring 100,000 cells in. Run by a person, after `scripts/setup`:
//! `cargo bench --profile release --workspace --bench import`.

use serde_json::{Value, json};
use skillbench_store::database::Imported;
use skillbench_store::{Database, journal};
use std::io::Write;
use std::time::Instant;

const RUNS: usize = 20;
const CELLS: usize = 5_000;

fn stats(median: f64) -> Value {
    json!({"n": 20, "min": median * 0.9, "mean": median * 1.01, "median": median, "p90": null, "p95": null, "p99": null,
        "max": median * 1.5, "std": 0.1, "mad": 0.05, "ci95": [median * 0.98, median * 1.02], "outliers": 1})
}

fn cell(index: usize) -> Value {
    let median = 1.0 + (index % 997) as f64 / 100.0;
    let (models, backends) = (["bert-tiny", "resnet-50", "vit-base", "gpt2"], ["cpu", "rten", "openvino"]);
    let mut cell = json!({
        "index": index, "plugin": backends[index % 3], "plugin_version": "0.1.0", "device": "cpu", "skill": models[index % 4],
        "family": "vision", "architecture": "vision", "category": "vision", "task": "image-classification",
        "parameters": 4_400_000, "benchmark": "inference", "benchmark_version": "0.1.0", "precision_requested": null,
        "threads": 2, "batch_size": 1, "sequence_length": null, "axes": {"batch": 1 + index / 12}, "outcome": "measured",
        "reason": null, "emulated": false, "stable": true
    });
    cell["hardware"] = json!({"name": "A processor", "kind": "cpu", "vendor": "", "arch": "x86-64", "driver": "", "memory_mb": 4096.0});
    cell["placement"] = json!({"precision": "float32", "device": "cpu", "engine": "an engine 1.0", "nodes_total": 10, "nodes_on_device": 10, "cache_hit": null});
    cell["verification"] = json!({"status": "passed", "reference": "rten 0.27", "same_engine": false, "max_relative_difference": 1e-6, "tolerance": 1e-3, "elements_compared": 64});
    cell["metrics"] = json!({
        "latency_ms": stats(median), "cpu_ms": stats(median * 2.0), "throughput_per_s": 1000.0 / median, "sequential_per_s": null,
        "concurrent_per_s": null, "concurrent_workers": null, "speedup_over_sequential": null, "energy_j_per_item": null,
        "energy": null, "efficiency": null, "counters": {},
        "init_ms": {"import": stats(5.0), "instantiate": stats(1.0), "load": stats(20.0), "read": stats(4.0), "compile_cold": stats(16.0), "compile_warm": null, "first_inference": stats(median * 3.0)},
        "memory_mb": {"before": 10.0, "loaded": 30.0, "peak": 40.0, "average": 35.0, "device_peak": null},
        "series": {"latency": {"unit": "ms", "kind": "latency", "higher_is_better": false, "items_per_sample": 1.0, "rounds": 4, "stable": true, "stopped_by": "interval", "stats": stats(median)}}
    });
    cell
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let mut files = vec![];
    for number in 0..RUNS {
        let id = format!("run-{number}");
        let run = json!({
            "schema": "skillbench.run/1", "run_id": id, "started_at": "2026-11-21T12:00:00Z", "command": ["host", "run"], "seed": 42,
            "environment": {"host_version": "0.1.0", "os": "linux", "arch": "x86_64", "clock": "monotonic", "plugin_sha256": {}}, "left_out": {}, "cells": []
        });
        let request = serde_json::to_value(skillbench_record::RunRequest::default())?;
        let path = folder.path().join(format!("{id}.ndjson"));
        let mut file = std::io::BufWriter::new(std::fs::File::create(&path)?);
        writeln!(file, "{}", json!({"type": "run", "request": request, "run": run}))?;
        for index in 0..CELLS {
            let values: Vec<f64> = (0..5).map(|n| 1.0 + f64::from(n) / 10.0).collect();
            let rounds: Vec<Value> = (0..4)
                .map(|round| json!({"cell": index, "series": "latency", "unit": "ms", "round": round, "values": values, "cpu_ns": 10, "wall_ns": 7}))
                .collect();
            writeln!(file, "{}", json!({"type": "cell", "cell": cell(index), "samples": rounds}))?;
        }
        file.flush()?;
        files.push(path);
    }
    let bytes: u64 = files.iter().filter_map(|file| std::fs::metadata(file).ok()).map(|data| data.len()).sum();
    let database = Database::at(folder.path().join("benchmarks.duckdb"));
    let begun = Instant::now();
    let mut broken = vec![];
    database.import(&files, journal::read, |imported| {
        if let Imported::Unreadable(error) = imported {
            broken.push(error);
        }
    })?;
    if let Some(error) = broken.pop() {
        return Err(error.into());
    }
    let all = begun.elapsed().as_secs_f64();
    let size = std::fs::metadata(database.path())?.len();
    println!(
        "{} cells in {RUNS} runs, {} MB of journals: {all:.2} s; the database has {} MB",
        RUNS * CELLS,
        bytes >> 20,
        size >> 20
    );
    Ok(())
}
