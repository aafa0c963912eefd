//! Benchmarks in workers, one after the other; one that fails costs itself and nothing else.

use super::choose::options;
use super::document::{BENCH_SCHEMA, BenchResult, BenchRun, FunctionMemory, FunctionMetrics};
use super::{BenchRequest, Found};
use crate::run::{Rejected, RequestError, cpu_per_iteration, measured, rate, series_metrics, stable};
use skillbench_record::PluginOptions;
use skillbench_record::defaults::defaults;
use skillbench_record::time::now_utc;
use skillbench_record::{Outcome, Reason};
use skillbench_stats::summarize;
use skillbench_worker::{
    Command, Event, Failure, FunctionJob, FunctionReport, Limits, Policy, Reply, SeriesRecord, Stop, Watched, Worker,
};
use std::path::Path;
use std::time::Duration;

const NS_TO_MS: f64 = 1e-6;

/// Told how it goes.
pub trait Progress {
    fn begun(&mut self, _found: &Found, _place: usize, _of: usize) {}
    /// The share of the benchmark that is done, 0 to 1, as far as it can be told.
    fn share(&mut self, _share: f64) {}
    fn warning(&mut self, _text: &str) {}
    fn ended(&mut self, _result: &BenchResult) {}
}

/// Nobody is told.
impl Progress for () {}

/// Runs each benchmark in a worker of its own. Their attachments go into `folder`, one folder for each. `stop` skips those that have not begun.
///
/// # Errors
/// An option that none of them takes. What becomes of a benchmark is in the result, never an error.
pub fn execute(
    chosen: &[Found],
    request: &BenchRequest,
    rejected: &[Rejected],
    folder: Option<&Path>,
    stop: &Stop,
    progress: &mut dyn Progress,
) -> Result<BenchRun, RequestError> {
    let options = options(chosen, request)?;
    let mut environment = crate::environment::probe();
    let mut chosen = chosen.to_vec();
    for found in &mut chosen {
        found.library.seal([]).map_err(|error| RequestError(error.to_string()))?;
        let hash = found.library.sealed.first().map(|sealed| (found.plugin.clone(), sealed.sha256.clone()));
        environment.plugin_sha256.extend(hash);
    }
    let mut run = BenchRun {
        schema: BENCH_SCHEMA.into(),
        started_at: now_utc(),
        command: std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect(),
        environment,
        benchmarks: vec![],
        rejected: rejected.to_vec(),
    };
    for (place, (found, options)) in chosen.iter().zip(options).enumerate() {
        progress.begun(found, place, chosen.len());
        let (outcome, stable) = match stop.asked() {
            true => {
                (Outcome::Skipped(Reason::new("stopped", "the run was stopped before this benchmark began")), false)
            }
            false => match call(&job(found, options, request, folder), request, stop, progress) {
                Ok((report, watched)) => {
                    (Outcome::Measured(Box::new(metrics(&report, &watched))), stable(&report.series))
                }
                Err(failure) => (failure.into_outcome(), false),
            },
        };
        let result = BenchResult {
            id: found.id().into(),
            version: found.description.version.clone(),
            plugin: found.plugin.clone(),
            plugin_version: found.plugin_version.clone(),
            library: found.library.path.clone(),
            category: found.category.clone(),
            model: found.model.clone(),
            stable,
            outcome,
        };
        progress.ended(&result);
        run.benchmarks.push(result);
    }
    Ok(run)
}

fn job(found: &Found, options: PluginOptions, request: &BenchRequest, folder: Option<&Path>) -> FunctionJob {
    let run = &defaults().run;
    FunctionJob {
        library: found.library.clone(),
        benchmark: found.id().into(),
        options,
        policy: Policy {
            warmup: request.warmup.unwrap_or(run.warmup),
            warmup_ns: request.warmup.is_none().then_some((run.warmup_limit_s * 1e9) as u64),
            iterations: request.iterations,
            interval: run.interval,
            rate_interval: run.rate_interval,
            budget_ns: (request.budget_s.unwrap_or(run.budget_s) * 1e9) as u64,
            verify_only: false,
            interleaved_round_ns: None,
        },
        attachments: folder.and_then(|folder| std::path::absolute(folder.join(found.id())).ok()),
    }
}

fn call(
    job: &FunctionJob,
    request: &BenchRequest,
    stop: &Stop,
    progress: &mut dyn Progress,
) -> Result<(FunctionReport, Watched), Failure> {
    let timeout = Duration::from_secs_f64(request.timeout_s.unwrap_or(defaults().run.timeout_s));
    let limits = Limits::working(timeout, request.memory_limit_mb.map(|mib| mib << 20), stop);
    let command = Command::Function(Box::new(job.clone()));
    let (reply, watched) = Worker::start(&command)?.call(&command, &limits, &mut |event| match event {
        Event::Progress { share } => progress.share(*share),
        Event::Log { level, message } if *level <= 2 => progress.warning(message),
        _ => {}
    });
    match reply? {
        Reply::Function(report) => Ok((*report, watched)),
        other => Err(Failure::unexpected(&other)),
    }
}

/// Whether a series is one of durations that were measured in rounds.
fn is_timed(series: &SeriesRecord) -> bool {
    series.kind == "duration" && series.rounds.iter().any(|round| round.measured)
}

/// The series of whole calls: by its name, or the only one that is timed.
fn execution(report: &FunctionReport) -> Option<&SeriesRecord> {
    let mut timed = report.series.iter().filter(|series| is_timed(series));
    let by_name = timed.clone().find(|series| series.name == "execution_time");
    by_name.or_else(|| match (timed.next(), timed.next()) {
        (only, None) => only,
        _ => None,
    })
}

fn metrics(report: &FunctionReport, watched: &Watched) -> FunctionMetrics {
    let execution = execution(report);
    let first = report.series.iter().find(|series| series.name == "first_execution" && series.kind == "duration");
    let mebibytes = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let used = report.memory_first.zip(report.memory_before).and_then(|(first, before)| first.checked_sub(before));
    FunctionMetrics {
        execution_ms: execution.and_then(|series| summarize(&measured(series), NS_TO_MS)),
        first_execution_ms: first.and_then(|series| series.singles.first()).map(|ns| ns * NS_TO_MS),
        cpu_ms: execution.and_then(|series| summarize(&cpu_per_iteration(series), NS_TO_MS)),
        throughput_per_s: execution.and_then(rate),
        memory_mb: FunctionMemory {
            before: report.memory_before.map(mebibytes),
            used: used.map(mebibytes),
            peak: report.memory_peak.or(watched.peak).map(mebibytes),
            average: watched.average.map(|bytes| bytes / f64::from(1 << 20)),
        },
        series: report.series.iter().filter_map(|one| Some((one.name.clone(), series_metrics(one)?))).collect(),
    }
}
