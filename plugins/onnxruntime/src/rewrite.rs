//! Operators that some providers lack, in terms of ones that they have. Every rule keeps the numbers exactly as they are, by
//! the arithmetic of IEEE 754; a device that takes for granted that there are no NaNs finds none, where there is one.

use skillbench_onnx::messages::*;
use skillbench_onnx::{Broken, edit, messages_of};
use std::collections::{BTreeMap, HashMap};

/// A graph that says the same in other operators.
pub(crate) struct Rewritten {
    pub model: Vec<u8>,
    /// How many of which operator were replaced.
    pub replaced: BTreeMap<&'static str, usize>,
}

/// What the rules look at beside the node.
#[derive(Default)]
struct Known {
    types: HashMap<String, (i32, Vec<i64>)>,
    constants: HashMap<String, Tensor>,
}

/// Nodes, and constants that they need.
type Replacement = (Vec<Node>, Vec<Tensor>);

/// What stands in the place of a node; `None` where it has to stay.
type Rule = fn(&Node, &Known) -> Option<Replacement>;

/// Replaces what the rules know in a model whose shapes are fixed. `None` where they find nothing.
///
/// # Errors
/// The bytes are no model.
pub(crate) fn rewrite(model: &[u8]) -> Result<Option<Rewritten>, Broken> {
    let mut replaced = BTreeMap::new();
    let model = edit(model, MODEL_GRAPH, |graph| {
        let known = Known::of(graph);
        let mut constants = vec![];
        let mut graph = edit::<Broken>(graph, GRAPH_NODE, |bytes| {
            let operator = messages_of(bytes, NODE_OPERATOR).next();
            let rule: (&'static str, Rule) = match operator {
                Some(b"IsNaN") => ("IsNaN", is_nan),
                Some(b"GatherND") => ("GatherND", gather_nd),
                _ => return Ok(None),
            };
            let replacement = Node::decode(bytes).ok().and_then(|node| rule.1(&node, &known));
            Ok(replacement.map(|(nodes, tensors)| {
                *replaced.entry(rule.0).or_default() += 1;
                constants.extend(tensors);
                nodes.iter().map(Message::encode_to_vec).collect()
            }))
        })?;
        for constant in &constants {
            skillbench_onnx::fields::put(&mut graph, GRAPH_INITIALIZER, &constant.encode_to_vec());
        }
        Ok::<_, Broken>(Some(vec![graph]))
    })?;
    Ok((!replaced.is_empty()).then_some(Rewritten { model, replaced }))
}

impl Known {
    fn of(graph: &[u8]) -> Known {
        let mut known = Known::default();
        let ports = messages_of(graph, GRAPH_VALUE_INFO).chain(messages_of(graph, GRAPH_INPUT));
        for value in ports.filter_map(|bytes| ValueInfo::decode(bytes).ok()) {
            let Some((element, shape)) = value.tensor() else { continue };
            let sizes: Option<Vec<i64>> = shape
                .iter()
                .map(|size| match size {
                    Size::Fixed(size) => Some(*size),
                    Size::Named(_) => None,
                })
                .collect();
            known.types.extend(sizes.map(|sizes| (value.name.clone(), (element, sizes))));
        }
        // Only the constants that indices can be: small, and of whole numbers.
        let whole = |bytes: &&[u8]| skillbench_onnx::numbers_of(bytes, TENSOR_TYPE).next() == Some(INT64 as u64);
        let tensors = messages_of(graph, GRAPH_INITIALIZER).filter(whole);
        let named = tensors.filter_map(|bytes| Tensor::decode(bytes).ok()).map(|tensor| (tensor.name.clone(), tensor));
        known.constants.extend(named);
        known
    }
}

/// Only what is not a number differs from itself.
fn is_nan(node: &Node, _known: &Known) -> Option<Replacement> {
    let (input, output) = (node.input.first()?, node.output.first()?);
    let equal = format!("{output} is itself");
    Some((vec![Node::new("Equal", &[input, input], &equal), Node::new("Not", &[&equal], output)], vec![]))
}

