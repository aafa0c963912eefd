//! The flat result: a name for each cell and its numbers, and a table of success rates.
//!
//! Times are in seconds and medians, memory in mebibytes.

use super::entry::{Object, entry, insert, main_ms, seconds};
use super::groups::Hardware;
use super::key;
use polars::prelude::*;
use serde_json::{Value, json};
use skillbench_record::{Cell, Metrics, Outcome, Run};
use std::collections::BTreeMap;

/// Of a whole run, `model` where all of it is about one. A cell is called `model/hardware/benchmark/point`.
pub fn json(run: &Run) -> Value {
    let mut models: Vec<&str> = run.cells.iter().map(|cell| &*cell.skill).collect();
    models.sort_unstable();
    models.dedup();
    let hardware = Hardware::of(run);
    let mut results = Object::new();
    for cell in &run.cells {
        let name = match cell.is_function() {
            true => cell.benchmark.clone(),
            false => format!("{}/{}/{}/{}", cell.skill, hardware.name(cell), cell.benchmark, key(&cell.axes)),
        };
        insert(&mut results, name, cell, Value::Object(entry(cell, numbers)));
    }
    let mut flat = Object::new();
    flat.insert("timestamp".into(), json!(run.started_at));
    flat.insert("run".into(), json!(run.run_id));
    if let [model] = models[..] {
        flat.insert("model".into(), json!(model));
    }
    flat.insert("results".into(), Value::Object(results));
    flat.insert("summary".into(), Count::of(&run.cells).json());
    Value::Object(flat)
}

fn numbers(metrics: &Metrics) -> Object {
    let median = |stats: &Option<skillbench_record::Stats>| stats.as_ref().map(|stats| seconds(stats.median));
    let numbers = [
        ("execution_time", main_ms(metrics, |stats| stats.median).map(seconds)),
        ("memory_used_mb", metrics.memory_mb.loaded),
        ("throughput", metrics.throughput_per_s),
        ("peak_memory_mb", metrics.memory_mb.peak),
        ("cpu_time", median(&metrics.cpu_ms)),
        ("first_execution", median(&metrics.init_ms.first_inference)),
        ("model_load_time", median(&metrics.init_ms.load)),
    ];
    let mut flat: Object = numbers.into_iter().map(|(name, value)| (name.to_string(), json!(value))).collect();
    flat.extend(metrics.speedup_over_sequential.map(|speedup| ("speedup_over_sequential".to_string(), json!(speedup))));
    flat
}

/// How many cells ended how. What a rule skipped, and what is not there, was not tried: each is counted by itself.
#[derive(Default)]
struct Count {
    measured: u64,
    skipped: u64,
    unavailable: u64,
    others: BTreeMap<&'static str, u64>,
}

impl Count {
    fn of<'a>(cells: impl IntoIterator<Item = &'a Cell>) -> Count {
        let mut count = Count::default();
        for cell in cells {
            match &cell.outcome {
                Outcome::Measured(_) => count.measured += 1,
                Outcome::Skipped(_) => count.skipped += 1,
                Outcome::Unavailable(_) => count.unavailable += 1,
                other => *count.others.entry(other.name()).or_default() += 1,
            }
        }
        count
    }

    fn failed(&self) -> u64 {
        self.others.values().sum()
    }

    /// Measured over tried; `None` where nothing was tried.
    fn rate(&self) -> Option<f64> {
        let tried = self.measured + self.failed();
        (tried > 0).then(|| self.measured as f64 / tried as f64)
    }

    fn json(&self) -> Value {
        json!({
            "total_benchmarks": self.measured + self.failed(),
            "successful_runs": self.measured,
            "failed_runs": self.failed(),
            "success_rate": self.rate(),
            "failed_runs_by_status": self.others,
            "skipped": self.skipped,
            "unavailable": self.unavailable,
        })
    }
}

/// A row of success rates for each model of the runs.
///
/// # Errors
/// Polars' own.
pub fn csv<'a>(runs: impl IntoIterator<Item = &'a Run>) -> PolarsResult<String> {
    let mut rows: Vec<(&str, Count, &str)> = vec![];
    for run in runs {
        let mut models: BTreeMap<&str, Vec<&Cell>> = BTreeMap::new();
        run.cells.iter().for_each(|cell| models.entry(&cell.skill).or_default().push(cell));
        rows.extend(models.into_iter().map(|(model, cells)| (model, Count::of(cells), &*run.started_at)));
    }
    let numbers = |of: fn(&Count) -> u64| rows.iter().map(|(_, count, _)| of(count)).collect::<Vec<_>>();
    let rates: Vec<Option<String>> =
        rows.iter().map(|(_, count, _)| count.rate().map(|rate| format!("{rate:.4}"))).collect();
    let table = df!(
        "Model" => rows.iter().map(|(model, ..)| *model).collect::<Vec<_>>(),
        "Total Benchmarks" => numbers(|count| count.measured + count.failed()),
        "Successful Runs" => numbers(|count| count.measured),
        "Failed Runs" => numbers(Count::failed),
        "Success Rate" => rates,
        "Timestamp" => rows.iter().map(|(.., timestamp)| *timestamp).collect::<Vec<_>>(),
    )?;
    let mut text = vec![];
    crate::csv::write(&table, &mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
