//! The form of a skill's description and of `skill.json`. `docs/skills.md` tells it to people.

use super::stages::StageRule;
use super::work::FlopCounts;
use serde::{Deserialize, Serialize};
use skillbench_record::Axes;
use std::collections::{BTreeMap, BTreeSet};

/// What a skillset says of one skill. Fields that this host does not know are left alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SkillDescription {
    pub id: String,
    #[serde(default)]
    pub aliases: Vec<String>,
    #[serde(default)]
    pub family: String,
    #[serde(default)]
    pub architecture: String,
    #[serde(default)]
    pub category: String,
    #[serde(default)]
    pub task: String,
    #[serde(default)]
    pub parameters: Option<u64>,
    /// How many of them every inference reads, where tables are looked up in rows; `None`: not counted.
    #[serde(default)]
    pub parameters_read: Option<u64>,
    /// To the model that its name is known for: "full", "reduced", "part"; `None`: it has no such name.
    #[serde(default)]
    pub relation: Option<String>,
    /// The forms besides float32 in which the skillset writes its weights: "float16-stored", "int4" ...
    #[serde(default)]
    pub precisions: Vec<String>,
    /// Why it does not write a form that it has for other skills.
    #[serde(default)]
    pub withheld: BTreeMap<String, String>,
    /// What else the files of a form depend on; changes whenever building that form would write something else.
    #[serde(default)]
    pub form_contents: BTreeMap<String, String>,
    /// What was made smaller than the published model; null: nothing.
    #[serde(default)]
    pub reduced: Option<serde_json::Value>,
    /// Least and greatest value of each axis.
    #[serde(default)]
    pub axes: BTreeMap<String, [i64; 2]>,
    /// A value of each axis to measure at where none is asked for; axes without one have the host's.
    #[serde(default)]
    pub usual: BTreeMap<String, i64>,
    /// What goes into the graphs; it tells of which sizes an image, a clip or a recording is that has no axis for them.
    #[serde(default)]
    pub inputs: Vec<InputRule>,
    /// Units of an axis in a second: `samples` or `frames` of audio.
    #[serde(default)]
    pub rates: BTreeMap<String, f64>,
    /// The one length of audio that the graph takes, in seconds; `None`: it has an axis for it, or takes no audio.
    #[serde(default)]
    pub audio_seconds: Option<f64>,
    /// Operations of one inference; [`SkillDescription::flops`] tells them at any point it can.
    #[serde(default)]
    pub flops: FlopCounts,
    /// Values that its operators read and write besides weights; [`SkillDescription::activation_bytes`] tells them at any point.
    #[serde(default)]
    pub elements: FlopCounts,
    /// Operators that compute; `None`: nobody counted.
    #[serde(default)]
    pub kernels: Option<u64>,
    /// The operators of its graphs, as ONNX names them, with the domain before those of others; empty: nobody listed them.
    #[serde(default)]
    pub operators: BTreeSet<String>,
    /// How far outputs move, measured once where the skill was made; `None`: nobody measured.
    #[serde(default)]
    pub power: Option<Power>,
    /// Of a skill in several parts: the order in which one inference runs them, and how often.
    #[serde(default)]
    pub pipeline: Option<Vec<StageRule>>,
    /// How the skill makes tokens; `None`: it makes none.
    #[serde(default)]
    pub generation: Option<Generation>,
    /// The skill that makes tokens with this model, where its own graph cannot.
    #[serde(default)]
    pub generator: Option<String>,
    /// The key class that it is the model of.
    #[serde(default)]
    pub key: Option<String>,
    /// The key class that it is the small variant of.
    #[serde(default)]
    pub small_of: Option<String>,
    /// Axes of which the graph takes multiples of so many only.
    #[serde(default)]
    pub multiples: BTreeMap<String, i64>,
    /// Why two runs on the same inputs give other outputs, so that they are not held against a reference; `None`: they do not.
    #[serde(default)]
    pub unrepeatable: Option<String>,
    /// The backend whose outputs others are held against first; `None`: as for all skills.
    #[serde(default)]
    pub reference: Option<String>,
    /// Changes whenever building would write something else.
    #[serde(default)]
    pub content: String,
}

/// How much a check of outputs proves: an output that nothing moves is right whatever a plugin does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Power {
    /// Where one input alone has other contents, or, in `layers`, where one layer alone has other weights. `None`: there is none.
    #[serde(default)]
    pub inputs: Option<Moves>,
    #[serde(default)]
    pub layers: Option<Moves>,
}

/// What moves outputs least.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moves {
    /// The largest difference of any element, over the largest magnitude of its output.
    pub moves: f64,
    /// The input, or the layer.
    pub least: String,
}

