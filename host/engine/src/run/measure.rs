//! One cell in its worker: as it was asked for, judged by other engines, and in another way where a safe one is known.

use super::checks::Checks;
use super::cross_check;
use super::execute::Runner;
use super::launches;
use super::phases;
use super::plan::PlannedCell;
use super::profile::profile;
use super::reserved::{GENERATOR_CORES, Reserved};
use super::room::Room;
use super::serving::{BUDGET, is_by_mlperf, usual_budget_s};
use super::workarounds::Attempt;
use crate::cores;
use skillbench_models::stored;
use skillbench_record::defaults::defaults;
use skillbench_record::{ProfileReport, Workaround, cell_files, scratch};
use skillbench_worker::{
    CellJob, CellReport, Command, Event, Failure, FailureKind, PluginUse, Policy, Pooling, ProfileJob, Reply,
    VerifyJob, Watched, Worker,
};
use std::collections::BTreeSet;
use std::time::Duration;

/// No more warnings of one cell's plugins are passed on.
const MOST_LOGGED: u32 = 20;

/// What the workers of a cell brought back.
pub(super) struct Measured {
    pub main: CellReport,
    pub cold: Vec<CellReport>,
    pub warm: Option<CellReport>,
    pub watched: Watched,
    pub fixes: Vec<Workaround>,
    /// What the operators cost, where that was asked for.
    pub profile: Option<ProfileReport>,
    /// How its outputs were checked.
    pub checks: Checks,
}

/// A worker that waits with the models of a cell for the next one.
pub(super) struct Warm {
    worker: Worker,
    /// Where this worker may write.
    scratch: scratch::Folder,
    backend: usize,
    /// Of its model.
    content: String,
    precision: Option<String>,
}

impl Runner<'_, '_> {
    /// Measures a cell; `next` is the one after it, for which its models may be kept.
    pub(super) fn measure(&mut self, planned: &PlannedCell, next: Option<&PlannedCell>) -> Result<Measured, Failure> {
        let (measured, attempt) = self.tried(planned, next)?;
        let profile = self.profile(planned, &attempt);
        Ok(Measured { fixes: attempt.fixes, profile, ..measured })
    }

    /// A cell as it was asked for, or in another way that is safe; and which way that was.
    pub(super) fn tried(
        &mut self,
        planned: &PlannedCell,
        next: Option<&PlannedCell>,
    ) -> Result<(Measured, Attempt), Failure> {
        self.phases.enter(phases::START_UPS);
        self.startup(planned.backend)?;
        self.phases.leave();
        match self.known.refused.get(&(planned.backend, planned.model)) {
            Some(refused) if self.is_looked_at(planned) => return Err(refused.clone()),
            _ => {}
        }
        let name = self.plan.models[planned.model].id().to_string();
        self.observer.step(&format!("preparing {name}"));
        self.room_for(planned)?;
        self.phases.enter(phases::BUILD_MODEL);
        let attempt = self.common.shared.attempt(self.plan, planned.model, &self.limits)?;
        self.phases.leave();
        if self.limits.stopped() {
            return Err(Failure::new(FailureKind::Stopped, "stopped", "the run was stopped before this cell began"));
        }
        if let Some(sizes) = &self.plan.benchmarks[planned.benchmark].sizes {
            sizes.reach(&attempt.built.manifest)?;
        }
        let mut attempt = attempt;
        loop {
            match self.judged(planned, &attempt, next) {
                Ok(measured) => return Ok((measured, attempt)),
                Err(failure) if self.plan.request.no_fix => return Err(attempt.describe(failure)),
                Err(failure) => {
                    let fix = {
                        let _alone = self.common.fixing.lock();
                        let stored =
                            |form: &str| self.common.shared.stored(self.plan, planned.model, form, &self.limits);
                        attempt.fix(&failure, stored)
                    };
                    let Some(fix) = fix else { return Err(attempt.describe(failure)) };
                    self.observer.warning(&format!("{name}: {}; {}", failure, fix.describe()));
                }
            }
        }
    }

    /// # Errors
    /// The model's weights are larger than what this machine has for them.
    fn room_for(&mut self, planned: &PlannedCell) -> Result<(), Failure> {
        let cache = Some(crate::skill::ModelCache::open().limit());
        let room = Room { memory: self.limits.memory, cache, device: None }.on_device(self.device(planned).as_ref());
        let skill = &self.plan.models[planned.model];
        room.check(skill, skill.form_for(self.plan.request.precision.as_deref()))
    }

