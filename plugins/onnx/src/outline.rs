//! The whole structure of a model's file: every node with what it takes and gives, every tensor with where its data is. Names,
//! sizes and places only: the data is skipped, so that a model of any size is read in the memory that its structure needs.

use crate::Broken;
use crate::messages::*;
use crate::walk::{Value, Walk};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Cursor, Read, Seek};

/// How deep graphs stand within graphs; more is no model that anybody wrote.
const DEEPEST: usize = 32;
/// Nodes, tensors, ports and dimensions of a file; more is no model that anybody wrote.
const MOST: u64 = 1 << 22;
/// Bytes of a name, or of a port's type; more is no model that anybody wrote.
const LONGEST: u64 = 1 << 20;
/// Bytes of all names and types of a file.
const MOST_TEXT: u64 = 1 << 28;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outline {
    /// The version of the file format, and where it stands.
    pub format: Option<Version>,
    pub producer: String,
    pub opsets: Vec<OperatorSet>,
    pub graph: OutlinedGraph,
    pub functions: Vec<Function>,
}

/// A number, and the place in the file just after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Version {
    pub value: i64,
    pub end: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperatorSet {
    /// "" for the standard operators.
    pub domain: String,
    pub version: Version,
}

/// A function that the model itself defines; its nodes stand for no graph of their own until somebody calls it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Function {
    pub name: String,
    pub domain: String,
    pub opsets: Vec<OperatorSet>,
    pub nodes: Vec<OutlinedNode>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct OutlinedGraph {
    pub name: String,
    /// As the file lists them; old exports list their weights among them.
    pub inputs: Vec<ValueInfo>,
    pub outputs: Vec<ValueInfo>,
    pub weights: Vec<OutlinedTensor>,
    pub nodes: Vec<OutlinedNode>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct OutlinedNode {
    pub name: String,
    pub operator: String,
    /// "" for the standard operators.
    pub domain: String,
    pub inputs: Vec<String>,
    pub outputs: Vec<String>,
    /// The tensors and graphs in its attributes.
    pub tensors: Vec<OutlinedTensor>,
    pub graphs: Vec<OutlinedGraph>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutlinedTensor {
    pub name: String,
    pub element: i32,
    pub dims: Vec<i64>,
    /// Bytes of data that lie in the file itself, and whether they are the elements as they are in memory.
    pub inside: u64,
    pub raw: bool,
    pub external: Option<External>,
    /// A sparse tensor: its dimensions say nothing of its data.
    pub sparse: bool,
}

/// Where data lies that is in another file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct External {
    pub location: String,
    pub offset: Option<String>,
    pub length: Option<String>,
}

impl Outline {
    /// Of a model in memory.
    ///
    /// # Errors
    /// [`Broken`] for bytes that are no whole model.
    pub fn of(model: &[u8]) -> Result<Outline, Broken> {
        outline(Walk::new(Cursor::new(model))?)
    }

    /// Of a model in a file, from its beginning.
    ///
    /// # Errors
    /// [`Broken`] for a file that is no whole model, or cannot be read.
    pub fn read(file: impl Read + Seek) -> Result<Outline, Broken> {
        outline(Walk::new(BufReader::new(file))?)
    }

    /// The version of the standard operators.
    pub fn opset(&self) -> Option<i64> {
        self.opsets.iter().find(|set| set.domain.is_empty()).map(|set| set.version.value)
    }

    /// The graph and all those within it, each before its inner ones.
    pub fn graphs(&self) -> Vec<&OutlinedGraph> {
        within(&self.graph)
    }

    /// The nodes of all graphs.
    pub fn nodes(&self) -> impl Iterator<Item = &OutlinedNode> {
        self.graphs().into_iter().flat_map(|graph| &graph.nodes)
    }

    /// The weights of all graphs, and the tensors in the attributes of their nodes; those of functions too.
    pub fn tensors(&self) -> impl Iterator<Item = &OutlinedTensor> {
        let of_functions = || self.functions.iter().flat_map(|function| &function.nodes);
        let graphs = self.graphs().into_iter().chain(of_functions().flat_map(|node| &node.graphs).flat_map(within));
        graphs
            .flat_map(|graph| graph.weights.iter().chain(graph.nodes.iter().flat_map(|node| &node.tensors)))
            .chain(of_functions().flat_map(|node| &node.tensors))
    }

    /// The names of the other files that hold data, each once. Nobody has looked where they lead.
    pub fn locations(&self) -> BTreeSet<&str> {
        self.tensors()
            .filter_map(|tensor| tensor.external.as_ref())
            .map(|external| external.location.as_str())
            .collect()
    }
}

/// A graph and all those within it, each before its inner ones.
fn within(graph: &OutlinedGraph) -> Vec<&OutlinedGraph> {
    let mut all = vec![graph];
    let mut at = 0;
    while let Some(graph) = all.get(at).copied() {
        all.extend(graph.nodes.iter().flat_map(|node| &node.graphs));
        at += 1;
    }
    all
}

impl OutlinedGraph {
    /// What has to be given to it: its inputs without the weights that old exports list among them.
    pub fn ports(&self) -> Vec<&ValueInfo> {
        let weights: BTreeSet<&str> = self.weights.iter().map(|w| w.name.as_str()).collect();
        self.inputs.iter().filter(|input| !weights.contains(input.name.as_str())).collect()
    }
}

impl OutlinedTensor {
    /// How many elements its dimensions say; `None` for dimensions that no tensor has.
    pub fn count(&self) -> Option<u64> {
        self.dims.iter().try_fold(1u64, |all, size| all.checked_mul(u64::try_from(*size).ok()?))
    }
}

struct Reader<R> {
    walk: Walk<R>,
    /// Nodes and the like, and bytes of names.
    seen: u64,
    text: u64,
}

fn outline<R: BufRead + Seek>(walk: Walk<R>) -> Result<Outline, Broken> {
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
    fn short(&mut self, end: u64) -> Result<(), Broken> {
        let length = end.saturating_sub(self.walk.place());
        self.text += length;
        match length {
            _ if self.text > MOST_TEXT => Err(Broken::text(format!("it has more than {MOST_TEXT} bytes of names"))),
            0..=LONGEST => Ok(()),
            _ => Err(Broken::text(format!("a name or type of {length} bytes"))),
        }
    }

    fn count(&mut self) -> Result<(), Broken> {
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
        self.fields(end, |reader, number, value| {
            let Value::Bytes(end) = value else { return Ok(()) };
            match number {
                ATTRIBUTE_TENSOR | ATTRIBUTE_TENSORS => node.tensors.push(reader.tensor(end)?),
                ATTRIBUTE_GRAPH | ATTRIBUTE_GRAPHS => node.graphs.push(reader.graph(end, depth + 1)?),
                _ => {}
            }
            Ok(())
        })
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
        let (mut external, mut entries) = (false, BTreeMap::new());
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
                }
                // The elements one by one, or packed, each in a field of its own type.
                (4 | 5 | 6 | 7 | 10 | 11, Value::Bytes(end)) => tensor.inside += end - reader.walk.place(),
                (4 | 5 | 6 | 7 | 10 | 11, _) => tensor.inside += 1,
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
        }
        Ok(tensor)
    }
}

