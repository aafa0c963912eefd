//! Two targets measured in turns. One after the other, the same code compared with itself differs by whatever the machine did
//! meanwhile; round by round, both meet the same machine.
//!
//! First each side is verified by itself, as any cell. Then come launches: in each, both sides run in fresh processes and alternate.
//! A process may by chance lie better in memory than another of the same program, so that one launch alone tells little.

mod order;

use self::order::{Enough, RoundOrder};
use super::backoff::Backoff;
use super::common::Common;
use super::execute::{Known, Runner};
use super::observer::Observer;
use super::plan::{Plan, PlannedCell};
use super::serving::AskedLoad;
use super::summarize::{Reports, implausible, metrics, stable};
use skillbench_record::defaults::defaults;
use skillbench_record::{Cell, HardwareRecord, Outcome, scratch};
use skillbench_worker::{CellJob, CellReport, Command, Failure, FailureKind, Limits, Reply, Watched, Worker};
use std::collections::{HashSet, VecDeque};
use std::path::Path;
use std::time::Duration;

/// How long a launch measures.
#[derive(Clone, Copy, Debug)]
pub struct LaunchRules {
    /// Pairs of rounds of each series.
    pub pairs: u64,
    /// A slow series has fewer pairs in this time, but no less than three.
    pub budget: Duration,
    /// About how long a round takes.
    pub round: Duration,
    pub seed: u64,
}

/// What both sides did in one launch.
#[derive(Clone, Debug)]
pub struct Launch {
    pub reports: [CellReport; 2],
    watched: [Watched; 2],
}

/// Two cells that are compared.
pub struct Pair {
    /// As they are known before their rounds: verified, or with the reason why not.
    pub cells: [Cell; 2],
    jobs: Option<[CellJob; 2]>,
}

impl Pair {
    /// Whether both were verified, and can be measured.
    pub fn ready(&self) -> bool {
        self.jobs.is_some()
    }

    /// Why the figures of a side cannot be; nothing where they can.
    pub fn implausible(launches: &[Launch], side: usize) -> Vec<String> {
        launches.iter().flat_map(|launch| implausible(&launch.reports[side].series, &launch.watched[side])).collect()
    }

    /// The cells with the figures of all their launches together.
    pub fn measured(&self, launches: &[Launch]) -> [Cell; 2] {
        [0, 1].map(|side| {
            let cell = self.cells[side].clone();
            let mut reports = launches.iter().map(|launch| launch.reports[side].clone());
            let (Some(mut all), Some(first)) = (reports.next(), launches.first()) else { return cell };
            for report in reports {
                for (series, more) in all.series.iter_mut().zip(report.series) {
                    series.rounds.extend(more.rounds);
                    series.singles.extend(more.singles);
                }
                all.memory_peak = all.memory_peak.max(report.memory_peak);
            }
            let watched = &first.watched[side];
            let figures = metrics(&Reports {
                main: &all,
                cold: &[],
                warm: None,
                startup: None,
                watched,
                workers: None,
                load: AskedLoad::default(),
                launches: None,
            });
            let implausible = Pair::implausible(launches, side);
            Cell { stable: stable(&all.series), implausible, outcome: Outcome::Measured(Box::new(figures)), ..cell }
        })
    }
}

/// Where two plans meet.
pub struct Interleave<'a> {
    commons: [Common<'a>; 2],
    known: [Known; 2],
    limits: Limits,
}