/// With constant indices it is a Gather from the flattened data. Providers gather no truth values, so these go as integers.
fn gather_nd(node: &Node, known: &Known) -> Option<Replacement> {
    let [data, indices] = &node.input[..] else { return None };
    let output = node.output.first()?;
    if node.attribute.iter().any(|attribute| attribute.name == "batch_dims" && attribute.i != 0) {
        return None;
    }
    let (element, shape) = known.types.get(data)?;
    let tensor = known.constants.get(indices)?;
    let (depth, places) = tensor.dims.split_last()?;
    let (outer, inner) = shape.split_at_checked(usize::try_from(*depth).ok()?)?;
    // A 0 in a shape for Reshape would stand for a dimension of the data.
    if outer.is_empty() || shape.contains(&0) {
        return None;
    }
    let values = tensor.int64s()?;
    let linear = values.chunks_exact(outer.len()).map(|index| {
        index.iter().zip(outer).try_fold(0_i64, |sum, (at, size)| {
            let at = if *at < 0 { at + size } else { *at };
            (0..*size).contains(&at).then_some(sum * size + at)
        })
    });
    let linear = linear.collect::<Option<Vec<i64>>>()?;
    let flat_shape = [&[-1], inner].concat();
    let name = |part: &str| format!("{output} {part}");
    let (integers, flat, gathered) = (name("as integers"), name("flat"), name("gathered"));
    let constants = vec![
        Tensor::of_int64(&name("shape"), &[flat_shape.len() as i64], &flat_shape),
        Tensor::of_int64(&name("indices"), places, &linear),
    ];
    let gather = |from: &str, into: &str| {
        vec![
            Node::new("Reshape", &[from, &name("shape")], &flat),
            Node::new("Gather", &[&flat, &name("indices")], into).with("axis", 0),
        ]
    };
    if *element != BOOL {
        return Some((gather(data, output), constants));
    }
    let cast = |from: &str, into: &str, to: i32| Node::new("Cast", &[from], into).with("to", i64::from(to));
    let mut nodes = vec![cast(data, &integers, INT32)];
    nodes.extend(gather(&integers, &gathered));
    nodes.push(cast(&gathered, output, BOOL));
    Some((nodes, constants))
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillbench_onnx::fields::put;

    fn model(nodes: &[Node], constants: &[Tensor], values: &[ValueInfo]) -> Vec<u8> {
        let (mut graph, mut model) = (vec![], vec![]);
        nodes.iter().for_each(|node| put(&mut graph, GRAPH_NODE, &node.encode_to_vec()));
        constants.iter().for_each(|constant| put(&mut graph, GRAPH_INITIALIZER, &constant.encode_to_vec()));
        values.iter().for_each(|value| put(&mut graph, GRAPH_VALUE_INFO, &value.encode_to_vec()));
        put(&mut model, MODEL_GRAPH, &graph);
        model
    }

    fn parts(model: &[u8]) -> (Vec<String>, Vec<Tensor>) {
        let graph = messages_of(model, MODEL_GRAPH).next().unwrap();
        let nodes = messages_of(graph, GRAPH_NODE).map(|bytes| Node::decode(bytes).unwrap().op_type).collect();
        (nodes, messages_of(graph, GRAPH_INITIALIZER).map(|bytes| Tensor::decode(bytes).unwrap()).collect())
    }

    #[test]
    fn indices_become_places_in_the_flat_data() {
        let data = ValueInfo::of_tensor("mask", BOOL, vec![Size::Fixed(2), Size::Fixed(3)]);
        let indices = Tensor::of_int64("at", &[1, 3, 2], &[0, 1, 1, 0, -1, -1]);
        let model = model(&[Node::new("GatherND", &["mask", "at"], "out")], &[indices], &[data]);
        let rewritten = rewrite(&model).unwrap().unwrap();
        assert_eq!(rewritten.replaced, [("GatherND", 1)].into());
        let (nodes, constants) = parts(&rewritten.model);
        assert_eq!(nodes, ["Cast", "Reshape", "Gather", "Cast"]);
        assert_eq!(constants[2].int64s().unwrap(), [1, 3, 5]);
        assert_eq!(constants[2].dims, [1, 3]);
    }

    #[test]
    fn what_cannot_be_told_stays_as_it_is() {
        let node = Node::new("GatherND", &["mask", "at"], "out");
        let indices = Tensor::of_int64("at", &[1, 2], &[0, 1]);
        assert!(
            rewrite(&model(std::slice::from_ref(&node), std::slice::from_ref(&indices), &[])).unwrap().is_none(),
            "no shape"
        );
        let dynamic = ValueInfo::of_tensor("mask", FLOAT, vec![Size::Named("batch".into()), Size::Fixed(3)]);
        assert!(
            rewrite(&model(std::slice::from_ref(&node), std::slice::from_ref(&indices), &[dynamic])).unwrap().is_none()
        );
        let small = ValueInfo::of_tensor("mask", FLOAT, vec![Size::Fixed(1), Size::Fixed(1)]);
        assert!(rewrite(&model(&[node], &[indices], &[small])).unwrap().is_none(), "an index beyond the data");
    }

    #[test]
    fn a_value_that_is_not_itself_is_not_a_number() {
        let rewritten = rewrite(&model(&[Node::new("IsNaN", &["x"], "y")], &[], &[])).unwrap().unwrap();
        assert_eq!(parts(&rewritten.model).0, ["Equal", "Not"]);
    }
}
