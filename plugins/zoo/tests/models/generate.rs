//! Generation as the record tells it: a prompt at once, or part of it and then a token through the cache, is one and the same.

use crate::model::{Axes, Part, Skill, Tensors, by_rule, dimension, sane, string};
use serde_json::Value;
use skillbench_plugin_api::{DType, HostTensor};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How far the logits of the two ways may differ, over their largest magnitude.
const NEAR: f32 = 2e-3;

/// Tokens of the prompt.
const PROMPT: i64 = 5;

struct Decoder<'a> {
    skill: &'a Skill,
    how: &'a Value,
    parts: &'a BTreeMap<&'a str, Part<'a>>,
    /// What the parts before it gave.
    given: Tensors,
    /// The image's rows of embeddings.
    image: Option<Arc<HostTensor>>,
}

pub fn whole_and_step_by_step(skill: &Skill, how: &Value, parts: &BTreeMap<&str, Part<'_>>) -> Result<(), String> {
    let decoder = Decoder::prepare(skill, how, parts)?;
    let tokens: Vec<i64> = (0..PROMPT).map(|index| 11 + 7 * index).collect();
    let (first, last) = tokens.split_at(tokens.len() - 1);
    if how["one_token"] == true {
        let mut state = decoder.empty();
        for (past, token) in first.iter().enumerate() {
            state = decoder.step(&[*token], None, past as i64, state)?.1;
        }
        let with = decoder.step(last, None, first.len() as i64, state)?.0;
        let without = decoder.step(last, None, 0, decoder.empty())?.0;
        sane("logits", &with)?;
        return match apart(&with, &without) < 1e-4 {
            true => Err("what was read before changes nothing".into()),
            false => Ok(()),
        };
    }
    let image = decoder.image.as_deref();
    let rows = image.map_or(0, |image| image.shape()[1] as i64);
    let (whole, _) = decoder.step(&tokens, image, 0, decoder.empty())?;
    let (_, state) = decoder.step(first, image, 0, decoder.empty())?;
    let (stepped, _) = decoder.step(last, None, rows + first.len() as i64, state)?;
    sane("logits", &stepped)?;
    let difference = apart(&last_row(&whole), &last_row(&stepped));
    match difference < NEAR {
        true => Ok(()),
        false => Err(format!("through the cache, the last token's logits differ by {difference:.1e}")),
    }
}

impl<'a> Decoder<'a> {
    fn prepare(skill: &'a Skill, how: &'a Value, parts: &'a BTreeMap<&str, Part<'a>>) -> Result<Decoder<'a>, String> {
        let mut decoder = Decoder { skill, how, parts, given: BTreeMap::new(), image: None };
        let axes = decoder.axes();
        for before in how["before"].as_array().into_iter().flatten() {
            let outputs = decoder.part(&string(&before["part"])).run(&axes, BTreeMap::new())?;
            for pair in before["give"].as_array().unwrap() {
                decoder.given.insert(string(&pair["to"]), outputs[&string(&pair["from"])].clone());
            }
        }
        if let Some(image) = how.get("image") {
            let outputs = decoder.part(&string(&image["part"])).run(&axes, BTreeMap::new())?;
            decoder.image = Some(outputs[&string(&image["from"])].clone());
        }
        Ok(decoder)
    }

    fn part(&self, name: &str) -> &Part<'a> {
        &self.parts[name]
    }

    fn name(&self) -> String {
        string(&self.how["decoder"])
    }

    /// Of the first run, in which the cell's axes are a batch of one and a prompt.
    fn axes(&self) -> Axes {
        let mut axes = Axes::from([("batch".into(), 1), ("prompt".into(), PROMPT)]);
        for (axis, rule) in self.how["axes"].as_object().unwrap() {
            let value = dimension(rule, &axes);
            axes.insert(axis.clone(), value);
        }
        axes
    }

    /// The state before the first token.
    fn empty(&self) -> Tensors {
        let mut state = Tensors::new();
        for pair in self.how["state"].as_array().unwrap() {
            let name = string(&pair["to"]);
            let rule = self.skill.input(&self.name(), &name).unwrap_or_else(|| panic!("no input {name}"));
            let tensor = by_rule(rule, &self.axes());
            assert_eq!(pair.get("grows").is_some(), tensor.bytes().is_empty(), "{name}");
            let zeros = string(&rule["fill"]).starts_with("normal");
            let tensor =
                if zeros { Arc::new(HostTensor::zeroed(tensor.dtype(), &tensor.shape()).unwrap()) } else { tensor };
            state.insert(name, tensor);
        }
        state
    }

    /// The logits of some tokens after `past` others, and the state then.
    fn step(
        &self,
        tokens: &[i64],
        image: Option<&HostTensor>,
        past: i64,
        state: Tensors,
    ) -> Result<(Arc<HostTensor>, Tensors), String> {
        let mut ids = HostTensor::zeroed(DType::I64, &[1, tokens.len()]).unwrap();
        let bytes: Vec<u8> = tokens.iter().flat_map(|token| token.to_ne_bytes()).collect();
        ids.bytes_mut().copy_from_slice(&bytes);
        let rows = image.map_or(0, |image| image.shape()[1]) + tokens.len();
        let mut axes = self.axes();
        axes.extend([("sequence".into(), rows as i64), ("past".into(), past), ("prompt".into(), tokens.len() as i64)]);
        let mut given = self.given.clone();
        given.extend(state);
        match self.how.get("embed") {
            None => given.insert(string(&self.how["tokens"]), Arc::new(ids)),
            Some(embed) => {
                let tokens = Tensors::from([(string(&embed["tokens"]), Arc::new(ids))]);
                let outputs = self.part(&string(&embed["part"])).run(&axes, tokens)?;
                given.insert(string(&embed["to"]), Arc::new(joined(image, &outputs[&string(&embed["from"])])))
            }
        };
        let mut outputs = self.part(&self.name()).run(&axes, given)?;
        let pairs = self.how["state"].as_array().unwrap();
        let state = pairs.iter().map(|pair| (string(&pair["to"]), outputs.remove(&string(&pair["from"])).unwrap()));
        let state = state.collect();
        let logits = outputs.remove(&string(&self.how["logits"])).ok_or("no logits")?;
        Ok((logits, state))
    }
}

/// The image's rows, and then the tokens'.
fn joined(image: Option<&HostTensor>, tokens: &HostTensor) -> HostTensor {
    let before = image.map_or(&[][..], HostTensor::bytes);
    let shape = tokens.shape();
    let rows = (before.len() + tokens.bytes().len()) / (shape[2] * 4);
    let mut all = HostTensor::zeroed(DType::F32, &[1, rows, shape[2]]).unwrap();
    all.bytes_mut()[..before.len()].copy_from_slice(before);
    all.bytes_mut()[before.len()..].copy_from_slice(tokens.bytes());
    all
}

/// Of [1, tokens, vocabulary], or of [1, vocabulary].
fn last_row(logits: &HostTensor) -> HostTensor {
    let width = *logits.shape().last().unwrap();
    let mut row = HostTensor::zeroed(DType::F32, &[width]).unwrap();
    row.bytes_mut().copy_from_slice(&logits.bytes()[logits.bytes().len() - 4 * width..]);
    row
}

/// The largest difference over the largest magnitude.
fn apart(one: &HostTensor, other: &HostTensor) -> f32 {
    let (one, other) = (one.as_slice::<f32>().unwrap(), other.as_slice::<f32>().unwrap());
    let magnitude = one.iter().fold(1e-9_f32, |most, value| most.max(value.abs()));
    skillbench_testkit::apart(one, other) / magnitude
}
