//! What an ONNX file says of itself and OpenVINO does not pass on: the names of ports' dimensions, the names of its external
//! files, whether it is quantized.
//!
//! The messages are decoded with rten's reader, from the file and no further than needed: weights are skipped, not read.

use crate::errors::broken;
use rten_onnx::onnx::{Dimension, StringStringEntryProto, ValueInfoProto};
use rten_onnx::protobuf::{DecodeMessage, Fields, OwnedValues, ProtobufError, ReadValue, ValueReader};
use skillbench_plugin_api::{Error, Result, Why};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Component, Path};

type Decoded<T> = std::result::Result<T, ProtobufError>;

/// The parts of a graph that matter here; those of its subgraphs (the branches of an `If`) are counted in.
#[derive(Default)]
pub(crate) struct Declared {
    pub inputs: Vec<Shaped>,
    pub outputs: Vec<Shaped>,
    files: BTreeSet<String>,
    operators: BTreeSet<String>,
}

/// A port and its dimensions.
pub(crate) struct Shaped {
    pub name: String,
    dims: Vec<Dimension>,
}

impl Shaped {
    fn new(port: ValueInfoProto) -> Shaped {
        let shape = port.r#type.and_then(|kind| kind.tensor_type).and_then(|tensor| tensor.shape);
        Shaped { name: port.name.unwrap_or_default(), dims: shape.map(|shape| shape.dim).unwrap_or_default() }
    }

    /// The name of each dimension that has one.
    pub fn names(&self) -> Vec<Option<String>> {
        self.dims.iter().map(|dim| dim.dim_param.clone().filter(|name| !name.is_empty())).collect()
    }
}

pub(crate) fn named<'d>(ports: &'d [Shaped], name: &str) -> Option<&'d Shaped> {
    ports.iter().find(|port| port.name == name)
}

impl Declared {
    /// # Errors
    /// `NotFound` for a file that is not there, also for one with weights; `InvalidArgument` for one that is not ONNX.
    pub fn read(path: &Path) -> Result<Declared> {
        let model = Model::decode(ValueReader::from_file(open(path, "the model")?));
        let invalid = |reason: &str| Error::invalid(broken(path.display(), reason)).because(Why::MODEL);
        let declared = model.map_err(|error| invalid(&error.to_string()))?;
        let declared = declared.0.ok_or_else(|| invalid("it holds no graph"))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        for name in &declared.files {
            lies_beside(name, path)?;
            open(&folder.join(name), "the model's weights")?;
        }
        Ok(declared)
    }

    /// Whether operators of it compute with integers in place of floats, or could.
    pub fn is_quantized(&self) -> bool {
        let part = ["QuantizeLinear", "DequantizeLinear", "MatMulInteger", "ConvInteger"];
        self.operators.iter().any(|name| name.starts_with("QLinear") || part.iter().any(|part| name.contains(part)))
    }

    /// Takes in what a node or a subgraph holds; its ports are its own.
    fn absorb(&mut self, inner: Declared) {
        self.files.extend(inner.files);
        self.operators.extend(inner.operators);
    }
}

fn open(path: &Path, what: &str) -> Result<File> {
    let file = File::open(path).and_then(|file| match file.metadata()?.is_dir() {
        true => Err(ErrorKind::IsADirectory.into()),
        false => Ok(file),
    });
    file.map_err(|error| match error.kind() {
        ErrorKind::NotFound => Error::not_found(format!(
            "{what}: there is no {}: check the path, or build the model again",
            path.display()
        )),
        _ => Error::invalid(format!("{what}: {} cannot be read: {error}", path.display())),
    })
}

/// A graph is not trusted to name any file of the machine: what it reads could leave as an output.
fn lies_beside(name: &str, path: &Path) -> Result<()> {
    let mut parts = Path::new(name).components();
    if let (Some(Component::Normal(_)), None) = (parts.next(), parts.next()) {
        return Ok(());
    }
    let path = path.display();
    Err(Error::invalid(format!(
        "{path} keeps weights in '{name}', not beside itself: export it with its weights beside it"
    )))
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
        let mut weights = BTreeSet::new();
        while let Some(mut field) = fields.next()? {
            match field.number() {
                1 => graph.absorb(Node::decode_field(&mut field)?.0),
                5 => {
                    let tensor = Tensor::decode_field(&mut field)?;
                    weights.insert(tensor.name);
                    graph.files.extend(tensor.file);
                }
                11 => graph.inputs.push(Shaped::new(ValueInfoProto::decode_field(&mut field)?)),
                12 => graph.outputs.push(Shaped::new(ValueInfoProto::decode_field(&mut field)?)),
                _ => field.skip()?,
            }
        }
        // Old exports list weights among the inputs.
        graph.inputs.retain(|input| !weights.contains(&input.name));
        Ok(graph)
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
                5 => attribute.files.extend(Tensor::decode_field(&mut field)?.file),
                6 => attribute.absorb(Declared::decode_field(&mut field)?),
                _ => field.skip()?,
            }
        }
        Ok(Attribute(attribute))
    }
}

/// `TensorProto`: its name, and the file its data is in, where that is another one.
struct Tensor {
    name: String,
    file: Option<String>,
}

impl DecodeMessage for Tensor {
    type Types = OwnedValues;

    fn decode_fields<R: ReadValue<Types = OwnedValues>>(mut fields: Fields<R>) -> Decoded<Tensor> {
        let (mut name, mut location, mut external) = (String::new(), None, false);
        while let Some(mut field) = fields.next()? {
            match field.number() {
                8 => name = field.read_string()?,
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
        Ok(Tensor { name, file: location.filter(|_| external) })
    }
}
