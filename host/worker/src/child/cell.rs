//! One cell: a benchmark on a target, and what the worker saw of it.

use super::Commands;
use super::audit::RoundWatch;
use super::during::During;
use super::opened::import;
use super::permits::Permits;
use super::pool::Pool;
use super::rounds::{Permit, Rounds};
use super::sensors::Sensors;
use super::target::{CellTarget, lock, resident};
use super::{Opened, Services};
use crate::DIFFERS;
use crate::{
    BUDGET, CellJob, CellReport, Command, Event, Failure, FailureKind, Library, Pooling, Reply, SeriesRecord, Stage,
    VerifyJob,
};
use skillbench_models::Manifest;
use skillbench_plugin_api::client::BenchmarkRef;
use skillbench_plugin_api::host_tables::{ReporterTable, TargetParts, TargetTable};
use skillbench_plugin_api::{DeviceKind, Dim, Error, Options, Source};
use std::sync::atomic::AtomicBool;

/// Opens a backend and runs a cell on it; and then those that follow it on the same backend, where it is asked to keep what it
/// loaded. Returns the first command that is another one.
pub(super) fn serve_cells(
    services: &'static Services,
    commands: &mut Commands,
    first: CellJob,
) -> Result<Option<Command>, Failure> {
    // The backend first: its import and instantiation are those of a process that has loaded nothing else.
    let opened = match Opened::new(services, &first.backend) {
        Ok(opened) => opened,
        Err(failure) => {
            services.send(&Event::Failed(failure));
            return commands.next();
        }
    };
    let pool = Pool::default();
    let mut job = first;
    loop {
        let ran = {
            let permits = job.policy.interleaved_round_ns.map(|_| Permits::new(services, commands));
            run_cell(services, &opened, &pool, &job, permits.as_ref())
        };
        let keep = job.pooling.keep && ran.is_ok();
        if !keep {
            pool.clear();
        }
        services.send(&match ran {
            Ok(report) => Event::Done(Box::new(Reply::Cell(Box::new(report.only_of_the_device())))),
            Err(failure) => Event::Failed(failure),
        });
        match commands.next()? {
            Some(Command::Cell(next)) if keep && next.pooling.take => job = *next,
            other => return Ok(other),
        }
    }
}

/// One cell on a backend of its own.
pub(crate) fn run_alone(services: &'static Services, job: &CellJob) -> Result<CellReport, Failure> {
    let opened = Opened::new(services, &job.backend)?;
    run_cell(services, &opened, &Pool::default(), job, None)
}

