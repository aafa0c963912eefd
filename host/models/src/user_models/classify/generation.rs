//! Whether a user model can generate, and by which ports: its cache of keys and values, what begins it, what reads tokens.

use super::Config;
use crate::{DimRule, InputRule};
use serde_json::{Map, Value, json};
use skillbench_onnx::{Outline, OutlinedGraph};
use std::collections::{BTreeMap, HashSet};

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub enum Generation {
    /// As it stands in skill.json, and what tells so.
    Found { form: Value, evidence: Vec<String> },
    /// It has a cache, and this is why it cannot be used.
    Refused(String),
    /// It has no cache of its own.
    None,
}

const LOGITS: [&str; 3] = ["logits", "lm_logits", "decoder_logits"];
/// What a state's input is called at its beginning, and what its output is then.
const STATES: [(&str, &str); 4] = [
    ("past_key_values", "present"),
    ("past_key_values", "present_key_values"),
    ("past", "present"),
    ("cache", "new_cache"),
];

/// Parts by name, the rules of their inputs, and the axes with their limits.
pub fn generation(
    parts: &[(String, Outline)],
    inputs: &[InputRule],
    axes: &BTreeMap<String, [i64; 2]>,
    usual: &BTreeMap<String, i64>,
    config: Option<&Config>,
) -> Generation {
    let part = |wanted: &str| parts.iter().find(|(name, _)| name == wanted).map(|(_, outline)| &outline.graph);
    let Some((name, graph)) = part("decoder").map(|graph| ("decoder", graph)).or_else(|| Some(("", part("")?))) else {
        return Generation::None;
    };
    let decoder = Decoder { name, graph, rules: inputs.iter().filter(|rule| rule.part == name).collect() };
    if decoder.states().next().is_none() {
        return Generation::None;
    }
    let around = Around { inputs, axes, usual, config };
    match decoder.form(&part, &around) {
        Ok((form, evidence)) => Generation::Found { form, evidence },
        Err(why) => Generation::Refused(format!("it has a cache, but cannot generate: {why}")),
    }
}

/// What is known beside the decoder.
struct Around<'a> {
    inputs: &'a [InputRule],
    axes: &'a BTreeMap<String, [i64; 2]>,
    usual: &'a BTreeMap<String, i64>,
    config: Option<&'a Config>,
}

struct Decoder<'a> {
    name: &'a str,
    graph: &'a OutlinedGraph,
    rules: Vec<&'a InputRule>,
}

