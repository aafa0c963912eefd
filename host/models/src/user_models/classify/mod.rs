//! What kind of model it is: by its configuration, else by its graph; with what says so. `unknown` where nothing does.

mod config;
mod generation;
mod graph;

pub use config::Config;
pub use generation::{Generation, generation};

use serde::{Deserialize, Serialize};
use skillbench_onnx::Outline;
use std::collections::BTreeMap;
use std::sync::LazyLock;

pub const UNKNOWN: &str = "unknown";

/// Family, architecture, category and task, and the sentences that tell why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Kind {
    pub family: String,
    pub architecture: String,
    pub category: String,
    pub task: String,
    pub evidence: Vec<String>,
}

impl Kind {
    fn of(family: &str, architecture: &str, category: &str, task: &str, evidence: Vec<String>) -> Kind {
        let [family, architecture, category, task] = [family, architecture, category, task].map(String::from);
        Kind { family, architecture, category, task, evidence }
    }

    pub fn unknown(evidence: Vec<String>) -> Kind {
        Kind::of(UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, evidence)
    }

    pub fn is_known(&self) -> bool {
        self.architecture != UNKNOWN
    }
}

/// `data/kinds.toml`, typed.
#[derive(Debug, Deserialize)]
struct Kinds {
    offset_positions: Vec<String>,
    kind: Vec<Group>,
    tasks: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
struct Group {
    family: String,
    architecture: String,
    category: String,
    task: String,
    model_types: Vec<String>,
    #[serde(default)]
    classes: Vec<String>,
}

fn kinds() -> &'static Kinds {
    static KINDS: LazyLock<Kinds> =
        LazyLock::new(|| toml::from_str(include_str!("../../../data/kinds.toml")).expect("data/kinds.toml is valid"));
    &KINDS
}

/// The families there are.
pub fn families() -> std::collections::BTreeSet<&'static str> {
    kinds().kind.iter().map(|group| group.family.as_str()).collect()
}

/// Whether a model's positions begin after its padding token.
pub fn has_offset_positions(model_type: &str) -> bool {
    kinds().offset_positions.iter().any(|known| known == model_type)
}

/// The kind of a model: its parts by name, and what its exporter wrote beside it.
pub fn classify(config: Option<&Config>, parts: &[(String, Outline)]) -> Kind {
    let told = config.map(by_config);
    match told {
        Some(Ok(kind)) => kind,
        Some(Err(evidence)) => {
            let mut kind = graph::kind(parts);
            kind.evidence.splice(0..0, evidence);
            kind
        }
        None => graph::kind(parts),
    }
}

/// What a configuration says; else what it does not.
fn by_config(config: &Config) -> Result<Kind, Vec<String>> {
    let classes = config.classes();
    let by_class =
        kinds().kind.iter().find(|group| group.classes.iter().any(|known| classes.contains(&known.as_str())));
    let of_type =
        |wanted: &str| kinds().kind.iter().find(|group| group.model_types.iter().any(|known| known == wanted));
    let model_type = config.model_type();
    let mut evidence: Vec<String> = model_type.iter().map(|it| format!("config.json: model_type is '{it}'")).collect();
    if !classes.is_empty() {
        evidence.push(format!("config.json: made as {}", classes.join(", ")));
    }
    let Some(group) = by_class.or_else(|| of_type(model_type?)) else {
        evidence.push("config.json says no kind of model that is known".into());
        return Err(evidence);
    };
    let by_name = kinds().tasks.iter().find(|(ending, _)| classes.iter().any(|class| class.ends_with(ending.as_str())));
    let task = by_name.map_or(&group.task, |(_, task)| task);
    Ok(Kind::of(&group.family, &group.architecture, &group.category, task, evidence))
}

#[cfg(test)]
mod tests {
    use super::super::samples::{Sample, node, port};
    use super::*;
    use serde_json::{Value, json};
    use skillbench_onnx::messages::{FLOAT, INT64};

    fn of(sample: &Sample) -> Kind {
        classify(None, &[(String::new(), Outline::of(&sample.bytes()).unwrap())])
    }

    fn with(main: Value) -> Kind {
        let parts = [(String::new(), Outline::of(&Sample::perceptron().bytes()).unwrap())];
        classify(Some(&Config::of(main, Value::Null)), &parts)
    }

