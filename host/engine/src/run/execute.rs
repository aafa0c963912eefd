//! Cells in workers, one after the other; a plugin that fails costs its own cell and nothing else.

use super::fallen::Fallen;
use super::named::Asked;
use super::observer::Observer;
use super::plan::{Plan, PlannedCell};
use super::prepare::{Shared, Startup, start_up};
use super::summarize::{Reports, metrics, stable};
use crate::defaults::defaults;
use crate::document::{Cell, Outcome, Reason, Run, Samples};
use crate::environment::now_utc;
use crate::peaks::Peaks;
use crate::skill::BuiltModel;
use crate::worker::{
    CellJob, CellReport, Command, DeviceRecord, Event, Failure, FailureKind, Limits, LoadRecord, Policy, Reply, Stop,
    VerifyJob, Watched, Worker,
};
use std::collections::{HashMap, HashSet, VecDeque};
use std::path::Path;
use std::time::Duration;

/// Runs every cell of a plan that is not `done` yet, telling the observer. Attachments of benchmarks go into `folder`.
///
/// # Errors
/// The observer could not keep an outcome.
pub fn execute(
    plan: &Plan,
    run: &Run,
    folder: &Path,
    done: &HashSet<usize>,
    observer: &mut dyn Observer,
) -> std::io::Result<()> {
    observer.begun(run)?;
    plan.warnings.iter().for_each(|warning| observer.warning(warning));
    let request = &plan.request;
    let memory = request.memory_limit_mb.map(|mib| mib << 20);
    let timeout = Duration::from_secs_f64(request.timeout_s.unwrap_or(defaults().run.timeout_s));
    let mut runner = Runner {
        plan,
        folder,
        limits: Limits::working(timeout, memory),
        startups: HashMap::new(),
        shared: Shared::default(),
        peaks: Peaks::load(),
        run_id: &run.run_id,
        told: HashSet::new(),
        observer,
    };
    let mut pending: VecDeque<PlannedCell> =
        plan.cells.iter().filter(|cell| !done.contains(&cell.index)).cloned().collect();
    let mut fallen = Fallen::new(plan, timeout, done);
    fallen.replay(&run.cells).into_iter().rev().for_each(|smaller| pending.push_front(smaller));
    let (mut place, mut of) = (0, pending.len());
    while let Some(mut planned) = pending.pop_front() {
        if runner.left_out(&planned)? {
            place += 1;
            continue;
        }
        planned.skip = planned.skip.take().or_else(|| fallen.too_slow(&planned));
        runner.observer.cell_begun(&planned, place, of);
        let (mut cell, samples) = runner.cell(&planned);
        // A cell that the user stopped is not over: it is run again when the run is resumed.
        if Stop::global().asked() {
            break;
        }
        if let Some(smaller) = fallen.learn(&planned, &mut cell) {
            pending.push_front(smaller);
            of += 1;
        }
        runner.observer.cell_ended(&cell, &samples)?;
        place += 1;
    }
    Ok(())
}

/// No more warnings of one cell's plugins are passed on.
const MOST_LOGGED: u32 = 20;

struct Runner<'a> {
    plan: &'a Plan,
    folder: &'a Path,
    limits: Limits,
    startups: HashMap<usize, Result<Startup, Failure>>,
    shared: Shared,
    peaks: Peaks,
    run_id: &'a str,
    /// Warnings that were given already.
    told: HashSet<String>,
    observer: &'a mut dyn Observer,
}

/// What the worker of a cell brought back.
struct Measured {
    main: CellReport,
    cold: Vec<CellReport>,
    warm: Option<CellReport>,
    watched: Watched,
}

