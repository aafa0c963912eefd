//! The measurements of one machine, out of the database.

use super::{MadeWith, Measured};
use serde_json::Value;
use skillbench_engine::document::{Axes, Run};
use skillbench_engine::environment::Environment;
use skillbench_engine::run::{CellName, RunRequest};
use skillbench_store::database::Filter;
use skillbench_store::{Database, DatabaseError};
use std::collections::HashMap;
use std::sync::Arc;

/// A machine, as runs know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    pub hostname: String,
    pub cpu_model: Option<String>,
}

impl Machine {
    /// `None`: it has no name that could be read, and nothing stored is known to be of it.
    pub fn of(environment: &Environment) -> Option<Machine> {
        Some(Machine { hostname: environment.hostname.clone()?, cpu_model: environment.cpu_model.clone() })
    }

    fn condition(&self) -> String {
        let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
        let cpu = self.cpu_model.as_deref().map_or("NULL".into(), quoted);
        format!(
            "outcome = 'measured' AND hostname = {} AND cpu_model IS NOT DISTINCT FROM {cpu}",
            quoted(&self.hostname)
        )
    }
}

/// Columns of which each measurement has one at least. Who only checked outputs has none of them.
const FIGURES: &str =
    "coalesce(latency_median_ms, throughput_samples_per_sec, speedup_over_sequential, time_to_first_token_ms,
    end_to_end_ms, flops_per_sec, peak_float32_per_sec, peak_bytes_per_sec) IS NOT NULL";

/// What was measured on a machine, the newest first.
///
/// # Errors
/// As for any use of the database.
pub fn of_machine(database: &Database, machine: &Machine) -> Result<Vec<Measured>, DatabaseError> {
    let condition = machine.condition();
    let runs: HashMap<String, Run> =
        database.runs(&Filter::sql(&condition))?.into_iter().map(|run| (run.run_id.clone(), run)).collect();
    let requests = database.query(&format!(
        "SELECT run, request::VARCHAR FROM runs WHERE run IN (SELECT run FROM benchmark_results WHERE {condition})"
    ))?;
    let request = |row: &Vec<Value>| {
        let request: RunRequest = serde_json::from_str(row.get(1)?.as_str()?).ok()?;
        Some((row.first()?.as_str()?.to_string(), Arc::new(request)))
    };
    let requests: HashMap<String, Arc<RunRequest>> = requests.rows.iter().filter_map(request).collect();
    let cells = database.query(&format!(
        "SELECT run, epoch_us(timestamp), plugin, device_id, model_id, benchmark, axes, precision_requested, threads, beside, verified,
            plugin_version, benchmark_version, driver_version, {FIGURES}
         FROM benchmark_results WHERE {condition} ORDER BY timestamp DESC, run DESC, cell DESC"
    ))?;
    let measured = cells.rows.iter().filter_map(|row| {
        let text = |at: usize| row.get(at).and_then(Value::as_str).map(String::from);
        let run = text(0)?;
        let request = requests.get(&run).cloned();
        let has_figures = match &request {
            Some(request) => !request.verify_only,
            None => row.get(14).and_then(Value::as_bool).unwrap_or(false),
        };
        let name = CellName {
            plugin: text(2)?,
            device: text(3),
            model: text(4)?,
            benchmark: text(5)?,
            axes: axes(&text(6).unwrap_or_default()),
        };
        let made_with =
            runs.get(&run).map(|run| MadeWith::of(&run.environment, &name.plugin, &name.benchmark, &name.model));
        has_figures.then(|| Measured {
            began: row.get(1).and_then(Value::as_i64),
            precision: text(7),
            threads: row.get(8).and_then(Value::as_u64),
            beside: text(9).is_some(),
            unverified: text(10).as_deref() == Some("off"),
            made_with: MadeWith {
                plugin_version: text(11),
                benchmark_version: text(12),
                driver: text(13),
                ..made_with.unwrap_or_default()
            },
            run,
            name,
            request,
        })
    });
    Ok(measured.collect())
}

/// "batch=4 sequence=32".
fn axes(text: &str) -> Axes {
    let axis =
        |word: &str| word.split_once('=').and_then(|(name, value)| Some((name.to_string(), value.parse().ok()?)));
    text.split_whitespace().filter_map(axis).collect()
}
