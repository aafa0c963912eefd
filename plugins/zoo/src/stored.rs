//! A graph whose weights are stored in another form: which tensors stand in the place of each, and which nodes read them.
//!
//! Weights of layers and tables go; scales, biases and constants stay in float32. A table that is only looked up stays as it is stored,
//! and a cast stands behind the look-up; other weights have the cast before their first user.

use crate::blocks::{BLOCK, Layout, Matrix};
use crate::form::Form;
use crate::integers::{Integers, Values};
use crate::rule::{Element, Rule};
use skillbench_onnx::messages::*;
use skillbench_plugin_api::Result;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The type that ONNX has for signed numbers of 4 bits.
const INT4: i32 = 22;
/// The operators that ONNX itself does not have.
const DOMAIN: &str = "com.microsoft";
/// Since when `DequantizeLinear` takes blocks of int4.
const BLOCKS_SINCE: u64 = 21;
/// Since when it takes a scale for each channel.
const CHANNELS_SINCE: u64 = 13;
/// Smaller weights are no matter of memory.
pub const SMALLEST: i64 = 1024;

/// A tensor that stands in the place of a weight.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    pub name: String,
    pub data_type: i32,
    pub dims: Vec<i64>,
    pub element: Element,
}

/// What changes in a graph.
#[derive(Debug, Default)]
pub struct Stores {
    /// By the weight they stand for; those of one that is not here stay as they are.
    pub tensors: BTreeMap<String, Vec<Stored>>,
    /// What stands in the place of a node, by its number.
    pub nodes: BTreeMap<usize, Vec<Node>>,
    /// Casts and points, by the node that they stand before.
    pub before: BTreeMap<usize, Vec<Node>>,
    /// Points, by the node that they stand behind.
    pub after: BTreeMap<usize, Vec<Node>>,
    /// Other values at inputs of a node that stays, by its number and theirs.
    pub inputs: BTreeMap<usize, BTreeMap<usize, String>>,
    /// Tensors that are added, as they stand in the graph.
    pub constants: Vec<Tensor>,
}

/// A tensor of a graph that a rule fills.
pub struct Ruled {
    pub dims: Vec<i64>,
    pub rule: Rule,
}

/// The version of an operator set that a graph in this form needs: its domain ("" for ONNX's own) and the least number.
pub fn operators(form: Form) -> Option<(&'static str, u64)> {
    match form {
        Form::Float32 | Form::Float16Stored | Form::BFloat16Stored => None,
        Form::Int4 => Some((DOMAIN, 1)),
        Form::Int4Stored => Some(("", BLOCKS_SINCE)),
        Form::Int8 | Form::Int8Stored => Some(("", CHANNELS_SINCE)),
    }
}

impl Stores {
    /// `weights`: those with a rule, by name, in float32. `values`: what the form int8 has to know besides.
    ///
    /// # Errors
    /// What cannot be in 8 bits.
    pub fn of(nodes: &[Node], weights: &BTreeMap<String, Ruled>, values: &Values<'_>, form: Form) -> Result<Stores> {
        let mut stores = Stores::default();
        if form == Form::Float32 {
            return Ok(stores);
        }
        let graph = Graph::new(nodes);
        if form.is_int8() {
            Integers::of(&graph, weights, values, form)?.put(&mut stores);
        }
        for (name, Ruled { dims, .. }) in weights {
            if dims.len() >= 2 && dims.iter().product::<i64>() >= SMALLEST {
                stores.weight(&graph, name, dims, form);
            }
        }
        Ok(stores)
    }

    /// Whether a node no longer reads a weight there.
    fn is_elsewhere(&self, user: (usize, usize)) -> bool {
        let reads_other = self.inputs.get(&user.0).is_some_and(|places| places.contains_key(&user.1));
        reads_other || self.nodes.contains_key(&user.0)
    }