    /// Runs a cell with its outputs held against those of other engines, until one agrees or all are heard.
    fn judged(
        &mut self,
        planned: &PlannedCell,
        attempt: &Attempt,
        next: Option<&PlannedCell>,
    ) -> Result<Measured, Failure> {
        if self.plan.request.no_verify {
            let checks = self.checks_alike(planned, VerifyJob::Off);
            return self.once(planned, attempt, checks, next);
        }
        let outvoted = self.common.outvoted(&cross_check::point(self.plan, planned));
        let mut check = cross_check::CrossCheck::new(self.plan, planned, &attempt.built, outvoted);
        // Measured, and nobody could say of every part that it is right.
        let mut unconfirmed = None;
        while let Some(engine) = check.next() {
            self.observer.step(&format!("asking {} for reference outputs", engine.name));
            let outputs = match self.outputs_of(planned, attempt, engine.index) {
                Ok(outputs) => outputs,
                Err(why) => {
                    check.cannot_say(why);
                    continue;
                }
            };
            let Some(dissent) = check.dissent_from(&engine, &outputs) else { continue };
            let checks = self.checks_against(planned, attempt, engine.index, &outputs, &dissent);
            match self.once(planned, attempt, checks, next) {
                Err(failure) if failure.reason.code == skillbench_worker::DIFFERS => {
                    check.differs(&engine, outputs, failure)?
                }
                Ok(measured) if !check.confirmed(&measured.main, &outputs) => unconfirmed = Some(measured),
                Ok(measured) => {
                    self.common.dissent(check.dissent(self.plan, planned));
                    return Ok(measured);
                }
                Err(failure) => return Err(failure),
            }
        }
        let alone = check.verdict()?;
        if let Some(measured) = unconfirmed {
            return Ok(measured);
        }
        let outputs = match alone {
            cross_check::Alone::Itself(own) => self.outputs_of(planned, attempt, own).map(|outputs| (own, outputs)),
            cross_check::Alone::Nobody(why) => Err(why),
        };
        let checks = match outputs {
            Ok((own, outputs)) => self.checks_against(planned, attempt, own, &outputs, &[]),
            Err(why) => self.checks_alone(planned, why),
        };
        self.once(planned, attempt, checks, next)
    }

    /// Runs a cell, and its further cold starts.
    fn once(
        &mut self,
        planned: &PlannedCell,
        attempt: &Attempt,
        checks: Checks,
        next: Option<&PlannedCell>,
    ) -> Result<Measured, Failure> {
        let mut job = self.job(planned, attempt, checks.clone());
        // On another device an idle model holds memory and a driver's context, which cold starts would find.
        let on_cpu = self.device(planned).is_some_and(|device| device.kind == "cpu");
        job.pooling.keep = on_cpu && attempt.fixes.is_empty() && next.is_some_and(|next| self.shares(planned, next));
        let launches = match self.plan.request.verify_only {
            true => 1,
            false => self.plan.request.launches.unwrap_or(defaults().run.launches).max(1),
        };
        job.policy.budget_ns /= launches;
        if let Some(budget) = job.benchmark_options.get_mut(BUDGET) {
            *budget = (job.policy.budget_ns as f64 * 1e-9).to_string();
        }
        // A worker that waits for the next cell was bound as this one is, and the next one may want it otherwise.
        let is_bound = job.benchmark_options.contains_key(GENERATOR_CORES);
        job.pooling.keep &= launches == 1 && !is_bound;
        self.phases.enter(phases::START_WORKER);
        let warm = if launches == 1 { self.warm_for(planned, attempt, &mut job) } else { None };
        let (waiting, scratch) = match warm {
            Some(Warm { worker, scratch, .. }) => (Some(worker), scratch),
            None => (None, scratch::folder().map_err(|error| Failure::failed("scratch", error.to_string()))?),
        };
        let folder = |of: &str| Some(scratch.path().join(format!("{}-{of}", planned.index)));
        job.cache_dir = folder("main");
        // What a benchmark says of its budget is of this one's.
        let shares = |mut failure: Failure| {
            if launches > 1 && failure.reason.message.contains("--budget") {
                failure.reason.message += &format!(" ({launches} launches share the budget)");
            }
            failure
        };
        let (mut main, mut watched, worker) = self.launch(planned, job.clone(), waiting).map_err(shares)?;
        let kept = Some(worker).filter(|_| job.pooling.keep);
        let mut others = vec![];
        for number in 1..launches {
            self.observer.step(&format!("launch {} of {launches}", number + 1));
            self.phases.enter(phases::START_WORKER);
            let cache_dir = folder(&format!("launch-{number}"));
            let again = CellJob { attachments: None, cache_dir, ..job.clone() };
            let (report, seen, _) = self.launch(planned, again, None).map_err(shares)?;
            launches::add(&mut main, &report, watched.rounds);
            watched.add(seen);
            others.push(report);
        }

        let (mut cold, mut warm) = (others, None);
        if self.plan.benchmarks[planned.benchmark].description.cold_start && !self.plan.request.verify_only {
            self.phases.enter(phases::COLD_STARTS);
            let mut start =
                CellJob { verify: VerifyJob::Off, attachments: None, pooling: Pooling::default(), ..job.clone() };
            start.sizes.iter_mut().for_each(|size| size.verify = VerifyJob::Off);
            start.benchmark_options.insert("cold_start".into(), "true".into());
            if main.loads.first().is_some_and(|load| load.cache_hit == Some(false)) {
                warm = Some(self.start_again(&start)?);
            }
            for again in 1 + cold.len()..self.plan.fresh_processes(defaults().run.cold_starts) {
                start.cache_dir = folder(&format!("cold-{again}"));
                cold.push(self.start_again(&start)?);
            }
        }
        self.phases.enter(phases::END_WORKER);
        let (precision, content) = (attempt.precision.clone(), attempt.built.content.clone());
        self.warm = kept.map(|worker| Warm { worker, scratch, backend: planned.backend, content, precision });
        self.phases.leave();
        for report in cold.iter_mut().chain(&mut warm).chain([&mut main]) {
            tell_storage(report, attempt.built.stored);
        }
        Ok(Measured { main, cold, warm, watched, fixes: vec![], profile: None, checks })
    }

