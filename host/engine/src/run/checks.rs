//! What a cell's outputs are held against: those of an engine, at the cell's own size and at each other one of which its benchmark has requests.

use super::execute::Runner;
use super::phases;
use super::plan::PlannedCell;
use super::workarounds::Attempt;
use skillbench_models::Manifest;
use skillbench_record::{Axes, Disagreement};
use skillbench_worker::child::{self, Agreement};
use skillbench_worker::{SizeJob, VerifyJob};
use std::path::{Path, PathBuf};

/// How a cell's outputs are checked, and those of each other size.
#[derive(Clone)]
pub(super) struct Checks {
    pub own: VerifyJob,
    pub sizes: Vec<SizeJob>,
}

/// Where an engine's outputs for a cell are.
pub(super) struct Outputs {
    /// At the cell's own size.
    pub own: PathBuf,
    /// At each other size; or why the engine has none there.
    pub others: Vec<(Axes, Result<PathBuf, String>)>,
}

impl Outputs {
    /// How many parts of the model it ran, at all sizes.
    pub fn parts(&self) -> usize {
        let others = self.others.iter().filter_map(|(_, file)| file.as_deref().ok());
        others.chain([self.own.as_path()]).map(child::parts_of_reference).sum()
    }

    /// How two engines stand to each other where they are furthest apart; of sizes that one of them did not run it says nothing.
    pub fn agreement(&self, other: &Outputs, manifest: &Manifest) -> Agreement {
        let others = self.others.iter().zip(&other.others);
        let both = others.filter_map(|((_, one), (_, other))| Some((one.as_ref().ok()?, other.as_ref().ok()?)));
        let own = child::agreement(&self.own, &other.own, manifest);
        both.map(|(one, other)| child::agreement(one, other, manifest)).fold(own, worse)
    }
}

fn worse(one: Agreement, other: Agreement) -> Agreement {
    let apart = one.apart.zip(other.apart).map(|(one, other)| one.max(other));
    Agreement { apart, agree: one.agree && other.agree }
}

impl Runner<'_, '_> {
    /// What an engine gives for a cell.
    ///
    /// # Errors
    /// Why it has nothing at the cell's own size.
    pub(super) fn outputs_of(
        &mut self,
        planned: &PlannedCell,
        attempt: &Attempt,
        engine: usize,
    ) -> Result<Outputs, String> {
        let at = |axes: &Axes| {
            let cell = PlannedCell { axes: axes.clone(), ..planned.clone() };
            self.common.shared.reference(self.plan, &cell, engine, &attempt.built, &self.limits, true)
        };
        self.phases.enter(phases::REFERENCE);
        let outputs = at(&planned.axes).map(|own| {
            let others = self.plan.other_sizes(planned).into_iter().map(|axes| (at(&axes), axes));
            Outputs { own, others: others.map(|(file, axes)| (axes, file)).collect() }
        });
        self.phases.leave();
        outputs
    }

    /// A cell held against an engine; `dissent`: which engines differ from that one.
    pub(super) fn checks_against(
        &mut self,
        planned: &PlannedCell,
        attempt: &Attempt,
        engine: usize,
        outputs: &Outputs,
        dissent: &[Disagreement],
    ) -> Checks {
        let reference = self.plan.references[engine].name();
        let same_engine = !self.plan.reference_engines(planned).contains(&engine);
        let mut at = |axes: &Axes, file: &Path| {
            let cell = PlannedCell { axes: axes.clone(), ..planned.clone() };
            let spread = if same_engine { None } else { self.spread(&cell, attempt, engine, file) };
            let (reference, dissent) = (reference.clone(), dissent.to_vec());
            VerifyJob::Against { file: file.into(), reference, same_engine, dissent, spread }
        };
        let own = at(&planned.axes, &outputs.own);
        let mut unchecked = vec![];
        let at_size = |(axes, file): &(Axes, Result<PathBuf, String>)| {
            let verify = match file {
                Ok(file) => at(axes, file),
                Err(why) => {
                    unchecked.push(format!("at {axes} are only checked for being finite: {why}"));
                    VerifyJob::Alone { why: why.clone() }
                }
            };
            SizeJob { axes: axes.clone(), verify }
        };
        let sizes = outputs.others.iter().map(at_size).collect();
        unchecked.iter().for_each(|text| self.outputs_are(planned, text));
        Checks { own, sizes }
    }

    /// A cell held against nobody.
    pub(super) fn checks_alone(&mut self, planned: &PlannedCell, why: String) -> Checks {
        self.outputs_are(planned, &format!("are only checked for being finite: {why}"));
        self.checks_alike(planned, VerifyJob::Alone { why })
    }

    /// The same check at each size.
    pub(super) fn checks_alike(&self, planned: &PlannedCell, verify: VerifyJob) -> Checks {
        let others = self.plan.other_sizes(planned).into_iter();
        let sizes = others.map(|axes| SizeJob { axes, verify: verify.clone() }).collect();
        Checks { own: verify, sizes }
    }

    fn outputs_are(&mut self, planned: &PlannedCell, how: &str) {
        let text = format!("outputs of {} {how}", self.plan.models[planned.model].id());
        if self.common.is_news(text.clone()) {
            self.observer.warning(&text);
        }
    }

    /// How far two engines of float32 are apart here, neither of them the measured one where others are here; `None`: there is but
    /// one.
    fn spread(&mut self, planned: &PlannedCell, attempt: &Attempt, engine: usize, file: &Path) -> Option<f64> {
        let others = self.plan.reference_engines(planned);
        let own = (0..self.plan.references.len()).filter(|index| !others.contains(index));
        let others: Vec<usize> = others.iter().copied().chain(own).filter(|other| *other != engine).collect();
        self.phases.enter(phases::REFERENCE);
        let apart = others.into_iter().find_map(|other| {
            let outputs =
                self.common.shared.reference(self.plan, planned, other, &attempt.built, &self.limits, false).ok()?;
            child::agreement(file, &outputs, &attempt.built.manifest).apart
        });
        self.phases.leave();
        apart
    }
}
