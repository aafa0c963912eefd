//! What each node takes: that something produces it, and that no node needs itself in the end.

use super::Problem;
use skillbench_onnx::{OutlinedGraph, OutlinedNode};
use std::collections::{HashMap, HashSet};

pub(super) fn check(graph: &OutlinedGraph) -> Result<(), Problem> {
    within(graph, &mut vec![])
}

/// How a person finds a node.
fn called(node: &OutlinedNode) -> String {
    match (node.name.as_str(), node.outputs.first()) {
        ("", Some(output)) => format!("{} of '{output}'", node.operator),
        ("", None) => node.operator.clone(),
        (name, _) => format!("'{name}' ({})", node.operator),
    }
}

/// `outer`: what the graphs around this one know.
fn within<'a>(graph: &'a OutlinedGraph, outer: &mut Vec<HashSet<&'a str>>) -> Result<(), Problem> {
    let producers = producers(graph)?;
    let given = graph.inputs.iter().map(|input| &input.name).chain(graph.weights.iter().map(|weight| &weight.name));
    let known: HashSet<&str> = given.map(String::as_str).chain(producers.keys().copied()).collect();
    outer.push(known);
    let found = |value: &str| outer.iter().any(|known| known.contains(value));
    for node in &graph.nodes {
        if let Some(value) = node.inputs.iter().find(|value| !value.is_empty() && !found(value)) {
            return Err(Problem::Unproduced { node: called(node), value: value.clone() });
        }
    }
    if let Some(output) = graph.outputs.iter().find(|output| !found(&output.name)) {
        return Err(Problem::UnproducedOutput(output.name.clone()));
    }
    for inner in graph.nodes.iter().flat_map(|node| &node.graphs) {
        within(inner, outer)?;
    }
    outer.pop();
    acyclic(graph, &producers)
}

fn producers(graph: &OutlinedGraph) -> Result<HashMap<&str, usize>, Problem> {
    let mut producers = HashMap::new();
    for (index, node) in graph.nodes.iter().enumerate() {
        for output in node.outputs.iter().filter(|output| !output.is_empty()) {
            if let Some(first) = producers.insert(output.as_str(), index) {
                let (first, second) = (called(&graph.nodes[first]), called(node));
                return Err(Problem::Twice { value: output.clone(), first, second });
            }
        }
    }
    Ok(producers)
}

/// The names that a node takes, those that the graphs in it take from around them too.
fn taken<'a>(node: &'a OutlinedNode) -> HashSet<&'a str> {
    let mut all: HashSet<&'a str> = node.inputs.iter().map(String::as_str).collect();
    for graph in &node.graphs {
        let own: HashSet<&str> = graph
            .inputs
            .iter()
            .map(|input| input.name.as_str())
            .chain(graph.weights.iter().map(|weight| weight.name.as_str()))
            .chain(graph.nodes.iter().flat_map(|node| node.outputs.iter().map(String::as_str)))
            .collect();
        let used = graph.nodes.iter().flat_map(taken).chain(graph.outputs.iter().map(|output| output.name.as_str()));
        all.extend(used.filter(|name| !own.contains(name)));
    }
    all
}

fn acyclic(graph: &OutlinedGraph, producers: &HashMap<&str, usize>) -> Result<(), Problem> {
    let sources =
        |node| -> HashSet<usize> { taken(node).iter().filter_map(|name| producers.get(name).copied()).collect() };
    let needs: Vec<HashSet<usize>> = graph.nodes.iter().map(sources).collect();
    let mut followers: Vec<Vec<usize>> = vec![vec![]; needs.len()];
    for (node, sources) in needs.iter().enumerate() {
        sources.iter().for_each(|source| followers[*source].push(node));
    }
    let mut open: Vec<usize> = needs.iter().map(HashSet::len).collect();
    let mut ready: Vec<usize> = (0..open.len()).filter(|node| open[*node] == 0).collect();
    while let Some(node) = ready.pop() {
        for follower in &followers[node] {
            open[*follower] -= 1;
            if open[*follower] == 0 {
                ready.push(*follower);
            }
        }
    }
    let Some(start) = open.iter().position(|count| *count > 0) else { return Ok(()) };
    // Each node that is left needs another one that is left: following them comes back to one.
    let (mut path, mut at) = (vec![], start);
    while !path.contains(&at) {
        path.push(at);
        match needs[at].iter().copied().filter(|source| open[*source] > 0).min() {
            Some(source) => at = source,
            None => break,
        }
    }
    let cycle = path.iter().skip_while(|node| **node != at).take(SHOWN).map(|node| called(&graph.nodes[*node]));
    Err(Problem::Cycle(cycle.collect()))
}

/// Nodes of a cycle that are named.
const SHOWN: usize = 12;
