//! The suite result: family, model, hardware, and the points of each.
//!
//! `benchmark_results` and `performance_summary` are of the benchmark `inference`. What other benchmarks of a run measured stands beside
//! them under `other_benchmarks`, by their names. Several precisions of a model are told apart by `precision` of each point.

use super::entry::{Object, entry, main_ms, milliseconds, pooled, precision, seconds, together, verified};
use super::groups::{Group, groups};
use super::{INFERENCE, key, system};
use serde_json::{Value, json};
use skillbench_record::{Cell, Metrics, Run};
use std::collections::{BTreeMap, BTreeSet};

/// The whole run.
pub fn json(run: &Run) -> Value {
    let mut families: BTreeMap<&str, BTreeMap<&str, BTreeMap<String, Value>>> = BTreeMap::new();
    for group in groups(run) {
        let models = families.entry(group.family).or_default();
        models.entry(group.model).or_default().insert(group.hardware.clone(), target(&group));
    }
    json!({
        "timestamp": run.started_at,
        "run": run.run_id,
        "system_info": system::json(run),
        "benchmarks": families,
    })
}

fn target(group: &Group<'_>) -> Value {
    let inference = group.of_benchmark(INFERENCE);
    let (status, error) = together(if inference.is_empty() { &group.cells } else { &inference });
    let loads = inference.iter().filter_map(|cell| cell.outcome.metrics()?.init_ms.load.as_ref());
    let mut target = Object::new();
    target.insert("status".into(), json!(status));
    if let Some(error) = error {
        target.insert("error".into(), json!(error));
    }
    target.insert("model_load_time".into(), json!(pooled(loads).map(|(mean, _)| seconds(mean))));
    target.insert("emulated".into(), json!(group.cells.iter().any(|cell| cell.emulated)));
    if group.cells.iter().any(|cell| cell.remote) {
        target.insert("remote".into(), json!(true));
    }
    target.insert("benchmark_results".into(), Value::Object(points(&inference, latency)));
    target.insert("performance_summary".into(), summary(&inference));
    let names: BTreeSet<&str> =
        group.cells.iter().map(|cell| &*cell.benchmark).filter(|name| *name != INFERENCE).collect();
    let others: Object =
        names.iter().map(|name| (name.to_string(), Value::Object(points(&group.of_benchmark(name), other)))).collect();
    if !others.is_empty() {
        target.insert("other_benchmarks".into(), Value::Object(others));
    }
    Value::Object(target)
}

fn points(cells: &[&Cell], figures: fn(&Metrics) -> Object) -> Object {
    let mut points = Object::new();
    for cell in cells {
        super::entry::insert(&mut points, key(&cell.axes), cell, Value::Object(entry(cell, figures)));
    }
    points
}

fn latency(metrics: &Metrics) -> Object {
    let mut figures = Object::new();
    figures.insert("avg_latency".into(), json!(average(metrics)));
    figures.insert("throughput".into(), json!(metrics.throughput_per_s));
    figures
}

fn average(metrics: &Metrics) -> Option<f64> {
    metrics.latency_ms.as_ref().map(|stats| seconds(stats.mean))
}

/// The figures of a benchmark that other tools do not know; those that it has.
fn other(metrics: &Metrics) -> Object {
    let tokens = metrics.generation.as_ref();
    let first = || tokens?.time_to_first_token_ms.as_ref();
    let each = || tokens?.time_per_output_token_ms.as_ref();
    let at_once = || milliseconds(metrics.series.get("concurrent")?, |stats| stats.mean);
    let known = [
        ("avg_latency", json!(tokens.and(main_ms(metrics, |stats| stats.mean)).map(seconds))),
        ("concurrent_time", json!(at_once().map(seconds))),
        ("throughput", json!(metrics.throughput_per_s)),
        ("sequential_per_second", json!(metrics.sequential_per_s)),
        ("concurrent_per_second", json!(metrics.concurrent_per_s)),
        ("concurrent_workers", json!(metrics.concurrent_workers)),
        ("speedup_over_sequential", json!(metrics.speedup_over_sequential)),
        ("time_to_first_token", json!(first().map(|stats| seconds(stats.mean)))),
        ("time_per_output_token", json!(each().map(|stats| seconds(stats.mean)))),
        ("decode_tokens_per_second", json!(tokens.and_then(|tokens| tokens.decode_tokens_per_s))),
    ];
    known.into_iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| (name.to_string(), value)).collect()
}

/// Over the points of one standing and, where it can be, of verified outputs; all null where nothing is measured.
fn summary(inference: &[&Cell]) -> Value {
    let measured = || inference.iter().copied().filter(|cell| cell.outcome.metrics().is_some());
    let checked: Vec<&Cell> = measured().filter(|cell| verified(cell) == Some(true)).collect();
    let all_checked = !checked.is_empty();
    let cells: Vec<&Cell> = if all_checked { checked } else { measured().collect() };
    let of = |pick: fn(&Metrics) -> Option<f64>| -> Vec<f64> {
        cells.iter().filter_map(|cell| pick(cell.outcome.metrics()?)).collect()
    };
    let precisions: BTreeSet<&str> = cells.iter().filter_map(|cell| precision(cell)).collect();
    json!({
        "latency": range(&of(average)),
        "throughput": range(&of(|metrics| metrics.throughput_per_s)),
        "points": cells.len(),
        "precision": precisions,
        "verified": if cells.is_empty() { None } else { Some(all_checked) },
    })
}

fn range(values: &[f64]) -> Value {
    let mean = (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    json!({
        "min": values.iter().copied().reduce(f64::min),
        "max": values.iter().copied().reduce(f64::max),
        "mean": mean,
    })
}
