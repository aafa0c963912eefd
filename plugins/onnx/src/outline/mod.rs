//! The whole structure of a model's file: every node with what it takes and gives, every tensor with where its data is. Names,
//! sizes, places and small tensors (a graph computes its shapes from them): all other data is skipped, so that a model of any
//! size is read in the memory that its structure needs.
//!
//! - `read`: the file, field by field, within limits;
//! - `values`: the elements of a small tensor.

mod read;
mod values;

use crate::Broken;
use crate::messages::ValueInfo;
use crate::walk::Walk;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufReader, Cursor, Read, Seek};

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
    /// Its attributes that are whole numbers and texts.
    pub attributes: BTreeMap<String, Attribute>,
    /// The tensors and graphs in its attributes.
    pub tensors: Vec<OutlinedTensor>,
    pub graphs: Vec<OutlinedGraph>,
}

/// A setting of a node; numbers of floating point are not kept.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    Number(i64),
    Numbers(Vec<i64>),
    Text(String),
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
    /// The data of a tensor of a few kilobytes at most, as it lies in memory in little endian; `None`: it is larger, or elsewhere.
    pub small: Option<Vec<u8>>,
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
        read::outline(Walk::new(Cursor::new(model))?)
    }

    /// Of a model in a file, from its beginning.
    ///
    /// # Errors
    /// [`Broken`] for a file that is no whole model, or cannot be read.
    pub fn read(file: impl Read + Seek) -> Result<Outline, Broken> {
        read::outline(Walk::new(BufReader::new(file))?)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::put;
    use crate::messages::*;
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