    fn weight(&mut self, graph: &Graph<'_>, name: &str, dims: &[i64], form: Form) {
        let (data_type, element) = match form {
            Form::BFloat16Stored => (BFLOAT16, Element::Brain),
            _ => (FLOAT16, Element::Half),
        };
        let mut left: BTreeSet<(usize, usize)> = graph.users(name).into_iter().collect();
        if left.is_empty() {
            // A graph within this one may read it.
            return;
        }
        left.retain(|user| !self.is_elsewhere(*user));
        let mut stored = self.tensors.remove(name).unwrap_or_default();
        if let Some(products) = graph.products(name, dims).filter(|_| matches!(form, Form::Int4 | Form::Int4Stored)) {
            stored.extend(self.blocks(graph, name, &products, form));
            left.retain(|user| !products.replaced.contains(&user.0));
        }
        if !left.is_empty() {
            let half = format!("{name}.{}", type_name(data_type).unwrap_or_default());
            stored.push(Stored { name: half.clone(), data_type, dims: dims.into(), element });
            let (looked_up, read): (Vec<_>, Vec<_>) =
                left.into_iter().partition(|(node, place)| graph.nodes[*node].op_type == "Gather" && *place == 0);
            for (index, _) in looked_up {
                self.nodes.insert(index, looked_up_in(&graph.nodes[index], &half));
            }
            if let Some((first, _)) = read.first() {
                self.before.entry(*first).or_default().push(cast(&half, name));
            }
        }
        self.tensors.insert(name.into(), stored);
    }

    /// The products of a weight read its blocks.
    fn blocks(&mut self, graph: &Graph<'_>, name: &str, products: &Products, form: Form) -> [Stored; 2] {
        let matrix = products.matrix;
        let (inputs, outputs, blocks) = (matrix.inputs as i64, matrix.outputs as i64, matrix.blocks() as i64);
        let (weights, scales) = (format!("{name}.int4"), format!("{name}.scales"));
        let of = |layout, data_type, dims: [&[i64]; 2]| {
            [
                Stored {
                    name: weights.clone(),
                    data_type,
                    dims: dims[0].into(),
                    element: Element::Blocks(matrix, layout),
                },
                Stored {
                    name: scales.clone(),
                    data_type: FLOAT,
                    dims: dims[1].into(),
                    element: Element::Scales(matrix, layout),
                },
            ]
        };
        let stored = match form {
            Form::Int4 => of(Layout::ByOutput, UINT8, [&[outputs, blocks, BLOCK as i64 / 2], &[outputs, blocks]]),
            _ => of(Layout::ByInput, INT4, [&[inputs, outputs], &[blocks, outputs]]),
        };
        // Once, before the first product that reads it.
        let whole = format!("{name}.float");
        if let (Form::Int4Stored, Some(first)) = (form, products.nodes.first()) {
            let read = Node::new("DequantizeLinear", &[&weights, &scales], &whole);
            let read = read.with("axis", 0).with("block_size", BLOCK as i64);
            self.before.entry(*first).or_default().push(read);
        }
        for index in &products.replaced {
            let node = &graph.nodes[*index];
            self.nodes.insert(
                *index,
                match products.nodes.contains(index) {
                    true => product(node, [&weights, &scales, &whole], form, matrix),
                    // A Transpose that nobody reads any more.
                    false => vec![],
                },
            );
        }
        stored
    }
}

/// The products that read one matrix of weights.
struct Products {
    matrix: Matrix,
    nodes: Vec<usize>,
    /// These, and what stands between them and the weight.
    replaced: BTreeSet<usize>,
}

/// A graph by who reads its values: nodes, and at which of their inputs.
pub struct Graph<'a> {
    pub nodes: &'a [Node],
    users: HashMap<&'a str, Vec<(usize, usize)>>,
}

