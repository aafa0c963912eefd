//! The records of `data/skills.json`, and the two texts they become: a description and `skill.json`.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::sync::LazyLock;

/// What a skill built from the zoo says of its weights. A change of the rule or of the file's layout is a new version:
/// hosts keep what was built.
const WEIGHTS: &str = "seeded by weights/1";

/// One record; `scripts/zoo-import` writes them. What only tells where a graph came from stays in the file.
#[derive(Deserialize)]
pub struct Skill {
    pub id: String,
    pub sha256: String,
    published_id: Option<String>,
    /// For a graph that is shipped with weights of its own.
    weights: Option<String>,
    family: String,
    architecture: String,
    category: String,
    task: String,
    parameters: u64,
    parameters_read: u64,
    reduced: Option<String>,
    axes: Map<String, Value>,
    inputs: Vec<Input>,
    flops: Vec<Value>,
}

#[derive(Deserialize)]
struct Input {
    name: String,
    dtype: String,
    dims: Vec<Value>,
    fill: String,
}

pub fn all() -> &'static [Skill] {
    static SKILLS: LazyLock<Vec<Skill>> = LazyLock::new(|| {
        serde_json::from_str(include_str!("../data/skills.json")).expect("the tests read the same skills.json")
    });
    &SKILLS
}

impl Skill {
    pub fn description(&self) -> String {
        let mut description = self.described();
        description.insert("content".into(), self.content().into());
        Value::from(description).to_string()
    }

    pub fn manifest(&self) -> String {
        let mut manifest = self.manifested();
        manifest.insert("content".into(), self.content().into());
        format!("{:#}\n", Value::from(manifest))
    }

    /// Changes whenever `build` would write something else.
    fn content(&self) -> String {
        sha256(&[self.sha256.as_bytes(), WEIGHTS.as_bytes(), Value::from(self.manifested()).to_string().as_bytes()])
    }

    fn described(&self) -> Map<String, Value> {
        let input = |input: &Input| json!({"part": "", "name": input.name, "dtype": input.dtype, "dims": input.dims, "fill": input.fill});
        object(json!({
            "id": self.id,
            "aliases": self.aliases(),
            "family": self.family,
            "architecture": self.architecture,
            "category": self.category,
            "task": self.task,
            "parameters": self.parameters,
            "parameters_read": self.parameters_read,
            "reduced": self.reduced,
            "axes": self.axes,
            "inputs": self.inputs.iter().map(input).collect::<Vec<_>>(),
            "flops": self.flops,
        }))
    }

    fn manifested(&self) -> Map<String, Value> {
        let mut manifest = object(json!({"schema": "skillbench.skill/1"}));
        manifest.extend(self.described());
        manifest.extend(object(json!({
            "weights": self.weights.as_deref().unwrap_or(WEIGHTS),
            "parts": [{"name": "", "graph": "model.onnx"}],
            "tolerance": {"float32": 1e-3},
        })));
        manifest
    }

    /// The names a model is known by elsewhere: its published id, with and without the publisher.
    fn aliases(&self) -> Vec<&str> {
        let mut aliases = Vec::new();
        for alias in self.published_id.iter().flat_map(|id| [id.as_str(), id.rsplit('/').next().unwrap_or(id)]) {
            if alias != self.id && !aliases.contains(&alias) {
                aliases.push(alias);
            }
        }
        aliases
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

/// Of the parts, one after the other.
pub fn sha256(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize().iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn skill(id: &str) -> &'static Skill {
        all().iter().find(|skill| skill.id == id).unwrap()
    }

    #[test]
    fn a_model_answers_to_its_published_name_with_and_without_the_publisher() {
        assert_eq!(skill("bert-base").aliases(), ["bert-base-uncased"]);
        assert_eq!(skill("vit-base").aliases(), ["google/vit-base-patch16-224", "vit-base-patch16-224"]);
        assert_eq!(skill("resnet-50").aliases(), ["microsoft/resnet-50"]);
        assert!(skill("gpt2").aliases().is_empty());
    }

    #[test]
    fn no_two_skills_answer_to_one_name() {
        let mut seen = HashSet::new();
        for name in all().iter().flat_map(|skill| [skill.id.as_str()].into_iter().chain(skill.aliases())) {
            assert!(seen.insert(name), "{name} is used twice");
        }
    }

    #[test]
    fn a_manifest_holds_its_whole_description() {
        for skill in all() {
            let description: Value = serde_json::from_str(&skill.description()).unwrap();
            let manifest: Value = serde_json::from_str(&skill.manifest()).unwrap();
            for (key, value) in description.as_object().unwrap() {
                assert_eq!(&manifest[key], value, "{} of {}", key, skill.id);
            }
            assert_eq!(manifest["parts"][0]["graph"], "model.onnx");
        }
    }

    #[test]
    fn each_name_in_a_dimension_is_an_axis() {
        for skill in all() {
            for name in skill.inputs.iter().flat_map(|input| &input.dims).filter_map(Value::as_str) {
                for word in name.split(['+', '*']).filter(|word| word.parse::<u64>().is_err()) {
                    assert!(skill.axes.contains_key(word), "{word} of {}", skill.id);
                }
            }
        }
    }

    #[test]
    fn operations_are_counted_at_batch_1_and_at_each_axis_of_the_skill() {
        for skill in all() {
            assert!(!skill.flops.is_empty(), "{}", skill.id);
            assert!((1..=skill.parameters).contains(&skill.parameters_read), "{}", skill.id);
            for count in &skill.flops {
                let axes = count["axes"].as_object().unwrap();
                assert!(count["value"].as_u64().is_some_and(|value| value > 0), "{} of {}", count, skill.id);
                assert_eq!(axes["batch"], 1);
                assert!(axes.keys().eq(skill.axes.keys()), "{} of {}", count, skill.id);
            }
        }
    }

    #[test]
    fn the_content_differs_between_skills() {
        let contents: HashSet<String> = all().iter().map(Skill::content).collect();
        assert_eq!(contents.len(), all().len());
    }

    #[test]
    fn the_hash_is_sha256() {
        assert_eq!(sha256(&[b"a", b"bc"]), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
