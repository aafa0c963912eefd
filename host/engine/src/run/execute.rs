//! Cells in workers, one after the other, or in lanes side by side; a plugin that fails costs its own cell and nothing else.

use super::availability;
use super::backoff::Backoff;
use super::common::Common;
use super::lanes::Lane;
use super::measure::Warm;
use super::named::Asked;
use super::observer::Observer;
use super::parallel;
use super::phases::{self, PhaseWatch};
use super::plan::{Plan, PlannedCell};
use super::prepare::{Startup, start_up};
use super::reserved::shared;
use super::samples;
use super::serving::{self, AskedLoad};
use super::summarize::{Reports, audit, implausible, metrics, stable};
use crate::peaks::beyond;
use skillbench_record::defaults::defaults;
use skillbench_record::time::now_utc;
use skillbench_record::{Cell, HardwareRecord, Outcome, ParallelRecord, Run, Samples};
use skillbench_worker::{DeviceRecord, Failure, FailureKind, Limits, choose};
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::path::Path;

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
    let timeout = request.time_limit(defaults().run.timeout_s);
    let mut pending: VecDeque<PlannedCell> =
        plan.cells.iter().filter(|cell| !done.contains(&cell.index)).cloned().collect();
    let mut backoff = Backoff::new(plan, timeout, done);
    backoff.replay(&run.cells).into_iter().rev().for_each(|smaller| pending.push_front(smaller));
    let common = Common::new(plan, folder, &run.run_id, backoff, &pending);
    let mut runner = Runner::new(&common, Limits::working(timeout, memory, &plan.stop), Known::default(), observer);
    if !request.no_precheck {
        runner.look_ahead(&pending);
    }
    match request.parallel {
        true => parallel::execute(&mut runner, pending),
        false => runner.row(pending),
    }
}

pub(super) struct Runner<'r, 'a> {
    pub common: &'r Common<'a>,
    pub plan: &'a Plan,
    pub limits: Limits,
    pub known: Known,
    told_left_out: HashSet<usize>,
    /// The worker of the last cell, where its models may serve the next.
    pub warm: Option<Warm>,
    /// Where the time of the cell goes that is run now.
    pub phases: PhaseWatch,
    /// Where it runs, if others run beside it.
    pub lane: Option<&'r Lane>,
    /// The processors that the worker of the cell was seen bound to, in a lane.
    pub cores: Option<BTreeSet<usize>>,
    pub observer: &'r mut dyn Observer,
}

/// What is known of the backends of a run.
#[derive(Clone, Default)]
pub(super) struct Known {
    startups: HashMap<usize, Result<Startup, Failure>>,
    /// What was found out before the first cell.
    pub refused: HashMap<(usize, usize), Failure>,
}

impl<'r, 'a> Runner<'r, 'a> {
    pub(super) fn new(
        common: &'r Common<'a>,
        limits: Limits,
        known: Known,
        observer: &'r mut dyn Observer,
    ) -> Runner<'r, 'a> {
        Runner {
            common,
            plan: common.plan,
            limits,
            known,
            told_left_out: HashSet::new(),
            warm: None,
            phases: PhaseWatch::begin(),
            lane: None,
            cores: None,
            observer,
        }
    }

    /// One that runs beside others.
    pub(super) fn in_lane(
        common: &'r Common<'a>,
        limits: Limits,
        known: Known,
        lane: &'r Lane,
        observer: &'r mut dyn Observer,
    ) -> Runner<'r, 'a> {
        Runner { lane: Some(lane), ..Runner::new(common, limits, known, observer) }
    }
}

impl Runner<'_, '_> {
    /// Runs cells one after the other.
    ///
    /// # Errors
    /// The observer could not keep an outcome.
    pub(super) fn row(&mut self, mut pending: VecDeque<PlannedCell>) -> std::io::Result<()> {
        while let Some(mut planned) = pending.pop_front() {
            if self.left_out(&planned)? {
                self.common.pass_over(&planned);
                continue;
            }
            planned.skip = planned.skip.take().or_else(|| self.common.too_slow(&planned));
            let (place, of) = self.common.begin();
            if planned.skip.is_none() {
                self.settle(place == 0);
            }
            self.observer.cell_begun(&planned, place, of);
            self.phases = PhaseWatch::begin();
            self.cores = None;
            let (mut cell, samples) = self.cell(&planned, pending.front());
            cell.parallel = self.place().filter(|_| planned.skip.is_none());
            let phases = std::mem::take(&mut self.phases).end();
            self.observer.debug(&format!("cell {}: {}: {phases}", planned.index, cell.outcome.name()));
            cell.phases = self.plan.request.profile.then_some(phases);
            // A cell that was stopped is not over: it is run again when the run is resumed.
            if self.limits.stopped() {
                break;
            }
            if let Some(smaller) = self.common.learn(&planned, &mut cell) {
                pending.push_front(smaller);
            }
            self.observer.cell_ended(&cell, &samples)?;
            self.common.end(&planned);
        }
        Ok(())
    }

    /// Where the cell ran that has just ended; `None` outside of lanes.
    fn place(&mut self) -> Option<ParallelRecord> {
        let lane = self.lane?;
        let seen = self.cores.take().map(|cores| cores.into_iter().collect());
        let cores = seen.unwrap_or_else(|| lane.cores.clone());
        Some(ParallelRecord { lane: lane.number as u64, cores, beside: vec![] })
    }

