//! A minimal reader of ONNX files: as much of them as an engine needs to see which graph it is asked to run.
//!
//! It reads any ONNX file and judges none: what the engine can do with a graph is for `net` to say. The field numbers are
//! those of `onnx.proto`.

use crate::protobuf::{Message, broken};
use skillbench_plugin_api::Result;

/// The one element type that has a name here (`TensorProto.DataType`).
pub const FLOAT: i64 = 1;

/// A graph, borrowed from the bytes of its file.
#[derive(Default)]
pub struct Graph<'f> {
    pub nodes: Vec<Node<'f>>,
    pub weights: Vec<Weight<'f>>,
    /// Without those that are weights.
    pub inputs: Vec<Value<'f>>,
    pub outputs: Vec<Value<'f>>,
}

#[derive(Default)]
pub struct Node<'f> {
    pub op: &'f str,
    pub domain: &'f str,
    pub name: &'f str,
    /// `""` is an optional one that is left out.
    pub inputs: Vec<&'f str>,
    pub outputs: Vec<&'f str>,
    pub attributes: Vec<Attribute<'f>>,
}

#[derive(Default)]
pub struct Attribute<'f> {
    pub name: &'f str,
    pub float: f32,
    pub int: i64,
}

/// An initializer.
#[derive(Default)]
pub struct Weight<'f> {
    pub name: &'f str,
    pub dtype: i64,
    pub dims: Vec<i64>,
    pub raw: Option<&'f [u8]>,
    pub external: External<'f>,
}

/// Where data lies outside of the model's file; the location is empty where it does not.
#[derive(Default)]
pub struct External<'f> {
    pub location: &'f str,
    pub offset: u64,
    pub length: Option<u64>,
}

/// An input or an output of the graph.
#[derive(Default)]
pub struct Value<'f> {
    pub name: &'f str,
    pub dtype: i64,
    /// `None` where the rank is not told.
    pub dims: Option<Vec<Dim<'f>>>,
}

#[derive(Default)]
pub struct Dim<'f> {
    /// `None` is dynamic.
    pub value: Option<usize>,
    pub name: Option<&'f str>,
}

impl Node<'_> {
    pub fn attribute(&self, name: &str) -> Option<&Attribute<'_>> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }
}

pub fn parse(file: &[u8]) -> Result<Graph<'_>> {
    let mut found = None;
    for field in Message(file) {
        let field = field?;
        if field.number == 7 {
            found = Some(field.message()?);
        }
    }
    graph(found.ok_or_else(broken)?)
}

fn graph(message: Message<'_>) -> Result<Graph<'_>> {
    let mut graph = Graph::default();
    for field in message {
        let field = field?;
        match field.number {
            1 => graph.nodes.push(node(field.message()?)?),
            5 => graph.weights.push(weight(field.message()?)?),
            11 => graph.inputs.push(value(field.message()?)?),
            12 => graph.outputs.push(value(field.message()?)?),
            _ => {}
        }
    }
    // Files before IR version 4 list every weight among the inputs too.
    let Graph { inputs, weights, .. } = &mut graph;
    inputs.retain(|input| !weights.iter().any(|weight| weight.name == input.name));
    Ok(graph)
}

fn node(message: Message<'_>) -> Result<Node<'_>> {
    let mut node = Node::default();
    for field in message {
        let field = field?;
        match field.number {
            1 => node.inputs.push(field.text()?),
            2 => node.outputs.push(field.text()?),
            3 => node.name = field.text()?,
            4 => node.op = field.text()?,
            5 => node.attributes.push(attribute(field.message()?)?),
            7 => node.domain = field.text()?,
            _ => {}
        }
    }
    Ok(node)
}

fn attribute(message: Message<'_>) -> Result<Attribute<'_>> {
    let mut attribute = Attribute::default();
    for field in message {
        let field = field?;
        match field.number {
            1 => attribute.name = field.text()?,
            2 => attribute.float = field.float()?,
            3 => attribute.int = field.number()?,
            _ => {}
        }
    }
    Ok(attribute)
}

fn weight(message: Message<'_>) -> Result<Weight<'_>> {
    let mut weight = Weight::default();
    for field in message {
        let field = field?;
        match field.number {
            1 => weight.dims.extend(field.numbers()?),
            2 => weight.dtype = field.number()?,
            8 => weight.name = field.text()?,
            9 => weight.raw = Some(field.bytes()?),
            13 => external(field.message()?, &mut weight.external)?,
            _ => {}
        }
    }
    Ok(weight)
}

/// One entry of `external_data`; its values are text.
fn external<'f>(message: Message<'f>, into: &mut External<'f>) -> Result<()> {
    let (mut key, mut value) = ("", "");
    for field in message {
        let field = field?;
        match field.number {
            1 => key = field.text()?,
            2 => value = field.text()?,
            _ => {}
        }
    }
    match key {
        "location" => into.location = value,
        "offset" => into.offset = value.parse().map_err(|_| broken())?,
        "length" => into.length = Some(value.parse().map_err(|_| broken())?),
        _ => {}
    }
    Ok(())
}

/// `ValueInfoProto` holds `TypeProto` holds `TypeProto.Tensor`, which holds the type and the shape.
fn value(message: Message<'_>) -> Result<Value<'_>> {
    let mut value = Value::default();
    for field in message {
        let field = field?;
        match field.number {
            1 => value.name = field.text()?,
            2 => {
                for tensor in field.message()?.filter(|kind| kind.as_ref().is_ok_and(|kind| kind.number == 1)) {
                    tensor_type(tensor?.message()?, &mut value)?;
                }
            }
            _ => {}
        }
    }
    Ok(value)
}

fn tensor_type<'f>(message: Message<'f>, into: &mut Value<'f>) -> Result<()> {
    for field in message {
        let field = field?;
        match field.number {
            1 => into.dtype = field.number()?,
            2 => into.dims = Some(field.message()?.map(|dim| dimension(dim?.message()?)).collect::<Result<_>>()?),
            _ => {}
        }
    }
    Ok(())
}

fn dimension(message: Message<'_>) -> Result<Dim<'_>> {
    let mut dim = Dim::default();
    for field in message {
        let field = field?;
        match field.number {
            1 => dim.value = usize::try_from(field.number()?).ok(),
            2 => dim.name = Some(field.text()?).filter(|name| !name.is_empty()),
            _ => {}
        }
    }
    Ok(dim)
}
