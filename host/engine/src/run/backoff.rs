//! What a cell that did not get through means for those after it: a batch that memory does not hold is tried smaller, and
//! what would take longer than the time limit is not begun.

use super::plan::{Plan, PlannedCell};
use skillbench_record::{Axes, Cell, Outcome, Reason};
use skillbench_worker::OUT_OF_MEMORY;
use std::collections::HashSet;
use std::time::Duration;

/// How often a benchmark runs a model at least: for the first inference, to warm up and three times measured; or with several
/// requests that are verified each.
const RUNS: [f64; 2] = [5.0, 12.0];

pub(super) struct Backoff<'a> {
    plan: &'a Plan,
    timeout: Duration,
    /// Cells that ran into the time limit.
    timed_out: Vec<PlannedCell>,
    /// Cells on emulated devices, with the seconds that their first inference took.
    emulated: Vec<(PlannedCell, f64)>,
    /// Smaller batches that were tried beside the plan.
    spawned: Vec<PlannedCell>,
    next_index: usize,
}

impl<'a> Backoff<'a> {
    pub fn new(plan: &'a Plan, timeout: Duration, done: &HashSet<usize>) -> Backoff<'a> {
        // Smaller batches of an earlier part of this run have numbers beyond the plan too.
        let next_index = done.iter().map(|index| index + 1).max().unwrap_or(0).max(plan.cells.len());
        Backoff { plan, timeout, timed_out: vec![], emulated: vec![], spawned: vec![], next_index }
    }

    /// Learns from the cells of an earlier part of the run. Returns the smaller batches that one of them announced and that were
    /// not tried yet.
    pub fn replay(&mut self, recorded: &[Cell]) -> Vec<PlannedCell> {
        let mut missing = vec![];
        for planned in &self.plan.cells {
            let Some(cell) = recorded.iter().find(|cell| cell.index == planned.index) else { continue };
            let (mut planned, mut cell) = (planned.clone(), cell.clone());
            while let Some(smaller) = self.learn(&planned, &mut cell) {
                let beyond = recorded.iter().filter(|cell| cell.index >= self.plan.cells.len());
                match beyond.into_iter().find(|cell| self.plan.is_cell(&smaller, cell)) {
                    Some(next) => (planned, cell) = (smaller, next.clone()),
                    None => {
                        missing.push(smaller);
                        break;
                    }
                }
            }
        }
        missing
    }

    /// Why a cell is not worth beginning; `None` where nothing is known against it.
    pub fn too_slow(&self, cell: &PlannedCell) -> Option<Reason> {
        let limit = self.timeout.as_secs_f64();
        let of_larger = |other: &&PlannedCell| same_target(other, cell) && at_least(&cell.axes, &other.axes);
        // The benchmark that times the first inference does the least work of all.
        let least = |other: &&PlannedCell| {
            other.benchmark == cell.benchmark || self.plan.benchmarks[other.benchmark].description.cold_start
        };
        if self.timed_out.iter().filter(of_larger).any(|other| least(&other)) {
            let text =
                format!("no more work than this took longer than the time limit of {limit} s; --timeout raises it");
            return Some(Reason::new("too-slow", text));
        }
        let runs = RUNS[usize::from(!self.plan.benchmarks[cell.benchmark].description.cold_start)];
        let slow = self.emulated.iter().filter(|(other, _)| of_larger(&other)).find(|(_, first)| first * runs > limit);
        slow.map(|(_, first)| {
            let text = format!(
                "emulation would take longer than the time limit of {limit} s: the first inference took {first:.0} s; --timeout raises it"
            );
            Reason::new("too-slow", text)
        })
    }

    /// Learns from a cell that ended. Where memory did not suffice, returns the next smaller batch to try, and the cell says so.
    pub fn learn(&mut self, planned: &PlannedCell, cell: &mut Cell) -> Option<PlannedCell> {
        match &mut cell.outcome {
            Outcome::TimedOut(_) => self.timed_out.push(planned.clone()),
            Outcome::Measured(metrics) if cell.emulated => {
                let first = metrics.init_ms.first_inference.as_ref().map(|stats| stats.median / 1e3);
                self.emulated.extend(first.map(|seconds| (planned.clone(), seconds)));
            }
            Outcome::Failed(reason) if reason.code == OUT_OF_MEMORY && !self.plan.request.no_fix => {
                let batch = planned.axes.get("batch").copied().filter(|batch| *batch > 1)?;
                let mut smaller = planned.clone();
                smaller.axes.insert("batch".into(), batch / 2);
                let sizes = self.plan.benchmarks[planned.benchmark].sizes.as_ref();
                if sizes.is_some_and(|sizes| sizes.refused(&smaller.axes, &self.plan.models[planned.model]).is_some()) {
                    return None;
                }
                let is_planned = self.plan.cells.iter().chain(&self.spawned).any(|other| {
                    same_target(other, &smaller) && other.benchmark == smaller.benchmark && other.axes == smaller.axes
                });
                if is_planned {
                    reason.message.push_str(&format!("; a batch of {} is a cell of this run", batch / 2));
                    return None;
                }
                reason.message.push_str(&format!("; a batch of {} is tried next", batch / 2));
                smaller.index = self.next_index;
                self.next_index += 1;
                self.spawned.push(smaller.clone());
                return Some(smaller);
            }
            _ => {}
        }
        None
    }
}

fn same_target(one: &PlannedCell, other: &PlannedCell) -> bool {
    one.backend == other.backend && one.model == other.model
}

/// Whether a point of the grid is no less work than another.
fn at_least(axes: &Axes, other: &Axes) -> bool {
    axes.len() == other.len() && other.iter().all(|(name, value)| axes.get(name).is_some_and(|own| own >= value))
}
