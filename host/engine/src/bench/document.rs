//! What became of benchmarks without a target, as data.

use crate::run::Rejected;
use serde::{Deserialize, Serialize};
use skillbench_record::Environment;
use skillbench_record::{Outcome, OutcomeKind, Reason, SeriesMetrics, Stats};
use std::collections::BTreeMap;
use std::path::PathBuf;

pub const BENCH_SCHEMA: &str = "skillbench.bench/1";

/// One call of all benchmarks that were asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BenchRun {
    pub schema: String,
    pub started_at: String,
    pub command: Vec<String>,
    pub environment: Environment,
    pub benchmarks: Vec<BenchResult>,
    /// What discovery did not take, with the reasons.
    pub rejected: Vec<Rejected>,
}

/// One benchmark, and how it ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "ResultForm", into = "ResultForm")]
pub struct BenchResult {
    pub id: String,
    pub version: String,
    pub plugin: String,
    pub plugin_version: String,
    pub library: PathBuf,
    pub category: Option<String>,
    pub model: Option<String>,
    /// Every series in rounds reached its interval.
    pub stable: bool,
    pub outcome: Outcome<FunctionMetrics>,
}

/// The figures of a function. `None` is what was not measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FunctionMetrics {
    /// Of one call, timed from outside; of a benchmark that announces no `execution_time`: its one series of durations.
    pub execution_ms: Option<Stats>,
    /// The first call of the process, which is in no other figure.
    pub first_execution_ms: Option<f64>,
    /// CPU time of the worker per call, a sample for each round.
    pub cpu_ms: Option<Stats>,
    /// Items over the time they took; a call is one item where the function counts none.
    pub throughput_per_s: Option<f64>,
    pub memory_mb: FunctionMemory,
    /// Every series by its name, in its own unit.
    pub series: BTreeMap<String, SeriesMetrics>,
}

/// Mebibytes of the worker's resident set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FunctionMemory {
    /// The library is open, nothing was called.
    pub before: Option<f64>,
    /// The highest of the first calls, less `before`.
    pub used: Option<f64>,
    /// The highest of the measured rounds, with the samples that are kept of them.
    pub peak: Option<f64>,
    /// Over the measured rounds, sampled from outside.
    pub average: Option<f64>,
}

/// How many of the benchmarks were measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub total_benchmarks: u64,
    pub successful_runs: u64,
    pub failed_runs: u64,
    /// Successful over all, 0 to 1; `None` of none.
    pub success_rate: Option<f64>,
}

impl Summary {
    pub fn of<'r>(results: impl IntoIterator<Item = &'r BenchResult>) -> Summary {
        let (mut total, mut successful) = (0, 0);
        for result in results {
            total += 1;
            successful += u64::from(result.outcome.metrics().is_some());
        }
        Summary {
            total_benchmarks: total,
            successful_runs: successful,
            failed_runs: total - successful,
            success_rate: (total > 0).then(|| successful as f64 / total as f64),
        }
    }
}

impl BenchRun {
    pub fn summary(&self) -> Summary {
        Summary::of(&self.benchmarks)
    }

    /// The models of the benchmarks, each once, in their order; those of no model come last.
    pub fn models(&self) -> Vec<Option<&str>> {
        let mut models: Vec<Option<&str>> = vec![];
        for result in &self.benchmarks {
            if !models.contains(&result.model.as_deref()) {
                models.push(result.model.as_deref());
            }
        }
        // Stable: the order of the others stays.
        models.sort_by_key(Option::is_none);
        models
    }
}

/// The flat form in files: `outcome`, `reason` and `metrics` side by side, as in a cell.
#[derive(Serialize, Deserialize)]
struct ResultForm {
    id: String,
    version: String,
    plugin: String,
    plugin_version: String,
    library: PathBuf,
    category: Option<String>,
    model: Option<String>,
    outcome: OutcomeKind,
    reason: Option<Reason>,
    stable: bool,
    metrics: Option<Box<FunctionMetrics>>,
}

impl From<BenchResult> for ResultForm {
    fn from(result: BenchResult) -> ResultForm {
        ResultForm {
            id: result.id,
            version: result.version,
            plugin: result.plugin,
            plugin_version: result.plugin_version,
            library: result.library,
            category: result.category,
            model: result.model,
            outcome: result.outcome.kind(),
            reason: result.outcome.reason().cloned(),
            stable: result.stable,
            metrics: match result.outcome {
                Outcome::Measured(metrics) => Some(metrics),
                _ => None,
            },
        }
    }
}

impl TryFrom<ResultForm> for BenchResult {
    type Error = String;

    fn try_from(form: ResultForm) -> Result<BenchResult, String> {
        Ok(BenchResult {
            outcome: Outcome::from_parts(form.outcome, form.reason, form.metrics)?,
            id: form.id,
            version: form.version,
            plugin: form.plugin,
            plugin_version: form.plugin_version,
            library: form.library,
            category: form.category,
            model: form.model,
            stable: form.stable,
        })
    }
}
