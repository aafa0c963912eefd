//! What the graphs alone tell: the names of their ports, and their operators.

use super::Kind;
use skillbench_onnx::messages::{BFLOAT16, FLOAT, FLOAT16};
use skillbench_onnx::{Outline, OutlinedGraph};
use std::collections::BTreeSet;

struct Look {
    inputs: Vec<String>,
    outputs: Vec<String>,
    operators: BTreeSet<String>,
    /// Rank of each float input, by name.
    images: Vec<(String, usize)>,
}

pub(super) fn kind(parts: &[(String, Outline)]) -> Kind {
    let mut look = Look { inputs: vec![], outputs: vec![], operators: BTreeSet::new(), images: vec![] };
    for (_, outline) in parts {
        look.add(outline);
    }
    look.kind()
}

impl Look {
    fn add(&mut self, outline: &Outline) {
        let graph: &OutlinedGraph = &outline.graph;
        for port in graph.ports() {
            self.inputs.push(port.name.clone());
            let float = port.element().is_some_and(|element| [FLOAT, FLOAT16, BFLOAT16].contains(&element));
            let channels = |at: usize| port.dims().and_then(|dims| dims.get(at)).and_then(|dim| dim.fixed());
            match port.dims().map(<[_]>::len) {
                Some(4) if float && matches!(channels(1), Some(1 | 3)) => self.images.push((port.name.clone(), 4)),
                Some(5) if float && (channels(1) == Some(3) || channels(2) == Some(3)) => {
                    self.images.push((port.name.clone(), 5));
                }
                _ => {}
            }
        }
        self.outputs.extend(graph.outputs.iter().map(|port| port.name.clone()));
        self.operators.extend(outline.nodes().map(|node| node.operator.clone()));
    }

