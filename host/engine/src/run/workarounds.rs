//! Safe ways around what a backend refuses. Each changes how a cell is run and never what its figures mean: the cell says what
//! was changed, and what ran is read back as always. `--no-fix` does without.
//!
//! A smaller batch where memory does not suffice is a cell of its own: `backoff`.

use crate::skill::BuiltModel;
use skillbench_models::user_models::{examine::examine, opset};
use skillbench_plugin_api::Why;
use skillbench_record::Workaround;
use skillbench_record::defaults::defaults;
use skillbench_record::hash::sha256_text;
use skillbench_record::paths;
use skillbench_worker::{Failure, FailureKind};
use std::path::PathBuf;

const OPSET: &str = "opset";

/// How a cell is tried.
pub(super) struct Attempt {
    pub built: BuiltModel,
    pub precision: Option<String>,
    pub fixes: Vec<Workaround>,
    /// Why the skillset does not write the model in the precision.
    pub withheld: Option<String>,
}

impl Attempt {
    pub fn new(built: BuiltModel, precision: Option<String>) -> Attempt {
        Attempt { built, precision, fixes: vec![], withheld: None }
    }

    /// Changes what stands in the way; `None`: no safe way around this is known, or it was gone already. `stored` makes the model with
    /// its weights stored in a precision, where its skillset can write them so, and says the form.
    pub fn fix(
        &mut self,
        failure: &Failure,
        stored: impl FnOnce(&str) -> Option<(String, BuiltModel)>,
    ) -> Option<Workaround> {
        let fix = self.other_precision(failure, stored).or_else(|| self.lower_opset(failure))?;
        self.fixes.push(fix.clone());
        Some(fix)
    }

    /// Copies of the graphs that are marked with the lowest opset in which all their operators mean the same: an engine refuses a
    /// number it does not know, whatever is in the graph.
    fn lower_opset(&mut self, failure: &Failure) -> Option<Workaround> {
        let refused = failure.is_about(Why::MODEL) && failure.kind != FailureKind::Crashed;
        if !refused || self.fixes.iter().any(|fix| fix.what == OPSET) {
            return None;
        }
        let folder = paths::cache().join("opsets").join(&sha256_text(&self.built.content)[..32]);
        let mut lowered = None;
        let parts = self.built.paths.parts.iter().enumerate().map(|(index, (name, graph))| {
            let outline = examine(graph).ok()?;
            let to = opset::lowest(&outline).max(defaults().fixes.lowest_opset);
            let copy = folder.join(index.to_string()).join(graph.file_name()?);
            lowered = Some(opset::write(graph, &outline, to, &copy).ok()?);
            Some((name.clone(), copy))
        });
        let parts: Vec<(String, PathBuf)> = parts.collect::<Option<_>>()?;
        let opset::Lowered { from, to, .. } = lowered?;
        self.built.paths.parts = parts;
        Some(Workaround { what: OPSET.into(), from: from.to_string(), to: to.to_string(), why: failure.to_string() })
    }

    /// Weights that are stored in the asked precision, or the precision of the graph itself, where the asked one is not to be had.
    fn other_precision(
        &mut self,
        failure: &Failure,
        stored: impl FnOnce(&str) -> Option<(String, BuiltModel)>,
    ) -> Option<Workaround> {
        let refused = failure.is_about(Why::PRECISION) && failure.kind != FailureKind::Crashed;
        let from = self.precision.clone().filter(|_| refused)?;
        self.precision = None;
        let to = match stored(&from) {
            Some((form, built)) => {
                self.built = built;
                form
            }
            None => "that of the graph".into(),
        };
        Some(Workaround { what: "precision".into(), from, to, why: self.with_withheld(failure) })
    }

    /// A refusal of a precision, with why there is no graph that has it.
    fn with_withheld(&self, failure: &Failure) -> String {
        self.withheld.as_ref().map_or(failure.to_string(), |why| format!("{failure}; {why}"))
    }

    /// A failure, with what was tried before it.
    pub fn describe(&self, mut failure: Failure) -> Failure {
        if let Some(why) = self.withheld.as_ref().filter(|_| failure.is_about(Why::PRECISION)) {
            failure.reason.message.push_str(&format!("; {why}"));
        }
        for fix in &self.fixes {
            failure.reason.message.push_str(&format!(" (with {})", fix.describe()));
        }
        failure
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillbench_plugin_api::Error;

    fn attempt() -> Attempt {
        let manifest = Default::default();
        let paths = skillbench_worker::ModelPaths { skill: "it".into(), manifest: String::new(), parts: vec![] };
        Attempt::new(
            BuiltModel { paths, manifest, content: String::new(), stored: None, held: None },
            Some("int8".into()),
        )
    }

    #[test]
    fn a_precision_that_is_not_to_be_had_gives_way_once() {
        let refused = Failure::from_plugin(&Error::unimplemented(Why::PRECISION, "no int8 here"));
        let mut attempt = attempt();
        let fix = attempt.fix(&refused, |_| None).unwrap();
        assert_eq!((fix.from.as_str(), attempt.precision.as_deref()), ("int8", None));
        assert_eq!(attempt.fix(&refused, |_| None), None);
    }

    #[test]
    fn why_there_is_no_graph_in_the_precision_is_told_with_the_refusal() {
        let refused = Failure::from_plugin(&Error::unimplemented(Why::PRECISION, "no int8 here"));
        let mut attempt = Attempt { withheld: Some("its ranges are not measured".into()), ..attempt() };
        for text in [attempt.describe(refused.clone()).to_string(), attempt.fix(&refused, |_| None).unwrap().why] {
            assert!(text.contains("no int8 here") && text.contains("its ranges are not measured"), "{text}");
        }
    }

    #[test]
    fn another_refusal_changes_nothing() {
        let refused = Failure::from_plugin(&Error::unimplemented(Why::MODEL, "no Col2Im here"));
        assert_eq!(attempt().fix(&refused, |_| None), None);
    }
}