impl<'a> Interleave<'a> {
    /// Plans whose requests say `verify_only`: each side's own cell measures nothing.
    pub fn new(plans: [&'a Plan; 2], folder: &'a Path, id: &'a str) -> Interleave<'a> {
        let request = &plans[0].request;
        let timeout = request.time_limit(defaults().run.timeout_s);
        let mut limits = Limits::working(timeout, request.memory_limit_mb.map(|mib| mib << 20), &plans[0].stop);
        if request.memory_limit_mb.is_none() {
            // Both models are in memory together.
            limits.memory = limits.memory.map(|bytes| bytes / 2);
        }
        let nothing = HashSet::new();
        let common = |plan: &'a Plan| {
            let pending: VecDeque<PlannedCell> = plan.cells.iter().cloned().collect();
            Common::new(plan, folder, id, Backoff::new(plan, timeout, &nothing), &pending)
        };
        Interleave { commons: plans.map(common), known: Default::default(), limits }
    }

    /// Verifies both cells.
    pub fn verify(&mut self, planned: [&PlannedCell; 2], observer: &mut dyn Observer) -> Pair {
        let sides = [0, 1].map(|side| {
            let known = std::mem::take(&mut self.known[side]);
            let mut runner = Runner::new(&self.commons[side], self.limits.clone(), known, observer);
            let pair = of_side(&mut runner, planned[side]);
            self.known[side] = runner.known;
            pair
        });
        let [(first, one), (second, other)] = sides;
        Pair { cells: [first, second], jobs: one.zip(other).map(|(one, other)| [one, other]) }
    }

    /// Measures both sides in turns, each in a fresh process.
    ///
    /// # Errors
    /// The failure of the first side that failed, with its place: 0 or 1.
    pub fn launch(&self, pair: &Pair, rules: &LaunchRules) -> Result<Launch, (usize, Failure)> {
        let missing = || (0, Failure::failed("not-verified", "a side was not verified, so that nothing is measured"));
        let jobs = pair.jobs.as_ref().ok_or_else(missing)?;
        let interleaved_round_ns = Some(rules.round.as_nanos() as u64);
        let enough = Enough { pairs: rules.pairs, time: rules.budget, least: 3 };
        let order = RoundOrder::new(enough, rules.seed);
        let scratch = scratch::folder().map_err(|error| (0, Failure::failed("scratch", error.to_string())))?;
        let [one, other] = std::thread::scope(|scope| {
            let side = |side: usize| {
                let mut job = jobs[side].clone();
                job.cache_dir = Some(scratch.path().join(side.to_string()));
                job.policy.interleaved_round_ns = interleaved_round_ns;
                let (order, limits) = (&order, &self.limits);
                scope.spawn(move || {
                    let _ended = Ended { order, side };
                    run_side(side, job, order, limits)
                })
            };
            let panicked = || Failure::failed("panic", "a side of the comparison ended in a panic");
            [side(0), side(1)].map(|thread| thread.join().unwrap_or_else(|_| Err(panicked())))
        });
        let (one, other) = (one.map_err(|failure| (0, failure))?, other.map_err(|failure| (1, failure))?);
        Ok(Launch { reports: [one.0, other.0], watched: [one.1, other.1] })
    }
}

/// One side verified: its cell, and the job that repeats it with rounds.
fn of_side(runner: &mut Runner<'_, '_>, planned: &PlannedCell) -> (Cell, Option<CellJob>) {
    let blank = runner.blank(planned);
    if let Some(reason) = &planned.skip {
        return (Cell { outcome: Outcome::Skipped(reason.clone()), ..blank }, None);
    }
    match runner.tried(planned, None) {
        Err(failure) => (Cell { outcome: failure.into_outcome(), ..blank }, None),
        Ok((measured, attempt)) => {
            let mut job = runner.job(planned, &attempt, measured.checks);
            job.policy.verify_only = false;
            job.attachments = None;
            let main = measured.main;
            let cell = Cell {
                device: main.device.id.clone(),
                hardware: Some(HardwareRecord::from(&main.device)),
                emulated: main.device.emulated,
                remote: main.device.remote,
                placement: main.placement,
                verification: main.verification,
                fixes: attempt.fixes,
                ..blank
            };
            (cell, Some(job))
        }
    }
}

/// Gives a side's turn up for good, however it ends: the other must not wait for it.
struct Ended<'t> {
    order: &'t RoundOrder,
    side: usize,
}

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.order.end(self.side);
    }
}

fn run_side(side: usize, job: CellJob, order: &RoundOrder, limits: &Limits) -> Result<(CellReport, Watched), Failure> {
    let stopped = || limits.stopped();
    if !order.start(side, &stopped) {
        return Err(Failure::new(FailureKind::Stopped, "stopped", "the comparison was stopped before this launch"));
    }
    let command = Command::Cell(Box::new(job));
    let mut worker = Worker::start(&command)?;
    let on_round = &mut |series: &str, measured: bool| order.next(side, series, measured, &stopped);
    let (reply, watched) = worker.call_in_turns(&command, limits, &mut |_| {}, on_round);
    match reply? {
        Reply::Cell(report) => Ok((*report, watched)),
        other => Err(Failure::unexpected(&other)),
    }
}
