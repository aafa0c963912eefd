//! What each node takes: that something produces it, and that no node needs itself in the end. In time that grows as the file does:
//! whoever writes a file can make it as large and as tangled as they like.

use super::Problem;
use skillbench_onnx::{OutlinedGraph, OutlinedNode};
use std::collections::HashMap;

pub(super) fn check(graph: &OutlinedGraph) -> Result<(), Problem> {
    Around::default().graph(graph)
}

/// How a person finds a node.
fn called(node: &OutlinedNode) -> String {
    match (node.name.as_str(), node.outputs.first()) {
        ("", Some(output)) => format!("{} of '{output}'", node.operator),
        ("", None) => node.operator.clone(),
        (name, _) => format!("'{name}' ({})", node.operator),
    }
}

/// A value: how deep the graph stands that has it, and which node of that graph produces it; `None`: it is given to the graph.
#[derive(Clone, Copy)]
struct Value {
    depth: usize,
    producer: Option<usize>,
}

/// A graph whose nodes are being looked at.
#[derive(Default)]
struct Level {
    /// The node that is looked at.
    at: usize,
    /// Which node needs which.
    needs: Vec<(usize, usize)>,
}

/// A graph, and those around it.
#[derive(Default)]
struct Around<'a> {
    /// By name, the innermost last.
    values: HashMap<&'a str, Vec<Value>>,
    levels: Vec<Level>,
}

impl<'a> Around<'a> {
    fn graph(&mut self, graph: &'a OutlinedGraph) -> Result<(), Problem> {
        let depth = self.levels.len();
        let own = self.define(graph, depth)?;
        self.levels.push(Level::default());
        for (index, node) in graph.nodes.iter().enumerate() {
            self.levels[depth].at = index;
            for value in node.inputs.iter().filter(|value| !value.is_empty()) {
                if !self.take(value) {
                    return Err(Problem::Unproduced { node: called(node), value: value.clone() });
                }
            }
        }
        // What a branch gives may come from around it, so that the node that holds the branch needs it.
        for output in &graph.outputs {
            if !self.take_from_around(&output.name) {
                return Err(Problem::UnproducedOutput(output.name.clone()));
            }
        }
        for (index, node) in graph.nodes.iter().enumerate() {
            self.levels[depth].at = index;
            node.graphs.iter().try_for_each(|inner| self.graph(inner))?;
        }
        for name in own {
            if let Some(values) = self.values.get_mut(name) {
                values.pop();
            }
        }
        let level = self.levels.pop().unwrap_or_default();
        acyclic(graph, &level.needs)
    }

    /// Adds what a graph has; returns the names, each once.
    fn define(&mut self, graph: &'a OutlinedGraph, depth: usize) -> Result<Vec<&'a str>, Problem> {
        let mut own = vec![];
        let given = graph.inputs.iter().map(|input| &input.name).chain(graph.weights.iter().map(|weight| &weight.name));
        for name in given {
            let values = self.values.entry(name).or_default();
            if values.last().is_none_or(|value| value.depth < depth) {
                values.push(Value { depth, producer: None });
                own.push(name.as_str());
            }
        }
        for (index, node) in graph.nodes.iter().enumerate() {
            for output in node.outputs.iter().filter(|output| !output.is_empty()) {
                let values = self.values.entry(output).or_default();
                match values.last_mut().filter(|value| value.depth == depth) {
                    None => {
                        values.push(Value { depth, producer: Some(index) });
                        own.push(output.as_str());
                    }
                    Some(Value { producer: Some(first), .. }) => {
                        let (first, second) = (called(&graph.nodes[*first]), called(node));
                        return Err(Problem::Twice { value: output.clone(), first, second });
                    }
                    Some(given) => given.producer = Some(index),
                }
            }
        }
        Ok(own)
    }

    /// A value is taken: in the graph that has it, by the node that is looked at, in itself or in a graph that it holds.
    fn take(&mut self, name: &str) -> bool {
        let Some(value) = self.values.get(name).and_then(|values| values.last()).copied() else { return false };
        if let (Some(producer), Some(level)) = (value.producer, self.levels.get_mut(value.depth)) {
            level.needs.push((level.at, producer));
        }
        true
    }

    /// A graph gives a value: to no node of its own.
    fn take_from_around(&mut self, name: &str) -> bool {
        let innermost = self.levels.len() - 1;
        let value = self.values.get(name).and_then(|values| values.last()).copied();
        match value {
            Some(value) if value.depth == innermost => true,
            _ => self.take(name),
        }
    }
}

fn acyclic(graph: &OutlinedGraph, needs: &[(usize, usize)]) -> Result<(), Problem> {
    let count = graph.nodes.len();
    let mut open = vec![0usize; count];
    let mut followers: Vec<Vec<usize>> = vec![vec![]; count];
    for (node, source) in needs {
        open[*node] += 1;
        followers[*source].push(*node);
    }
    let mut ready: Vec<usize> = (0..count).filter(|node| open[*node] == 0).collect();
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
    let mut next = vec![usize::MAX; count];
    for (node, source) in needs.iter().filter(|(_, source)| open[*source] > 0) {
        next[*node] = next[*node].min(*source);
    }
    let mut place = vec![None; count];
    let (mut path, mut at) = (vec![], start);
    while let Some(None) = place.get(at) {
        place[at] = Some(path.len());
        path.push(at);
        at = next[at];
    }
    let first = place.get(at).copied().flatten().unwrap_or_default();
    let cycle = path[first..].iter().take(SHOWN).map(|node| called(&graph.nodes[*node]));
    Err(Problem::Cycle(cycle.collect()))
}

/// Nodes of a cycle that are named.
const SHOWN: usize = 12;
