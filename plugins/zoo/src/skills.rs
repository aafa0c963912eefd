//! The records of `data/skills.json`, and the two texts they become: a description and `skill.json`.

use crate::form::Form;
use crate::ranges;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use skillbench_plugin_api::{Error, Result, Why};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::LazyLock;

/// What a skill built from the zoo says of its weights. A change of the rule or of the file's layout is a new version:
/// hosts keep what was built.
const WEIGHTS: &str = "seeded by weights/2";

/// From so far on, outputs in int8 have nothing to do with those in float32, and anything would pass.
const HOPELESS: f64 = 1.0;

/// Where int8 has its points, and what their scales are. A change of it is a new version.
const POINTS: &str = "points/1";

/// What a record tells of its skeleton, and the skeleton itself tells better.
const OF_THE_GRAPH: [&str; 2] = ["outputs", "opset"];

/// One record; `scripts/zoo-import` writes them.
#[derive(Deserialize)]
pub struct Skill {
    pub id: String,
    /// Of the skeleton of the same name. Several skeletons that are one skill have none.
    sha256: Option<String>,
    #[serde(default)]
    parts: Vec<PartRecord>,
    /// For a graph that is shipped with weights of its own.
    weights: Option<String>,
    #[serde(default)]
    inputs: Vec<Input>,
    /// What a host reads as it stands: the names, the groups, the counts, how it generates.
    #[serde(flatten)]
    told: BTreeMap<String, Value>,
}

/// A skeleton that is part of a skill.
#[derive(Deserialize)]
struct PartRecord {
    name: String,
    skill: String,
    /// The skeleton's axis, and what it is called in the skill: two parts may mean different lengths by one name.
    #[serde(default)]
    axes: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Input {
    name: String,
    dtype: String,
    dims: Vec<Value>,
    fill: String,
}

/// One graph of a skill.
pub struct Part<'a> {
    pub name: &'a str,
    pub skeleton: &'a str,
    pub sha256: &'a str,
    pub axes: Option<&'a BTreeMap<String, String>>,
    inputs: &'a [Input],
}

impl PartRecord {
    fn part(&self) -> Option<Part<'_>> {
        skeleton_of(&self.name, &self.skill, Some(&self.axes))
    }
}

fn skeleton_of<'a>(name: &'a str, skill: &str, axes: Option<&'a BTreeMap<String, String>>) -> Option<Part<'a>> {
    let skill = find(skill)?;
    Some(Part { name, skeleton: &skill.id, sha256: skill.sha256.as_deref()?, axes, inputs: &skill.inputs })
}

impl Part<'_> {
    pub fn graph(&self) -> String {
        format!("{}.onnx", if self.name.is_empty() { "model" } else { self.name })
    }

    /// Where the graph finds its weights.
    pub fn weights(&self) -> String {
        format!("{}.data", self.graph())
    }

    /// What an axis, or an expression of axes, is called in the skill.
    pub fn renamed(&self, dimension: &str) -> String {
        self.axes.map_or_else(|| dimension.to_string(), |axes| renamed(dimension, axes))
    }
}

/// An expression with other names for the axes in it.
pub fn renamed(expression: &str, axes: &BTreeMap<String, String>) -> String {
    let mut text = String::new();
    let mut rest = expression;
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let end = rest.find(|c| word(c) != word(first)).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        text.push_str(axes.get(piece).map_or(piece, String::as_str));
        rest = after;
    }
    text
}

pub fn all() -> &'static [Skill] {
    static SKILLS: LazyLock<Vec<Skill>> = LazyLock::new(|| {
        serde_json::from_str(include_str!("../data/skills.json")).expect("the tests read the same skills.json")
    });
    &SKILLS
}

/// What a graph moves, and how many kernels it is; `scripts/zoo-traffic` counts them.
#[derive(Deserialize)]
pub struct Traffic {
    id: String,
    pub kernels: u64,
    pub elements: Value,
}

pub fn traffic() -> &'static BTreeMap<String, Traffic> {
    static TRAFFIC: LazyLock<BTreeMap<String, Traffic>> = LazyLock::new(|| {
        let all: Vec<Traffic> =
            serde_json::from_str(include_str!("../data/traffic.json")).expect("the tests read the same traffic.json");
        all.into_iter().map(|one| (one.id.clone(), one)).collect()
    });
    &TRAFFIC
}

