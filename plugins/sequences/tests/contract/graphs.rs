//! Small decoders with random weights, and what their `skill.json` says.

use serde_json::{Value, json};
use skillbench_onnx::messages::*;
use skillbench_onnx::{Graph, Model};
use std::path::Path;

/// The width of everything.
pub const WIDTH: usize = 8;
pub const VOCABULARY: usize = 40;
/// Positions that there are.
const LONGEST: usize = 64;
/// Rows that an image becomes.
const ROWS: usize = 3;

/// Kinds of models that generate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// One layer of attention, with a cache.
    Decoder,
    /// The same, for one token at a time.
    OneToken,
    /// One that also looks at what an encoder made.
    EncoderDecoder,
    /// One on embeddings, before which go those of an image.
    Image,
    /// A state of fixed size.
    StateSpace,
}

pub const KINDS: [Kind; 5] = [Kind::Decoder, Kind::OneToken, Kind::EncoderDecoder, Kind::Image, Kind::StateSpace];

/// Weights that differ between tensors and elements.
fn weights(name: &str, dims: &[usize], scale: f32) -> Tensor {
    let seed = name.bytes().fold(7_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
    let value = |index: usize| {
        let x = (seed + index as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let x = (x ^ (x >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        scale * ((x >> 40) as f32 / (1 << 23) as f32 - 1.0)
    };
    let data = (0..dims.iter().product()).flat_map(|index| value(index).to_le_bytes()).collect();
    Tensor::of_bytes(name, FLOAT, &dims.iter().map(|size| *size as i64).collect::<Vec<_>>(), data)
}

fn float(name: &str, value: f32) -> Tensor {
    Tensor::of_bytes(name, FLOAT, &[], value.to_le_bytes().to_vec())
}

fn port(name: &str, element: i32, dims: &[&str]) -> ValueInfo {
    let size = |dim: &&str| dim.parse().map_or_else(|_| Size::Named((*dim).into()), Size::Fixed);
    ValueInfo::of_tensor(name, element, dims.iter().map(size).collect())
}

/// Nodes and constants in the order in which they are needed.
#[derive(Default)]
struct Net(Graph);

impl Net {
    fn node(&mut self, operator: &str, inputs: &[&str], output: &str) -> &mut Node {
        self.0.node.push(Node::new(operator, inputs, output));
        self.0.node.last_mut().unwrap()
    }

    fn with(&mut self, operator: &str, inputs: &[&str], output: &str, attribute: (&str, i64)) {
        let node = self.node(operator, inputs, output);
        *node = node.clone().with(attribute.0, attribute.1);
    }

    fn constant(&mut self, tensor: Tensor) {
        self.0.initializer.push(tensor);
    }

    /// `input` times a square of weights, with the heads' dimension in front of the length.
    fn heads(&mut self, input: &str, output: &str) {
        let (weight, flat) = (format!("{output}.weight"), format!("{output}.flat"));
        self.constant(weights(&weight, &[WIDTH, WIDTH], 1.0));
        self.node("MatMul", &[input, &weight], &flat);
        self.node("Unsqueeze", &[&flat, "one"], output);
    }

    /// Attention of `query` to keys and values, with what stands in `bias` added to its scores.
    fn attend(&mut self, query: &str, key: &str, value: &str, bias: Option<&str>, output: &str) {
        let name = |what: &str| format!("{output}.{what}");
        let transpose = self.node("Transpose", &[key], &name("key"));
        *transpose = transpose.clone().with_several("perm", &[0, 1, 3, 2]);
        self.node("MatMul", &[query, &name("key")], &name("scores"));
        if let Some(bias) = bias {
            self.node("Add", &[&name("scores"), bias], &name("masked"));
        }
        let scores = name(if bias.is_some() { "masked" } else { "scores" });
        self.with("Softmax", &[&scores], &name("shares"), ("axis", -1));
        self.node("MatMul", &[&name("shares"), value], &name("heads"));
        self.node("Squeeze", &[&name("heads"), "one"], output);
    }

    fn write(self, path: &Path) {
        std::fs::write(path, Model::new("generation", 17, self.0).encode_to_vec()).unwrap();
    }
}

fn decoder(kind: Kind, path: &Path) {
    let mut net = Net::default();
    let sequence = if kind == Kind::OneToken { "1" } else { "sequence" };
    let total = format!("past+{sequence}");
    net.constant(Tensor::of_int64("one", &[1], &[1]));
    net.constant(Tensor::of_int64("first", &[], &[0]));
    net.constant(Tensor::of_int64("step", &[], &[1]));
    net.constant(Tensor::of_int64("length", &[], &[2]));
    net.constant(float("none", 0.0));
    net.constant(float("hidden", -1e9));
    net.constant(weights("places", &[LONGEST, WIDTH], 1.0));
    net.constant(weights("head", &[WIDTH, VOCABULARY], 1.0));
    if kind == Kind::Image {
        net.0.input.push(port("inputs_embeds", FLOAT, &["batch", sequence, "8"]));
    } else {
        net.0.input.push(port("input_ids", INT64, &["batch", sequence]));
        net.constant(weights("words", &[VOCABULARY, WIDTH], 1.0));
        net.node("Gather", &["words", "input_ids"], "inputs_embeds");
    }
    net.0.input.push(port("attention_mask", INT64, &["batch", &total]));
    net.0.input.push(port("position_ids", INT64, &["batch", sequence]));
    net.node("Gather", &["places", "position_ids"], "placed");
    net.node("Add", &["inputs_embeds", "placed"], "x");
    net.heads("x", "query");
    for (state, past) in [("key", "past.key"), ("value", "past.value")] {
        net.0.input.push(port(past, FLOAT, &["batch", "1", "past", "8"]));
        net.heads("x", state);
        net.with("Concat", &[past, state], &format!("present.{state}"), ("axis", 2));
    }

    // A key is seen from its own place on, and where the mask lets it be.
    net.node("Shape", &["present.key"], "sizes");
    net.node("Gather", &["sizes", "length"], "total");
    net.node("Range", &["first", "total", "step"], "keys");
    net.node("Shape", &["inputs_embeds"], "fed.sizes");
    net.node("Gather", &["fed.sizes", "step"], "fed");
    net.node("Sub", &["total", "fed"], "begin");
    net.node("Range", &["begin", "total", "step"], "new");
    net.node("Unsqueeze", &["new", "one"], "queries");
    net.node("LessOrEqual", &["keys", "queries"], "before");
    net.with("Cast", &["attention_mask"], "shown", ("to", i64::from(BOOL)));
    net.node("Unsqueeze", &["shown", "one"], "shown.each");
    net.node("And", &["before", "shown.each"], "seen");
    net.node("Where", &["seen", "none", "hidden"], "bias.each");
    net.node("Unsqueeze", &["bias.each", "one"], "bias");
    net.attend("query", "present.key", "present.value", Some("bias"), "context");
    let mut sum = "context";
    if kind == Kind::EncoderDecoder {
        for name in ["encoder.key", "encoder.value"] {
            net.0.input.push(port(name, FLOAT, &["batch", "1", "encoder_sequence", "8"]));
        }
        net.attend("query", "encoder.key", "encoder.value", None, "crossed");
        net.node("Add", &["context", "crossed"], "both");
        sum = "both";
    }
    net.node("Add", &["x", sum], "y");
    net.node("MatMul", &["y", "head"], "logits");
    net.0.output.push(port("logits", FLOAT, &["batch", sequence, "40"]));
    for name in ["present.key", "present.value"] {
        net.0.output.push(port(name, FLOAT, &["batch", "1", &total, "8"]));
    }
    net.write(path);
}

fn encoder(path: &Path) {
    let mut net = Net::default();
    net.constant(Tensor::of_int64("one", &[1], &[1]));
    net.constant(weights("words", &[VOCABULARY, WIDTH], 1.0));
    net.0.input.push(port("input_ids", INT64, &["batch", "encoder_sequence"]));
    net.node("Gather", &["words", "input_ids"], "x");
    for name in ["present.key", "present.value"] {
        net.heads("x", name);
        net.0.output.push(port(name, FLOAT, &["batch", "1", "encoder_sequence", "8"]));
    }
    net.write(path);
}

fn embed(path: &Path) {
    let mut net = Net::default();
    net.constant(weights("words", &[VOCABULARY, WIDTH], 1.0));
    net.0.input.push(port("input_ids", INT64, &["batch", "prompt"]));
    net.node("Gather", &["words", "input_ids"], "rows");
    net.0.output.push(port("rows", FLOAT, &["batch", "prompt", "8"]));
    net.write(path);
}

fn vision(path: &Path) {
    let mut net = Net::default();
    net.constant(weights("projector", &[WIDTH, WIDTH], 0.5));
    net.0.input.push(port("pixels", FLOAT, &["batch", "3", "8"]));
    net.node("MatMul", &["pixels", "projector"], "features");
    net.0.output.push(port("features", FLOAT, &["batch", "3", "8"]));
    net.write(path);
}

/// The state is moved by each token and squashed.
fn state_space(path: &Path) {
    let mut net = Net::default();
    net.constant(weights("words", &[VOCABULARY, WIDTH], 1.0));
    net.constant(weights("turn", &[WIDTH, WIDTH], 0.9));
    net.constant(weights("head", &[WIDTH, VOCABULARY], 1.0));
    net.constant(Tensor::of_int64("one", &[1], &[1]));
    net.0.input.push(port("input_ids", INT64, &["batch", "1"]));
    net.0.input.push(port("past.state", FLOAT, &["batch", "8"]));
    net.node("Gather", &["words", "input_ids"], "x");
    net.node("MatMul", &["past.state", "turn"], "turned");
    net.node("Squeeze", &["x", "one"], "word");
    net.node("Add", &["turned", "word"], "moved");
    net.node("Tanh", &["moved"], "present.state");
    net.node("MatMul", &["present.state", "head"], "row");
    net.node("Unsqueeze", &["row", "one"], "logits");
    net.0.output.push(port("logits", FLOAT, &["batch", "1", "40"]));
    net.0.output.push(port("present.state", FLOAT, &["batch", "8"]));
    net.write(path);
}

/// Writes a model's parts into a folder; returns their names and the text of `skill.json`.
pub fn build(kind: Kind, folder: &Path) -> (Vec<&'static str>, Value) {
    let input = |part: &str, name: &str, dims: Value, fill: &str| json!({ "part": part, "name": name, "dims": dims, "fill": fill });
    let at = |part: &str| folder.join(if part.is_empty() { "model.onnx".into() } else { format!("{part}.onnx") });
    let state = |name: &str| json!({ "from": format!("present.{name}"), "to": format!("past.{name}"), "grows": 2 });
    if kind == Kind::StateSpace {
        state_space(&at(""));
        let inputs = vec![
            input("", "input_ids", json!(["batch", 1]), "ids:40"),
            input("", "past.state", json!(["batch", 8]), "uniform:0.5:1.5"),
        ];
        let generation = json!({ "decoder": "", "tokens": "input_ids", "logits": "logits", "one_token": true,
            "state": [{ "from": "present.state", "to": "past.state" }], "prompt": [1, 32] });
        return (vec![""], json!({ "inputs": inputs, "generation": generation }));
    }
    let part = if matches!(kind, Kind::EncoderDecoder | Kind::Image) { "decoder" } else { "" };
    decoder(kind, &at(part));
    let (sequence, total) = match kind {
        Kind::OneToken => (json!(1), "past+1"),
        _ => (json!("sequence"), "past+sequence"),
    };
    let mut inputs = vec![
        input(part, "attention_mask", json!(["batch", total]), "ones"),
        input(part, "position_ids", json!(["batch", sequence]), "range:past"),
        input(part, "past.key", json!(["batch", 1, "past", 8]), "normal"),
        input(part, "past.value", json!(["batch", 1, "past", 8]), "normal"),
    ];
    let mut generation = json!({ "decoder": part, "tokens": "input_ids", "logits": "logits", "positions": "position_ids",
        "mask": "attention_mask", "state": [state("key"), state("value")], "axes": { "sequence": "prompt", "past": 0 } });
    match kind {
        Kind::Image => {
            vision(&at("vision"));
            embed(&at("embed"));
            inputs.push(input(part, "inputs_embeds", json!(["batch", "sequence", 8]), "normal"));
            inputs.push(input("embed", "input_ids", json!(["batch", "prompt"]), "ids:40"));
            inputs.push(input("vision", "pixels", json!(["batch", ROWS, 8]), "normal"));
            generation["tokens"] = Value::Null;
            generation["embed"] =
                json!({ "part": "embed", "tokens": "input_ids", "from": "rows", "to": "inputs_embeds" });
            generation["image"] = json!({ "part": "vision", "from": "features" });
            generation["axes"]["sequence"] = json!("3+prompt");
            return (vec!["vision", "embed", "decoder"], json!({ "inputs": inputs, "generation": generation }));
        }
        Kind::EncoderDecoder => {
            encoder(&at("encoder"));
            inputs.push(input("encoder", "input_ids", json!(["batch", "encoder_sequence"]), "ids:40"));
            for name in ["encoder.key", "encoder.value"] {
                inputs.push(input(part, name, json!(["batch", 1, "encoder_sequence", 8]), "normal"));
            }
            let give = |name: &str| json!({ "from": format!("present.{name}"), "to": format!("encoder.{name}") });
            generation["before"] = json!([{ "part": "encoder", "give": [give("key"), give("value")] }]);
            generation["axes"] = json!({ "encoder_sequence": "prompt", "sequence": 1, "past": 0 });
        }
        Kind::OneToken => {
            generation["one_token"] = json!(true);
            generation["axes"] = json!({ "past": 0 });
        }
        Kind::Decoder | Kind::StateSpace => {}
    }
    inputs.push(input(part, "input_ids", json!(["batch", sequence]), "ids:40"));
    let parts = if kind == Kind::EncoderDecoder { vec!["encoder", "decoder"] } else { vec![""] };
    (parts, json!({ "inputs": inputs, "generation": generation }))
}