    /// Runs a cell in the process that waits for it, or in a fresh one.
    fn launch(
        &mut self,
        planned: &PlannedCell,
        mut job: CellJob,
        waiting: Option<Worker>,
    ) -> Result<(CellReport, Watched, Worker), Failure> {
        // A benchmark may be asked for what takes longer than anybody said.
        let mut limits = match self.plan.request.timeout_s {
            Some(_) => self.limits.clone(),
            None => self.limits.for_budget(Duration::from_nanos(job.policy.budget_ns)),
        };
        let reserved = Reserved::of(&job.benchmark_options)?;
        if let Some(reserved) = &reserved {
            reserved.tell(&mut job.benchmark_options);
            limits = reserved.watched(&limits);
        }
        let command = Command::Cell(Box::new(job));
        let how = if waiting.is_some() { "goes on with" } else { "starts for" };
        let start = || Worker::start(&command);
        let mut worker = match (waiting, &reserved) {
            (Some(waiting), _) => waiting,
            (None, Some(reserved)) => reserved.start(start)?,
            (None, None) => start()?,
        };
        self.observer.debug(&format!("worker {} {how} cell {}", worker.id(), planned.index));
        let (observer, watch, index) = (&mut *self.observer, &mut self.phases, planned.index);
        let mut logged = 0;
        let (reply, watched) = worker.call(&command, &limits, &mut |event| {
            watch.event(event);
            match event {
                Event::Progress { share } => observer.cell_progress(index, *share),
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
            }
        });
        self.phases.leave();
        self.look_at_cores(&worker);
        Ok((report(reply?)?, watched, worker))
    }

    /// What the operators of a cell's model cost; `None`: nobody asked. Where there is nothing to tell, the reason is told.
    fn profile(&mut self, planned: &PlannedCell, attempt: &Attempt) -> Option<ProfileReport> {
        if !self.plan.request.profile_operators {
            return None;
        }
        self.phases.enter(phases::PROFILE);
        let job = self.job(planned, attempt, Checks { own: VerifyJob::Off, sizes: vec![] });
        let trace = cell_files::trace(self.common.folder, planned.index);
        let job = ProfileJob::of(&job, std::path::absolute(trace).ok());
        let report = profile(job, &self.limits).unwrap_or_else(|failure| {
            self.observer.warning(&format!("no profile: {failure}"));
            let left_out = [(String::new(), failure.to_string())].into();
            ProfileReport { parts: vec![], left_out }
        });
        self.phases.leave();
        Some(report)
    }

    /// The worker that waits with this cell's models, if there is one; any other that waits is ended.
    fn warm_for(&mut self, planned: &PlannedCell, attempt: &Attempt, job: &mut CellJob) -> Option<Warm> {
        let fits = |warm: &Warm| {
            // One that waits is bound to no cores.
            !job.benchmark_options.contains_key(GENERATOR_CORES)
                && warm.backend == planned.backend
                && warm.content == attempt.built.content
                && warm.precision == job.precision
        };
        let shares = self.plan.benchmarks[planned.benchmark].description.shares_models;
        let warm = self.warm.take().filter(|warm| shares && fits(warm))?;
        job.pooling.take = true;
        Some(warm)
    }