impl Decoder<'_> {
    fn rule(&self, name: &str) -> Option<&InputRule> {
        self.rules.iter().copied().find(|rule| rule.name == name)
    }

    fn states(&self) -> impl Iterator<Item = &InputRule> {
        let is_state = |rule: &&InputRule| STATES.iter().any(|(start, _)| rule.name.starts_with(start));
        self.rules.iter().copied().filter(is_state)
    }

    fn continued(&self, state: &str) -> Option<String> {
        let names = STATES.iter().filter_map(|(from, to)| Some(format!("{to}{}", state.strip_prefix(from)?)));
        names.into_iter().find(|name| self.graph.outputs.iter().any(|output| output.name == *name))
    }

    fn form<'p>(
        &self,
        part: &impl Fn(&str) -> Option<&'p OutlinedGraph>,
        around: &Around<'_>,
    ) -> Result<(Value, Vec<String>), String> {
        let tokens = ["input_ids", "decoder_input_ids"].into_iter().find(|name| self.rule(name).is_some());
        let embeds = self.rule("inputs_embeds").filter(|_| tokens.is_none());
        let logits = LOGITS.into_iter().find(|name| self.graph.outputs.iter().any(|output| output.name == *name));
        let logits = logits.ok_or("none of its outputs is called logits")?;
        let mut form = Map::new();
        form.insert("decoder".into(), self.name.into());
        form.insert("tokens".into(), tokens.into());
        form.insert("logits".into(), logits.into());
        for (key, name) in [("positions", "position_ids"), ("mask", "attention_mask")] {
            let with_past = |rule: &&InputRule| key == "positions" || rule.dims.iter().any(speaks_of_past);
            if self.rule(name).filter(with_past).is_some() {
                form.insert(key.into(), name.into());
            }
        }
        let before = self.before(part)?;
        let given: HashSet<&str> = before.iter().map(|(_, to)| to.as_str()).collect();
        let mut state = vec![];
        for rule in self.states().filter(|rule| !given.contains(rule.name.as_str())) {
            let continued = self.continued(&rule.name);
            let from = continued.ok_or_else(|| format!("no output continues its input '{}'", rule.name))?;
            let grows = rule.dims.iter().position(speaks_of_past);
            state.push(match grows {
                Some(grows) => json!({"from": from, "to": rule.name, "grows": grows}),
                None => json!({"from": from, "to": rule.name}),
            });
        }
        let mut evidence =
            vec![format!("{} outputs such as '{}' continue its cache", state.len(), text(&state, "from"))];
        form.insert("state".into(), state.into());
        let first = tokens.or(embeds.map(|rule| rule.name.as_str()));
        let first = first.and_then(|name| self.rule(name)).ok_or("it takes neither input_ids nor inputs_embeds")?;
        if first.dims.get(1) == Some(&DimRule::Fixed(1)) {
            form.insert("one_token".into(), true.into());
        }
        let with_encoder = part("encoder").is_some();
        if with_encoder {
            let give: Vec<Value> = before.iter().map(|(from, to)| json!({"from": from, "to": to})).collect();
            form.insert("before".into(), json!([{"part": "encoder", "give": give}]));
        }
        let mut sequence = Value::from("prompt");
        if let Some(embeds) = embeds {
            form.insert("embed".into(), embedder(part("embed"), &embeds.name)?);
            if let Some((image, rows)) = part("vision").and_then(|vision| image(vision, around.config)) {
                evidence.push(format!("its images become {rows} rows before the prompt"));
                form.insert("image".into(), image);
                sequence = format!("{rows}+prompt").into();
            }
        }
        // The axes that the inputs of these parts have, without those inputs that the encoder fills.
        let axes_of = |wanted: &dyn Fn(&str) -> bool| -> HashSet<&str> {
            let rules = around.inputs.iter().filter(|rule| wanted(&rule.part) && !given.contains(rule.name.as_str()));
            rules.flat_map(|rule| &rule.dims).flat_map(axes_of_rule).collect()
        };
        let read = axes_of(&|name| {
            name == self.name || (["encoder", "vision", "embed"].contains(&name) && part(name).is_some())
        });
        let of_encoder = with_encoder && axes_of(&|name| name == "encoder").contains("encoder_sequence");
        let mut first_run = Map::new();
        for axis in around.axes.keys().filter(|axis| *axis != "batch" && read.contains(axis.as_str())) {
            let value = match (axis.as_str(), with_encoder) {
                ("sequence", false) => sequence.clone(),
                ("sequence", true) => 1.into(),
                ("past", _) => 0.into(),
                ("encoder_sequence", _) if of_encoder => "prompt".into(),
                (other, _) => match around.usual.get(other) {
                    Some(usual) => (*usual).into(),
                    None => return Err(format!("nothing says how long its axis '{other}' is")),
                },
            };
            first_run.insert(axis.clone(), value);
        }
        // Speech has no prompt whose length could be chosen.
        let prompt = match (with_encoder, of_encoder) {
            (true, true) => Some("encoder_sequence"),
            (true, false) => None,
            (false, _) => Some("sequence"),
        };
        if let Some([_, most]) = prompt.and_then(|axis| around.axes.get(axis)) {
            form.insert("prompt".into(), json!([1, most]));
        }
        form.insert("axes".into(), first_run.into());
        Ok((form.into(), evidence))
    }

    /// What the encoder gives to the decoder, once: output and input.
    fn before<'p>(&self, part: &impl Fn(&str) -> Option<&'p OutlinedGraph>) -> Result<Vec<(String, String)>, String> {
        let wanted = |rule: &&&InputRule| rule.name == "encoder_hidden_states" || rule.name.contains(".encoder.");
        let wanted: Vec<&str> = self.rules.iter().filter(wanted).map(|rule| rule.name.as_str()).collect();
        let Some(encoder) = part("encoder") else {
            return match wanted.first() {
                None => Ok(vec![]),
                Some(first) => Err(format!("nothing gives its input '{first}': its encoder is not beside it")),
            };
        };
        let gives = |name: &str| encoder.outputs.iter().any(|output| output.name == name);
        let mut all = vec![];
        for name in wanted {
            let continued = STATES.iter().filter_map(|(from, to)| Some(format!("{to}{}", name.strip_prefix(from)?)));
            let hidden = (name == "encoder_hidden_states").then(|| ["last_hidden_state", name].map(String::from));
            let from = continued.chain(hidden.into_iter().flatten()).find(|output| gives(output));
            let from = from.ok_or_else(|| {
                format!(
                    "its encoder does not give '{name}', so that its first step would be another graph than the others"
                )
            })?;
            all.push((from, name.to_string()));
        }
        Ok(all)
    }
}

fn text<'a>(state: &'a [Value], key: &str) -> &'a str {
    state.first().and_then(|first| first.get(key)).and_then(Value::as_str).unwrap_or_default()
}

/// The axes that a dimension is made of.
fn axes_of_rule(rule: &DimRule) -> impl Iterator<Item = &str> {
    let text = if let DimRule::Of(text) = rule { text.as_str() } else { "" };
    text.split(['+', '*']).map(str::trim)
}

fn speaks_of_past(rule: &DimRule) -> bool {
    axes_of_rule(rule).any(|axis| axis == "past")
}

fn embedder(graph: Option<&OutlinedGraph>, to: &str) -> Result<Value, String> {
    let graph = graph.ok_or_else(|| format!("nothing makes its input '{to}': no embed_tokens is beside it"))?;
    match (graph.ports().as_slice(), graph.outputs.as_slice()) {
        ([tokens], [from]) => Ok(json!({"part": "embed", "tokens": tokens.name, "from": from.name, "to": to})),
        _ => Err("embed_tokens has more than one input or output".into()),
    }
}

/// The vision part's output, and how many rows it has for one image.
fn image(vision: &OutlinedGraph, config: Option<&Config>) -> Option<(Value, i64)> {
    let output = vision.outputs.iter().find(|output| output.name == "image_features").or(vision.outputs.first())?;
    let dims = output.dims()?;
    let fixed = (dims.len() == 3).then(|| dims.get(1)?.fixed()).flatten().and_then(|rows| i64::try_from(rows).ok());
    let told =
        || config?.number(&["image_seq_length", "mm_tokens_per_image", "image_token_count"]).map(|(_, rows)| rows);
    let rows = fixed.or_else(told)?;
    Some((json!({"part": "vision", "from": output.name}), rows))
}
