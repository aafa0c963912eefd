//! Sizes: what dimensions are at the cell's axes, and which of them stay open in a load.

use crate::manifest::{Manifest, Plan, Size};
use skillbench_plugin_api::{Dim, Error, Port, Result};
use std::collections::{BTreeMap, BTreeSet};

/// The cell's point of the grid, and how much is generated.
pub struct Sizes {
    axes: BTreeMap<String, i64>,
    pub batch: usize,
    /// Tokens of the prompt that go into the decoder, or into what makes its embeddings.
    pub fed: usize,
    /// Tokens of the prompt as the user gave it; 1 where a prompt has no length.
    pub prompt: usize,
    pub new_tokens: usize,
}

impl Sizes {
    /// Sizes from the cell's axes; what they lack, the skill's own rules give.
    ///
    /// # Errors
    /// `InvalidArgument`, naming the axis that is missing.
    pub fn new(
        axes: &[Dim],
        prompt: Option<usize>,
        new_tokens: usize,
        manifest: &Manifest,
        plan: &Plan,
    ) -> Result<Sizes> {
        let mut known: BTreeMap<String, i64> = axes.iter().map(|axis| (axis.name.clone(), axis.opt)).collect();
        if let Some(prompt) = prompt {
            known.insert("prompt".into(), prompt as i64);
        }
        for (name, rule) in &plan.axes {
            if !known.contains_key(name) {
                let value = evaluate(rule, &known)?;
                known.insert(name.clone(), value);
            }
        }
        known.entry("batch".into()).or_insert(1);
        let size = |axis: &str| known.get(axis).and_then(|size| usize::try_from(*size).ok());
        let prompt = size("prompt");
        let (part, input) = plan.token_input();
        let length = manifest.input(part, input).and_then(|input| input.dims.get(1));
        let fed = match (plan.one_token || plan.image.is_some(), length) {
            (false, Some(length)) => usize::try_from(evaluate(length, &known)?).unwrap_or_default(),
            (false, None) => size("sequence").or(prompt).unwrap_or(1),
            (true, _) => prompt.unwrap_or(1),
        };
        if fed == 0 {
            return Err(Error::invalid("a prompt of no tokens: give one with --prompt-lengths"));
        }
        let batch = size("batch").filter(|batch| *batch > 0).ok_or_else(|| Error::invalid("a batch of nothing"))?;
        Ok(Sizes { batch, fed, prompt: prompt.unwrap_or(fed), new_tokens, axes: known })
    }

    /// The dimensions to load a part for: those of the token input that are not the batch, and those that states grow in, stay
    /// open from what the first run has to what the last one reaches. `any_batch`: the batch is open, too, from one on.
    pub fn dims(&self, manifest: &Manifest, plan: &Plan, any_batch: bool) -> Vec<Dim> {
        let (lengths, pasts) = open(manifest, plan);
        let first = lengths.iter().filter_map(|name| self.axes.get(name).copied()).chain([self.fed as i64]).max();
        let most = first.unwrap_or(0) + self.new_tokens as i64;
        let dim = |(name, value): (&String, &i64)| match (lengths.contains(name), pasts.contains(name)) {
            (true, _) => Dim { name: name.clone(), min: 1, opt: *value, max: most },
            (_, true) => Dim { name: name.clone(), min: 0, opt: *value, max: most },
            _ if any_batch && name == "batch" => Dim { name: name.clone(), min: 1, opt: *value, max: *value },
            _ => Dim::fixed(name, *value),
        };
        // What only says how much is generated is no dimension of a graph, unless an input says so.
        let used = names(manifest.inputs.iter().flat_map(|input| &input.dims));
        let counts = |name: &str| name == "new_tokens" || (name == "prompt" && !used.contains("prompt"));
        self.axes.iter().filter(|(name, _)| !counts(name)).map(dim).collect()
    }

    /// The shape of an input: what its port fixes, else what the skill says.
    ///
    /// # Errors
    /// `InvalidArgument` for a size that nothing tells.
    pub fn shape(&self, port: &Port, rule: Option<&[Size]>) -> Result<Vec<usize>> {
        let one = |(index, fixed): (usize, &Option<usize>)| {
            let told = || match rule.and_then(|rule| rule.get(index)) {
                Some(size) => {
                    usize::try_from(evaluate(size, &self.axes)?).ok().ok_or(()).map_err(|()| unknown(port, index))
                }
                None if index == 0 => Ok(self.batch),
                None => Err(unknown(port, index)),
            };
            fixed.map_or_else(told, Ok)
        };
        port.shape.iter().enumerate().map(one).collect()
    }
}

fn unknown(port: &Port, index: usize) -> Error {
    Error::invalid(format!("nothing tells the size of dimension {index} of '{}'", port.name))
}

/// The axes in the token input's length, and those in the length of states that grow.
fn open(manifest: &Manifest, plan: &Plan) -> (BTreeSet<String>, BTreeSet<String>) {
    let takes_rows = plan.embed.iter().map(|embed| (plan.decoder.as_str(), embed.to.as_str()));
    let lengths = takes_rows.chain([plan.token_input()]);
    let lengths = lengths.filter_map(|(part, name)| manifest.input(part, name)?.dims.get(1));
    let pasts = plan.state.iter().filter_map(|state| manifest.input(&plan.decoder, &state.to)?.dims.get(state.grows?));
    (names(lengths), names(pasts))
}

