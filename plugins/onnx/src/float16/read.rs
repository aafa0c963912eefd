//! The graph, as far as its conversion needs it.

use super::operators;
use crate::messages::*;
use crate::{Broken, messages_of, numbers_of};
use std::collections::HashMap;

pub(super) struct Graph<'m> {
    pub nodes: Vec<Node<'m>>,
    pub weights: Vec<Weight<'m>>,
    pub inputs: Vec<&'m str>,
    pub outputs: Vec<&'m str>,
    /// The element type of every value, as far as it is known.
    types: HashMap<&'m str, i32>,
}

pub(super) struct Node<'m> {
    pub bytes: &'m [u8],
    pub operator: &'m str,
    /// "" where an optional one is left out.
    pub inputs: Vec<&'m str>,
    pub outputs: Vec<&'m str>,
}

pub(super) struct Weight<'m> {
    pub name: &'m str,
    pub element: i32,
    pub count: u64,
    /// Whether its data is in another file.
    pub external: bool,
}

/// Whether a domain is the one of the standard operators.
pub(super) fn is_standard(domain: &[u8]) -> bool {
    matches!(domain, b"" | b"ai.onnx")
}

fn text(bytes: &[u8]) -> Result<&str, Broken> {
    std::str::from_utf8(bytes).map_err(|_| Broken::text("a name in the graph is no text".into()))
}

fn first(message: &[u8], number: u64) -> Result<&str, Broken> {
    text(messages_of(message, number).next().unwrap_or_default())
}

fn number(message: &[u8], number: u64) -> Option<i32> {
    numbers_of(message, number).next().and_then(|value| i32::try_from(value).ok())
}

/// The element type of a tensor.
pub(super) fn element(tensor: &[u8]) -> i32 {
    number(tensor, TENSOR_TYPE).unwrap_or_default()
}

impl<'m> Node<'m> {
    fn read(bytes: &'m [u8]) -> Result<Node<'m>, Broken> {
        let texts = |number| messages_of(bytes, number).map(text).collect::<Result<Vec<_>, _>>();
        let (inputs, outputs) = (texts(NODE_INPUT)?, texts(NODE_OUTPUT)?);
        Ok(Node { bytes, operator: first(bytes, NODE_OPERATOR)?, inputs, outputs })
    }

    pub fn attribute(&self, name: &str) -> Option<&'m [u8]> {
        let named = |attribute: &&[u8]| messages_of(attribute, ATTRIBUTE_NAME).next() == Some(name.as_bytes());
        messages_of(self.bytes, NODE_ATTRIBUTE).find(named)
    }

    /// An attribute that is a whole number.
    pub fn number(&self, name: &str) -> Option<i32> {
        number(self.attribute(name)?, ATTRIBUTE_NUMBER)
    }

    /// An attribute that is a tensor.
    pub fn tensor(&self, name: &str) -> Option<&'m [u8]> {
        messages_of(self.attribute(name)?, ATTRIBUTE_TENSOR).next()
    }
}

impl<'m> Weight<'m> {
    fn read(tensor: &'m [u8]) -> Result<Weight<'m>, Broken> {
        Ok(Weight {
            name: first(tensor, TENSOR_NAME)?,
            element: element(tensor),
            count: numbers_of(tensor, TENSOR_DIMS).fold(1, u64::saturating_mul),
            external: number(tensor, TENSOR_LOCATION) == Some(EXTERNAL),
        })
    }
}

impl<'m> Graph<'m> {
    /// # Errors
    /// What is no text or no port.
    pub fn read(graph: &'m [u8]) -> Result<Graph<'m>, Broken> {
        let weights = messages_of(graph, GRAPH_INITIALIZER).map(Weight::read).collect::<Result<Vec<_>, _>>()?;
        let (mut inputs, mut outputs, mut declared) = (vec![], vec![], HashMap::new());
        for (list, of) in [(GRAPH_INPUT, 0), (GRAPH_OUTPUT, 1), (GRAPH_VALUE_INFO, 2)] {
            for bytes in messages_of(graph, list) {
                let name = first(bytes, VALUE_NAME)?;
                let value = ValueInfo::decode(bytes).map_err(|error| Broken::text(error.to_string()))?;
                match of {
                    0 => inputs.push(name),
                    1 => outputs.push(name),
                    _ => {}
                }
                declared.extend(value.element().map(|element| (name, element)));
            }
        }
        let nodes = messages_of(graph, GRAPH_NODE).map(Node::read).collect::<Result<Vec<_>, _>>()?;
        let mut types: HashMap<&str, i32> = declared.clone();
        types.extend(weights.iter().map(|weight| (weight.name, weight.element)));
        for node in &nodes {
            // An optional output that is left out has no name, and is no value.
            let known = |name: &&str| name.is_empty() || declared.contains_key(*name);
            for (index, name) in node.outputs.iter().enumerate().filter(|(_, name)| !known(name)) {
                let of = |input: usize| node.inputs.get(input).and_then(|name| types.get(name)).copied();
                if let Some(element) = operators::element(node, index, of) {
                    types.insert(name, element);
                }
            }
        }
        Ok(Graph { nodes, weights, inputs, outputs, types })
    }

    /// Whether a value is in float32.
    pub fn is_single(&self, name: &str) -> bool {
        !name.is_empty() && self.types.get(name) == Some(&FLOAT)
    }

    /// Those inputs of a node that are in float32, with their places.
    pub fn singles<'g>(&'g self, node: &'g Node<'m>) -> impl Iterator<Item = (usize, &'m str)> + 'g {
        node.inputs.iter().copied().enumerate().filter(|(_, name)| self.is_single(name))
    }
}