impl Runner<'_> {
    /// A backend's devices and start-up times, measured at its first cell.
    fn startup(&mut self, backend: usize) -> Result<Startup, Failure> {
        if !self.startups.contains_key(&backend) {
            let planned = &self.plan.backends[backend];
            self.observer.step(&format!("opening {}", planned.choice.plugin));
            let startup = start_up(planned, &self.limits);
            self.startups.insert(backend, startup);
        }
        self.startups[&backend].clone()
    }

    fn device(&mut self, planned: &PlannedCell) -> Option<DeviceRecord> {
        let asked = self.plan.backends[planned.backend].choice.device.clone();
        let startup = self.startup(planned.backend).ok()?;
        let index = asked.as_ref().and_then(|text| text.parse::<usize>().ok());
        let meant = |(at, device): &(usize, &DeviceRecord)| match &asked {
            None => device.usable,
            Some(id) => device.id.eq_ignore_ascii_case(id) || index == Some(*at),
        };
        startup.devices.iter().enumerate().find(meant).map(|(_, device)| device.clone())
    }

    /// Without being asked for by name, a backend that cannot run here, or only emulates, is left out, and said so once.
    fn left_out(&mut self, planned: &PlannedCell) -> std::io::Result<bool> {
        let backend = &self.plan.backends[planned.backend];
        let asked = backend.asked;
        if asked == Asked::ByName {
            return Ok(false);
        }
        let first = !self.startups.contains_key(&planned.backend);
        let name = &backend.choice.plugin;
        let why = match self.startup(planned.backend) {
            Err(failure) if failure.kind == FailureKind::Unavailable => Some(failure.to_string()),
            // One that crashes or hangs is not left out: its cells say so.
            Err(_) => None,
            Ok(_) => match self.device(planned) {
                None => Some("no device can be used".into()),
                Some(_) if asked == Asked::AsWeb => None,
                Some(device) if device.emulated => {
                    Some(format!("it would be emulated; ask for it with --plugin {name}"))
                }
                Some(device) if device.kind == "browser" => {
                    Some(format!("it is a web platform; ask for it with --plugin {name}"))
                }
                Some(_) => None,
            },
        };
        if let (Some(why), true) = (&why, first) {
            self.observer.warning(&format!("{name} is left out: {why}"));
            self.observer.left_out(name, why)?;
        }
        Ok(why.is_some())
    }

    fn cell(&mut self, planned: &PlannedCell) -> (Cell, Vec<Samples>) {
        let blank = self.blank(planned);
        if let Some(reason) = &planned.skip {
            return (Cell { outcome: Outcome::Skipped(reason.clone()), ..blank }, vec![]);
        }
        match self.measure(planned) {
            Err(failure) => {
                let emulated = self.device(planned).is_some_and(|device| device.emulated);
                (Cell { outcome: failure.into_outcome(), emulated, ..blank }, vec![])
            }
            Ok(measured) => {
                let startup = self.startup(planned.backend).ok();
                let workers = self.plan.benchmarks[planned.benchmark].options.get("workers");
                let figures = metrics(&Reports {
                    main: &measured.main,
                    cold: &measured.cold,
                    warm: measured.warm.as_ref(),
                    startup: startup.as_ref(),
                    watched: &measured.watched,
                    workers: workers.and_then(|text| text.parse().ok()),
                });
                let mut samples = samples(planned.index, &measured.main);
                samples.extend(init_samples(planned.index, &measured, startup.as_ref()));
                let device_name = measured.main.device.name.clone();
                let mut cell = Cell {
                    device: measured.main.device.id.clone(),
                    emulated: measured.main.device.emulated,
                    stable: stable(&measured.main.series),
                    placement: measured.main.placement,
                    verification: measured.main.verification,
                    outcome: Outcome::Measured(Box::new(figures)),
                    ..blank
                };
                self.hold_against_peaks(planned, &mut cell, &device_name);
                (cell, samples)
            }
        }
    }

    /// Keeps the peaks that a cell measured; any other is held against those of its device.
    fn hold_against_peaks(&mut self, planned: &PlannedCell, cell: &mut Cell, device_name: &str) {
        match self.peaks.learn(cell, device_name, self.run_id, &now_utc()) {
            Ok(true) => return,
            Ok(false) => {}
            Err(error) => self.observer.warning(&format!("the peaks of {device_name} could not be kept: {error}")),
        }
        let skill = &self.plan.models[planned.model].description;
        let efficiency = match &cell.outcome {
            Outcome::Measured(metrics) => self.peaks.efficiency(cell, metrics, skill, device_name),
            _ => None,
        };
        if let Outcome::Measured(metrics) = &mut cell.outcome {
            metrics.efficiency = efficiency;
        }
    }

    /// The cell as far as the plan knows it.
    fn blank(&self, planned: &PlannedCell) -> Cell {
        let backend = &self.plan.backends[planned.backend];
        let benchmark = &self.plan.benchmarks[planned.benchmark].description;
        let skill = &self.plan.models[planned.model].description;
        Cell {
            index: planned.index,
            plugin: backend.choice.plugin.clone(),
            plugin_version: backend.version.clone(),
            device: backend.choice.device.clone().unwrap_or_default(),
            skill: skill.id.clone(),
            family: skill.family.clone(),
            architecture: skill.architecture.clone(),
            benchmark: benchmark.id.clone(),
            benchmark_version: benchmark.version.clone(),
            precision_requested: self.plan.request.precision.clone(),
            threads: backend.plugin.options.get("threads").and_then(|text| text.parse().ok()),
            axes: planned.axes.clone(),
            emulated: false,
            stable: false,
            placement: None,
            verification: None,
            outcome: Outcome::Skipped(Reason::new("planned", "not run yet")),
        }
    }

    fn measure(&mut self, planned: &PlannedCell) -> Result<Measured, Failure> {
        self.startup(planned.backend)?;
        let name = self.plan.models[planned.model].id().to_string();
        self.observer.step(&format!("preparing {name}"));
        let built = self.shared.model(self.plan, planned.model, &self.limits)?;
        let verify = self.shared.verification(self.plan, planned, &built, &self.limits);
        if Stop::global().asked() {
            return Err(Failure::new(FailureKind::Stopped, "stopped", "the run was stopped before this cell began"));
        }
        if let VerifyJob::Alone { why } = &verify
            && self.told.insert(format!("{name}: {why}"))
        {
            self.observer.warning(&format!("outputs of {name} are only checked for being finite: {why}"));
        }
        let scratch = tempfile::tempdir().map_err(|error| Failure::failed("scratch", error.to_string()))?;
        let mut job = self.job(planned, &built, verify);
        job.cache_dir = Some(scratch.path().join("main"));
        let observer = &mut *self.observer;
        let mut logged = 0;
        let (reply, watched) =
            Worker::start()?.call(&Command::Cell(Box::new(job.clone())), &self.limits, &mut |event| match event {
                Event::Progress { share } => observer.cell_progress(*share),
                Event::Phase { name, .. } => observer.step(name),
                Event::Log { level, message } if *level <= 2 => {
                    logged += 1;
                    match logged {
                        ..MOST_LOGGED => observer.warning(message),
                        MOST_LOGGED => observer.warning("the plugin logs more than that; the rest is left out"),
                        _ => {}
                    }
                }
                Event::Log { message, .. } => observer.debug(message),
                _ => {}
            });
        let main = report(reply?)?;

        let (mut cold, mut warm) = (vec![], None);
        if self.plan.benchmarks[planned.benchmark].description.cold_start && !self.plan.request.verify_only {
            job.benchmark_options.insert("cold_start".into(), "true".into());
            job.verify = VerifyJob::Off;
            job.attachments = None;
            if main.loads.first().is_some_and(|load| load.cache_hit == Some(false)) {
                warm = Some(self.start_again(&job)?);
            }
            for again in 1..defaults().run.cold_starts {
                job.cache_dir = Some(scratch.path().join(format!("cold-{again}")));
                cold.push(self.start_again(&job)?);
            }
        }
        Ok(Measured { main, cold, warm, watched })
    }

    /// The same start in another fresh process.
    fn start_again(&mut self, job: &CellJob) -> Result<CellReport, Failure> {
        report(Worker::call_once(&Command::Cell(Box::new(job.clone())), &self.limits)?)
    }

    fn job(&self, planned: &PlannedCell, built: &BuiltModel, verify: VerifyJob) -> CellJob {
        let (request, run) = (&self.plan.request, &defaults().run);
        let backend = &self.plan.backends[planned.backend];
        let benchmark = &self.plan.benchmarks[planned.benchmark];
        let budget = request.budget_s.unwrap_or(run.budget_s);
        CellJob {
            backend: backend.plugin.clone(),
            device: backend.choice.device.clone(),
            benchmark_library: benchmark.library.clone(),
            benchmark: benchmark.description.id.clone(),
            benchmark_options: benchmark.options.clone(),
            model: built.paths.clone(),
            axes: planned.axes.clone(),
            precision: request.precision.clone(),
            seed: request.seed.unwrap_or(run.seed),
            verify,
            policy: Policy {
                warmup: request.warmup.unwrap_or(run.warmup),
                warmup_ns: request.warmup.is_none().then_some((run.warmup_limit_s * 1e9) as u64),
                iterations: request.iterations,
                interval: run.interval,
                budget_ns: (budget * 1e9) as u64,
                verify_only: request.verify_only,
            },
            cache_dir: None,
            attachments: std::path::absolute(self.folder.join("attachments").join(planned.index.to_string())).ok(),
        }
    }
}

