//! @NAME@: a skillbench skillset in one file. It has one skill, a perceptron of two layers, and writes its ONNX file byte by byte.
//!
//! A skillset answers two questions: which models there are, as JSON, and where asked for one of them, what its files are. The host keeps
//! what was built, fills the inputs by the rules given here, and runs the model on every backend.

use skillbench_plugin_api::sdk::{Host, Skillset};
use skillbench_plugin_api::{Code, Error, Options, Result, export_plugin};
use std::ffi::{CStr, CString};
use std::path::Path;
use std::sync::LazyLock;

/// The description, which is also skill.json. `content` changes whenever `build` would write something else, since the host keeps by it
/// what it built: other weights under the same content would make old and new results look comparable. Every input says how it is filled:
/// from the run's seed, so that all backends compute the same numbers.
const SKILL: &str = r#"{
  "schema": "skillbench.skill/1",
  "id": "@NAME@-mlp",
  "content": "@NAME@-mlp, first edition",
  "family": "perceptron",
  "architecture": "mlp",
  "category": "example",
  "task": "example",
  "parameters": 808,
  "parameters_read": 808,
  "axes": {"batch": [1, 64]},
  "flops": [{"value": 1536, "axes": {"batch": 1}}],
  "weights": "pseudo-random, in the graph",
  "parts": [{"name": "", "graph": "model.onnx"}],
  "inputs": [{"part": "", "name": "x", "dtype": "f32", "dims": ["batch", 16], "fill": "normal"}]
}
"#;

/// An ONNX file is a protobuf message: a row of fields, each a number and what it holds. Two kinds are enough here: an integer, and bytes,
/// which are a text, numbers, or a message within the message.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut number: u64) {
        while number > 0x7F {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    fn integer(mut self, field: u64, number: u64) -> Message {
        self.varint(field << 3);
        self.varint(number);
        self
    }

    fn bytes(mut self, field: u64, value: impl AsRef<[u8]>) -> Message {
        self.varint(field << 3 | 2);
        self.varint(value.as_ref().len() as u64);
        self.0.extend(value.as_ref());
        self
    }

    fn message(self, field: u64, value: Message) -> Message {
        self.bytes(field, value.0)
    }
}

/// NodeProto: input (1), output (2), op_type (4).
fn node(operator: &str, inputs: &[&str], output: &str) -> Message {
    let node = inputs.iter().fold(Message::default(), |node, input| node.bytes(1, input));
    node.bytes(2, output).bytes(4, operator)
}

/// TensorProto: dims (1), data_type (2) where 1 is float32, name (8), raw_data (9). The numbers come from a generator with a fixed seed, so
/// that every build writes the same file; they are about as large as those of a trained layer, and none is zero or a denormal.
fn weight(name: &str, dims: &[u64], seed: &mut u32) -> Message {
    let tensor = dims.iter().fold(Message::default(), |tensor, dim| tensor.integer(1, *dim));
    let mut raw = vec![];
    for _ in 0..dims.iter().product() {
        *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let number = 0.3 * (((*seed >> 8) as f32 + 0.5) / 8_388_608.0 - 1.0); // between -0.3 and 0.3
        raw.extend(number.to_le_bytes());
    }
    tensor.integer(2, 1).bytes(8, name).bytes(9, raw)
}

/// ValueInfoProto: name (1), type (2); in that tensor_type (1); in that elem_type (1) and shape (2); in that dim (1); in that dim_value (1)
/// or dim_param (2). The batch is named after the axis, so that the host knows which dimension it is.
fn port(name: &str, columns: u64) -> Message {
    let batch = Message::default().bytes(2, "batch");
    let shape = Message::default().message(1, batch).message(1, Message::default().integer(1, columns));
    let kind = Message::default().message(1, Message::default().integer(1, 1).message(2, shape));
    Message::default().bytes(1, name).message(2, kind)
}

/// ModelProto: ir_version (1), producer_name (2), graph (7), opset_import (8). GraphProto: node (1), name (2), initializer (5), input (11),
/// output (12).
fn model() -> Vec<u8> {
    let mut seed = 1;
    let graph = Message::default()
        .message(1, node("MatMul", &["x", "w1"], "a"))
        .message(1, node("Add", &["a", "b1"], "b"))
        .message(1, node("Relu", &["b"], "c"))
        .message(1, node("MatMul", &["c", "w2"], "d"))
        .message(1, node("Add", &["d", "b2"], "y"))
        .bytes(2, "mlp")
        .message(5, weight("w1", &[16, 32], &mut seed))
        .message(5, weight("b1", &[32], &mut seed))
        .message(5, weight("w2", &[32, 8], &mut seed))
        .message(5, weight("b2", &[8], &mut seed))
        .message(11, port("x", 16))
        .message(12, port("y", 8));
    let opset = Message::default().integer(2, 17);
    Message::default().integer(1, 8).bytes(2, "@NAME@").message(7, graph).message(8, opset).0
}

struct Models;

impl Skillset for Models {
    const ID: &'static CStr = c"@NAME@";
    const SUMMARY: &'static CStr = c"A perceptron of two layers";

    /// Asked on any thread. Cheap: nothing is built to describe it.
    fn descriptions() -> &'static [CString] {
        static DESCRIPTIONS: LazyLock<Vec<CString>> = LazyLock::new(|| CString::new(SKILL).into_iter().collect());
        &DESCRIPTIONS
    }

    /// Asked on any thread. Writes into an empty folder, skill.json last. A build that takes long asks `host.stopping()` and tells
    /// `host.phase()` how far it is; this one is done at once.
    fn build(_host: Host, skill: &str, _options: &Options, directory: &Path) -> Result<()> {
        if skill != "@NAME@-mlp" {
            return Err(Error::not_found(format!("there is no skill '{skill}' here, only @NAME@-mlp")));
        }
        for (name, bytes) in [("model.onnx", &model()[..]), ("skill.json", SKILL.as_bytes())] {
            let path = directory.join(name);
            let lost = |error| Error::new(Code::ResourceExhausted, format!("{}: {error}", path.display()));
            std::fs::write(&path, bytes).map_err(lost)?;
        }
        Ok(())
    }
}

export_plugin! {
    id: "@NAME@",
    name: "@NAME@",
    vendor: "",
    skillset: Models,
}