/// The standard domain has two names.
fn standard(domain: String) -> String {
    if domain == "ai.onnx" { String::new() } else { domain }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::put;
    use crate::{Graph, Model};

    fn model() -> Vec<u8> {
        let graph = Graph {
            node: vec![Node::new("Add", &["x", "w"], "y")],
            initializer: vec![
                Tensor::of_bytes("w", FLOAT, &[2, 3], vec![0; 24]),
                Tensor::in_file("far", INT8, &[4, 5], "weights.data", 8..28),
            ],
            input: vec![ValueInfo::of_tensor("x", FLOAT, vec![Size::Named("batch".into())])],
            output: vec![ValueInfo::of_tensor("y", FLOAT, vec![])],
            ..Graph::default()
        };
        Model::new("test", 17, graph).encode_to_vec()
    }

    #[test]
    fn nodes_tensors_and_versions_are_told_with_their_places() {
        let bytes = model();
        let outline = Outline::of(&bytes).unwrap();
        assert_eq!((outline.opset(), outline.producer.as_str()), (Some(17), "test"));
        let version = outline.opsets[0].version;
        assert_eq!(bytes[version.end as usize - 1], 17);
        let node = &outline.graph.nodes[0];
        assert_eq!((node.operator.as_str(), &node.inputs[..]), ("Add", &["x".to_string(), "w".to_string()][..]));
        let [near, far] = &outline.graph.weights[..] else { panic!("two weights") };
        assert_eq!((near.inside, near.raw, near.count()), (24, true, Some(6)));
        let external = far.external.as_ref().unwrap();
        assert_eq!((external.location.as_str(), external.offset.as_deref()), ("weights.data", Some("8")));
    }

    #[test]
    fn graphs_in_attributes_are_told_too() {
        let inner = Graph { node: vec![Node::new("Relu", &["y"], "z")], ..Graph::default() }.encode_to_vec();
        let (mut attribute, mut node, mut graph, mut model) = (vec![], vec![], vec![], vec![]);
        put(&mut attribute, ATTRIBUTE_GRAPH, &inner);
        put(&mut node, NODE_OPERATOR, b"If");
        put(&mut node, NODE_ATTRIBUTE, &attribute);
        put(&mut graph, GRAPH_NODE, &node);
        put(&mut model, MODEL_GRAPH, &graph);
        let outline = Outline::of(&model).unwrap();
        assert_eq!(outline.nodes().map(|node| node.operator.as_str()).collect::<Vec<_>>(), ["If", "Relu"]);
    }

    #[test]
    fn whatever_is_cut_off_is_broken_and_a_file_reads_as_memory_does() {
        let whole = model();
        assert_eq!(Outline::read(Cursor::new(&whole)).unwrap(), Outline::of(&whole).unwrap());
        for length in 0..whole.len() {
            if let Ok(outline) = Outline::of(&whole[..length]) {
                assert!(outline.opsets.is_empty(), "only what comes after the graph may be missing: {length} bytes");
            }
        }
    }
}