fn run_cell<'i>(
    services: &'static Services,
    opened: &'i Opened,
    pool: &Pool<'i>,
    job: &CellJob,
    permits: Option<&Permits<'_>>,
) -> Result<CellReport, Failure> {
    let manifest = Manifest::parse(&job.model.manifest).map_err(|text| Failure::failed("manifest", text))?;
    let memory_before = resident();
    let benchmark = find_benchmark(services, &job.benchmark_library, &job.benchmark)?;
    let chosen = opened.choose(job.device.as_deref())?;

    services.enter(Stage::Run);
    let verified = AtomicBool::new(matches!(job.verify, VerifyJob::Off));
    let target = CellTarget::new(services, opened, pool, job, &manifest, &chosen, &verified);
    let cold_start = job.benchmark_options.get("cold_start").is_some_and(|value| value == "true");
    services.enter(Stage::Sensors);
    let sensors = Sensors::new(&opened.instance, &chosen, !cold_start && !job.policy.verify_only);
    services.enter(Stage::Run);
    let wait = permits.map(|permits| |series: &str, measured: bool| permits.wait(series, measured));
    let permit = wait.as_ref().map(|wait| wait as &Permit);
    let computes_elsewhere = chosen.device.kind == DeviceKind::Browser.name();
    let mut rounds = Rounds::new(services, job, &verified, &sensors, computes_elsewhere);
    rounds.permit = permit;
    rounds.watch = (!matches!(job.verify, VerifyJob::Off)).then_some(&target as &dyn RoundWatch);
    let parts = TargetParts {
        instance: &opened.instance,
        skill: &job.model.skill,
        manifest: &job.model.manifest,
        parts: job.model.parts.iter().map(|(name, path)| (name.clone(), Source::onnx(path))).collect(),
        axes: job.axes.iter().map(|(name, value)| Dim::fixed(name, *value)).collect(),
        seed: job.seed,
    };
    let options = Options(job.benchmark_options.clone());
    let has_long_rounds = job.benchmark_options.contains_key(BUDGET);
    let is_over = AtomicBool::new(false);
    let (ran, over_time) = std::thread::scope(|scope| {
        let during = has_long_rounds.then(|| During::begin(scope, &rounds, &sensors, &is_over));
        let (target, reporter) = (TargetTable::watched(&parts, &target), ReporterTable::new(&rounds));
        let ran = benchmark.run(services.table(), Some(&target), &options, &reporter);
        (ran, during.map(During::end).unwrap_or_default())
    });
    let memory_peak = rounds.peak();
    services.send(&Event::Measuring(false));
    services.enter(Stage::Close);
    let (series, counters, misuse) = rounds.finish();
    let seen = std::mem::take(&mut *lock(&target.seen));
    let (audit, differs) = (target.audit.report(), seen.differs || target.audit.differs());
    let placement = seen.placement().cloned();
    drop(target);
    conclude(ran, misuse, seen.failure).map_err(|mut failure| {
        if differs && failure.kind == FailureKind::Wrong {
            failure.reason.code = DIFFERS.into();
        }
        failure
    })?;
    let measured =
        |series: &SeriesRecord| !series.singles.is_empty() || series.rounds.iter().any(|round| round.measured);
    if !job.policy.verify_only && !series.iter().any(measured) {
        return Err(Failure::failed("no-samples", "the benchmark ended without a single measured sample"));
    }
    if seen.verification.is_none() && !matches!(job.verify, VerifyJob::Off) && !cold_start {
        return Err(Failure::failed(
            "not-verified",
            "the benchmark did not verify its target, so its figures do not count",
        ));
    }
    // A process that ran a cell before has memory of that one, and nothing in it is loaded cold.
    let fresh = !job.pooling.take;
    let pooled = job.pooling != Pooling::default();
    Ok(CellReport {
        launches: 1,
        device: chosen.device.clone(),
        placement,
        loads: if fresh { seen.loads } else { vec![] },
        series,
        audit: (!matches!(job.verify, VerifyJob::Off) && !cold_start).then_some(audit),
        verification: seen.verification,
        memory_before: memory_before.filter(|_| fresh),
        memory_loaded: seen.memory_loaded.filter(|_| fresh),
        memory_load_peak: seen.memory_load_peak.filter(|_| fresh),
        memory_first_peak: seen.memory_first_peak.filter(|_| fresh),
        memory_peak: memory_peak.filter(|_| fresh),
        fresh,
        counters,
        over_time,
        // The backend's own mark of the highest: it knows nothing of cells.
        device_peak: sensors.device_peak().filter(|_| fresh),
        pool: pooled.then_some(seen.pool),
    })
}

/// What the benchmark did wrong counts before what it said; a failure of the target before a vague one of the benchmark.
pub(super) fn conclude(ran: Result<(), Error>, misuse: Option<Error>, of_target: Option<Error>) -> Result<(), Failure> {
    match (ran, misuse, of_target) {
        (_, Some(misuse), _) => Err(Failure::failed("benchmark", misuse.to_string())),
        (_, None, Some(failure)) => Err(Failure::from_plugin(&failure)),
        (Err(error), None, None) => Err(Failure::from_plugin(&error)),
        (Ok(()), None, None) => Ok(()),
    }
}

pub(super) fn find_benchmark(
    services: &'static Services,
    library: &Library,
    id: &str,
) -> Result<BenchmarkRef, Failure> {
    let (plugin, _) = import(services, library)?;
    let benchmarks = plugin.benchmarks().map_err(|error| Failure::from_plugin(&error))?;
    let found = benchmarks.into_iter().find(|benchmark| benchmark.id() == id);
    found.ok_or_else(|| Failure::failed("no-benchmark", format!("{} has no benchmark '{id}'", plugin.id())))
}
