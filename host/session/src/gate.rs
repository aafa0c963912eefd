//! What a run is held against when it has ended: limits, and a baseline. What looks worse than the baseline counts only where a second
//! measurement shows it too.

use crate::baseline::{self, BaselineError};
use crate::compare::{self, Rules, gate_of};
use crate::keep::Kept;
use skillbench_record::catalog::{Checked, Limit};
use skillbench_record::{BackendChoice, Cell, CellName, Outcome, Run, RunRequest};
use skillbench_results::compared::Across;
use skillbench_results::{FrameError, Stored, StoredError};
use skillbench_stats::compare::{ComparedCell, Comparison, Gate, Verdict as Difference};
use skillbench_stats::rules;
use skillbench_store::Recorded;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum GateError {
    #[error(transparent)]
    Stored(#[from] StoredError),
    #[error("the results could not be worked through: {0}")]
    Frames(#[from] FrameError),
    #[error("{path}: {error}")]
    Write { path: PathBuf, error: io::Error },
    #[error(transparent)]
    Baseline(#[from] BaselineError),
}

/// What a run is held to.
#[derive(Default)]
pub struct Asked {
    pub limits: Vec<Limit>,
    /// A baseline's name, and what was stored under it.
    pub baseline: Option<(String, Stored)>,
    /// The largest difference for the worse, as a share: 0.05 for 5%.
    pub fail_on_regression: Option<f64>,
    /// The name under which the run becomes a baseline, unless it breaks something.
    pub save_baseline: Option<String>,
}

/// How a run stands to what it was held to.
pub struct Verdict {
    pub limits: Vec<Held>,
    /// With the file that it was written to.
    pub comparison: Option<(Comparison, PathBuf)>,
    /// Whether the largest difference for the worse is kept; `None`: none was asked for.
    pub regression: Option<Gate>,
    pub saved: Option<Saved>,
}

/// What became of the baseline that the run was to be.
pub enum Saved {
    /// The run of this id is the baseline of this name.
    Saved { name: String, id: String },
    /// A limit is broken, and the baseline of this name is as it was.
    Refused { name: String },
}

/// What became of a limit.
pub struct Held {
    pub limit: Limit,
    /// Each cell that it is about, by its place in the run; empty: none of the run.
    pub cells: Vec<(usize, Checked)>,
}

impl Held {
    fn is_broken(&self) -> bool {
        self.cells.iter().any(|(_, checked)| matches!(checked, Checked::Broken(_)))
    }
}

/// Holds a run to limits. What a rule skipped is not held.
pub fn limits(limits: &[Limit], run: &Run) -> Vec<Held> {
    let held = |limit: &Limit| {
        let cells = run.cells.iter().enumerate();
        let about = cells.filter(|(_, cell)| limit.is_about(cell) && !matches!(cell.outcome, Outcome::Skipped(_)));
        Held { limit: limit.clone(), cells: about.map(|(place, cell)| (place, limit.check(cell))).collect() }
    };
    limits.iter().map(held).collect()
}

impl Asked {
    /// The run as it is held against the baseline, where there is one.
    pub(crate) fn against<'a>(
        &'a self,
        kept: &'a Kept,
        request: &RunRequest,
        command: &[String],
    ) -> Option<Against<'a>> {
        let (name, baseline) = self.baseline.as_ref()?;
        let rules = Rules {
            across: Across::default(),
            effect: self.fail_on_regression.unwrap_or(rules().compare.effect),
            metrics: vec![],
            seed: request.seed,
            command: command.to_vec(),
        };
        Some(Against { name, baseline, recorded: &kept.recorded, rules })
    }

    /// The verdict on a run, with its comparison; the run becomes a baseline where that is asked for and nothing is broken.
    ///
    /// # Errors
    /// The comparison or the baseline cannot be kept.
    pub fn verdict(&self, kept: &Kept, comparison: Option<Comparison>) -> Result<Verdict, GateError> {
        let limits = limits(&self.limits, &kept.recorded.run);
        let regression = self.fail_on_regression.and_then(|most| Some(gate_of(&comparison.as_ref()?.cells, most)));
        let comparison = comparison.map(|comparison| write(comparison, &kept.folder)).transpose()?;
        let mut verdict = Verdict { limits, comparison, regression, saved: None };
        verdict.saved = self.save(&verdict, kept)?;
        Ok(verdict)
    }

    fn save(&self, verdict: &Verdict, kept: &Kept) -> Result<Option<Saved>, GateError> {
        let Some(name) = self.save_baseline.clone() else { return Ok(None) };
        let is_broken = verdict.limits.iter().any(Held::is_broken) || verdict.regression == Some(Gate::Broken);
        Ok(Some(match is_broken {
            true => Saved::Refused { name },
            false => Saved::Saved { id: baseline::save(&name, &kept.folder)?, name },
        }))
    }
}

/// Writes a comparison to its run's folder.
fn write(comparison: Comparison, folder: &Path) -> Result<(Comparison, PathBuf), GateError> {
    let file = folder.join("comparison.json");
    let text = serde_json::to_vec_pretty(&comparison).map_err(io::Error::from);
    let written = text.and_then(|text| std::fs::write(&file, text));
    written.map_err(|error| GateError::Write { path: file.clone(), error })?;
    Ok((comparison, file))
}

/// A run that is held against a baseline.
pub(crate) struct Against<'a> {
    /// The baseline's name.
    pub name: &'a str,
    baseline: &'a Stored,
    recorded: &'a Recorded,
    rules: Rules,
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
pub(crate) fn again(request: &RunRequest, exactly: Vec<CellName>) -> RunRequest {
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
                    metric.verdict = Difference::Unclear;
                    if let Some(other) = found {
                        metric.run.clone_from(&second.after.run);
                        metric.first = Some(std::mem::replace(&mut metric.evidence, other.evidence.clone()));
                    }
                }
            }
        }
    }
}
