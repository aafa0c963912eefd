//! The skillset results: what loading a model costs for each batch, and how many are loaded in a second by many workers at once.
//!
//! `success` is false wherever a model did not load, or did not come so far. Times are in milliseconds where the name says so, else in
//! seconds.

use super::INFERENCE;
use super::entry::{Object, entry, has_failed, milliseconds, pooled, seconds, together};
use super::groups::{Group, groups};
use serde_json::{Value, json};
use skillbench_record::{Cell, Metrics, Run, Stats};
use std::collections::BTreeMap;

const LOADS: &str = "throughput-load";
const RUNS: &str = "throughput-inference";

/// Both of a run; `success` where each is.
pub fn json(run: &Run) -> Value {
    let (inference, throughput) = (inference(run), throughput(run));
    let all: Vec<&Value> = inference.iter().chain(&throughput).collect();
    json!({
        "timestamp": run.started_at,
        "run": run.run_id,
        "success": !all.is_empty() && all.iter().all(|one| one["success"] == true),
        "inference": inference,
        "throughput": throughput,
    })
}

/// One result for each model and hardware that `inference` was asked of.
pub fn inference(run: &Run) -> Vec<Value> {
    groups(run).iter().filter_map(of_batches).collect()
}

fn of_batches(group: &Group<'_>) -> Option<Value> {
    let cells = group.of_benchmark(INFERENCE);
    if cells.is_empty() {
        return None;
    }
    let mut batches: BTreeMap<Option<i64>, Vec<&Cell>> = BTreeMap::new();
    cells.iter().for_each(|cell| batches.entry(cell.axes.get("batch").copied()).or_default().push(cell));
    let init: Vec<f64> = batches.values().filter_map(|cells| Some(loading(cells)?.0)).collect();
    let once = |pick: fn(&Metrics) -> Option<&Stats>| {
        cells.iter().find_map(|cell| pick(cell.outcome.metrics()?)).map(|stats| seconds(stats.mean))
    };
    let mut result = head(group, &cells);
    result.insert("import_time".into(), json!(once(|metrics| metrics.init_ms.import.as_ref())));
    result.insert("instantiation_time".into(), json!(once(|metrics| metrics.init_ms.instantiate.as_ref())));
    let name = |batch: Option<i64>| batch.map_or("unknown".to_string(), |batch| batch.to_string());
    let results: Object =
        batches.iter().map(|(size, cells)| (format!("batch_size_{}", name(*size)), batch(*size, cells))).collect();
    result.insert("batch_results".into(), Value::Object(results));
    result.insert("fastest_init_time_ms".into(), json!(init.iter().copied().reduce(f64::min)));
    let mean = (!init.is_empty()).then(|| init.iter().sum::<f64>() / init.len() as f64);
    result.insert("mean_init_time_ms".into(), json!(mean));
    result.insert("emulated".into(), json!(cells.iter().any(|cell| cell.emulated)));
    if cells.iter().any(|cell| cell.remote) {
        result.insert("remote".into(), json!(true));
    }
    Some(Value::Object(result))
}

/// All that was tried is measured, and something was.
fn succeeded(cells: &[&Cell]) -> bool {
    cells.iter().any(|cell| cell.outcome.metrics().is_some()) && !cells.iter().any(|cell| has_failed(cell))
}

fn head(group: &Group<'_>, cells: &[&Cell]) -> Object {
    let (status, error) = together(cells);
    let mut head = Object::new();
    head.insert("success".into(), json!(succeeded(cells)));
    head.insert("model".into(), json!(group.model));
    head.insert("hardware".into(), json!(group.hardware));
    head.insert("status".into(), json!(status));
    if let Some(error) = error {
        head.insert("error".into(), json!(error));
    }
    head
}

/// Mean and standard deviation of the loads of a batch that all of it came through; `None` also where each model came from the pool.
fn loading(cells: &[&Cell]) -> Option<(f64, Option<f64>)> {
    match succeeded(cells) {
        true => pooled(cells.iter().filter_map(|cell| cell.outcome.metrics()?.init_ms.load.as_ref())),
        false => None,
    }
}

fn batch(size: Option<i64>, cells: &[&Cell]) -> Value {
    let (status, error) = together(cells);
    let mut batch = Object::new();
    batch.insert("success".into(), json!(succeeded(cells)));
    batch.insert("batch_size".into(), json!(size));
    batch.insert("status".into(), json!(status));
    match error {
        Some(error) => drop(batch.insert("error".into(), json!(error))),
        None => {
            let init = loading(cells);
            batch.insert("mean_init_time_ms".into(), json!(init.map(|(mean, _)| mean)));
            batch.insert("std_init_time_ms".into(), json!(init.and_then(|(_, std)| std)));
        }
    }
    Value::Object(batch)
}

/// One result for each cell that loaded models at once, or ran them at once: the latter counts samples, and not models.
pub fn throughput(run: &Run) -> Vec<Value> {
    let groups = groups(run);
    let of = |group: &Group<'_>| -> Vec<Value> {
        let cells = group.cells.iter().filter(|cell| [LOADS, RUNS].contains(&&*cell.benchmark));
        cells.map(|cell| at_once(group, cell)).collect()
    };
    groups.iter().flat_map(of).collect()
}

fn at_once(group: &Group<'_>, cell: &Cell) -> Value {
    let per_second =
        if cell.benchmark == LOADS { "throughput_models_per_second" } else { "throughput_samples_per_second" };
    let mut result = Object::new();
    result.insert("success".into(), json!(cell.outcome.metrics().is_some()));
    result.insert("model".into(), json!(group.model));
    result.insert("hardware".into(), json!(group.hardware));
    result.insert("benchmark".into(), json!(cell.benchmark));
    result.extend(entry(cell, |metrics| {
        let total = metrics.series.get("concurrent").and_then(|series| milliseconds(series, |stats| stats.mean));
        let figures = [
            ("concurrent_workers", json!(metrics.concurrent_workers)),
            ("total_time_ms", json!(total)),
            (per_second, json!(metrics.concurrent_per_s)),
            ("speedup_over_sequential", json!(metrics.speedup_over_sequential)),
        ];
        figures.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
    }));
    Value::Object(result)
}
