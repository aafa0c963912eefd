//! Functions in workers, one after the other; one that fails costs itself and nothing else.

use super::metrics::metrics;
use super::{FunctionPlan, PlannedFunction};
use crate::run::reserved::{Reserved, shared};
use crate::run::serving::{self, AskedLoad, BUDGET, usual_budget_s};
use crate::run::{Observer, clocks, of_series, over_time, stable};
use skillbench_record::defaults::defaults;
use skillbench_record::{Cell, Outcome, Reason, Run, RunRequest, Samples, cell_files};
use skillbench_worker::{
    Command, Event, Failure, FunctionJob, FunctionReport, Limits, Policy, Reply, Stop, Watched, Worker, options,
};
use std::io;
use std::path::Path;
use std::time::Duration;

/// Calls each function of a plan in a worker of its own, with the run as it begins. Attachments go into `attachments` of the run's folder, one
/// folder for each function. `stop` skips those that have not begun.
///
/// # Errors
/// The observer cannot go on. What becomes of a function is in its cell, never an error.
pub fn execute(
    plan: &FunctionPlan,
    head: &Run,
    folder: &Path,
    stop: &Stop,
    observer: &mut dyn Observer,
) -> io::Result<()> {
    observer.begun(head)?;
    for (index, function) in plan.functions.iter().enumerate() {
        observer.function_begun(index, index, plan.functions.len());
        let (cell, samples) = match stop.asked() {
            true => {
                let reason = Reason::new("stopped", "the run was stopped before this benchmark began");
                (Cell { outcome: Outcome::Skipped(reason), ..function.cell(index) }, vec![])
            }
            false => measure(function, index, &plan.request, folder, stop, observer),
        };
        observer.cell_ended(&cell, &samples)?;
    }
    Ok(())
}

/// Calls one function, as [`execute`] does.
pub fn measure(
    function: &PlannedFunction,
    index: usize,
    request: &RunRequest,
    folder: &Path,
    stop: &Stop,
    observer: &mut dyn Observer,
) -> (Cell, Vec<Samples>) {
    let cell = function.cell(index);
    match call(&job(function, index, request, folder), index, request, stop, observer) {
        Ok((report, watched)) => {
            let mut samples = of_series(index, &report.series);
            if serving::is_load(&report.series) {
                // Whatever bears the load is elsewhere, as it is with a backend behind a network.
                samples.extend(over_time(index, &watched.over_time, true));
            }
            let cell = Cell {
                stable: serving::stable(&report.series, load(function)).unwrap_or_else(|| stable(&report.series)),
                implausible: clocks(&report.series, &watched).into_iter().chain(shared(&watched)).collect(),
                conditions: watched.conditions.clone(),
                outcome: Outcome::Measured(Box::new(metrics(&report, &watched, load(function)))),
                ..cell
            };
            (cell, samples)
        }
        Err(failure) => (Cell { outcome: failure.into_outcome(), ..cell }, vec![]),
    }
}

/// What a function of requests that arrive was asked for.
fn load(function: &PlannedFunction) -> AskedLoad<'_> {
    AskedLoad::of(&function.options)
}

fn job(function: &PlannedFunction, index: usize, request: &RunRequest, folder: &Path) -> FunctionJob {
    let run = &defaults().run;
    let mut options = function.options.clone();
    let is_told = options::takes(&function.found.description.options_schema, BUDGET);
    let budget = request.budget_s.unwrap_or_else(|| usual_budget_s(&options, is_told));
    if is_told {
        options.insert(BUDGET.into(), budget.to_string());
    }
    let attachments = cell_files::attachments(folder, index);
    FunctionJob {
        library: function.found.library.clone(),
        benchmark: function.found.id().into(),
        options,
        policy: Policy {
            warmup: request.warmup.unwrap_or(run.warmup),
            warmup_ns: request.warmup.is_none().then_some((run.warmup_limit_s * 1e9) as u64),
            iterations: request.iterations,
            interval: run.interval,
            rate_interval: run.rate_interval,
            budget_ns: (budget * 1e9) as u64,
            verify_only: false,
            interleaved_round_ns: None,
            whole_budget: false,
        },
        attachments: std::path::absolute(attachments).ok(),
    }
}

fn call(
    job: &FunctionJob,
    index: usize,
    request: &RunRequest,
    stop: &Stop,
    observer: &mut dyn Observer,
) -> Result<(FunctionReport, Watched), Failure> {
    let timeout = request.time_limit(defaults().run.timeout_s);
    let mut limits = Limits::working(timeout, request.memory_limit_mb.map(|mib| mib << 20), stop);
    if request.timeout_s.is_none() {
        limits = limits.for_budget(Duration::from_nanos(job.policy.budget_ns));
    }
    let (reserved, mut job) = (Reserved::of(&job.options)?, job.clone());
    if let Some(reserved) = &reserved {
        reserved.tell(&mut job.options);
        limits = reserved.watched(&limits);
    }
    let command = Command::Function(Box::new(job));
    let start = || Worker::start(&command);
    let mut worker = reserved.as_ref().map_or_else(start, |reserved| reserved.start(start))?;
    let (reply, watched) = worker.call(&command, &limits, &mut |event| match event {
        Event::Progress { share } => observer.cell_progress(index, *share),
        Event::Log { level, message } if *level <= 2 => observer.warning(message),
        _ => {}
    });
    match reply? {
        Reply::Function(report) => Ok((*report, watched)),
        other => Err(Failure::unexpected(&other)),
    }
}
