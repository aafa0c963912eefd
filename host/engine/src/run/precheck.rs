//! A look at every pair of backend and model before the first cell: what a backend cannot run is found out now, and not after an
//! hour of other cells.

use super::execute::Runner;
use super::grid::Workload;
use super::plan::PlannedCell;
use skillbench_record::Axes;
use skillbench_worker::{Command, Failure, FailureKind, Limits, Worker};
use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

/// A look that takes longer says nothing.
const PATIENCE: Duration = Duration::from_secs(60);

impl Runner<'_, '_> {
    /// Loads each model once on each backend that is to measure it, and keeps what was refused.
    pub(super) fn look_ahead(&mut self, pending: &VecDeque<PlannedCell>) {
        let pairs = self.pairs(pending);
        // A single pair shows at once in its own cells; and models that do not fit on the disk together cannot be built ahead.
        if pairs.len() < 2 || !self.fits_on_disk(&pairs) {
            return;
        }
        for (backend, model) in pairs {
            if self.limits.stopped() {
                return;
            }
            let name = self.plan.models[model].id().to_string();
            let plugin = self.plan.backends[backend].choice.plugin.clone();
            let Some(cell) =
                pending.iter().find(|cell| (cell.backend, cell.model) == (backend, model) && self.is_looked_at(cell))
            else {
                continue;
            };
            // Emulation takes minutes where hardware takes a moment.
            let usable = self.startup(backend).is_ok() && self.device(cell).is_some_and(|device| !device.emulated);
            if !usable || self.why_left_out(cell).is_some() {
                continue;
            }
            self.observer.step(&format!("looking whether {plugin} takes {name}"));
            let Err(failure) = self.try_load(backend, model, &cell.axes) else { continue };
            // As long as a cell may take is conclusive; a shorter look is not.
            if failure.kind == FailureKind::TimedOut && self.limits.total <= PATIENCE {
                self.observer.warning(&format!("{plugin} does not load {name}: {failure}"));
                self.known.refused.insert((backend, model), failure);
                continue;
            }
            if failure.kind != FailureKind::Unsupported {
                continue;
            }
            let Ok(mut attempt) = self.common.shared.attempt(self.plan, model, &self.limits) else { continue };
            // What a fix may mend is tried in the cell itself.
            if !self.plan.request.no_fix && attempt.fix(&failure, |_| None).is_some() {
                continue;
            }
            self.observer.warning(&format!("{plugin} does not run {name}: {failure}"));
            self.known.refused.insert((backend, model), failure);
        }
    }

    /// Of the cells that run a graph for the sizes of their point. A benchmark that makes tokens leaves some open, and one that brings
    /// its own skill may do without a part.
    fn pairs(&self, pending: &VecDeque<PlannedCell>) -> Vec<(usize, usize)> {
        let mut seen = BTreeSet::new();
        let asked = pending.iter().filter(|cell| self.is_looked_at(cell));
        asked.map(|cell| (cell.backend, cell.model)).filter(|pair| seen.insert(*pair)).collect()
    }

    pub(super) fn is_looked_at(&self, cell: &PlannedCell) -> bool {
        let benchmark = &self.plan.benchmarks[cell.benchmark];
        cell.skip.is_none() && benchmark.workload() == Workload::Inference && benchmark.description.skill.is_none()
    }

    fn fits_on_disk(&self, pairs: &[(usize, usize)]) -> bool {
        let models: BTreeSet<usize> = pairs.iter().map(|(_, model)| *model).collect();
        let asked = self.plan.request.precision.as_deref();
        let bytes = |model: &usize| {
            let model = &self.plan.models[*model];
            model.bytes_estimate(model.form_for(asked))
        };
        models.iter().map(bytes).sum::<u64>() < crate::skill::ModelCache::open().limit()
    }

    fn try_load(&mut self, backend: usize, model: usize, axes: &Axes) -> Result<(), Failure> {
        let attempt = self.common.shared.attempt(self.plan, model, &self.limits)?;
        let command = Command::Inspect {
            backend: self.plan.backends[backend].plugin.clone(),
            model: attempt.built.paths,
            axes: axes.clone(),
            device: self.plan.backends[backend].choice.device.clone(),
            precision: attempt.precision,
        };
        Worker::call_once(
            &command,
            &Limits::working(PATIENCE.min(self.limits.total), self.limits.memory, &self.limits.stop),
        )
        .map(drop)
    }
}
