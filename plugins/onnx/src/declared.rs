//! What a model's file says of itself: its ports, weights, operators, and the files beside it. Data is skipped, not read.

use crate::Broken;
use crate::messages::*;
use crate::walk::{Value, Walk};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{BufRead, BufReader, Cursor, Read, Seek};
use std::path::{Component, Path};

/// How deep graphs stand within graphs; more is no model that anybody wrote.
const DEEPEST: usize = 32;

/// A graph, with those in the attributes of its nodes (the branches of an `If`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Declared {
    /// Without the weights that old exports list among them.
    pub inputs: Vec<ValueInfo>,
    pub outputs: Vec<ValueInfo>,
    pub weights: Vec<Stored>,
    /// The tensors in attributes of nodes.
    pub constants: Vec<Stored>,
    /// Each operator once.
    pub operators: BTreeSet<String>,
    pub inner: Vec<Declared>,
}

/// A tensor whose data is in the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stored {
    pub name: String,
    /// The type of its elements.
    pub element: i32,
    /// How many elements it has.
    pub count: u64,
    /// The other file that holds the data.
    pub file: Option<String>,
}

/// The file of weights that a model keeps elsewhere than beside itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elsewhere(String);

impl fmt::Display for Elsewhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "keeps weights in '{}', not beside itself: export it with its weights beside it", self.0)
    }
}

impl std::error::Error for Elsewhere {}

impl Declared {
    /// Of a model in memory.
    ///
    /// # Errors
    /// [`Broken`] for bytes that are no whole model.
    pub fn of(model: &[u8]) -> Result<Declared, Broken> {
        Declared::walk(Walk::new(Cursor::new(model))?)
    }

    /// Of a model in a file, from its beginning.
    ///
    /// # Errors
    /// [`Broken`] for a file that is no whole model, or cannot be read.
    pub fn read(file: impl Read + Seek) -> Result<Declared, Broken> {
        Declared::walk(Walk::new(BufReader::new(file))?)
    }

    fn walk<R: BufRead + Seek>(mut walk: Walk<R>) -> Result<Declared, Broken> {
        let mut found = None;
        let end = walk.length();
        walk.fields(end, |walk, number, value| {
            if let (MODEL_GRAPH, Value::Bytes(end)) = (number, value) {
                found = Some(graph(walk, end, 0)?);
            }
            Ok(())
        })?;
        found.ok_or_else(|| Broken::text("it holds no graph".into()))
    }

    /// This graph and all those within it.
    pub fn graphs(&self) -> Vec<&Declared> {
        let mut all = vec![self];
        let mut at = 0;
        while let Some(graph) = all.get(at) {
            all.extend(&graph.inner);
            at += 1;
        }
        all
    }

    /// The operators of all graphs.
    pub fn all_operators(&self) -> impl Iterator<Item = &str> {
        self.graphs().into_iter().flat_map(|graph| &graph.operators).map(String::as_str)
    }

    /// The weights and constants of all graphs.
    pub fn all_stored(&self) -> impl Iterator<Item = &Stored> {
        self.graphs().into_iter().flat_map(|graph| graph.weights.iter().chain(&graph.constants))
    }

    /// The names of the files beside the model that hold its weights, each once.
    ///
    /// # Errors
    /// The first that is not beside it: a graph is not trusted to name any file of the machine, because what it reads could
    /// leave as an output.
    pub fn files_beside(&self) -> Result<BTreeSet<&str>, Elsewhere> {
        let files: BTreeSet<&str> = self.all_stored().filter_map(|stored| stored.file.as_deref()).collect();
        match files.iter().find(|name| !lies_beside(name)) {
            None => Ok(files),
            Some(name) => Err(Elsewhere(name.to_string())),
        }
    }
}

fn lies_beside(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None))
}

