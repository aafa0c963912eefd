//! The graph with its casts. What is not changed stays byte by byte.

use super::plan::{Form, Plan};
use super::read::{Graph, Node, element};
use super::single::Single;
use super::{NotConverted, numbers};
use crate::fields::{put, put_number, without};
use crate::messages::{Node as Written, *};
use crate::{edit, messages_of, numbers_of};
use std::cell::Cell;
use std::collections::HashSet;

/// # Errors
/// Constants that are not what they say.
pub(super) fn write(
    bytes: &[u8],
    graph: &Graph<'_>,
    single: &[Option<Single>],
    plan: &Plan<'_>,
) -> Result<Vec<u8>, NotConverted> {
    let writer = Writer { plan, limits: Cell::new(false) };
    let mut nodes = graph.nodes.iter().zip(single);
    let mut ports = Some(graph.inputs.iter().copied().chain(graph.weights.iter().map(|weight| weight.name)));
    let bytes = edit(bytes, GRAPH_NODE, |_| {
        let Some((node, why)) = nodes.next() else { return Ok(None) };
        // Before the first node: what is cast is there from the beginning.
        let mut all: Vec<Vec<u8>> = vec![];
        let mut seen = HashSet::new();
        for name in ports.take().into_iter().flatten().filter(|name| seen.insert(*name)) {
            all.extend(writer.casts(name));
        }
        all.extend(match node.operator {
            "Constant" => writer.constant(node)?,
            _ => vec![writer.node(node, *why)?],
        });
        all.extend(node.outputs.iter().flat_map(|name| writer.casts(name)));
        Ok::<_, NotConverted>(Some(all))
    })?;
    let bytes = edit(&bytes, GRAPH_INITIALIZER, |tensor| writer.weight(tensor))?;
    let mut bytes = edit(&bytes, GRAPH_VALUE_INFO, |value| writer.value(value))?;
    if writer.limits.get() {
        for (name, value) in plan.limits.iter().zip([-65504.0_f32, 65504.0]) {
            let tensor = Tensor::of_bytes(name, FLOAT, &[], value.to_le_bytes().into());
            put(&mut bytes, GRAPH_INITIALIZER, &tensor.encode_to_vec());
        }
    }
    Ok(bytes)
}

struct Writer<'p> {
    plan: &'p Plan<'p>,
    /// Whether any node takes the limits.
    limits: Cell<bool>,
}

type Fields = Option<Vec<Vec<u8>>>;

