//! Which nodes stay in float32.

use super::operators;
use super::read::{Graph, Node};
use std::collections::{HashMap, HashSet};

/// Why a node stays in float32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Single {
    /// Its operator has nothing else.
    Operator,
    /// It computes positions, indices or truth values from such: one that is rounded is another one, and the sine of a
    /// rounded angle any number.
    Position,
    /// It squares and sums, which leaves what float16 reaches; what is divided by the root is back in it.
    Square,
}

/// For each node why it stays in float32, if it does.
pub(super) fn find(graph: &Graph<'_>, opset: u64) -> Vec<Option<Single>> {
    let by_operator = |node: &Node<'_>| operators::only_single(node, opset).then_some(Single::Operator);
    let mut found: Vec<_> = graph.nodes.iter().map(by_operator).collect();
    let links = Links::of(graph);
    positions(graph, &links, &mut found);
    squares(graph, &links, &mut found);
    found
}

/// Whether half of the work or more stays in float32, so that the graph could not be said to compute in float16: of the
/// products, or, where there are none, of all nodes that take floats.
pub(super) fn is_most(graph: &Graph<'_>, single: &[Option<Single>]) -> bool {
    let stays = |only_products: bool| {
        let nodes = graph.nodes.iter().zip(single).filter(|(node, _)| {
            values(graph, node).next().is_some() && (!only_products || operators::multiplies(node.operator))
        });
        nodes.fold((0, 0), |(all, stay), (_, why)| (all + 1, stay + usize::from(why.is_some())))
    };
    let (all, stay) = match stays(true) {
        (0, _) => stays(false),
        products => products,
    };
    stay > 0 && 2 * stay >= all
}

struct Links<'m> {
    makers: HashMap<&'m str, usize>,
    takers: HashMap<&'m str, Vec<usize>>,
    constants: HashSet<&'m str>,
}

impl<'m> Links<'m> {
    fn of(graph: &Graph<'m>) -> Links<'m> {
        let (mut makers, mut takers) = (HashMap::new(), HashMap::<_, Vec<_>>::new());
        let mut constants: HashSet<_> = graph.weights.iter().map(|weight| weight.name).collect();
        for (index, node) in graph.nodes.iter().enumerate() {
            makers.extend(node.outputs.iter().map(|output| (*output, index)));
            node.inputs.iter().for_each(|input| takers.entry(*input).or_default().push(index));
            if node.operator == "Constant" {
                constants.extend(&node.outputs);
            }
        }
        Links { makers, takers, constants }
    }
}

/// From the sines and cosines of positions, and from the whole numbers and truth values that floats end in, back to where
/// these floats begin. Only floats that come from whole numbers, from inputs (points, times) and from small constants
/// (frequencies, limits) count: what was multiplied with trained weights, or looked up in a table of them, is not exact anyway.
fn positions(graph: &Graph<'_>, links: &Links<'_>, found: &mut [Option<Single>]) {
    /// Elements of a constant that still is no table.
    const SMALL: u64 = 1024;
    let weights = graph.weights.iter().filter(|weight| weight.count <= SMALL).map(|weight| weight.name);
    let ports = graph.inputs.iter().copied().filter(|name| !links.constants.contains(name));
    let mut exact: HashSet<&str> = weights.chain(ports).collect();
    let mut ends = vec![];
    for (index, node) in graph.nodes.iter().enumerate() {
        if !values(graph, node).all(|name| exact.contains(name)) {
            continue;
        }
        exact.extend(&node.outputs);
        let takes = values(graph, node).next().is_some();
        let gives = node.outputs.iter().any(|output| graph.is_single(output));
        if takes && (!gives || found[index].is_some() || matches!(node.operator, "Sin" | "Cos")) {
            ends.push(index);
        }
    }
    let mut seen = HashSet::new();
    while let Some(index) = ends.pop() {
        if !seen.insert(index) || graph.nodes[index].operator == "Constant" {
            continue;
        }
        found[index].get_or_insert(Single::Position);
        ends.extend(values(graph, &graph.nodes[index]).filter_map(|name| links.makers.get(name)));
    }
}

/// The floats whose values a node takes, not only their shape.
fn values<'g, 'm>(graph: &'g Graph<'m>, node: &'g Node<'m>) -> impl Iterator<Item = &'m str> + 'g {
    graph.singles(node).filter(|_| !operators::takes_shape(node.operator)).map(|(_, name)| name)
}

/// `x / sqrt(mean(x * x) + epsilon)` in its several forms, from the square to the division.
fn squares(graph: &Graph<'_>, links: &Links<'_>, found: &mut [Option<Single>]) {
    for start in 0..graph.nodes.len() {
        for index in square(graph, links, start).into_iter().flatten() {
            found[index].get_or_insert(Single::Square);
        }
    }
}

/// Nodes from a square to its division, and inputs of one of them: more is another computation, or a graph that leads in circles.
const LONGEST: usize = 16;
const MOST_INPUTS: usize = 8;

/// The nodes from a square on; `None` where none begins.
fn square(graph: &Graph<'_>, links: &Links<'_>, start: usize) -> Option<Vec<usize>> {
    let node = &graph.nodes[start];
    let of = *node.inputs.first()?;
    let squared = match (node.operator, &node.inputs[..]) {
        ("Mul", [a, b]) => a == b,
        ("Pow", [_, exponent]) => links.constants.contains(exponent),
        _ => false,
    };
    if !squared || !graph.is_single(of) {
        return None;
    }
    let mut chain = vec![start];
    let mut value = *node.outputs.first()?;
    while let Some([next]) = links.takers.get(value).map(|takers| &takers[..]) {
        let node = &graph.nodes[*next];
        let expected = match chain.len() {
            1 => &["ReduceMean", "ReduceSum"][..],
            _ => &["Add", "Sqrt", "Reciprocal", "Div", "Mul", "Pow", "Clip", "Max"],
        };
        let is_other = chain.len() == LONGEST || node.inputs.len() > MOST_INPUTS;
        if is_other || !expected.contains(&node.operator) || graph.outputs.contains(&value) {
            break;
        }
        let others: Vec<&str> = graph.singles(node).map(|(_, name)| name).filter(|name| *name != value).collect();
        if others == [of] {
            chain.push(*next);
            break;
        }
        // Anything but constants is another computation.
        if !others.iter().all(|name| links.constants.contains(name)) {
            break;
        }
        chain.push(*next);
        value = *node.outputs.first()?;
    }
    (chain.len() > 1).then_some(chain)
}
