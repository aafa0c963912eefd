//! A decoder that does next to nothing but keep a cache: what it takes is what passing it on costs.

use serde_json::json;
use skillbench_onnx::messages::{FLOAT, INT64, Message, Node, Size, Tensor, ValueInfo};
use skillbench_onnx::{Graph, Model};
use skillbench_plugin_api::{Error, Result};
use std::path::Path;

/// Tensors of the cache: as many as those of twelve layers.
const TENSORS: usize = 24;
const WIDTH: usize = 8;
const VOCABULARY: usize = 1000;
const POSITIONS: usize = 4096;

fn weights(name: &str, rows: usize, columns: usize) -> Tensor {
    let value =
        |index: usize| ((index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as f32 / (1 << 24) as f32 - 0.5;
    let data = (0..rows * columns).flat_map(|index| value(index).to_le_bytes()).collect();
    Tensor::of_bytes(name, FLOAT, &[rows as i64, columns as i64], data)
}

fn port(name: &str, element: i32, dims: &[&str]) -> ValueInfo {
    let size = |dim: &&str| dim.parse().map_or_else(|_| Size::Named((*dim).into()), Size::Fixed);
    ValueInfo::of_tensor(name, element, dims.iter().map(size).collect())
}

/// Writes `model.onnx` and `skill.json` into a folder.
///
/// # Errors
/// What the system says.
pub fn write(folder: &Path) -> Result<()> {
    let names: Vec<String> =
        (0..TENSORS).map(|index| format!("{}.{}", index / 2, ["key", "value"][index % 2])).collect();
    let mut graph = Graph {
        node: vec![
            Node::new("Gather", &["words", "input_ids"], "word"),
            Node::new("Gather", &["places", "position_ids"], "place"),
            Node::new("Add", &["word", "place"], "placed"),
            Node::new("Cast", &["attention_mask"], "mask").with("to", i64::from(FLOAT)),
            Node::new("ReduceMean", &["mask"], "seen").with("keepdims", 1),
            Node::new("Unsqueeze", &["seen", "one"], "seen.each"),
            Node::new("Mul", &["placed", "seen.each"], "x"),
            Node::new("Unsqueeze", &["x", "one"], "new"),
            Node::new("MatMul", &["x", "head"], "logits"),
        ],
        initializer: vec![
            weights("words", VOCABULARY, WIDTH),
            weights("places", POSITIONS, WIDTH),
            weights("head", WIDTH, VOCABULARY),
            Tensor::of_int64("one", &[1], &[1]),
        ],
        input: vec![
            port("input_ids", INT64, &["batch", "sequence"]),
            port("attention_mask", INT64, &["batch", "past+sequence"]),
            port("position_ids", INT64, &["batch", "sequence"]),
        ],
        output: vec![port("logits", FLOAT, &["batch", "sequence", "1000"])],
        ..Graph::default()
    };
    let mut inputs = vec![
        json!({ "name": "input_ids", "dims": ["batch", "sequence"], "fill": "ids:1000" }),
        json!({ "name": "attention_mask", "dims": ["batch", "past+sequence"], "fill": "ones" }),
        json!({ "name": "position_ids", "dims": ["batch", "sequence"], "fill": "range:past" }),
    ];
    let mut state = vec![];
    for name in names {
        let (from, to) = (format!("present.{name}"), format!("past_key_values.{name}"));
        graph.node.push(Node::new("Concat", &[&to, "new"], &from).with("axis", 2));
        graph.input.push(port(&to, FLOAT, &["batch", "1", "past", "8"]));
        graph.output.push(port(&from, FLOAT, &["batch", "1", "past+sequence", "8"]));
        inputs.push(json!({ "name": to, "dims": ["batch", 1, "past", WIDTH], "fill": "normal" }));
        state.push(json!({ "from": from, "to": to, "grows": 2 }));
    }
    let generation = json!({ "decoder": "", "tokens": "input_ids", "logits": "logits", "positions": "position_ids",
        "mask": "attention_mask", "state": state, "axes": { "sequence": "prompt", "past": 0 } });
    let manifest = json!({ "inputs": inputs, "generation": generation }).to_string();
    let failed = |error: std::io::Error| Error::internal(format!("{}: {error}", folder.display()));
    std::fs::write(folder.join("model.onnx"), Model::new("decoding", 17, graph).encode_to_vec()).map_err(failed)?;
    std::fs::write(folder.join("skill.json"), manifest).map_err(failed)
}
