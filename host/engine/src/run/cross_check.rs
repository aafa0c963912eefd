//! Whose outputs are right. No engine is infallible: a cell that differs from one engine is held against the next, and it is
//! wrong only where two engines that agree with each other differ from it.

use super::checks::Outputs;
use super::plan::{Plan, PlannedCell};
use crate::skill::BuiltModel;
use skillbench_models::Manifest;
use skillbench_record::defaults::defaults;
use skillbench_record::{Disagreement, Verification};
use skillbench_worker::child::{self, Agreement};
use skillbench_worker::{CellReport, Failure, FailureKind};
use std::collections::HashMap;

/// A model at one point of its grid, with the other sizes of which there are requests.
pub(super) type Point = (usize, String);

/// Engines that were outvoted, by point: they are heard last there, and what they differed by is told.
pub(super) type Disagreements = HashMap<Point, Vec<(usize, Disagreement)>>;

pub(super) struct ReferenceEngine {
    pub index: usize,
    pub name: String,
}

/// An engine that a cell differs from: its outputs, and what the difference was.
struct Against {
    engine: usize,
    name: String,
    outputs: Outputs,
    failure: Failure,
}

pub(super) struct CrossCheck {
    waiting: std::vec::IntoIter<ReferenceEngine>,
    against: Vec<Against>,
    /// Outvoted before, with what they differed by.
    outvoted: Vec<(usize, Disagreement)>,
    /// Why nobody could be asked.
    why: String,
    /// The one that is judged is itself a reference.
    own: Option<usize>,
    manifest: Manifest,
    /// How many parts of the model the last engine ran; 0 before the first.
    parts: usize,
    heard: Vec<(usize, Disagreement)>,
}

/// What is left where no other engine could be asked.
pub(super) enum Alone {
    Itself(usize),
    Nobody(String),
}

pub(super) fn point(plan: &Plan, cell: &PlannedCell) -> Point {
    let mut axes = cell.axes.clone();
    axes.retain(|name, _| !plan.is_option(cell.benchmark, name));
    (cell.model, format!("{axes:?} {:?}", plan.other_sizes(cell)))
}

impl CrossCheck {
    pub fn new(
        plan: &Plan,
        cell: &PlannedCell,
        built: &BuiltModel,
        outvoted: Vec<(usize, Disagreement)>,
    ) -> CrossCheck {
        let unrepeatable = plan.models[cell.model].description.unrepeatable.clone();
        let mut reference_engines = if unrepeatable.is_some() { vec![] } else { plan.reference_engines(cell) };
        reference_engines.sort_by_key(|index| outvoted.iter().any(|(known, _)| known == index));
        let named = |index: usize| ReferenceEngine { index, name: plan.references[index].name() };
        let waiting: Vec<ReferenceEngine> = reference_engines.into_iter().map(named).collect();
        let library = &plan.backends[cell.backend].plugin.library.path;
        let own = plan.references.iter().position(|reference| reference.plugin.library.path == *library);
        let own = own.filter(|_| unrepeatable.is_none());
        let why = unrepeatable.map(|why| format!("its outputs are no two times the same: {why}"));
        CrossCheck {
            waiting: waiting.into_iter(),
            against: vec![],
            outvoted,
            why: why.unwrap_or_else(|| plan.no_reference.clone()),
            own,
            manifest: built.manifest.clone(),
            parts: 0,
            heard: vec![],
        }
    }

    pub fn next(&mut self) -> Option<ReferenceEngine> {
        self.waiting.next()
    }

    /// An engine could not run the model.
    pub fn cannot_say(&mut self, why: String) {
        self.why = why;
    }