/// The axes that sizes name.
fn names<'s>(sizes: impl Iterator<Item = &'s Size>) -> BTreeSet<String> {
    let of = |size: &Size| match size {
        Size::Fixed(_) => vec![],
        Size::Of(text) => text.split(['+', '*']).map(|name| name.trim().to_string()).collect(),
    };
    sizes.flat_map(of).filter(|name| name.parse::<i64>().is_err()).collect()
}

fn evaluate(size: &Size, axes: &BTreeMap<String, i64>) -> Result<i64> {
    let text = match size {
        Size::Fixed(value) => return Ok(*value),
        Size::Of(text) => text,
    };
    let atom = |name: &str| {
        let name = name.trim();
        let value = name.parse().ok().or_else(|| axes.get(name).copied());
        value.ok_or_else(|| Error::invalid(format!("the cell gives no value to the axis '{name}' (of '{text}')")))
    };
    let product =
        |term: &str| term.split('*').map(atom).try_fold(1_i64, |all, one| Ok::<_, Error>(all.saturating_mul(one?)));
    text.split('+').map(product).try_fold(0_i64, |all, one| Ok(all.saturating_add(one?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A dimension's name, its least and its greatest size.
    type Range = (String, i64, i64);

    fn sizes(text: &str, axes: &[(&str, i64)], prompt: Option<usize>) -> Result<(Sizes, Vec<Range>)> {
        let (manifest, plan) = Manifest::parse("x", text)?;
        let axes: Vec<Dim> = axes.iter().map(|(name, value)| Dim::fixed(name, *value)).collect();
        let sizes = Sizes::new(&axes, prompt, 4, &manifest, &plan)?;
        let dims = sizes.dims(&manifest, &plan, false).into_iter().map(|dim| (dim.name, dim.min, dim.max)).collect();
        Ok((sizes, dims))
    }

    const DECODER: &str = r#"{ "inputs": [
        { "name": "ids", "dims": ["batch", "sequence"], "fill": "ids:50" },
        { "name": "mask", "dims": ["batch", "past+sequence"], "fill": "ones" },
        { "name": "past.0", "dims": ["batch", 2, "past", 8], "fill": "normal" }],
        "generation": { "decoder": "", "tokens": "ids", "logits": "logits", "mask": "mask",
            "state": [{ "from": "present.0", "to": "past.0", "grows": 2 }],
            "axes": { "sequence": "prompt", "past": 0 } } }"#;

    #[test]
    fn the_batch_is_fixed_and_what_grows_is_open() {
        let axes = [("batch", 2), ("prompt", 5), ("new_tokens", 4), ("sequence", 5), ("past", 0)];
        let (sizes, dims) = sizes(DECODER, &axes, None).unwrap();
        assert_eq!((sizes.batch, sizes.fed, sizes.prompt), (2, 5, 5));
        let dim = |name: &str, min, max| (name.to_string(), min, max);
        assert_eq!(dims, [dim("batch", 2, 2), dim("past", 0, 9), dim("sequence", 1, 9)]);
    }

    #[test]
    fn axes_that_the_cell_lacks_come_from_the_skills_rules() {
        let (sizes, dims) = sizes(DECODER, &[("batch", 1)], Some(7)).unwrap();
        assert_eq!((sizes.fed, dims.len()), (7, 3));
    }

    #[test]
    fn an_encoders_prompt_is_not_the_decoders() {
        let text = r#"{ "inputs": [
            { "part": "encoder", "name": "ids", "dims": ["batch", "encoder_sequence"], "fill": "ids:50" },
            { "part": "decoder", "name": "ids", "dims": ["batch", "sequence"], "fill": "ids:50" }],
            "generation": { "decoder": "decoder", "tokens": "ids", "logits": "logits",
                "before": [{ "part": "encoder", "give": [] }],
                "axes": { "encoder_sequence": "prompt", "sequence": 1, "past": 0 } } }"#;
        let (sizes, dims) = sizes(text, &[("batch", 1), ("prompt", 64)], None).unwrap();
        assert_eq!((sizes.fed, sizes.prompt), (1, 64));
        assert!(dims.contains(&("encoder_sequence".into(), 64, 64)), "{dims:?}");
    }

    #[test]
    fn a_graph_of_one_token_is_fed_the_prompt_token_by_token() {
        let text = DECODER.replace("\"sequence\"]", "1]").replace("\"mask\": \"mask\",", "\"one_token\": true,");
        let (sizes, _) = sizes(&text, &[("batch", 1), ("prompt", 64), ("past", 0), ("sequence", 1)], None).unwrap();
        assert_eq!(sizes.fed, 64);
    }

    #[test]
    fn an_axis_that_nothing_gives_is_named() {
        let error = sizes(DECODER, &[("batch", 1)], None).err().unwrap();
        assert!(error.message.contains("'prompt'"), "{error}");
    }
}
