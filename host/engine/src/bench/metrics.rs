//! What the worker of a function reported becomes the figures of a cell.

use crate::run::mlperf::mlperf;
use crate::run::serving::{self, AskedLoad};
use crate::run::{cpu_per_iteration, interval, measured, rate, series_metrics};
use skillbench_record::{InitMetrics, MemoryMetrics, Metrics};
use skillbench_stats::{half_widths, summarize, summarize_rounds};
use skillbench_worker::{FunctionReport, SeriesRecord, Watched};

const NS_TO_MS: f64 = 1e-6;

/// The latency is that of one call, timed from outside; of a function that announces no `execution_time`, its one series of durations; of requests that
/// arrive, theirs. The rate is in items over the time they took; a call is one item where the function counts none. The first call of the process is in
/// no other figure. `load_peak` is the highest memory of the first calls.
pub(super) fn metrics(report: &FunctionReport, watched: &Watched, load: AskedLoad<'_>) -> Metrics {
    let is_load = serving::is_load(&report.series);
    let execution = execution(report).filter(|_| !is_load);
    let of_requests =
        || report.series.iter().find(|series| series.name == "latency" && !serving::has_refusals(&report.series));
    let first = report.series.iter().find(|series| series.name == "first_execution" && series.kind == "duration");
    let around = |series: &SeriesRecord| interval(rate(series)?, half_widths(&measured(series), None)?.mean);
    Metrics {
        latency_ms: match is_load {
            true => of_requests().and_then(|series| summarize_rounds(&series.singles, NS_TO_MS, None)),
            false => execution.and_then(|series| summarize_rounds(&measured(series), NS_TO_MS, None)),
        },
        cpu_ms: execution.and_then(|series| summarize(&cpu_per_iteration(series), NS_TO_MS)),
        throughput_per_s: serving::items_per_s(&report.series).or_else(|| execution.and_then(rate)),
        throughput_ci95: execution.and_then(around),
        ci95_covers: execution.map(|_| "within one launch".into()),
        init_ms: InitMetrics {
            first_inference: first.and_then(|series| summarize(&series.singles, NS_TO_MS)),
            ..InitMetrics::default()
        },
        // Whatever bears the load is elsewhere: what can be seen here is the generator's.
        memory_mb: if is_load { MemoryMetrics::default() } else { memory(report, watched) },
        serving: serving::serving(&report.series, load),
        capacity: serving::capacity(&report.series, load),
        mlperf: mlperf(&report.series, load, 1),
        series: report.series.iter().filter_map(|one| Some((one.name.clone(), series_metrics(one)?))).collect(),
        ..Metrics::default()
    }
}

fn memory(report: &FunctionReport, watched: &Watched) -> MemoryMetrics {
    let mebibytes = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let rounds_peak = report.memory_peak.max(watched.peak);
    MemoryMetrics {
        before: report.memory_before.map(mebibytes),
        load_peak: report.memory_first.map(mebibytes),
        rounds_peak: rounds_peak.map(mebibytes),
        peak: rounds_peak.max(report.memory_first).map(mebibytes),
        children_peak: watched.children_peak.map(mebibytes),
        average: watched.average.map(|bytes| bytes / f64::from(1 << 20)),
        ..MemoryMetrics::default()
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
