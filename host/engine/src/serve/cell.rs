//! One cell: a benchmark on a target, and what the worker saw of it.

use super::opened::import;
use super::rounds::Rounds;
use super::sensors::Sensors;
use super::target::{CellTarget, lock, resident};
use super::{Opened, Services};
use crate::skill::Manifest;
use crate::worker::{CellJob, CellReport, DeviceRecord, Event, Failure, SeriesRecord, Stage, VerifyJob};
use skillbench_plugin_api::client::BenchmarkRef;
use skillbench_plugin_api::provide::{ReporterTable, TargetParts, TargetTable};
use skillbench_plugin_api::{DeviceKind, Dim, Error, Options, Source};
use std::sync::atomic::AtomicBool;

pub(crate) fn run_cell(services: &'static Services, job: &CellJob) -> Result<CellReport, Failure> {
    let manifest = Manifest::parse(&job.model.manifest).map_err(|text| Failure::failed("manifest", text))?;
    // The backend first: its import and instantiation are those of a process that has loaded nothing else.
    let opened = Opened::new(services, &job.backend)?;
    let memory_before = resident();
    let benchmark = find_benchmark(services, job)?;
    let (index, device) = opened.device(job.device.as_deref())?;

    services.enter(Stage::Run);
    let verified = AtomicBool::new(matches!(job.verify, VerifyJob::Off));
    let target = CellTarget::new(services, &opened, job, &manifest, (index, device), &verified);
    let cold_start = job.benchmark_options.get("cold_start").is_some_and(|value| value == "true");
    services.enter(Stage::Sensors);
    let sensors = Sensors::new(&opened.instance, (index, device), !cold_start && !job.policy.verify_only);
    services.enter(Stage::Run);
    // What a browser computes, it computes in processes of its own.
    let whole = device.kind != DeviceKind::Browser;
    let rounds = Rounds::new(services, job, &verified, &sensors, whole);
    let parts = TargetParts {
        instance: &opened.instance,
        skill: &job.model.skill,
        manifest: &job.model.manifest,
        parts: job.model.parts.iter().map(|(name, path)| (name.clone(), Source::onnx(path))).collect(),
        axes: job.axes.iter().map(|(name, value)| Dim::fixed(name, *value)).collect(),
        seed: job.seed,
    };
    let options = Options(job.benchmark_options.clone());
    let ran = {
        let (target, reporter) = (TargetTable::new(&parts, &target), ReporterTable::new(&rounds));
        benchmark.run(services.table(), Some(&target), &options, &reporter)
    };
    let memory_peak = rounds.peak();
    services.send(&Event::Measuring(false));
    services.enter(Stage::Close);
    let (series, counters, misuse) = rounds.finish();
    let seen = std::mem::take(&mut *lock(&target.seen));
    drop(target);
    conclude(ran, misuse, seen.failure)?;
    let measured =
        |series: &SeriesRecord| !series.singles.is_empty() || series.rounds.iter().any(|round| round.measured);
    if !series.iter().any(measured) {
        return Err(Failure::failed("no-samples", "the benchmark ended without a single measured sample"));
    }
    if seen.verification.is_none() && !matches!(job.verify, VerifyJob::Off) && !cold_start {
        return Err(Failure::failed(
            "not-verified",
            "the benchmark did not verify its target, so its figures do not count",
        ));
    }
    let report = CellReport {
        device: DeviceRecord::from(device),
        placement: seen.placement,
        loads: seen.loads,
        series,
        verification: seen.verification,
        memory_before,
        memory_loaded: seen.memory_loaded,
        memory_peak,
        counters,
        device_peak: opened.instance.memory(index).ok().and_then(|memory| memory.peak),
    };
    drop(opened);
    Ok(report)
}

/// What the benchmark did wrong counts before what it said; a failure of the target before a vague one of the benchmark.
fn conclude(ran: Result<(), Error>, misuse: Option<Error>, of_target: Option<Error>) -> Result<(), Failure> {
    match (ran, misuse, of_target) {
        (_, Some(misuse), _) => Err(Failure::failed("benchmark", misuse.to_string())),
        (_, None, Some(failure)) => Err(Failure::from_plugin(&failure)),
        (Err(error), None, None) => Err(Failure::from_plugin(&error)),
        (Ok(()), None, None) => Ok(()),
    }
}

fn find_benchmark(services: &'static Services, job: &CellJob) -> Result<BenchmarkRef, Failure> {
    let (plugin, _) = import(services, &job.benchmark_library)?;
    let benchmarks = plugin.benchmarks().map_err(|error| Failure::from_plugin(&error))?;
    let found = benchmarks.into_iter().find(|benchmark| benchmark.id() == job.benchmark);
    found
        .ok_or_else(|| Failure::failed("no-benchmark", format!("{} has no benchmark '{}'", plugin.id(), job.benchmark)))
}
