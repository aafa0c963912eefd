//! Small models for the tests beside this file.

use skillbench_onnx::messages::*;
use skillbench_onnx::{Graph, Model};
use std::path::{Path, PathBuf};

pub fn node(operator: &str, inputs: &[&str], output: &str) -> Node {
    Node::new(operator, inputs, output)
}

/// A port; a dimension is a number, or a name.
pub fn port(name: &str, element: i32, dims: &[&str]) -> ValueInfo {
    let size = |dim: &&str| dim.parse().map_or_else(|_| Size::Named(dim.to_string()), Size::Fixed);
    ValueInfo::of_tensor(name, element, dims.iter().map(size).collect())
}

pub fn weights(name: &str, dims: &[i64]) -> Tensor {
    let count: i64 = dims.iter().product();
    Tensor::of_bytes(name, FLOAT, dims, vec![1; count as usize * 4])
}

#[derive(Clone)]
pub struct Sample {
    pub opset: i64,
    pub nodes: Vec<Node>,
    pub weights: Vec<Tensor>,
    pub inputs: Vec<ValueInfo>,
    pub outputs: Vec<ValueInfo>,
}

impl Sample {
    pub fn new(inputs: Vec<ValueInfo>, outputs: Vec<ValueInfo>, nodes: Vec<Node>, weights: Vec<Tensor>) -> Sample {
        Sample { opset: 17, nodes, weights, inputs, outputs }
    }

    /// x[batch, 4] -> MatMul, Add, Relu -> h3[batch, 2].
    pub fn perceptron() -> Sample {
        Sample::new(
            vec![port("x", FLOAT, &["batch_size", "4"])],
            vec![port("h3", FLOAT, &["batch_size", "2"])],
            vec![node("MatMul", &["x", "w"], "h1"), node("Add", &["h1", "b"], "h2"), node("Relu", &["h2"], "h3")],
            vec![weights("w", &[4, 2]), weights("b", &[2])],
        )
    }

    /// A decoder with a key-value cache, as exporters name its ports.
    pub fn decoder(layers: usize) -> Sample {
        let mut inputs = vec![
            port("input_ids", INT64, &["batch_size", "sequence_length"]),
            port("attention_mask", INT64, &["batch_size", "past_sequence_length + sequence_length"]),
            port("position_ids", INT64, &["batch_size", "sequence_length"]),
        ];
        let mut outputs = vec![port("logits", FLOAT, &["batch_size", "sequence_length", "100"])];
        let mut nodes = vec![
            node("Gather", &["wte", "input_ids"], "e"),
            node("Gather", &["wpe", "position_ids"], "p"),
            node("Cast", &["attention_mask"], "m"),
            node("Softmax", &["e"], "logits"),
        ];
        for layer in 0..layers {
            for what in ["key", "value"] {
                let (from, to) = (format!("past_key_values.{layer}.{what}"), format!("present.{layer}.{what}"));
                inputs.push(port(&from, FLOAT, &["batch_size", "2", "past_sequence_length", "4"]));
                outputs.push(port(&to, FLOAT, &["batch_size", "2", "past_sequence_length + sequence_length", "4"]));
                nodes.push(node("Concat", &[&from, "e"], &to));
            }
        }
        Sample::new(inputs, outputs, nodes, vec![weights("wte", &[100, 8]), weights("wpe", &[64, 8])])
    }

    /// Looks token ids up in a table, and adds positions.
    pub fn encoder() -> Sample {
        Sample::new(
            vec![
                port("input_ids", INT64, &["batch_size", "sequence_length"]),
                port("attention_mask", INT64, &["batch_size", "sequence_length"]),
                port("token_type_ids", INT64, &["batch_size", "sequence_length"]),
            ],
            vec![port("last_hidden_state", FLOAT, &["batch_size", "sequence_length", "8"])],
            vec![
                node("Gather", &["words", "input_ids"], "a"),
                node("Gather", &["types", "token_type_ids"], "b"),
                node("Add", &["a", "b"], "c"),
                node("Cast", &["attention_mask"], "m"),
                node("MatMul", &["c", "m"], "s"),
                node("Softmax", &["s"], "last_hidden_state"),
            ],
            vec![weights("words", &[120, 8]), weights("types", &[2, 8])],
        )
    }

    /// A convolution over an image of any size.
    pub fn vision() -> Sample {
        Sample::new(
            vec![port("pixel_values", FLOAT, &["batch_size", "num_channels", "height", "width"])],
            vec![port("logits", FLOAT, &["batch_size", "10"])],
            vec![node("Conv", &["pixel_values", "k"], "c"), node("GlobalAveragePool", &["c"], "logits")],
            vec![weights("k", &[8, 3, 4, 4])],
        )
    }

    pub fn opset(mut self, opset: i64) -> Sample {
        self.opset = opset;
        self
    }

    /// All weights in one file beside the model.
    pub fn external(mut self, file: &str) -> Sample {
        let mut start = 0;
        for tensor in &mut self.weights {
            let count: i64 = tensor.dims.iter().product();
            let end = start + count as u64 * 4;
            *tensor = Tensor::in_file(&tensor.name, FLOAT, &tensor.dims, file, start..end);
            start = end;
        }
        self
    }

    pub fn bytes(&self) -> Vec<u8> {
        let graph = Graph {
            node: self.nodes.clone(),
            name: "sample".into(),
            initializer: self.weights.clone(),
            input: self.inputs.clone(),
            output: self.outputs.clone(),
        };
        Model::new("samples", self.opset, graph).encode_to_vec()
    }

    /// The model, and its external data.
    pub fn write(&self, folder: &Path, name: &str) -> PathBuf {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, self.bytes()).unwrap();
        for tensor in &self.weights {
            let entry = |key: &str| tensor.external_data.iter().find(|e| e.key == key).map(|e| e.value.clone());
            if let Some(location) = entry("location") {
                let file = path.with_file_name(location);
                let end: u64 =
                    entry("offset").unwrap().parse::<u64>().unwrap() + entry("length").unwrap().parse::<u64>().unwrap();
                let data = std::fs::OpenOptions::new().create(true).append(true).open(&file).unwrap();
                if data.metadata().unwrap().len() < end {
                    data.set_len(end).unwrap();
                }
            }
        }
        path
    }
}