/// The operators of each graph; `scripts/zoo-operators` lists them.
pub fn operators() -> &'static BTreeMap<String, BTreeSet<String>> {
    static OPERATORS: LazyLock<BTreeMap<String, BTreeSet<String>>> = LazyLock::new(|| {
        serde_json::from_str(include_str!("../data/operators.json")).expect("the tests read the same operators.json")
    });
    &OPERATORS
}

/// How far outputs move; `scripts/zoo-power` measures it.
pub fn power() -> &'static BTreeMap<String, Value> {
    static POWER: LazyLock<BTreeMap<String, Value>> = LazyLock::new(|| {
        let all: Vec<Map<String, Value>> =
            serde_json::from_str(include_str!("../data/power.json")).expect("the tests read the same power.json");
        let of_skill = |mut one: Map<String, Value>| Some((one.remove("id")?.as_str()?.to_string(), one.into()));
        all.into_iter().filter_map(of_skill).collect()
    });
    &POWER
}

/// One JSON for each skill, and for each name that no skill serves.
pub fn descriptions() -> impl Iterator<Item = String> {
    let names: Vec<Value> = serde_json::from_str(include_str!("../data/unavailable.json"))
        .expect("the tests read the same unavailable.json");
    all().iter().map(Skill::description).chain(names.into_iter().map(|name| name.to_string()))
}

pub fn find(id: &str) -> Option<&'static Skill> {
    all().binary_search_by(|skill| skill.id.as_str().cmp(id)).ok().map(|index| &all()[index])
}