    #[test]
    fn no_model_type_and_no_class_stands_twice_in_the_table() {
        let mut seen = std::collections::BTreeSet::new();
        for group in &kinds().kind {
            assert!(!group.model_types.is_empty() || !group.classes.is_empty());
            for name in group.model_types.iter().chain(&group.classes) {
                assert!(seen.insert(name), "{name} stands twice");
            }
        }
        assert!(seen.len() > 200);
    }

    #[test]
    fn the_configuration_counts_first_and_is_the_evidence() {
        let kind = with(json!({"model_type": "bert", "architectures": ["BertForMaskedLM"]}));
        assert_eq!((kind.architecture.as_str(), kind.task.as_str()), ("encoder-only", "fill-mask"));
        assert_eq!(kind.evidence, ["config.json: model_type is 'bert'", "config.json: made as BertForMaskedLM"]);
        assert_eq!(with(json!({"model_type": "mixtral"})).architecture, "mixture-of-experts");
        let encoder = with(json!({"model_type": "t5", "architectures": ["T5EncoderModel"]}));
        assert_eq!(encoder.architecture, "encoder-only", "the class says more than the model_type");
        assert_eq!(with(json!({"_class_name": "UNet2DConditionModel"})).architecture, "diffusion");
    }

    #[test]
    fn a_configuration_that_nobody_knows_leaves_it_to_the_graph() {
        let kind = with(json!({"model_type": "frobnicator"}));
        assert!(!kind.is_known());
        assert!(
            kind.evidence[0].contains("'frobnicator'") && kind.evidence[1].contains("no kind"),
            "{:?}",
            kind.evidence
        );
    }

    #[test]
    fn graphs_tell_their_kind_by_their_ports_and_operators() {
        let architecture = |sample: &Sample| of(sample).architecture;
        assert_eq!(architecture(&Sample::decoder(2)), "decoder-only");
        assert_eq!(architecture(&Sample::encoder()), "encoder-only");
        assert_eq!(architecture(&Sample::vision()), "vision");
        assert_eq!(architecture(&Sample::perceptron()), UNKNOWN);
        assert!(of(&Sample::decoder(2)).evidence[0].contains("past_key_values.0.key"));
        assert!(of(&Sample::vision()).evidence[0].contains("'pixel_values'"));
        let mut clip = Sample::vision();
        clip.inputs.push(port("input_ids", INT64, &["batch", "sequence"]));
        assert_eq!(of(&clip).family, "multimodal");
        let mut speech = Sample::perceptron();
        speech.inputs.push(port("input_features", FLOAT, &["batch", "80", "3000"]));
        assert_eq!(of(&speech).family, "audio");
        speech.inputs.push(port("decoder_input_ids", INT64, &["batch", "sequence"]));
        assert_eq!(of(&speech).category, "speech-text");
        let mut diffusion = Sample::perceptron();
        diffusion.inputs.push(port("sample", FLOAT, &["1", "4", "64", "64"]));
        diffusion.inputs.push(port("timestep", INT64, &["1"]));
        assert_eq!(of(&diffusion).architecture, "diffusion");
    }

    #[test]
    fn experts_and_causal_masks_are_known_by_their_operators() {
        let mut experts = Sample::decoder(1);
        experts.nodes.push(node("TopK", &["e"], "routes"));
        assert_eq!(of(&experts).architecture, "mixture-of-experts");
        let mut decoder = Sample::encoder();
        decoder.inputs.truncate(2);
        decoder.outputs[0] = port("logits", FLOAT, &["batch", "sequence", "120"]);
        assert_eq!(of(&decoder).architecture, UNKNOWN);
        decoder.nodes.push(node("LessOrEqual", &["c", "m"], "causal"));
        assert_eq!(of(&decoder).architecture, "decoder-only");
    }

    #[test]
    fn an_image_classifier_with_any_names_is_known_by_its_convolutions() {
        let mut sample = Sample::vision();
        sample.inputs = vec![port("data", FLOAT, &["N", "3", "224", "224"])];
        sample.nodes[0] = node("Conv", &["data", "k"], "c");
        assert_eq!(of(&sample).architecture, "vision");
    }
}