/// What the host has to know of a skill that makes tokens; the benchmark reads the rest from the manifest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Generation {
    /// The axes of the graphs for the first run, from `prompt` and `batch`.
    #[serde(default)]
    pub axes: BTreeMap<String, DimRule>,
    /// Least and greatest length of a prompt in tokens; `None`: a prompt has no length.
    #[serde(default)]
    pub prompt: Option<[i64; 2]>,
}

/// A dimension of an input: a number, an axis, or an expression of them ("past+sequence", "batch*5").
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum DimRule {
    Fixed(i64),
    Of(String),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InputRule {
    #[serde(default)]
    pub part: String,
    pub name: String,
    pub dtype: String,
    pub dims: Vec<DimRule>,
    pub fill: String,
}

impl InputRule {
    fn names(&self, axis: &str) -> bool {
        self.dims.iter().any(|dim| match dim {
            DimRule::Fixed(_) => false,
            DimRule::Of(text) => text.split(['+', '*']).any(|name| name.trim() == axis),
        })
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PartRule {
    #[serde(default)]
    pub name: String,
    /// The graph's file, relative to skill.json.
    pub graph: String,
    /// As for the whole skill; what stands here counts first.
    #[serde(default)]
    pub tolerance: BTreeMap<String, f64>,
}

/// `skill.json`: the description, and what is needed to run the files beside it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Manifest {
    #[serde(flatten)]
    pub description: SkillDescription,
    #[serde(default)]
    pub parts: Vec<PartRule>,
    /// What the graphs call their open dimensions, where that is not the name of an axis.
    #[serde(default)]
    pub dimensions: BTreeMap<String, DimRule>,
    /// Largest relative difference from the reference, by precision.
    #[serde(default)]
    pub tolerance: BTreeMap<String, f64>,
}

impl Manifest {
    /// # Errors
    /// What does not fit, as serde tells it.
    pub fn parse(text: &str) -> Result<Manifest, String> {
        if text.is_empty() {
            return Ok(Manifest::default());
        }
        let manifest: Manifest = serde_json::from_str(text).map_err(|error| format!("skill.json: {error}"))?;
        manifest.within_bounds().map(|()| manifest)
    }

    /// More is no model that anybody wrote, and whoever looks something up in a manifest takes it for small.
    fn within_bounds(&self) -> Result<(), String> {
        const PARTS: usize = 64;
        const INPUTS: usize = 4096;
        const DIMENSIONS: usize = 32_768;
        const AXES: usize = 2048;
        let inputs = &self.description.inputs;
        for (what, count, most) in [
            ("parts", self.parts.len(), PARTS),
            ("stages", self.description.pipeline.as_ref().map_or(0, Vec::len), PARTS),
            ("inputs", inputs.len(), INPUTS),
            ("dimensions of inputs", inputs.iter().map(|input| input.dims.len()).sum(), DIMENSIONS),
            ("axes", self.description.axes.len(), AXES),
        ] {
            if count > most {
                return Err(format!("skill.json: it has {count} {what}, more than the {most} that any model has"));
            }
        }
        Ok(())
    }

    /// The manifest with the inputs and tolerances of one part alone: inputs of several parts may have the same names.
    pub fn of_part(&self, part: &str) -> Manifest {
        let inputs = self.description.inputs.iter().filter(|input| input.part == part).cloned().collect();
        let description = SkillDescription { inputs, ..self.description.clone() };
        let own = self.parts.iter().find(|known| known.name == part).map(|known| known.tolerance.clone());
        let mut tolerance = self.tolerance.clone();
        tolerance.extend(own.unwrap_or_default());
        Manifest { description, tolerance, ..self.clone() }
    }

    /// Of these axes, those that are about a part: what only the inputs of other parts name is theirs, and how often
    /// a part runs is about none.
    pub fn axes_of_part(&self, part: &str, axes: &Axes) -> Axes {
        let names = |input: &InputRule, axis: &str| {
            input.dims.iter().any(|dim| match dim {
                DimRule::Fixed(_) => false,
                DimRule::Of(text) => text.split(['+', '*']).any(|name| name.trim() == axis),
            })
        };
        let inputs = &self.description.inputs;
        let named =
            |axis: &str, own: bool| inputs.iter().any(|input| (input.part == part) == own && names(input, axis));
        let mut kept = axes.clone();
        kept.retain(|axis, _| named(axis, true) || !(named(axis, false) || self.is_of_pipeline(axis)));
        kept
    }

    /// Whether a dimension of any input is told by this axis.
    pub fn names(&self, axis: &str) -> bool {
        self.description.inputs.iter().any(|input| input.names(axis))
    }

    pub fn input(&self, name: &str) -> Option<&InputRule> {
        self.description.inputs.iter().find(|input| input.name == name)
    }
}
