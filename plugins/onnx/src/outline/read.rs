//! Reads the structure of a file, field by field. Whatever the file says, it takes no more memory than the limits here.

use super::values::Small;
use super::{
    Attribute, External, Function, OperatorSet, Outline, OutlinedGraph, OutlinedNode, OutlinedTensor, Version,
};
use crate::Broken;
use crate::messages::*;
use crate::walk::{Value, Walk};
use std::collections::BTreeMap;
use std::io::{BufRead, Seek};

/// How deep graphs stand within graphs; more is no model that anybody wrote.
const DEEPEST: usize = 32;
/// Nodes, tensors, ports and dimensions of a file; more is no model that anybody wrote.
const MOST: u64 = 1 << 22;
/// Bytes of a name, or of a port's type; more is no model that anybody wrote.
const LONGEST: u64 = 1 << 20;
/// Bytes of all names, types and small tensors of a file.
const MOST_TEXT: u64 = 1 << 28;
/// Bytes of an attribute's text that is kept.
const SETTING: u64 = 1 << 12;

pub(super) struct Reader<R> {
    pub walk: Walk<R>,
    /// Nodes and the like, and bytes of names.
    seen: u64,
    text: u64,
}

pub(super) fn outline<R: BufRead + Seek>(walk: Walk<R>) -> Result<Outline, Broken> {
    let mut reader = Reader { walk, seen: 0, text: 0 };
    let mut found = Outline::default();
    let mut graph = None;
    let end = reader.walk.length();
    reader.fields(end, |reader, number, value| {
        match (number, value) {
            (MODEL_FORMAT, Value::Number(value)) => found.format = Some(reader.version(value)),
            (MODEL_PRODUCER, Value::Bytes(end)) => found.producer = reader.text(end)?,
            (MODEL_GRAPH, Value::Bytes(end)) => graph = Some(reader.graph(end, 0)?),
            (MODEL_OPERATORS, Value::Bytes(end)) => found.opsets.push(reader.operators(end)?),
            (MODEL_FUNCTION, Value::Bytes(end)) => found.functions.push(reader.function(end)?),
            _ => {}
        }
        Ok(())
    })?;
    found.graph = graph.ok_or_else(|| Broken::text("it holds no graph".into()))?;
    Ok(found)
}

impl<R: BufRead + Seek> Reader<R> {
    fn fields(
        &mut self,
        end: u64,
        mut look: impl FnMut(&mut Self, u64, Value) -> Result<(), Broken>,
    ) -> Result<(), Broken> {
        while let Some((number, value, after)) = self.walk.next(end)? {
            look(self, number, value)?;
            self.walk.skip_to(after)?;
        }
        Ok(())
    }

    /// A number that was just read.
    fn version(&self, value: u64) -> Version {
        Version { value: value as i64, end: self.walk.place() }
    }

    fn text(&mut self, end: u64) -> Result<String, Broken> {
        self.short(end)?;
        self.walk.text(end)
    }

    /// Refuses what is too long to be kept.
    pub fn short(&mut self, end: u64) -> Result<(), Broken> {
        let length = end.saturating_sub(self.walk.place());
        self.text += length;
        match length {
            _ if self.text > MOST_TEXT => Err(Broken::text(format!("it has more than {MOST_TEXT} bytes of names"))),
            0..=LONGEST => Ok(()),
            _ => Err(Broken::text(format!("a name or type of {length} bytes"))),
        }
    }

    pub fn count(&mut self) -> Result<(), Broken> {
        self.count_all(1)
    }

    fn count_all(&mut self, more: usize) -> Result<(), Broken> {
        self.seen += more as u64;
        match self.seen <= MOST {
            true => Ok(()),
            false => Err(Broken::text(format!("it has more than {MOST} nodes, tensors, ports and dimensions"))),
        }
    }

