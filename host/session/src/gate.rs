//! What a run is held against when it has ended: limits, and a baseline. What looks worse than the baseline counts only where a second
//! measurement shows it too.

use crate::compare::{self, Rules};
use skillbench_record::catalog::{Checked, Limit};
use skillbench_record::{BackendChoice, Cell, CellName, Outcome, Run, RunRequest};
use skillbench_results::{FrameError, Stored, StoredError};
use skillbench_stats::compare::{ComparedCell, Comparison, Verdict};
use skillbench_store::Recorded;

#[derive(Debug, thiserror::Error)]
pub enum GateError {
    #[error(transparent)]
    Stored(#[from] StoredError),
    #[error("the results could not be worked through: {0}")]
    Frames(#[from] FrameError),
}

/// What became of a limit.
pub struct Held<'a> {
    pub limit: &'a Limit,
    /// Each cell that it is about; empty: none of the run.
    pub cells: Vec<(&'a Cell, Checked)>,
}

/// Holds a run to limits. What a rule skipped is not held.
pub fn limits<'a>(limits: &'a [Limit], run: &'a Run) -> Vec<Held<'a>> {
    let held = |limit: &'a Limit| {
        let about = |cell: &&Cell| limit.is_about(cell) && !matches!(cell.outcome, Outcome::Skipped(_));
        Held { limit, cells: run.cells.iter().filter(about).map(|cell| (cell, limit.check(cell))).collect() }
    };
    limits.iter().map(held).collect()
}

/// A run that is held against a baseline.
pub struct Against<'a> {
    /// The baseline's name.
    pub name: &'a str,
    pub baseline: &'a Stored,
    pub recorded: &'a Recorded,
    pub rules: Rules,
}

impl Against<'_> {
    /// The first comparison, and the cells that look worse in it.
    ///
    /// # Errors
    /// The results could not be worked through.
    pub fn first(&self) -> Result<(Comparison, Vec<CellName>), GateError> {
        let mut first = self.compare(self.recorded)?;
        // A baseline may hold more than this run was asked for.
        first.cells.retain(|cell| cell.reason.as_ref().is_none_or(|reason| reason.code != "only-before"));
        let cells = self.recorded.run.cells.iter();
        let suspected =
            cells.filter(|cell| first.cells.iter().any(|compared| is_of(compared, cell) && is_worse(compared)));
        let suspected = suspected.map(CellName::of).collect();
        Ok((first, suspected))
    }

    /// The comparison with what was measured again.
    ///
    /// # Errors
    /// The results could not be worked through.
    pub fn confirmed(&self, mut first: Comparison, again: &Recorded) -> Result<Comparison, GateError> {
        confirm(&mut first, &self.compare(again)?);
        first.notes.push(format!("what looked worse was measured again in run {}", again.run.run_id));
        Ok(first)
    }

    fn compare(&self, recorded: &Recorded) -> Result<Comparison, GateError> {
        let after = Stored::from_recorded(std::slice::from_ref(recorded))?;
        let names = [self.name, self.recorded.run.run_id.as_str()];
        Ok(compare::stored([self.baseline, &after], names, &self.rules)?)
    }
}

/// The request that measures exactly these cells of another again.
pub fn again(request: &RunRequest, exactly: Vec<CellName>) -> RunRequest {
    let mut backends: Vec<BackendChoice> = vec![];
    for cell in &exactly {
        // On the device it ran on, where devices were asked for by name.
        let is_named = |choice: &BackendChoice| choice.plugin == cell.plugin && choice.device.is_some();
        let device = cell.device.clone().filter(|_| request.backends.iter().any(is_named));
        let choice = BackendChoice { plugin: cell.plugin.clone(), device };
        if !backends.contains(&choice) {
            backends.push(choice);
        }
    }
    RunRequest { backends, exactly, ..request.clone() }
}

fn is_of(compared: &ComparedCell, cell: &Cell) -> bool {
    let device = compared.after.device.as_ref().is_none_or(|device| *device == cell.device);
    compared.model == cell.skill
        && compared.after.plugin == cell.plugin
        && device
        && compared.benchmark == cell.benchmark
        && compared.axes == cell.axes
}

fn is_worse(compared: &ComparedCell) -> bool {
    compared.metrics.iter().any(|metric| metric.verdict.is_worse())
}

/// What looked worse counts only where the second measurement shows it too.
fn confirm(first: &mut Comparison, second: &Comparison) {
    for cell in &mut first.cells {
        let same = |other: &&ComparedCell| {
            (&other.benchmark, &other.axes, &other.before, &other.after.model, &other.after.device)
                == (&cell.benchmark, &cell.axes, &cell.before, &cell.after.model, &cell.after.device)
        };
        let again = second.cells.iter().find(same);
        for metric in cell.metrics.iter_mut().filter(|metric| metric.verdict.is_worse()) {
            let found = again.and_then(|again| again.metrics.iter().find(|other| other.metric == metric.metric));
            match found {
                Some(other) if other.verdict == metric.verdict => {
                    metric.run.clone_from(&second.after.run);
                    metric.first = Some(std::mem::replace(&mut metric.evidence, other.evidence.clone()));
                    metric.reason = format!("twice, {}", other.reason);
                }
                found => {
                    let what = found.map_or("not measured", |other| other.verdict.name());
                    metric.reason = format!("{} at first, {what} when measured again", metric.verdict.name());
                    metric.verdict = Verdict::Unclear;
                    if let Some(other) = found {
                        metric.run.clone_from(&second.after.run);
                        metric.first = Some(std::mem::replace(&mut metric.evidence, other.evidence.clone()));
                    }
                }
            }
        }
    }
}