fn graph<R: BufRead + Seek>(walk: &mut Walk<R>, end: u64, depth: usize) -> Result<Declared, Broken> {
    if depth > DEEPEST {
        return Err(Broken::text(format!("graphs stand within graphs more than {DEEPEST} deep")));
    }
    let mut graph = Declared::default();
    walk.fields(end, |walk, number, value| {
        let Value::Bytes(end) = value else { return Ok(()) };
        match number {
            GRAPH_NODE => node(walk, end, depth, &mut graph)?,
            GRAPH_INITIALIZER => graph.weights.push(tensor(walk, end)?),
            GRAPH_INPUT => graph.inputs.push(port(walk, end)?),
            GRAPH_OUTPUT => graph.outputs.push(port(walk, end)?),
            _ => {}
        }
        Ok(())
    })?;
    let weights: BTreeSet<&str> = graph.weights.iter().map(|weight| weight.name.as_str()).collect();
    graph.inputs.retain(|input| !weights.contains(input.name.as_str()));
    Ok(graph)
}

fn port<R: BufRead + Seek>(walk: &mut Walk<R>, end: u64) -> Result<ValueInfo, Broken> {
    ValueInfo::decode(&walk.bytes(end)?[..]).map_err(|error| Broken::text(error.to_string()))
}

fn node<R: BufRead + Seek>(walk: &mut Walk<R>, end: u64, depth: usize, graph: &mut Declared) -> Result<(), Broken> {
    walk.fields(end, |walk, number, value| {
        match (number, value) {
            (NODE_OPERATOR, Value::Bytes(end)) => _ = graph.operators.insert(walk.text(end)?),
            (NODE_ATTRIBUTE, Value::Bytes(end)) => attribute(walk, end, depth, graph)?,
            _ => {}
        }
        Ok(())
    })
}

fn attribute<R: BufRead + Seek>(walk: &mut Walk<R>, end: u64, depth: usize, into: &mut Declared) -> Result<(), Broken> {
    walk.fields(end, |walk, number, value| {
        match (number, value) {
            (ATTRIBUTE_TENSOR, Value::Bytes(end)) => into.constants.push(tensor(walk, end)?),
            (ATTRIBUTE_GRAPH, Value::Bytes(end)) => into.inner.push(graph(walk, end, depth + 1)?),
            _ => {}
        }
        Ok(())
    })
}