    fn operators(&mut self, end: u64) -> Result<OperatorSet, Broken> {
        let mut set = OperatorSet::default();
        self.count()?;
        self.fields(end, |reader, number, value| {
            match (number, value) {
                (OPERATORS_DOMAIN, Value::Bytes(end)) => set.domain = standard(reader.text(end)?),
                (OPERATORS_VERSION, Value::Number(value)) => set.version = reader.version(value),
                _ => {}
            }
            Ok(())
        })?;
        Ok(set)
    }

    fn function(&mut self, end: u64) -> Result<Function, Broken> {
        let mut function = Function::default();
        self.count()?;
        self.fields(end, |reader, number, value| {
            let Value::Bytes(end) = value else { return Ok(()) };
            match number {
                FUNCTION_NAME => function.name = reader.text(end)?,
                FUNCTION_NODE => function.nodes.push(reader.node(end, 0)?),
                FUNCTION_OPERATORS => function.opsets.push(reader.operators(end)?),
                FUNCTION_DOMAIN => function.domain = reader.text(end)?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(function)
    }

    fn graph(&mut self, end: u64, depth: usize) -> Result<OutlinedGraph, Broken> {
        if depth > DEEPEST {
            return Err(Broken::text(format!("graphs stand within graphs more than {DEEPEST} deep")));
        }
        let mut graph = OutlinedGraph::default();
        self.fields(end, |reader, number, value| {
            let Value::Bytes(end) = value else { return Ok(()) };
            match number {
                GRAPH_NAME => graph.name = reader.text(end)?,
                GRAPH_NODE => graph.nodes.push(reader.node(end, depth)?),
                GRAPH_INITIALIZER => graph.weights.push(reader.tensor(end)?),
                GRAPH_SPARSE => graph.weights.push(reader.sparse(end)?),
                GRAPH_INPUT => graph.inputs.push(reader.port(end)?),
                GRAPH_OUTPUT => graph.outputs.push(reader.port(end)?),
                _ => {}
            }
            Ok(())
        })?;
        Ok(graph)
    }

    fn port(&mut self, end: u64) -> Result<ValueInfo, Broken> {
        self.count()?;
        self.short(end)?;
        let port = ValueInfo::decode(&self.walk.bytes(end)?[..]).map_err(|error| Broken::text(error.to_string()))?;
        self.count_all(port.dims().map_or(0, <[_]>::len))?;
        Ok(port)
    }

    fn node(&mut self, end: u64, depth: usize) -> Result<OutlinedNode, Broken> {
        let mut node = OutlinedNode::default();
        self.count()?;
        self.fields(end, |reader, number, value| {
            let Value::Bytes(end) = value else { return Ok(()) };
            match number {
                NODE_INPUT => {
                    reader.count()?;
                    node.inputs.push(reader.text(end)?);
                }
                NODE_OUTPUT => {
                    reader.count()?;
                    node.outputs.push(reader.text(end)?);
                }
                NODE_NAME => node.name = reader.text(end)?,
                NODE_OPERATOR => node.operator = reader.text(end)?,
                NODE_DOMAIN => node.domain = standard(reader.text(end)?),
                NODE_ATTRIBUTE => reader.attribute(end, depth, &mut node)?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(node)
    }

    fn attribute(&mut self, end: u64, depth: usize, node: &mut OutlinedNode) -> Result<(), Broken> {
        let (mut name, mut kind) = (String::new(), 0);
        let (mut one, mut text, mut all) = (0, String::new(), vec![]);
        self.fields(end, |reader, number, value| {
            match (number, value) {
                (ATTRIBUTE_NAME, Value::Bytes(end)) => name = reader.text(end)?,
                (ATTRIBUTE_KIND, Value::Number(value)) => kind = value,
                (ATTRIBUTE_NUMBER, Value::Number(value)) => one = value as i64,
                // Some hold whole programs; those are nobody's setting.
                (ATTRIBUTE_TEXT, Value::Bytes(end)) if end - reader.walk.place() <= SETTING => {
                    reader.short(end)?;
                    text = String::from_utf8(reader.walk.bytes(end)?).unwrap_or_default();
                }
                (ATTRIBUTE_NUMBERS, Value::Number(value)) => {
                    reader.count()?;
                    all.push(value as i64);
                }
                (ATTRIBUTE_NUMBERS, Value::Bytes(end)) => {
                    while !reader.walk.is_at(end) {
                        reader.count()?;
                        all.push(reader.walk.number(end)? as i64);
                    }
                }
                (ATTRIBUTE_TENSOR | ATTRIBUTE_TENSORS, Value::Bytes(end)) => node.tensors.push(reader.tensor(end)?),
                (ATTRIBUTE_GRAPH | ATTRIBUTE_GRAPHS, Value::Bytes(end)) => {
                    node.graphs.push(reader.graph(end, depth + 1)?)
                }
                _ => {}
            }
            Ok(())
        })?;
        let attribute = match i32::try_from(kind).unwrap_or_default() {
            ATTRIBUTE_INT => Attribute::Number(one),
            ATTRIBUTE_INTS => Attribute::Numbers(all),
            ATTRIBUTE_IS_TEXT => Attribute::Text(text),
            _ => return Ok(()),
        };
        node.attributes.insert(name, attribute);
        Ok(())
    }

    fn sparse(&mut self, end: u64) -> Result<OutlinedTensor, Broken> {
        let mut tensor = OutlinedTensor::default();
        self.fields(end, |reader, number, value| {
            if let (SPARSE_VALUES, Value::Bytes(end)) = (number, value) {
                tensor = reader.tensor(end)?;
            }
            Ok(())
        })?;
        tensor.sparse = true;
        Ok(tensor)
    }

    fn tensor(&mut self, end: u64) -> Result<OutlinedTensor, Broken> {
        let mut tensor = OutlinedTensor::default();
        let (mut external, mut entries, mut small) = (false, BTreeMap::new(), Small::default());
        self.count()?;
        self.fields(end, |reader, number, value| {
            match (number, value) {
                (TENSOR_DIMS, Value::Number(size)) => {
                    reader.count()?;
                    tensor.dims.push(size as i64);
                }
                (TENSOR_DIMS, Value::Bytes(end)) => {
                    while !reader.walk.is_at(end) {
                        reader.count()?;
                        tensor.dims.push(reader.walk.number(end)? as i64);
                    }
                }
                (TENSOR_TYPE, Value::Number(element)) => tensor.element = i32::try_from(element).unwrap_or_default(),
                (TENSOR_NAME, Value::Bytes(end)) => tensor.name = reader.text(end)?,
                (TENSOR_RAW, Value::Bytes(end)) => {
                    tensor.inside += end - reader.walk.place();
                    tensor.raw = true;
                    small.raw(reader, end)?;
                }
                // The elements one by one, or packed, each in a field of its own type.
                (4 | 5 | 6 | 7 | 10 | 11, Value::Bytes(end)) => {
                    tensor.inside += end - reader.walk.place();
                    small.packed(reader, number, end)?;
                }
                (4 | 5 | 6 | 7 | 10 | 11, value) => {
                    tensor.inside += 1;
                    small.single(number, value);
                }
                (TENSOR_ELSEWHERE, Value::Bytes(end)) => {
                    reader.count()?;
                    reader.short(end)?;
                    let entry = Entry::decode(&reader.walk.bytes(end)?[..]);
                    let entry = entry.map_err(|error| Broken::text(error.to_string()))?;
                    entries.insert(entry.key, entry.value);
                }
                (TENSOR_LOCATION, Value::Number(location)) => external = location == EXTERNAL as u64,
                _ => {}
            }
            Ok(())
        })?;
        if external {
            let location = entries.remove("location").unwrap_or_default();
            let (offset, length) = (entries.remove("offset"), entries.remove("length"));
            tensor.external = Some(External { location, offset, length });
        } else {
            tensor.small = small.bytes(tensor.element);
        }
        Ok(tensor)
    }
}

/// The standard domain has two names.
fn standard(domain: String) -> String {
    if domain == "ai.onnx" { String::new() } else { domain }
}