    /// A backend's devices and start-up times, measured at its first cell.
    pub(super) fn startup(&mut self, backend: usize) -> Result<Startup, Failure> {
        if !self.known.startups.contains_key(&backend) {
            let planned = &self.plan.backends[backend];
            if let Some(reason) = &planned.rejected {
                return Err(Failure::new(FailureKind::Unavailable, "rejected", reason));
            }
            self.observer.step(&format!("opening {}", planned.choice.plugin));
            let startup = start_up(planned, self.plan.fresh_processes(defaults().run.startups), &self.limits);
            self.known.startups.insert(backend, startup);
        }
        self.known.startups[&backend].clone()
    }

    pub(super) fn device(&mut self, planned: &PlannedCell) -> Option<DeviceRecord> {
        let asked = self.plan.backends[planned.backend].choice.device.clone();
        let startup = self.startup(planned.backend).ok()?;
        choose(asked.as_deref(), &startup.devices).ok().map(|chosen| chosen.device)
    }

    /// Whether the cells of a backend are left out, which is said once.
    pub(super) fn left_out(&mut self, planned: &PlannedCell) -> std::io::Result<bool> {
        let why = self.why_left_out(planned);
        if let (Some(why), true) = (&why, self.told_left_out.insert(planned.backend)) {
            let name = &self.plan.backends[planned.backend].choice.plugin;
            self.observer.warning(&format!("{name} is left out: {why}"));
            self.observer.left_out(name, why)?;
        }
        Ok(why.is_some())
    }

    /// Without being asked for by name, a backend that cannot run here, or only emulates, is left out.
    pub(super) fn why_left_out(&mut self, planned: &PlannedCell) -> Option<String> {
        let backend = &self.plan.backends[planned.backend];
        if backend.asked == Asked::ByName {
            return None;
        }
        let device = self.startup(planned.backend).map(|_| self.device(planned));
        availability::why_left_out(backend, device.as_ref().map(Option::as_ref))
    }

    /// Runs a cell; `next` is the one after it.
    fn cell(&mut self, planned: &PlannedCell, next: Option<&PlannedCell>) -> (Cell, Vec<Samples>) {
        let blank = self.blank(planned);
        if let Some(reason) = &planned.skip {
            return (Cell { outcome: Outcome::Skipped(reason.clone()), ..blank }, vec![]);
        }
        match self.measure_in_quiet(planned, next) {
            Err(failure) => {
                let device = self.device(planned);
                let [emulated, remote] = device.as_ref().map_or([false; 2], |device| [device.emulated, device.remote]);
                let hardware = device.as_ref().map(HardwareRecord::from);
                let id = device.map_or(blank.device.clone(), |device| device.id);
                (Cell { outcome: failure.into_outcome(), device: id, hardware, emulated, remote, ..blank }, vec![])
            }
            Ok(measured) => {
                self.phases.enter(phases::FIGURES);
                let startup = self.startup(planned.backend).ok();
                let options = &self.plan.benchmarks[planned.benchmark].options;
                let load = AskedLoad::of(options);
                let workers = load.workers;
                let figures = metrics(&Reports {
                    main: &measured.main,
                    cold: &measured.cold,
                    warm: measured.warm.as_ref(),
                    startup: startup.as_ref(),
                    watched: &measured.watched,
                    workers,
                    load,
                    launches: self
                        .common
                        .noise
                        .launches(&self.plan.backends[planned.backend].choice.plugin, "latency_ms"),
                });
                let samples = samples::of_cell(planned.index, &measured, startup.as_ref());
                let device_name = measured.main.device.name.clone();
                let power = self.plan.models[planned.model].description.power.as_ref();
                let (audit, implausible) =
                    (audit(&measured.main, power), implausible(&measured.main.series, &measured.watched));
                let mut cell = Cell {
                    device: measured.main.device.id.clone(),
                    hardware: Some(HardwareRecord::from(&measured.main.device)),
                    emulated: measured.main.device.emulated,
                    remote: measured.main.device.remote,
                    stable: serving::stable(&measured.main.series, load)
                        .unwrap_or_else(|| stable(&measured.main.series)),
                    placement: measured.main.placement,
                    audit,
                    implausible: implausible.into_iter().chain(shared(&measured.watched)).collect(),
                    conditions: measured.watched.conditions.clone(),
                    verification: measured.main.verification,
                    fixes: measured.fixes,
                    pool: measured.main.pool,
                    profile: measured.profile,
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
        let mut peaks = self.common.peaks.lock();
        match peaks.learn(cell, device_name, self.common.run_id, &now_utc()) {
            Ok(true) => return,
            Ok(false) => {}
            Err(error) => self.observer.warning(&format!("the peaks of {device_name} could not be kept: {error}")),
        }
        let skill = &self.plan.models[planned.model].description;
        let efficiency = match &cell.outcome {
            Outcome::Measured(metrics) => peaks.efficiency(cell, metrics, skill, device_name),
            _ => None,
        };
        cell.implausible.extend(efficiency.as_ref().and_then(beyond));
        if let Outcome::Measured(metrics) = &mut cell.outcome {
            metrics.efficiency = efficiency;
        }
    }

    /// The cell as far as the plan knows it, with the threads of its lane.
    pub(super) fn blank(&self, planned: &PlannedCell) -> Cell {
        let threads = self.plugin_of(planned).options.get("threads").and_then(|text| text.parse().ok());
        Cell { threads, ..self.plan.blank(planned) }
    }
}