fn tensor<R: BufRead + Seek>(walk: &mut Walk<R>, end: u64) -> Result<Stored, Broken> {
    let mut stored = Stored { count: 1, ..Stored::default() };
    let (mut external, mut entries) = (false, BTreeMap::new());
    walk.fields(end, |walk, number, value| {
        match (number, value) {
            (TENSOR_DIMS, Value::Number(size)) => stored.count = stored.count.saturating_mul(size),
            (TENSOR_DIMS, Value::Bytes(end)) => {
                while !walk.is_at(end) {
                    stored.count = stored.count.saturating_mul(walk.number(end)?);
                }
            }
            (TENSOR_TYPE, Value::Number(element)) => stored.element = i32::try_from(element).unwrap_or_default(),
            (TENSOR_NAME, Value::Bytes(end)) => stored.name = walk.text(end)?,
            (TENSOR_ELSEWHERE, Value::Bytes(end)) => {
                let entry = Entry::decode(&walk.bytes(end)?[..]).map_err(|error| Broken::text(error.to_string()))?;
                entries.insert(entry.key, entry.value);
            }
            (TENSOR_LOCATION, Value::Number(location)) => external = location == EXTERNAL as u64,
            _ => {}
        }
        Ok(())
    })?;
    stored.file = entries.remove("location").filter(|_| external);
    Ok(stored)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::put;
    use crate::{Graph, Model};

    fn branch() -> Vec<u8> {
        let inner = Graph {
            node: vec![Node::new("MatMulInteger", &["a", "b"], "c")],
            initializer: vec![Tensor::in_file("b", INT8, &[4, 5], "inner.data", 0..20)],
            ..Graph::default()
        };
        inner.encode_to_vec()
    }

    fn model() -> Vec<u8> {
        let named = |name: &str| Size::Named(name.into());
        let graph = Graph {
            node: vec![Node::new("Relu", &["x"], "y"), Node::new("Relu", &["y"], "z")],
            initializer: vec![Tensor::of_bytes("w", FLOAT, &[2, 3], vec![0; 24])],
            input: vec![
                ValueInfo::of_tensor("x", FLOAT16, vec![named("batch"), Size::Fixed(3), named("")]),
                ValueInfo::of_tensor("w", FLOAT, vec![]),
            ],
            output: vec![ValueInfo::of_tensor("z", FLOAT, vec![])],
            ..Graph::default()
        };
        // A node with a graph in an attribute, which is only read here, never written.
        let (mut attribute, mut node, mut model) = (vec![], vec![], vec![]);
        put(&mut attribute, ATTRIBUTE_GRAPH, &branch());
        put(&mut node, NODE_OPERATOR, b"If");
        put(&mut node, NODE_ATTRIBUTE, &attribute);
        let mut graph = graph.encode_to_vec();
        put(&mut graph, GRAPH_NODE, &node);
        put(&mut model, MODEL_GRAPH, &graph);
        model
    }

    #[test]
    fn ports_weights_and_operators_are_told_and_those_of_branches_too() {
        let declared = Declared::of(&model()).unwrap();
        assert_eq!(declared.operators.iter().collect::<Vec<_>>(), ["If", "Relu"]);
        assert!(declared.all_operators().any(|operator| operator == "MatMulInteger"));
        assert_eq!(declared.inputs.len(), 1, "a weight is no input");
        let input = &declared.inputs[0];
        assert_eq!((input.name.as_str(), input.element()), ("x", Some(FLOAT16)));
        assert_eq!(input.dim_names(), [Some("batch".to_string()), None, None]);
        assert_eq!(input.dims().unwrap().iter().map(Dim::fixed).collect::<Vec<_>>(), [None, Some(3), None]);
        let counts: Vec<_> = declared.all_stored().map(|stored| (stored.name.as_str(), stored.count)).collect();
        assert_eq!(counts, [("w", 6), ("b", 20)]);
        assert_eq!(declared.files_beside().unwrap(), ["inner.data"].into());
    }

    #[test]
    fn a_file_is_read_as_memory_is() {
        let bytes = model();
        let read = Declared::read(Cursor::new(&bytes)).unwrap();
        assert_eq!(read, Declared::of(&bytes).unwrap());
    }

    #[test]
    fn packed_dimensions_count_too() {
        let (mut tensor, mut graph, mut model) = (vec![], vec![], vec![]);
        put(&mut tensor, TENSOR_DIMS, &[3, 0x80, 1]);
        put(&mut graph, GRAPH_INITIALIZER, &tensor);
        put(&mut model, MODEL_GRAPH, &graph);
        assert_eq!(Declared::of(&model).unwrap().weights[0].count, 3 * 128);
    }

    #[test]
    fn whatever_is_cut_off_is_broken() {
        let whole = model();
        for length in 0..whole.len() {
            assert!(Declared::of(&whole[..length]).is_err(), "{length} bytes");
        }
        for bytes in [&b"this is no model"[..], &[0xFF; 30], &Model::default().encode_to_vec()] {
            assert!(Declared::of(bytes).is_err());
        }
        let nested = (0..1000).fold(branch(), |inner, _| {
            let (mut attribute, mut node, mut graph) = (vec![], vec![], vec![]);
            put(&mut attribute, ATTRIBUTE_GRAPH, &inner);
            put(&mut node, NODE_ATTRIBUTE, &attribute);
            put(&mut graph, GRAPH_NODE, &node);
            graph
        });
        let mut model = vec![];
        put(&mut model, MODEL_GRAPH, &nested);
        assert!(Declared::of(&model).unwrap_err().to_string().contains("deep"));
    }

    #[test]
    fn element_types_have_names() {
        let names = [FLOAT, INT8, INT64, BOOL, FLOAT16, BFLOAT16, 24].map(type_name);
        assert_eq!(names.map(Option::unwrap), ["float", "int8", "int64", "bool", "float16", "bfloat16", "float8e8m0"]);
        assert_eq!([type_name(0), type_name(25), type_name(-1)], [None; 3]);
    }

    #[test]
    fn a_file_that_is_not_beside_the_model_is_named() {
        for (file, beside) in [("w.data", true), ("../w.data", false), ("/etc/w.data", false), ("deep/w.data", false)] {
            let weights = vec![Tensor::in_file("w", FLOAT, &[1], file, 0..4)];
            let graph = Graph { initializer: weights, ..Graph::default() };
            let declared = Declared::of(&Model::new("test", 17, graph).encode_to_vec()).unwrap();
            match declared.files_beside() {
                Ok(files) => assert!(beside && files.contains(file)),
                Err(elsewhere) => assert!(!beside && elsewhere.to_string().contains(file)),
            }
        }
    }
}