    /// Who differs from an engine that a cell is to be held against; `None`: it has nothing to say that others did not.
    pub fn dissent_from(&mut self, engine: &ReferenceEngine, outputs: &Outputs) -> Option<Vec<Disagreement>> {
        // Who ran no more parts than one before has no more to say, unless a difference is to be judged.
        let parts = outputs.parts();
        if self.against.is_empty() && parts <= self.parts {
            return None;
        }
        self.parts = parts;
        let mut dissent: Vec<(usize, Disagreement)> = vec![];
        for other in &self.against {
            let apart = other.outputs.agreement(outputs, &self.manifest).apart;
            dissent
                .push((other.engine, Disagreement { reference: other.name.clone(), max_relative_difference: apart }));
        }
        for (index, known) in &self.outvoted {
            if *index != engine.index && !dissent.iter().any(|(other, _)| other == index) {
                dissent.push((*index, known.clone()));
            }
        }
        self.heard = dissent;
        self.why = String::new();
        Some(self.heard.iter().map(|(_, dissent)| dissent.clone()).collect())
    }

    /// Whether a cell that passed has this engine's word for all of it. Where others differ from it, the engine has to be another
    /// engine than the cell's own: one engine has one voice.
    pub fn confirmed(&self, report: &CellReport, outputs: &Outputs) -> bool {
        let passed = matches!(report.verification, Some(Verification::Passed { .. }));
        let own = report.placement.as_ref().map(|placement| family(&placement.engine));
        let one_voice = child::engines(&outputs.own).iter().any(|engine| own == Some(family(engine)));
        passed && (self.against.is_empty() || !one_voice)
    }

    /// The cell differs from this engine.
    ///
    /// # Errors
    /// It is wrong: it differed from another one before, and the two agree.
    pub fn differs(&mut self, engine: &ReferenceEngine, outputs: Outputs, failure: Failure) -> Result<(), Failure> {
        for other in &self.against {
            let Agreement { apart, agree } = other.outputs.agreement(&outputs, &self.manifest);
            if agree {
                return Err(self.wrong(other, engine, apart.unwrap_or_default()));
            }
        }
        self.against.push(Against { engine: engine.index, name: engine.name.clone(), outputs, failure });
        Ok(())
    }

    /// After a cell passed: who was outvoted there.
    pub fn dissent(&self, plan: &Plan, cell: &PlannedCell) -> Option<(Point, Vec<(usize, Disagreement)>)> {
        (!self.heard.is_empty()).then(|| (point(plan, cell), self.heard.clone()))
    }

    /// Everybody was heard, and nobody agreed.
    ///
    /// # Errors
    /// The cell differs from some that differ among themselves, or from the only one.
    pub fn verdict(self) -> Result<Alone, Failure> {
        let differences: Vec<String> =
            self.against.iter().map(|other| format!("from {}: {}", other.name, other.failure)).collect();
        match (&self.against[..], self.own) {
            ([], Some(own)) => Ok(Alone::Itself(own)),
            ([], None) => Ok(Alone::Nobody(self.why)),
            ([_], _) => {
                let ids = defaults().reference.others.join(",");
                let text = format!(
                    "the outputs differ {}, and no further engine could be asked which is right; `host runtime install {ids}` brings others",
                    differences.concat()
                );
                Err(Failure::failed("disputed", text))
            }
            _ => {
                let text = format!(
                    "the outputs differ {}; these engines differ among themselves too",
                    differences.join(", and ")
                );
                Err(Failure::failed("disputed", text))
            }
        }
    }

    /// The cell differs from these two, which agree.
    fn wrong(&self, other: &Against, engine: &ReferenceEngine, apart: f64) -> Failure {
        let text = format!(
            "{}; {} and {} agree within {apart:.1e} of the largest magnitude",
            other.failure, other.name, engine.name
        );
        Failure::new(FailureKind::Wrong, "wrong-output", text)
    }
}

/// "ONNX Runtime" of "ONNX Runtime 1.31.1 CPUExecutionProvider": what comes before the version.
fn family(engine: &str) -> String {
    let words = engine.split_whitespace().take_while(|word| !word.starts_with(|c: char| c.is_ascii_digit()));
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_is_known_by_its_name_whatever_its_version_and_provider() {
        assert_eq!(family("ONNX Runtime 1.31.1 CPUExecutionProvider"), family("ONNX Runtime 1.30.0 WebGPU"));
        assert_ne!(family("rten 0.27"), family("OpenVINO 2026.4.1"));
    }
}
