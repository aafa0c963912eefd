//! What an ONNX file says of itself, as far as it matters before the page reads it: the files beside it, open dimensions,
//! types and operators.

use prost::Message;
use prost::bytes::Bytes;
use skillbench_plugin_api::{Error, Result};
use std::collections::BTreeSet;
use std::path::{Component, Path};

pub(crate) const FLOAT: i32 = 1;
/// float16, double, bfloat16, and the floats of 8 and 4 bits.
const OTHER_FLOATS: [i32; 8] = [10, 11, 16, 17, 18, 19, 20, 23];
const EXTERNAL: i32 = 1;

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ModelProto {
    #[prost(int64, tag = "1")]
    pub ir_version: i64,
    #[prost(message, optional, tag = "7")]
    pub graph: Option<GraphProto>,
    #[prost(message, repeated, tag = "8")]
    pub opset_import: Vec<OperatorSet>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct OperatorSet {
    #[prost(int64, tag = "2")]
    pub version: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct GraphProto {
    #[prost(message, repeated, tag = "1")]
    pub node: Vec<NodeProto>,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(message, repeated, tag = "5")]
    pub initializer: Vec<TensorProto>,
    #[prost(message, repeated, tag = "11")]
    pub input: Vec<ValueInfo>,
    #[prost(message, repeated, tag = "12")]
    pub output: Vec<ValueInfo>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct NodeProto {
    #[prost(string, repeated, tag = "1")]
    pub input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub output: Vec<String>,
    #[prost(string, tag = "4")]
    pub op_type: String,
    #[prost(message, repeated, tag = "5")]
    pub attribute: Vec<Attribute>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Attribute {
    #[prost(message, optional, tag = "5")]
    pub tensor: Option<TensorProto>,
    #[prost(message, optional, tag = "6")]
    pub graph: Option<GraphProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct TensorProto {
    #[prost(int64, repeated, tag = "1")]
    pub dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    pub data_type: i32,
    #[prost(string, tag = "8")]
    pub name: String,
    #[prost(bytes = "bytes", tag = "9")]
    pub raw_data: Bytes,
    #[prost(message, repeated, tag = "13")]
    pub external_data: Vec<Entry>,
    #[prost(int32, tag = "14")]
    pub data_location: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Entry {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(string, tag = "2")]
    pub value: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ValueInfo {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(message, optional, tag = "2")]
    pub kind: Option<TypeProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct TypeProto {
    #[prost(message, optional, tag = "1")]
    pub tensor: Option<TensorType>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct TensorType {
    #[prost(int32, tag = "1")]
    pub elem_type: i32,
    #[prost(message, optional, tag = "2")]
    pub shape: Option<Shape>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Shape {
    #[prost(message, repeated, tag = "1")]
    pub dim: Vec<Dimension>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Dimension {
    #[prost(int64, optional, tag = "1")]
    pub value: Option<i64>,
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
}

/// What is worth knowing of a graph; its subgraphs are counted in.
#[derive(Default)]
pub(crate) struct Graph {
    /// Names of the files that hold its weights.
    pub files: BTreeSet<String>,
    /// Open dimensions of its inputs: the input, and the dimension's name where it has one.
    pub open: Vec<(String, Option<String>)>,
    operators: BTreeSet<String>,
    types: BTreeSet<i32>,
}

impl Graph {
    /// # Errors
    /// `InvalidArgument` for what is no ONNX model, or keeps weights elsewhere than beside itself.
    pub fn parse(bytes: &Bytes, path: &Path) -> Result<Graph> {
        let path = path.display();
        let model = ModelProto::decode(bytes.clone()).map_err(|error| {
            Error::invalid(format!("{path} is not a whole ONNX model ({error}): copy or export it again"))
        })?;
        let proto = model.graph.ok_or_else(|| {
            Error::invalid(format!("{path} is not a whole ONNX model (it holds no graph): copy or export it again"))
        })?;
        let mut graph = Graph::default();
        let constants: BTreeSet<&str> = proto.initializer.iter().map(|tensor| tensor.name.as_str()).collect();
        for input in proto.input.iter().filter(|input| !constants.contains(input.name.as_str())) {
            graph.input(input);
        }
        graph.take(&proto);
        match graph.files.iter().find(|file| !lies_beside(file)) {
            None => Ok(graph),
            Some(file) => Err(Error::invalid(format!(
                "{path} keeps weights in '{file}', not beside itself: export it with its weights beside it"
            ))),
        }
    }

    fn input(&mut self, input: &ValueInfo) {
        let Some(tensor) = input.kind.as_ref().and_then(|kind| kind.tensor.as_ref()) else { return };
        self.types.insert(tensor.elem_type);
        for dim in tensor.shape.iter().flat_map(|shape| &shape.dim) {
            if dim.value.is_none_or(|size| size < 0) {
                self.open.push((input.name.clone(), dim.name.clone().filter(|name| !name.is_empty())));
            }
        }
    }

    fn take(&mut self, graph: &GraphProto) {
        graph.initializer.iter().for_each(|tensor| self.tensor(tensor));
        for node in &graph.node {
            self.operators.insert(node.op_type.clone());
            for attribute in &node.attribute {
                attribute.tensor.iter().for_each(|tensor| self.tensor(tensor));
                attribute.graph.iter().for_each(|inner| self.take(inner));
            }
        }
    }

    fn tensor(&mut self, tensor: &TensorProto) {
        self.types.insert(tensor.data_type);
        if tensor.data_location == EXTERNAL {
            let location = tensor.external_data.iter().find(|entry| entry.key == "location");
            self.files.extend(location.map(|entry| entry.value.clone()));
        }
    }

    /// Whether all arithmetic on numbers with a fraction is written down in float32.
    pub fn says_float32(&self) -> bool {
        let quantized = |name: &String| ["Quant", "QLinear", "Integer", "NBits"].iter().any(|part| name.contains(part));
        self.types.contains(&FLOAT)
            && !OTHER_FLOATS.iter().any(|other| self.types.contains(other))
            && !self.operators.iter().any(quantized)
    }
}

/// A graph is not trusted to name any file of the machine: what it reads could leave as an output.
fn lies_beside(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None))
}