impl Writer<'_> {
    /// The nodes that give a value its other form.
    fn casts(&self, name: &str) -> Vec<Vec<u8>> {
        let Some(cast) = self.plan.cast(name) else { return vec![] };
        let mut nodes = vec![];
        if let Some(limited) = cast.limited {
            let [least, largest] = &self.plan.limits;
            self.limits.set(true);
            nodes.push(Written::new("Clip", &[cast.from, least, largest], limited));
        }
        let to = if cast.form == Form::Half { FLOAT16 } else { FLOAT };
        let from = cast.limited.unwrap_or(cast.from);
        nodes.push(Written::new("Cast", &[from], cast.into).with("to", i64::from(to)));
        nodes.iter().map(Message::encode_to_vec).collect()
    }

    /// A node with its values by the names that they have now, which makes float16 where it made float32.
    fn node(&self, node: &Node<'_>, why: Option<Single>) -> Result<Vec<u8>, NotConverted> {
        let mut inputs = node.inputs.iter().enumerate();
        let changed = edit(node.bytes, NODE_INPUT, |_| {
            let named = inputs.next().and_then(|(index, name)| self.plan.input(node, why, index, name));
            Ok::<_, NotConverted>(named.map(|name| vec![name.into()]))
        })?;
        let mut outputs = node.outputs.iter();
        let changed = edit(&changed, NODE_OUTPUT, |_| {
            let named = outputs.next().and_then(|name| self.plan.output(name));
            Ok::<_, NotConverted>(named.map(|name| vec![name.into()]))
        })?;
        match why {
            Some(_) => Ok(changed),
            None => makes_half(node, changed),
        }
    }

    /// A constant in the forms that are needed.
    fn constant(&self, node: &Node<'_>) -> Result<Vec<Vec<u8>>, NotConverted> {
        let name = node.outputs.first().copied().unwrap_or_default();
        let half = || {
            edit(node.bytes, NODE_ATTRIBUTE, |attribute| {
                Ok::<_, NotConverted>(match messages_of(attribute, ATTRIBUTE_NAME).next() {
                    Some(b"value") => Some(vec![value(attribute)?]),
                    Some(b"value_float") => Some(vec![numbers::attribute("value_float", attribute)?]),
                    Some(b"value_floats") => Some(vec![numbers::attribute("value_floats", attribute)?]),
                    _ => None,
                })
            })
        };
        if self.plan.is_half(name) {
            return Ok(vec![half()?]);
        }
        let mut nodes = vec![node.bytes.to_vec()];
        if let Some(second) = self.plan.second(name) {
            let mut node = without(&half()?, &[NODE_NAME, NODE_OUTPUT])?;
            put(&mut node, NODE_OUTPUT, second.as_bytes());
            put(&mut node, NODE_NAME, format!("Constant of {second}").as_bytes());
            nodes.push(node);
        }
        Ok(nodes)
    }

    fn weight(&self, tensor: &[u8]) -> Result<Fields, NotConverted> {
        let name = messages_of(tensor, TENSOR_NAME).next().unwrap_or_default();
        let name = String::from_utf8_lossy(name);
        Ok(match self.plan.second(&name) {
            _ if self.plan.is_half(&name) => Some(vec![numbers::tensor(tensor)?]),
            Some(second) => Some(vec![tensor.to_vec(), numbers::renamed(&numbers::tensor(tensor)?, second)?]),
            None => None,
        })
    }

    /// What the file says of a value between nodes.
    fn value(&self, value: &[u8]) -> Result<Fields, NotConverted> {
        let name = messages_of(value, VALUE_NAME).next().unwrap_or_default();
        if !self.plan.is_half(&String::from_utf8_lossy(name)) {
            return Ok(None);
        }
        let changed = edit(value, VALUE_TYPE, |of| {
            let of = edit(of, TYPE_TENSOR, |tensor| {
                let mut tensor = without(tensor, &[TENSOR_TYPE_ELEMENT])?;
                put_number(&mut tensor, TENSOR_TYPE_ELEMENT, FLOAT16 as u64);
                Ok::<_, NotConverted>(Some(vec![tensor]))
            })?;
            Ok::<_, NotConverted>(Some(vec![of]))
        })?;
        Ok(Some(vec![changed]))
    }
}

/// An attribute that holds a tensor of float32, with one of float16.
fn value(attribute: &[u8]) -> Result<Vec<u8>, NotConverted> {
    edit(attribute, ATTRIBUTE_TENSOR, |tensor| match element(tensor) {
        FLOAT => Ok(Some(vec![numbers::tensor(tensor)?])),
        _ => Ok(None),
    })
}

/// Changes the attributes that choose float32 as a node's output to float16.
fn makes_half(node: &Node<'_>, bytes: Vec<u8>) -> Result<Vec<u8>, NotConverted> {
    let said = match node.operator {
        "Cast" => "to",
        "RandomNormal" | "RandomUniform" | "RandomNormalLike" | "RandomUniformLike" => "dtype",
        "ConstantOfShape" => "value",
        _ => return Ok(bytes),
    };
    let mut bytes = edit(&bytes, NODE_ATTRIBUTE, |attribute| {
        if messages_of(attribute, ATTRIBUTE_NAME).next() != Some(said.as_bytes()) {
            return Ok(None);
        }
        if said == "value" {
            return Ok(Some(vec![value(attribute)?]));
        }
        if numbers_of(attribute, ATTRIBUTE_NUMBER).next() != Some(FLOAT as u64) {
            return Ok(None);
        }
        let mut attribute = without(attribute, &[ATTRIBUTE_NUMBER])?;
        put_number(&mut attribute, ATTRIBUTE_NUMBER, FLOAT16 as u64);
        Ok::<_, NotConverted>(Some(vec![attribute]))
    })?;
    // Without the attribute these make float32.
    if node.attribute(said).is_none() {
        match node.operator {
            "ConstantOfShape" => put(&mut bytes, NODE_ATTRIBUTE, &numbers::zero()),
            "RandomNormal" | "RandomUniform" => put(&mut bytes, NODE_ATTRIBUTE, &dtype()),
            _ => {}
        }
    }
    Ok(bytes)
}

fn dtype() -> Vec<u8> {
    Attribute { name: "dtype".into(), i: i64::from(FLOAT16), kind: ATTRIBUTE_INT, ..Attribute::default() }
        .encode_to_vec()
}
