//! In which forms each value of float32 is there, and under which names.

use super::operators;
use super::read::{Graph, Node};
use super::single::Single;
use std::collections::{HashMap, HashSet};

/// How a value is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Form {
    Half,
    Single,
}

pub(super) struct Plan<'m> {
    values: HashMap<&'m str, Value>,
    /// The names of the least and the largest number of float16, and where those came from that do not exceed them.
    pub limits: [String; 2],
}

/// A value that is in float32 in the graph as it was.
struct Value {
    origin: Origin,
    /// Which form has the value's own name.
    own: Form,
    /// The name of the other form, where anybody needs it.
    other: Option<String>,
    /// The name of the value within the limits, where it may exceed them before its cast.
    limited: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// It is made in this form; a cast gives the other one.
    Made(Form),
    /// It stands in the graph, and is written in each form.
    Constant,
}

/// A cast from one name to another one.
pub(super) struct Cast<'p> {
    pub from: &'p str,
    pub limited: Option<&'p str>,
    pub into: &'p str,
    pub form: Form,
}

/// In which form a node takes an input that is in float32.
fn taken(node: &Node<'_>, single: Option<Single>, input: usize) -> Form {
    match single.is_some() || operators::takes_single(node.operator, input) {
        true => Form::Single,
        false => Form::Half,
    }
}

impl<'m> Plan<'m> {
    pub fn of(graph: &Graph<'m>, single: &[Option<Single>], opset: u64) -> Plan<'m> {
        let mut names = Names::of(graph);
        let limits = ["the least number of float16", "the largest number of float16"].map(|name| names.fresh(name));
        let mut wanted: HashSet<(&str, Form)> = graph.outputs.iter().map(|name| (*name, Form::Single)).collect();
        // What is no product may take masks, which lie beyond the limits.
        let mut beyond = HashSet::new();
        for (node, why) in graph.nodes.iter().zip(single) {
            for (input, name) in graph.singles(node) {
                let form = taken(node, *why, input);
                wanted.insert((name, form));
                if form == Form::Half && !operators::is_product(node.operator) {
                    beyond.insert(name);
                }
            }
        }

        let ports: HashSet<&str> = graph.inputs.iter().copied().chain(graph.outputs.iter().copied()).collect();
        let mut values = HashMap::new();
        // Before opset 11 a Clip has its limits elsewhere, and few such graphs have masks.
        let mut add = |name: &'m str, origin: Origin, may_exceed: bool| {
            if !graph.is_single(name) || values.contains_key(name) {
                return;
            }
            let (single, half) = (wanted.contains(&(name, Form::Single)), wanted.contains(&(name, Form::Half)));
            let own = match origin {
                Origin::Made(form) if !ports.contains(name) => form,
                Origin::Constant if !ports.contains(name) && half && !single => Form::Half,
                _ => Form::Single,
            };
            let (other, suffix) = match own {
                Form::Half => (single, "float32"),
                Form::Single => (half || origin == Origin::Made(Form::Half), "float16"),
            };
            let other = other.then(|| names.fresh(&format!("{name} in {suffix}")));
            let limited = other.is_some() && may_exceed && opset >= 11;
            let limited = limited.then(|| names.fresh(&format!("{name} within float16")));
            values.insert(name, Value { origin, own, other, limited });
        };
        for weight in &graph.weights {
            // Old exports list their weights among the inputs too, where the types have to agree.
            match weight.external || ports.contains(weight.name) {
                true => add(weight.name, Origin::Made(Form::Single), beyond.contains(weight.name)),
                false => add(weight.name, Origin::Constant, false),
            }
        }
        graph.inputs.iter().for_each(|name| add(name, Origin::Made(Form::Single), false));
        for (node, why) in graph.nodes.iter().zip(single) {
            for (output, name) in node.outputs.iter().enumerate() {
                let exceeds = *why == Some(Single::Position) && !matches!(node.operator, "Sin" | "Cos");
                let origin = match node.operator {
                    "Constant" => Origin::Constant,
                    operator if why.is_some() || operators::gives_single(operator, output) => {
                        Origin::Made(Form::Single)
                    }
                    _ => Origin::Made(Form::Half),
                };
                add(name, origin, exceeds);
            }
        }
        Plan { values, limits }
    }

    /// The name of a value as a node takes it; `None` where it stays.
    pub fn input(&self, node: &Node<'_>, single: Option<Single>, input: usize, name: &str) -> Option<&str> {
        self.named(name, taken(node, single, input))
    }

    /// The name of a value as its node gives it; `None` where it stays.
    pub fn output(&self, name: &str) -> Option<&str> {
        match self.values.get(name)?.origin {
            Origin::Made(form) => self.named(name, form),
            Origin::Constant => None,
        }
    }

    fn named(&self, name: &str, form: Form) -> Option<&str> {
        let value = self.values.get(name)?;
        value.other.as_deref().filter(|_| value.own != form)
    }

    /// Whether a value's own name now stands for float16.
    pub fn is_half(&self, name: &str) -> bool {
        self.values.get(name).is_some_and(|value| value.own == Form::Half)
    }

    /// The name of a constant's second form, which is in float16.
    pub fn second(&self, name: &str) -> Option<&str> {
        self.values.get(name).filter(|value| value.origin == Origin::Constant)?.other.as_deref()
    }

    /// The cast that a value needs once it is made.
    pub fn cast<'p>(&'p self, name: &'p str) -> Option<Cast<'p>> {
        let value = self.values.get(name)?;
        let (other, Origin::Made(made)) = (value.other.as_deref()?, value.origin) else { return None };
        let limited = value.limited.as_deref();
        Some(match made == value.own {
            true => Cast {
                from: name,
                limited,
                into: other,
                form: if made == Form::Half { Form::Single } else { Form::Half },
            },
            false => Cast { from: other, limited: None, into: name, form: value.own },
        })
    }
}

/// The names that are taken.
struct Names<'m> {
    taken: HashSet<&'m str>,
    given: HashSet<String>,
}

impl<'m> Names<'m> {
    fn of(graph: &Graph<'m>) -> Names<'m> {
        let mut taken: HashSet<&str> = graph.weights.iter().map(|weight| weight.name).collect();
        taken.extend(&graph.inputs);
        taken.extend(&graph.outputs);
        graph.nodes.iter().for_each(|node| taken.extend(node.inputs.iter().chain(&node.outputs)));
        Names { taken, given: HashSet::new() }
    }

    /// This name, or with a number behind it.
    fn fresh(&mut self, name: &str) -> String {
        let mut found = name.to_string();
        let mut number = 2;
        while self.taken.contains(&found[..]) || self.given.contains(&found) {
            found = format!("{name} {number}");
            number += 1;
        }
        self.given.insert(found.clone());
        found
    }
}
