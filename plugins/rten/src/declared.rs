//! What an ONNX file says of itself and rten does not pass on: the declared types of its ports (rten widens and narrows
//! them to those it computes in), the names of its external files, its operators.
//!
//! The messages are decoded with rten's own reader, and no further than needed: weights are skipped, not copied.

use rten_onnx::onnx::{DataType, Dimension, StringStringEntryProto, ValueInfoProto};
use rten_onnx::protobuf::{DecodeMessage, Fields, OwnedValues, ProtobufError, ReadValue, ValueReader};
use skillbench_plugin_api::{Error, Result};
use std::collections::BTreeSet;
use std::path::Path;

type Decoded<T> = std::result::Result<T, ProtobufError>;

/// The parts of a graph that matter here; those of its subgraphs (the branches of an `If`) are counted in.
#[derive(Default)]
pub(crate) struct Declared {
    pub inputs: Vec<ValueInfoProto>,
    pub outputs: Vec<ValueInfoProto>,
    pub files: BTreeSet<String>,
    operators: BTreeSet<String>,
}

impl Declared {
    /// # Errors
    /// `InvalidArgument` for bytes that are not an ONNX model.
    pub fn parse(graph: &[u8], path: &Path) -> Result<Declared> {
        let broken = |reason: &str| {
            Error::invalid(format!("{} is not a whole ONNX model ({reason}): copy or export it again", path.display()))
        };
        let model = Model::decode(ValueReader::from_buf(graph)).map_err(|error| broken(&error.to_string()))?;
        model.0.ok_or_else(|| broken("it holds no graph"))
    }

    /// What the arithmetic is done in: int8 where the graph multiplies integers, else float32, into which rten turns
    /// every other float.
    pub fn precision(&self) -> &'static str {
        let multiplies_integers =
            |name: &String| name.starts_with("QLinear") || matches!(name.as_str(), "MatMulInteger" | "ConvInteger");
        if self.operators.iter().any(multiplies_integers) { "int8" } else { "float32" }
    }

    /// The type the file gives a port; `None` where it does not say.
    pub fn data_type(port: &ValueInfoProto) -> Option<DataType> {
        port.r#type.as_ref()?.tensor_type.as_ref()?.elem_type
    }

    /// The shape the file gives a port; `None` where it does not say.
    pub fn shape(port: &ValueInfoProto) -> Option<Shape> {
        let shape = port.r#type.as_ref()?.tensor_type.as_ref()?.shape.as_ref()?;
        let size = |dim: &Dimension| dim.dim_value.and_then(|size| usize::try_from(size).ok());
        let name = |dim: &Dimension| dim.dim_param.clone().filter(|name| !name.is_empty());
        Some(Shape { sizes: shape.dim.iter().map(size).collect(), names: shape.dim.iter().map(name).collect() })
    }
}

/// A declared shape: size and name of each dimension, `None` where the file leaves it open.
pub(crate) struct Shape {
    pub sizes: Vec<Option<usize>>,
    pub names: Vec<Option<String>>,
}

/// `ModelProto`: the graph of it.
struct Model(Option<Declared>);

impl DecodeMessage for Model {
    type Types = OwnedValues;

    fn decode_fields<R: ReadValue<Types = OwnedValues>>(mut fields: Fields<R>) -> Decoded<Model> {
        let mut model = Model(None);
        while let Some(mut field) = fields.next()? {
            match field.number() {
                7 => model.0 = Some(Declared::decode_field(&mut field)?),
                _ => field.skip()?,
            }
        }
        Ok(model)
    }
}

/// `GraphProto`.
impl DecodeMessage for Declared {
    type Types = OwnedValues;

    fn decode_fields<R: ReadValue<Types = OwnedValues>>(mut fields: Fields<R>) -> Decoded<Declared> {
        let mut graph = Declared::default();
        while let Some(mut field) = fields.next()? {
            match field.number() {
                1 => graph.absorb(Node::decode_field(&mut field)?.0),
                5 => graph.files.extend(Tensor::decode_field(&mut field)?.0),
                11 => graph.inputs.push(ValueInfoProto::decode_field(&mut field)?),
                12 => graph.outputs.push(ValueInfoProto::decode_field(&mut field)?),
                _ => field.skip()?,
            }
        }
        Ok(graph)
    }
}

impl Declared {
    /// Takes in what a node or a subgraph holds; its ports are its own.
    fn absorb(&mut self, inner: Declared) {
        self.files.extend(inner.files);
        self.operators.extend(inner.operators);
    }
}

/// `NodeProto`: its operator, and the tensors and graphs of its attributes.
struct Node(Declared);

impl DecodeMessage for Node {
    type Types = OwnedValues;

    fn decode_fields<R: ReadValue<Types = OwnedValues>>(mut fields: Fields<R>) -> Decoded<Node> {
        let mut node = Declared::default();
        while let Some(mut field) = fields.next()? {
            match field.number() {
                4 => _ = node.operators.insert(field.read_string()?),
                5 => node.absorb(Attribute::decode_field(&mut field)?.0),
                _ => field.skip()?,
            }
        }
        Ok(Node(node))
    }
}

/// `AttributeProto`.
struct Attribute(Declared);

impl DecodeMessage for Attribute {
    type Types = OwnedValues;

    fn decode_fields<R: ReadValue<Types = OwnedValues>>(mut fields: Fields<R>) -> Decoded<Attribute> {
        let mut attribute = Declared::default();
        while let Some(mut field) = fields.next()? {
            match field.number() {
                5 => attribute.files.extend(Tensor::decode_field(&mut field)?.0),
                6 => attribute.absorb(Declared::decode_field(&mut field)?),
                _ => field.skip()?,
            }
        }
        Ok(Attribute(attribute))
    }
}

/// `TensorProto`: the file its data is in, where that is another one.
struct Tensor(Option<String>);

impl DecodeMessage for Tensor {
    type Types = OwnedValues;

    fn decode_fields<R: ReadValue<Types = OwnedValues>>(mut fields: Fields<R>) -> Decoded<Tensor> {
        let (mut location, mut external) = (None, false);
        while let Some(mut field) = fields.next()? {
            match field.number() {
                13 => {
                    let entry = StringStringEntryProto::decode_field(&mut field)?;
                    if entry.key.as_deref() == Some("location") {
                        location = entry.value;
                    }
                }
                14 => external = field.get_enum()? == rten_onnx::onnx::DataLocation::EXTERNAL.0,
                _ => field.skip()?,
            }
        }
        Ok(Tensor(location.filter(|_| external)))
    }
}
