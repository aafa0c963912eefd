//! How often one inference runs each part of a skill: `pipeline` of a description.

use crate::{DimRule, Manifest, evaluate};
use serde::{Deserialize, Serialize};
use skillbench_record::Axes;

/// A name alone runs once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum StageRule {
    Once(String),
    Times { part: String, times: DimRule },
}

impl StageRule {
    fn part(&self) -> &str {
        match self {
            StageRule::Once(part) | StageRule::Times { part, .. } => part,
        }
    }

    /// `None`: the axes do not tell, or it is less than once.
    fn times(&self, axes: &Axes) -> Option<u64> {
        match self {
            StageRule::Once(_) => Some(1),
            StageRule::Times { times, .. } => {
                u64::try_from(evaluate(times, axes).ok()?).ok().filter(|times| *times > 0)
            }
        }
    }
}

impl Manifest {
    /// Whether an axis says how often a part runs, and nothing of any graph.
    pub fn is_of_pipeline(&self, axis: &str) -> bool {
        let names =
            |stage: &StageRule| matches!(stage, StageRule::Times { times: DimRule::Of(name), .. } if name == axis);
        self.description.pipeline.iter().flatten().any(names)
    }

    /// How often one inference runs each part, where one of them runs several times; else nothing.
    pub fn repeats(&self, axes: &Axes) -> Vec<(String, u64)> {
        let stages = self.description.pipeline.iter().flatten();
        let mut all: Vec<(String, u64)> = vec![];
        for stage in stages {
            let Some(times) = stage.times(axes) else { return vec![] };
            match all.iter_mut().find(|(part, _)| part == stage.part()) {
                Some((_, sum)) => *sum = sum.saturating_add(times),
                None => all.push((stage.part().into(), times)),
            }
        }
        match all.iter().any(|(_, times)| *times > 1) {
            true => all,
            false => vec![],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        let text =
            r#"{"id": "sd", "pipeline": ["text", {"part": "unet", "times": "steps"}, {"part": "vae", "times": 1}]}"#;
        Manifest::parse(text).unwrap()
    }

    #[test]
    fn a_part_runs_as_often_as_its_axis_says() {
        let axes = Axes::from([("batch".into(), 1), ("steps".into(), 20)]);
        assert_eq!(manifest().repeats(&axes), [("text".into(), 1), ("unet".into(), 20), ("vae".into(), 1)]);
        assert!(manifest().is_of_pipeline("steps") && !manifest().is_of_pipeline("batch"));
        let once = Axes::from([("steps".into(), 1)]);
        assert!(manifest().repeats(&once).is_empty(), "nothing to watch");
        assert!(manifest().repeats(&Axes::new()).is_empty(), "nobody says how often");
    }
}