impl<'a> Graph<'a> {
    pub fn new(nodes: &'a [Node]) -> Graph<'a> {
        let mut users: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
        for (index, node) in nodes.iter().enumerate() {
            for (place, input) in node.input.iter().enumerate() {
                users.entry(input).or_default().push((index, place));
            }
        }
        Graph { nodes, users }
    }

    pub fn users(&self, value: &str) -> Vec<(usize, usize)> {
        self.users.get(value).cloned().unwrap_or_default()
    }

    /// `None`: the weight is no matrix in whole blocks that a product reads.
    fn products(&self, name: &str, dims: &[i64]) -> Option<Products> {
        let [rows, columns] = *dims else { return None };
        let mut found: Option<Products> = None;
        for (index, place) in self.users(name) {
            let node = &self.nodes[index];
            let (matrix, nodes) = match node.op_type.as_str() {
                "MatMul" if place == 1 => (Matrix::of(rows, columns, false)?, vec![index]),
                "Gemm" if place == 1 && is_plain(node) => {
                    let transposed = flag(node, "transB");
                    let (inputs, outputs) = if transposed { (columns, rows) } else { (rows, columns) };
                    (Matrix::of(inputs, outputs, transposed)?, vec![index])
                }
                "Transpose" => {
                    let readers = self.users(node.output.first()?);
                    let all = readers.iter().all(|(user, place)| self.nodes[*user].op_type == "MatMul" && *place == 1);
                    if readers.is_empty() || !all {
                        continue;
                    }
                    (Matrix::of(columns, rows, true)?, readers.into_iter().map(|(user, _)| user).collect())
                }
                _ => continue,
            };
            let products = found.get_or_insert(Products { matrix, nodes: vec![], replaced: BTreeSet::new() });
            if products.matrix == matrix {
                products.replaced.extend(nodes.iter().copied().chain([index]));
                products.nodes.extend(nodes);
            }
        }
        if let Some(products) = &mut found {
            products.nodes.sort_unstable();
        }
        found
    }
}

pub fn flag(node: &Node, name: &str) -> bool {
    node.attribute.iter().any(|attribute| attribute.name == name && attribute.i != 0)
}

/// A Gemm that multiplies its first input as it is. The exporter gives none another factor than 1, which a test holds.
pub fn is_plain(node: &Node) -> bool {
    !flag(node, "transA")
}

/// A MatMul, or a Gemm, of blocks.
fn product(node: &Node, [weights, scales, whole]: [&str; 3], form: Form, matrix: Matrix) -> Vec<Node> {
    let (Some(data), Some(output)) = (node.input.first(), node.output.first()) else { return vec![node.clone()] };
    let bias = node.input.get(2).filter(|bias| node.op_type == "Gemm" && !bias.is_empty());
    let result = match bias {
        Some(_) => format!("{output}.product"),
        None => output.clone(),
    };
    let mut nodes = vec![match form {
        Form::Int4 => Node { domain: DOMAIN.into(), ..Node::new("MatMulNBits", &[data, weights, scales], &result) }
            .with("K", matrix.inputs as i64)
            .with("N", matrix.outputs as i64)
            .with("bits", 4)
            .with("block_size", BLOCK as i64)
            // Products in float32: with integers every engine would round inputs in its own way.
            .with("accuracy_level", 1),
        _ => Node::new("MatMul", &[data, whole], &result),
    }];
    nodes.extend(bias.map(|bias| Node::new("Add", &[&result, bias], output)));
    nodes
}

fn cast(from: &str, to: &str) -> Node {
    Node::new("Cast", &[from], to).with("to", i64::from(FLOAT))
}

/// A look-up in a table, and the cast of what was found.
fn looked_up_in(node: &Node, table: &str) -> Vec<Node> {
    let Some(output) = node.output.first() else { return vec![node.clone()] };
    let found = format!("{output}.stored");
    let mut gather = node.clone();
    gather.input[0] = table.into();
    gather.output = vec![found.clone()];
    vec![gather, cast(&found, output)]
}