    /// The first input that is called so, or begins so.
    fn input(&self, wanted: &[&str]) -> Option<&str> {
        let fits = |name: &str| {
            wanted.iter().any(|wanted| match wanted.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => name == *wanted,
            })
        };
        self.inputs.iter().map(String::as_str).find(|name| fits(name))
    }

    fn runs(&self, operator: &str) -> bool {
        self.operators.contains(operator)
    }

    fn kind(&self) -> Kind {
        let has = |name: &str| format!("the graph has the input '{name}'");
        let ids = self.input(&["input_ids", "decoder_input_ids", "inputs_embeds", "tokens"]);
        let pixels = self.input(&["pixel_values*", "image", "images", "pixels"]);
        let past = self.input(&["past_key_values*", "past_key*", "past.*", "past_0", "cache.*"]);
        let sound = self.input(&["input_features", "input_values", "audio_values", "waveform", "mel*", "audio"]);
        let encoder = self.input(&["encoder_hidden_states", "encoder_attention_mask", "encoder_outputs"]);
        let decoder = self.input(&["decoder_input_ids"]);
        let crossed = self.inputs.iter().find(|name| name.starts_with("past") && name.contains(".encoder."));
        let two = |a: &str, b: &str| vec![format!("the graph has the inputs '{a}' and '{b}'")];

        if let (Some(sample), Some(step)) =
            (self.input(&["sample", "latent*", "hidden_states"]), self.input(&["timestep*", "t"]))
        {
            return Kind::of("vision", "diffusion", "diffusion", "text-to-image", two(sample, step));
        }
        if let (Some(sound), Some(ids), None) = (sound, self.input(&["input_ids"]), past.or(encoder)) {
            let evidence = two(sound, ids);
            return Kind::of("multimodal", "multimodal", "multimodal", "feature-extraction", evidence);
        }
        if let Some(sound) = sound {
            return match decoder.or(past).or(encoder) {
                Some(text) => Kind::of(
                    "audio",
                    "encoder-decoder",
                    "speech-text",
                    "automatic-speech-recognition",
                    two(sound, text),
                ),
                None => Kind::of("audio", "speech", "audio", "feature-extraction", vec![has(sound)]),
            };
        }
        if let (Some(pixels), Some(ids)) = (pixels, ids) {
            return match past {
                Some(past) => {
                    let evidence = two(pixels, past);
                    Kind::of(
                        "multimodal",
                        "vision-encoder-text-decoder",
                        "vision-language",
                        "image-text-to-text",
                        evidence,
                    )
                }
                None => {
                    let evidence = two(pixels, ids);
                    Kind::of("multimodal", "multimodal", "vision-language", "feature-extraction", evidence)
                }
            };
        }
        if let Some(past) = past {
            let cache = format!("the graph has the inputs {past} ..., a cache of keys and values");
            let other = crossed.map(String::as_str).or(encoder).or(decoder);
            return match other {
                Some(other) => {
                    let evidence = vec![cache, has(other)];
                    Kind::of("text_generation", "encoder-decoder", "encoder-decoders", "text2text-generation", evidence)
                }
                None if self.routes().is_some() => {
                    let how = self.routes().unwrap_or_default();
                    let evidence = vec![cache, format!("the graph routes tokens to experts (the operator {how})")];
                    Kind::of("text_generation", "mixture-of-experts", "text decoders", "text-generation", evidence)
                }
                None => Kind::of("text_generation", "decoder-only", "text decoders", "text-generation", vec![cache]),
            };
        }
        if let Some(state) = self.input(&["past_conv*", "past_state*", "ssm_state*", "conv_state*", "past_ssm*"]) {
            let evidence = vec![format!("the graph has the inputs {state} ..., a state without keys and values")];
            return Kind::of("text_generation", "state-space", "text decoders", "text-generation", evidence);
        }
        if let Some(text) = decoder.or(encoder).filter(|_| ids.is_some()) {
            let evidence = vec![has(text)];
            return Kind::of(
                "text_generation",
                "encoder-decoder",
                "encoder-decoders",
                "text2text-generation",
                evidence,
            );
        }
        if let Some(pixels) = pixels {
            let video = self.images.iter().any(|(name, rank)| name == pixels && *rank == 5);
            let (category, task) =
                if video { ("video", "video-classification") } else { ("vision", "image-classification") };
            return Kind::of("vision", "vision", category, self.seen(task), vec![has(pixels)]);
        }
        if let Some(ids) = ids {
            return self.text(ids);
        }
        if let ([(image, rank)], true) = (self.images.as_slice(), self.inputs.len() == 1) {
            let category = if *rank == 5 { "video" } else { "vision" };
            let how = match (self.runs("Conv"), self.attends()) {
                (true, false) => "convolutions and no attention",
                (true, true) => "convolutions and attention",
                (false, _) => "no convolutions",
            };
            let evidence = vec![format!("the graph takes images ('{image}') and has {how}")];
            if self.runs("Conv") {
                return Kind::of("vision", "vision", category, self.seen("image-classification"), evidence);
            }
        }
        Kind::unknown(vec!["neither the names of the graph's inputs nor its operators tell what it is".into()])
    }

    /// Models that take tokens and have no cache.
    fn text(&self, ids: &str) -> Kind {
        let encodes = ["pooler_output", "sentence_embedding", "token_embeddings", "text_embeds", "start_logits"];
        let output = self.outputs.iter().find(|name| encodes.contains(&name.as_str()));
        let encoder = |evidence: String| {
            Kind::of("embedding", "encoder-only", "text encoders", "feature-extraction", vec![evidence])
        };
        if let Some(types) = self.input(&["token_type_ids", "segment_ids"]) {
            return encoder(format!("the graph has the inputs '{ids}' and '{types}', and no cache"));
        }
        if let Some(output) = output {
            return encoder(format!("the graph has the input '{ids}' and the output '{output}'"));
        }
        let gives = |wanted: &str| self.outputs.iter().any(|name| name == wanted);
        if let (Some(how), true) = (self.causal(), gives("logits")) {
            let evidence =
                format!("the graph has the input '{ids}', the output 'logits' and a causal mask (the operator {how})");
            return Kind::of("text_generation", "decoder-only", "text decoders", "text-generation", vec![evidence]);
        }
        if let (Some(mask), true) = (self.input(&["attention_mask"]), gives("last_hidden_state") && !gives("logits"))
            && self.causal().is_none()
        {
            return encoder(format!(
                "the graph has the inputs '{ids}' and '{mask}', and gives 'last_hidden_state' alone"
            ));
        }
        Kind::unknown(vec![format!("the graph has the input '{ids}', and nothing tells what it makes of it")])
    }

    /// The operator by which positions see only what came before them. Those that also compare the other way count distances.
    fn causal(&self) -> Option<&'static str> {
        let distances = ["Less", "Greater", "GreaterOrEqual"].iter().any(|operator| self.runs(operator));
        match (self.runs("Trilu"), self.runs("LessOrEqual") && !distances) {
            (true, _) => Some("Trilu"),
            (false, true) => Some("LessOrEqual"),
            _ => None,
        }
    }

    /// The operator by which a decoder chooses experts.
    fn routes(&self) -> Option<&'static str> {
        ["MoE", "QMoE", "TopK"].into_iter().find(|operator| self.runs(operator))
    }

    fn attends(&self) -> bool {
        ["Softmax", "Attention", "MultiHeadAttention", "GroupQueryAttention"].iter().any(|operator| self.runs(operator))
    }

    /// What the outputs say of a vision model's task.
    fn seen<'a>(&self, otherwise: &'a str) -> &'a str {
        let any = |wanted: &str| self.outputs.iter().any(|name| name.contains(wanted));
        match () {
            () if any("pred_boxes") || any("boxes") => "object-detection",
            () if any("depth") => "depth-estimation",
            () if any("mask") || any("segmentation") => "image-segmentation",
            () if any("last_hidden_state") && !any("logits") => "image-feature-extraction",
            () => otherwise,
        }
    }
}
