//! How a skill generates, as its `skill.json` says it.

use serde::Deserialize;
use skillbench_plugin_api::{Error, Result, Why};
use std::collections::BTreeMap;

/// As much of `skill.json` as generation needs.
#[derive(Deserialize)]
pub struct Manifest {
    pub generation: Option<Plan>,
    #[serde(default)]
    pub inputs: Vec<Input>,
    #[serde(default)]
    parts: Vec<Part>,
    /// Largest relative difference, by precision.
    #[serde(default)]
    tolerance: BTreeMap<String, f64>,
}

#[derive(Deserialize)]
struct Part {
    #[serde(default)]
    name: String,
    #[serde(default)]
    tolerance: BTreeMap<String, f64>,
}

#[derive(Deserialize)]
pub struct Input {
    #[serde(default)]
    pub part: String,
    pub name: String,
    pub dims: Vec<Size>,
    pub fill: String,
}

/// A dimension: a number, or sums and products of axes ("past+sequence").
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Size {
    Fixed(i64),
    Of(String),
}

/// `generation`.
#[derive(Deserialize)]
pub struct Plan {
    /// The part that makes tokens.
    pub decoder: String,
    /// Its input of tokens; none where it takes embeddings.
    pub tokens: Option<String>,
    pub logits: String,
    pub positions: Option<String>,
    pub mask: Option<String>,
    #[serde(default)]
    pub state: Vec<State>,
    /// The graph takes one token at a time, of the prompt too.
    #[serde(default)]
    pub one_token: bool,
    #[serde(default)]
    pub before: Vec<Before>,
    pub embed: Option<Embed>,
    pub image: Option<Image>,
    #[serde(default)]
    pub axes: BTreeMap<String, Size>,
}

/// An output of one step that is an input of the next.
#[derive(Deserialize)]
pub struct State {
    pub from: String,
    pub to: String,
    /// The dimension that grows by the new tokens, from nothing; none for a state of fixed size.
    pub grows: Option<usize>,
}

/// What runs once before the first token.
#[derive(Deserialize)]
pub struct Before {
    pub part: String,
    pub give: Vec<Give>,
}

/// An output that is an input of the decoder.
#[derive(Deserialize)]
pub struct Give {
    pub from: String,
    pub to: String,
}

/// What makes embeddings of tokens.
#[derive(Deserialize)]
pub struct Embed {
    pub part: String,
    pub tokens: String,
    pub from: String,
    pub to: String,
}

/// What makes the rows that go before the embeddings of the prompt.
#[derive(Deserialize)]
pub struct Image {
    pub part: String,
    pub from: String,
}

/// How far results of one precision may be from each other, where the skill does not say: as far as from a reference.
const TOLERANCE: [(&str, f64); 4] = [("float32", 1e-3), ("float16", 2e-2), ("bfloat16", 5e-2), ("int8", 2e-1)];

impl Manifest {
    /// # Errors
    /// `Unimplemented` for a skill that does not say how it generates, `InvalidArgument` for a manifest that is broken.
    pub fn parse(skill: &str, text: &str) -> Result<(Manifest, Plan)> {
        let unable = || {
            let text = format!(
                "{skill} does not say how it generates (no `generation` in its skill.json): choose another skill"
            );
            Error::unimplemented(Why::MODEL, text)
        };
        if text.is_empty() {
            return Err(unable());
        }
        let wrong = |error: serde_json::Error| Error::invalid(format!("skill.json of {skill}: {error}"));
        let mut manifest: Manifest = serde_json::from_str(text).map_err(wrong)?;
        let plan = manifest.generation.take().ok_or_else(unable)?;
        if plan.tokens.is_none() && plan.embed.is_none() {
            let text = format!("skill.json of {skill}: generation needs `tokens` or `embed`: nothing takes tokens");
            return Err(Error::invalid(text));
        }
        if plan.image.is_some() && plan.embed.is_none() {
            let text = format!("skill.json of {skill}: an image goes before embeddings, and generation has no `embed`");
            return Err(Error::invalid(text));
        }
        Ok((manifest, plan))
    }

    pub fn input(&self, part: &str, name: &str) -> Option<&Input> {
        self.inputs.iter().find(|input| input.part == part && input.name == name)
    }

    /// For a precision that nobody can tell, as far as for the coarsest.
    pub fn tolerance(&self, part: &str, precision: &str) -> f64 {
        let own = self.parts.iter().find(|known| known.name == part).and_then(|known| known.tolerance.get(precision));
        let known = own.or_else(|| self.tolerance.get(precision)).copied();
        let usual = || TOLERANCE.iter().find(|(name, _)| *name == precision).map(|(_, tolerance)| *tolerance);
        known.or_else(usual).unwrap_or(TOLERANCE.iter().map(|(_, tolerance)| *tolerance).fold(0.0, f64::max))
    }
}

impl Plan {
    /// Every part that is loaded, in the order in which a sequence meets them.
    pub fn parts(&self) -> Vec<&str> {
        let before = self.before.iter().map(|before| before.part.as_str());
        let image = self.image.iter().map(|image| image.part.as_str());
        let embed = self.embed.iter().map(|embed| embed.part.as_str());
        let mut parts: Vec<&str> = vec![];
        for part in before.chain(image).chain(embed).chain([self.decoder.as_str()]) {
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        parts
    }

    /// Part and input that take tokens.
    pub fn token_input(&self) -> (&str, &str) {
        match (&self.embed, &self.tokens) {
            (Some(embed), _) => (&embed.part, &embed.tokens),
            (None, tokens) => (&self.decoder, tokens.as_deref().unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skill_that_does_not_generate_is_refused() {
        for text in ["", "{\"id\": \"bert\"}"] {
            let error = Manifest::parse("bert", text).err().unwrap();
            assert!(error.message.contains("bert does not say how it generates"), "{error}");
        }
    }

    #[test]
    fn a_plan_into_which_no_token_goes_is_refused() {
        let text = r#"{ "generation": { "decoder": "", "logits": "logits" } }"#;
        assert!(Manifest::parse("odd", text).err().unwrap().message.contains("`tokens` or `embed`"));
    }

    #[test]
    fn parts_come_in_the_order_of_a_sequence_and_each_once() {
        let text = r#"{ "generation": { "decoder": "decoder", "logits": "logits",
            "before": [{ "part": "encoder", "give": [] }], "image": { "part": "vision", "from": "rows" },
            "embed": { "part": "embed", "tokens": "ids", "from": "rows", "to": "rows" } } }"#;
        let (_, plan) = Manifest::parse("all", text).unwrap();
        assert_eq!(plan.parts(), ["encoder", "vision", "embed", "decoder"]);
        assert_eq!(plan.token_input(), ("embed", "ids"));
    }

    #[test]
    fn the_tolerance_is_the_parts_then_the_skills_then_the_usual_one() {
        let text = r#"{ "tolerance": { "float32": 0.01, "int8": 0.3 },
            "parts": [{ "name": "decoder", "tolerance": { "float32": 0.02 } }],
            "generation": { "decoder": "decoder", "tokens": "ids", "logits": "logits" } }"#;
        let (manifest, _) = Manifest::parse("x", text).unwrap();
        let found = ["float32", "int8", "float16", ""].map(|precision| manifest.tolerance("decoder", precision));
        assert_eq!(found, [0.02, 0.3, 2e-2, 2e-1]);
        assert_eq!(manifest.tolerance("encoder", "float32"), 0.01);
    }
}