    /// Whether the models of a cell can serve the next one, without touching what it measures.
    fn shares(&self, cell: &PlannedCell, next: &PlannedCell) -> bool {
        let benchmark = &self.plan.benchmarks[next.benchmark].description;
        !self.plan.request.no_resource_pool
            && !self.plan.request.verify_only
            && benchmark.shares_models
            && !self.plan.benchmarks[next.benchmark].options.contains_key(GENERATOR_CORES)
            && next.skip.is_none()
            && (cell.backend, cell.model) == (next.backend, next.model)
            && cell.axes == next.axes
    }

    /// How a cell's backend is opened, in its lane, and on the cores that are left for it.
    pub(super) fn plugin_of(&self, planned: &PlannedCell) -> PluginUse {
        let backend = &self.plan.backends[planned.backend];
        let mut plugin = backend.plugin.clone();
        if let (Some(lane), Some(threads)) = (&self.lane, plugin.options.get_mut("threads"))
            && let Some(given) = lane.threads(planned.backend)
        {
            *threads = given.to_string();
        }
        // Where there are too few cores its cell says so.
        let reserved = Reserved::of(&self.plan.benchmarks[planned.benchmark].options).ok().flatten();
        if let Some(reserved) = reserved.filter(|_| backend.threads.is_none()) {
            reserved.limit(&mut plugin);
        }
        plugin
    }

    /// In a lane: the processors that a worker's threads are really bound to. A plugin may bind its own elsewhere.
    fn look_at_cores(&mut self, worker: &Worker) {
        let Some(lane) = &self.lane else { return };
        self.cores = cores::of_process(worker.id());
        let beyond = |cores: &BTreeSet<usize>| cores.iter().any(|core| !lane.cores.contains(core));
        if self.cores.as_ref().is_some_and(beyond) {
            let text = "its plugin bound threads to cores outside of its lane; the results name those it used";
            self.observer.warning(text);
        }
    }

    /// The same start in another fresh process.
    fn start_again(&mut self, job: &CellJob) -> Result<CellReport, Failure> {
        report(Worker::call_once(&Command::Cell(Box::new(job.clone())), &self.limits)?)
    }

    pub(super) fn job(&self, planned: &PlannedCell, attempt: &Attempt, checks: Checks) -> CellJob {
        let (request, run) = (&self.plan.request, &defaults().run);
        let backend = &self.plan.backends[planned.backend];
        let benchmark = &self.plan.benchmarks[planned.benchmark];
        let mut benchmark_options = benchmark.options.clone();
        let of_axes = planned.axes.iter().filter(|(name, _)| self.plan.is_option(planned.benchmark, name));
        benchmark_options.extend(of_axes.map(|(name, value)| (name.clone(), value.to_string())));
        let takes_budget = self.plan.is_option(planned.benchmark, BUDGET);
        let budget = request.budget_s.unwrap_or_else(|| usual_budget_s(&benchmark_options, takes_budget));
        if takes_budget {
            benchmark_options.insert(BUDGET.into(), budget.to_string());
        }
        let whole_budget = takes_budget && is_by_mlperf(&benchmark_options);
        CellJob {
            backend: self.plugin_of(planned),
            device: backend.choice.device.clone(),
            benchmark_library: benchmark.library.clone(),
            benchmark: benchmark.description.id.clone(),
            benchmark_options,
            model: attempt.built.paths.clone(),
            axes: planned.axes.clone(),
            precision: attempt.precision.clone(),
            seed: request.seed.unwrap_or(run.seed),
            audit_seed: self.plan.audit_seed(planned).unwrap_or_default(),
            verify: checks.own,
            sizes: checks.sizes,
            policy: Policy {
                warmup: request.warmup.unwrap_or(run.warmup),
                warmup_ns: request.warmup.is_none().then_some((run.warmup_limit_s * 1e9) as u64),
                iterations: request.iterations,
                interval: run.interval,
                rate_interval: run.rate_interval,
                budget_ns: (budget * 1e9) as u64,
                verify_only: request.verify_only,
                interleaved_round_ns: None,
                whole_budget,
            },
            cache_dir: None,
            attachments: std::path::absolute(cell_files::attachments(self.common.folder, planned.index)).ok(),
            pooling: Pooling::default(),
        }
    }
}

/// The precision, with what the weights are stored as where that is narrower.
fn tell_storage(report: &mut CellReport, stored: Option<&str>) {
    let precision = report.placement.as_mut().and_then(|placement| placement.precision.as_mut());
    precision.into_iter().for_each(|precision| *precision = stored::effective(precision, stored));
}

fn report(reply: Reply) -> Result<CellReport, Failure> {
    match reply {
        Reply::Cell(report) => Ok(*report),
        other => Err(Failure::unexpected(&other)),
    }
}
