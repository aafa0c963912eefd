//! What all cells of a run share, also those that run side by side.

use super::backoff::Backoff;
use super::cross_check::{Disagreements, Point};
use super::plan::{Plan, PlannedCell};
use super::prepare::Shared;
use crate::peaks::Peaks;
use parking_lot::Mutex;
use skillbench_record::{Cell, Disagreement, Reason, machine, paths};
use skillbench_stats::compare::Noise;
use std::collections::{HashMap, HashSet, VecDeque};
use std::path::Path;

pub(super) struct Common<'a> {
    pub plan: &'a Plan,
    /// The run's folder.
    pub folder: &'a Path,
    pub run_id: &'a str,
    pub shared: Shared,
    pub peaks: Mutex<Peaks>,
    /// How far launches differ on this machine.
    pub noise: Noise,
    /// Held while files are changed that several cells may have changed for them.
    pub fixing: Mutex<()>,
    backoff: Mutex<Backoff<'a>>,
    dissents: Mutex<Disagreements>,
    /// Warnings that were given already.
    told: Mutex<HashSet<String>>,
    count: Mutex<Count>,
}

#[derive(Default)]
struct Count {
    /// Cells that have begun, or were left out.
    begun: usize,
    of: usize,
    /// Cells that are yet to end, by model.
    left: HashMap<usize, usize>,
}

impl<'a> Common<'a> {
    /// `pending`: the cells of the plan that are to be run.
    pub fn new(
        plan: &'a Plan,
        folder: &'a Path,
        run_id: &'a str,
        backoff: Backoff<'a>,
        pending: &VecDeque<PlannedCell>,
    ) -> Common<'a> {
        let mut count = Count { of: pending.len(), ..Count::default() };
        pending.iter().for_each(|cell| *count.left.entry(cell.model).or_default() += 1);
        Common {
            plan,
            folder,
            run_id,
            shared: Shared::default(),
            peaks: Mutex::new(Peaks::load()),
            noise: Noise::load(&paths::data(), &machine::this()),
            fixing: Mutex::default(),
            backoff: Mutex::new(backoff),
            dissents: Mutex::default(),
            told: Mutex::default(),
            count: Mutex::new(count),
        }
    }

    /// A cell begins. Returns its place, and of how many.
    pub fn begin(&self) -> (usize, usize) {
        let mut count = self.count.lock();
        count.begun += 1;
        (count.begun - 1, count.of)
    }

    /// A cell is over. What no other needs is given up.
    pub fn end(&self, cell: &PlannedCell) {
        let mut count = self.count.lock();
        let left = count.left.entry(cell.model).or_default();
        *left = left.saturating_sub(1);
        if *left == 0 {
            self.shared.release(cell.model);
        }
    }

    /// A cell is not run.
    pub fn pass_over(&self, cell: &PlannedCell) {
        self.begin();
        self.end(cell);
    }

    /// Why a cell is not worth beginning.
    pub fn too_slow(&self, cell: &PlannedCell) -> Option<Reason> {
        self.backoff.lock().too_slow(cell)
    }

    /// Learns from a cell that ended; returns one to be run next, which the plan does not know.
    pub fn learn(&self, planned: &PlannedCell, cell: &mut Cell) -> Option<PlannedCell> {
        let smaller = self.backoff.lock().learn(planned, cell)?;
        let mut count = self.count.lock();
        count.of += 1;
        *count.left.entry(smaller.model).or_default() += 1;
        Some(smaller)
    }

    /// Whether this was not told yet.
    pub fn is_news(&self, text: String) -> bool {
        self.told.lock().insert(text)
    }

    /// Who was outvoted at a place.
    pub fn outvoted(&self, point: &Point) -> Vec<(usize, Disagreement)> {
        self.dissents.lock().get(point).cloned().unwrap_or_default()
    }

    pub fn dissent(&self, found: Option<(Point, Vec<(usize, Disagreement)>)>) {
        self.dissents.lock().extend(found);
    }
}
