//! Models: the probe with its answers, and ONNX files written by hand.

use crate::compile::repository;
use std::path::PathBuf;

pub fn probe() -> PathBuf {
    repository().join("host/worker/data/probe.onnx")
}

/// A tensor of `probe.json`.
pub struct Example {
    pub shape: Vec<usize>,
    pub data: Vec<f32>,
}

/// The probe's example: its input x and its output y.
pub fn example() -> (Example, Example) {
    let text = std::fs::read_to_string(repository().join("host/worker/data/probe.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let tensor = |value: &serde_json::Value| {
        let numbers =
            |key: &str| value[key].as_array().unwrap().iter().map(|n| n.as_f64().unwrap()).collect::<Vec<_>>();
        Example {
            shape: numbers("shape").into_iter().map(|n| n as usize).collect(),
            data: numbers("data").into_iter().map(|n| n as f32).collect(),
        }
    };
    (tensor(&json["inputs"]["x"]), tensor(&json["outputs"]["y"]))
}

/// The largest difference between two outputs.
pub fn distance(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, |worst, next| if next > worst || next.is_nan() { next } else { worst })
}

/// A message of protobuf that is being written.
#[derive(Default)]
pub struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    pub fn number(mut self, field: u64, number: i64) -> Message {
        self.varint(field << 3);
        self.varint(number as u64);
        self
    }

    pub fn bytes(mut self, field: u64, bytes: &[u8]) -> Message {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    fn text(self, field: u64, text: &str) -> Message {
        self.bytes(field, text.as_bytes())
    }

    fn message(self, field: u64, message: Message) -> Message {
        self.bytes(field, &message.0)
    }
}

/// A float32 graph with one input and one output of rank 2.
#[derive(Default)]
pub struct Graph(Message);

impl Graph {
    fn port(name: &str, dims: &[Option<i64>]) -> Message {
        let shape = dims.iter().fold(Message::default(), |shape, dim| match dim {
            Some(dim) => shape.message(1, Message::default().number(1, *dim)),
            None => shape.message(1, Message::default().text(2, "batch")),
        });
        let tensor = Message::default().number(1, 1).message(2, shape);
        Message::default().text(1, name).message(2, Message::default().message(1, tensor))
    }

    pub fn input(self, name: &str, dims: &[Option<i64>]) -> Graph {
        Graph(self.0.message(11, Graph::port(name, dims)))
    }

    pub fn output(self, name: &str, dims: &[Option<i64>]) -> Graph {
        Graph(self.0.message(12, Graph::port(name, dims)))
    }

    pub fn node(self, op: &str, inputs: &[&str], output: &str, attributes: &[(&str, i64)]) -> Graph {
        let node = inputs.iter().fold(Message::default(), |node, input| node.text(1, input));
        let node = node.text(2, output).text(3, "the-node").text(4, op);
        let node = attributes.iter().fold(node, |node, (name, value)| {
            node.message(5, Message::default().text(1, name).number(3, *value).number(20, 2))
        });
        Graph(self.0.message(1, node))
    }

    pub fn weight(self, name: &str, dims: &[i64], data: &[f32]) -> Graph {
        let raw: Vec<u8> = data.iter().flat_map(|value| value.to_le_bytes()).collect();
        let tensor = dims.iter().fold(Message::default(), |tensor, dim| tensor.number(1, *dim));
        Graph(self.0.message(5, tensor.number(2, 1).text(8, name).bytes(9, &raw)))
    }

    /// A weight whose data lies in another file.
    pub fn external(self, name: &str, dims: &[i64], entries: &[(&str, &str)]) -> Graph {
        let tensor = dims.iter().fold(Message::default(), |tensor, dim| tensor.number(1, *dim));
        let tensor = tensor.number(2, 1).text(8, name).number(14, 1);
        let tensor = entries
            .iter()
            .fold(tensor, |tensor, (key, value)| tensor.message(13, Message::default().text(1, key).text(2, value)));
        Graph(self.0.message(5, tensor))
    }

    /// The bytes of the file.
    pub fn file(self) -> Vec<u8> {
        let opset = Message::default().text(1, "").number(2, 17);
        Message::default().number(1, 8).message(7, self.0).message(8, opset).0
    }
}