impl Skill {
    /// The graphs, in the order in which their files are written. Empty where the record names a skeleton that is not there,
    /// which a test holds to be none.
    pub fn parts(&self) -> Vec<Part<'_>> {
        match self.sha256 {
            Some(_) => skeleton_of("", &self.id, None).into_iter().collect(),
            None => self.parts.iter().map(PartRecord::part).collect::<Option<_>>().unwrap_or_default(),
        }
    }

    pub fn description(&self) -> String {
        let mut description = self.described();
        description.insert("content".into(), self.content().into());
        let (can, cannot): (Vec<Form>, Vec<Form>) = Form::narrower().partition(|form| self.offers(*form));
        if self.weights.is_none() {
            description.insert("precisions".into(), can.into_iter().map(Form::name).collect());
            let why = |form: Form| {
                let undecided = || match ranges::error(&self.id) {
                    Some(error) => format!(
                        "'{}' in int8 is {error:.1} times its outputs away from float32, so nothing could be told of it",
                        self.id
                    ),
                    None => format!(
                        "how far '{}' in int8 is from float32 was not measured (scripts/zoo-ranges does)",
                        self.id
                    ),
                };
                (form.name().to_string(), self.can_be(form).err().map_or_else(undecided, |error| error.message).into())
            };
            let withheld: Map<String, Value> = cannot.into_iter().map(why).collect();
            description.insert("withheld".into(), withheld.into());
            let contents: Map<String, Value> =
                self.ranges().map(|of| (Form::Int8.name().into(), of.into())).into_iter().collect();
            description.insert("form_contents".into(), contents.into());
        }
        let graphs = self.parts();
        let operators: BTreeSet<&String> =
            graphs.iter().filter_map(|part| operators().get(part.skeleton)).flatten().collect();
        description.insert("operators".into(), operators.into_iter().cloned().collect());
        self.add_counts(&mut description);
        Value::from(description).to_string()
    }

    /// # Errors
    /// `Unimplemented` for a form that the skill has not, with those that it has.
    pub fn can_be(&self, form: Form) -> Result<()> {
        if form != Form::Int8 || self.weights.is_some() {
            return Ok(());
        }
        let parts = self.parts();
        let Some(part) = parts.iter().find(|part| ranges::of(part.skeleton).is_none()) else { return Ok(()) };
        let others: Vec<&str> = Form::narrower().filter(|form| *form != Form::Int8).map(Form::name).collect();
        let text = format!(
            "'{}' is not written in int8: between which numbers the values of its graph '{}' lie was not measured (scripts/zoo-ranges does); it has {}",
            self.id,
            part.skeleton,
            others.join(", ")
        );
        Err(Error::unimplemented(Why::PRECISION, text))
    }

    /// Whether hosts are told of a form: outputs in int8 cannot be judged where nobody knows how far they are from those in float32.
    fn offers(&self, form: Form) -> bool {
        let judged = || form != Form::Int8 || ranges::error(&self.id).is_some_and(|error| error < HOPELESS);
        self.can_be(form).is_ok() && judged()
    }

    /// Changes whenever the ranges do; `None`: they are not measured.
    fn ranges(&self) -> Option<String> {
        let parts = self.parts();
        let all = parts.iter().map(|part| ranges::of(part.skeleton)).collect::<Option<Vec<_>>>()?;
        let texts: Vec<String> =
            all.into_iter().map(|ranges| format!("{ranges:?}")).chain([POINTS.to_string()]).collect();
        Some(sha256(&texts.iter().map(String::as_bytes).collect::<Vec<_>>()))
    }

    pub fn manifest(&self, form: Form) -> String {
        let mut manifest = self.manifested();
        manifest.insert("weights".into(), self.weights_in(form).into());
        // Products of int4 are asked to compute in float32.
        let mut tolerance = object(json!({"float32": 1e-3, "int4": 1e-3}));
        // An engine that rounds an element elsewhere may round all that follow elsewhere too: as far as int8 is from float32, and no further.
        tolerance.extend(ranges::error(&self.id).map(|error| (Form::Int8.name().into(), error.max(1e-3).into())));
        manifest.insert("tolerance".into(), tolerance.into());
        manifest.insert("content".into(), self.content().into());
        self.add_counts(&mut manifest);
        format!("{:#}\n", Value::from(manifest))
    }

    /// What is counted in graphs, or measured, changes nothing in what is built, and so is no part of the content.
    fn add_counts(&self, told: &mut Map<String, Value>) {
        if let Some(traffic) = traffic().get(&self.id) {
            told.insert("kernels".into(), traffic.kernels.into());
            told.insert("elements".into(), traffic.elements.clone());
        }
        if let Some(power) = power().get(&self.id) {
            told.insert("power".into(), power.clone());
        }
    }

    /// Changes whenever `build` would write something else.
    fn content(&self) -> String {
        let mut pieces: Vec<String> = self.parts().iter().map(|part| part.sha256.to_string()).collect();
        pieces.extend([WEIGHTS.into(), Value::from(self.manifested()).to_string()]);
        sha256(&pieces.iter().map(String::as_bytes).collect::<Vec<_>>())
    }

    fn described(&self) -> Map<String, Value> {
        let mut inputs = Vec::new();
        for part in self.parts() {
            for input in part.inputs {
                let dims =
                    input.dims.iter().map(|dim| dim.as_str().map_or_else(|| dim.clone(), |d| part.renamed(d).into()));
                let dims: Vec<Value> = dims.collect();
                let fill = match input.fill.split_once(':') {
                    Some(("range", start)) => format!("range:{}", part.renamed(start)),
                    _ => input.fill.clone(),
                };
                inputs.push(
                    json!({"part": part.name, "name": input.name, "dtype": input.dtype, "dims": dims, "fill": fill}),
                );
            }
        }
        let mut description = object(json!({"id": self.id, "inputs": inputs, "parts": self.part_list()}));
        let told = self.told.iter().filter(|(key, _)| !OF_THE_GRAPH.contains(&key.as_str()));
        description.extend(told.map(|(key, value)| (key.clone(), value.clone())));
        description
    }

    fn weights_in(&self, form: Form) -> String {
        match (&self.weights, form) {
            (Some(own), _) => own.clone(),
            (None, Form::Float32) => WEIGHTS.into(),
            (None, form) => format!("{WEIGHTS}, {}", form.name()),
        }
    }

    fn part_list(&self) -> Vec<Value> {
        self.parts().iter().map(|part| json!({"name": part.name, "graph": part.graph()})).collect()
    }

    fn manifested(&self) -> Map<String, Value> {
        let mut manifest = object(json!({"schema": "skillbench.skill/1"}));
        manifest.extend(self.described());
        manifest.extend(object(json!({
            "weights": self.weights_in(Form::Float32),
            "tolerance": {"float32": 1e-3},
        })));
        manifest
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
mod tests;