fn report(reply: Reply) -> Result<CellReport, Failure> {
    match reply {
        Reply::Cell(report) => Ok(*report),
        other => Err(Failure::unexpected(&other)),
    }
}

/// The samples behind the initialization figures, each from a process of its own: the starts, the first loads, and the first
/// inferences of the further processes (that of the main one is among its own series).
fn init_samples(cell: usize, measured: &Measured, startup: Option<&Startup>) -> Vec<Samples> {
    let loads: Vec<&LoadRecord> =
        std::iter::once(&measured.main).chain(&measured.cold).filter_map(|report| report.loads.first()).collect();
    let of =
        |pick: fn(&LoadRecord) -> Option<u64>| loads.iter().filter_map(|load| pick(load)).map(|ns| ns as f64).collect();
    let first =
        measured.cold.iter().flat_map(|report| &report.series).filter(|series| series.name == "first_inference");
    let all: [(&str, Vec<f64>); 6] = [
        ("init.import", startup.map(|startup| startup.import_ns.clone()).unwrap_or_default()),
        ("init.instantiate", startup.map(|startup| startup.instantiate_ns.clone()).unwrap_or_default()),
        ("init.load", of(|load| Some(load.total_ns))),
        ("init.read", of(|load| load.read_ns)),
        ("init.compile", of(|load| load.compile_ns)),
        ("first_inference", first.flat_map(|series| series.singles.iter().copied()).collect()),
    ];
    let kept = all.into_iter().filter(|(_, values)| !values.is_empty());
    let record = |(series, values): (&str, Vec<f64>)| Samples {
        cell,
        series: series.into(),
        unit: "ns".into(),
        round: 0,
        values,
        cpu_ns: None,
        wall_ns: None,
    };
    kept.map(record).collect()
}

fn samples(cell: usize, report: &CellReport) -> Vec<Samples> {
    let of_series = |series: &crate::worker::SeriesRecord| {
        let rounds = series.rounds.iter().filter(|round| round.measured).map(|round| Samples {
            cell,
            series: series.name.clone(),
            unit: series.unit.clone(),
            round: round.id,
            values: round.values.clone(),
            cpu_ns: round.cpu_ns,
            wall_ns: Some(round.wall_ns),
        });
        let single = (!series.singles.is_empty()).then(|| Samples {
            cell,
            series: series.name.clone(),
            unit: series.unit.clone(),
            round: 0,
            values: series.singles.clone(),
            cpu_ns: None,
            wall_ns: None,
        });
        rounds.chain(single).collect::<Vec<_>>()
    };
    report.series.iter().flat_map(of_series).collect()
}
