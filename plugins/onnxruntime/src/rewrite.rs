//! Operators that some providers lack or compute wrongly, in terms of others. Every rule keeps the numbers exactly as they are, by
//! the arithmetic of IEEE 754; a device that takes for granted that there are no NaNs finds none, where there is one.

use skillbench_onnx::messages::*;
use skillbench_onnx::{Broken, edit, messages_of, numbers_of};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A graph that says the same in other operators.
pub(crate) struct Rewritten {
    pub model: Vec<u8>,
    /// How many of which operator were replaced.
    pub replaced: BTreeMap<&'static str, usize>,
}

/// What the rules look at beside the node.
#[derive(Default)]
pub(crate) struct Known {
    types: HashMap<String, (i32, Vec<i64>)>,
    constants: HashMap<String, Tensor>,
    /// The shapes of all constants.
    constant_shapes: HashMap<String, Vec<i64>>,
    /// What goes into a LayerNormalization.
    normalized: HashSet<String>,
}

/// Nodes, and constants that they need.
type Replacement = (Vec<Node>, Vec<Tensor>);

/// What stands in the place of a node; `None` where it has to stay.
type Rule = fn(&Node, &Known) -> Option<Replacement>;

/// An operator, and what is done about it.
pub(crate) type Rules = [(&'static str, Rule)];

/// For providers that lack an operator.
pub(crate) const LACKING: &Rules = &[("IsNaN", is_nan), ("GatherND", gather_nd)];

/// For providers that mistake a constant that is repeated along outer dimensions for one that is not, where the result is normalized next.
pub(crate) const REPEATED: &Rules = &[("Add", repeat), ("Mul", repeat)];

/// Whether [`REPEATED`] may find something, once the graph is folded.
pub(crate) fn may_repeat(model: &[u8]) -> bool {
    let graphs = messages_of(model, MODEL_GRAPH);
    graphs.flat_map(|graph| messages_of(graph, GRAPH_NODE)).any(|node| operator(node) == Some(NORMALIZATION))
}

const NORMALIZATION: &[u8] = b"LayerNormalization";

fn operator(node: &[u8]) -> Option<&[u8]> {
    messages_of(node, NODE_OPERATOR).next()
}

/// Replaces what the rules know in a model whose shapes are fixed. `None` where they find nothing.
///
/// # Errors
/// The bytes are no model.
pub(crate) fn rewrite(model: &[u8], rules: &[&Rules]) -> Result<Option<Rewritten>, Broken> {
    let mut replaced = BTreeMap::new();
    let model = edit(model, MODEL_GRAPH, |graph| {
        let known = Known::of(graph);
        let mut constants = vec![];
        let mut graph = edit::<Broken>(graph, GRAPH_NODE, |bytes| {
            let found = operator(bytes);
            let rule = rules.iter().flat_map(|rules| rules.iter()).find(|rule| found == Some(rule.0.as_bytes()));
            let Some(rule) = rule else { return Ok(None) };
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
        let fields = [GRAPH_VALUE_INFO, GRAPH_INPUT, GRAPH_OUTPUT];
        let ports = fields.into_iter().flat_map(|field| messages_of(graph, field));
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
        let whole = |bytes: &&[u8]| numbers_of(bytes, TENSOR_TYPE).next() == Some(INT64 as u64);
        let tensors = messages_of(graph, GRAPH_INITIALIZER).filter(whole);
        let named = tensors.filter_map(|bytes| Tensor::decode(bytes).ok()).map(|tensor| (tensor.name.clone(), tensor));
        known.constants.extend(named);
        for tensor in messages_of(graph, GRAPH_INITIALIZER) {
            let name = messages_of(tensor, TENSOR_NAME).next().map(|name| String::from_utf8_lossy(name).into_owned());
            let shape = numbers_of(tensor, TENSOR_DIMS).map(|size| size as i64).collect();
            known.constant_shapes.extend(name.map(|name| (name, shape)));
        }
        let nodes = messages_of(graph, GRAPH_NODE).filter(|node| operator(node) == Some(NORMALIZATION));
        let inputs = nodes.filter_map(|node| messages_of(node, NODE_INPUT).next());
        known.normalized.extend(inputs.map(|name| String::from_utf8_lossy(name).into_owned()));
        known
    }
}

/// A constant operand that is repeated along outer dimensions is written out in the whole shape before what is normalized is made of it:
/// ONNX Runtime folds that into another constant. One that has a single dimension, such as a bias, is not touched.
fn repeat(node: &Node, known: &Known) -> Option<Replacement> {
    let ([left, right], [output]) = (&node.input[..], &node.output[..]) else { return None };
    if !known.normalized.contains(output) {
        return None;
    }
    let wide = |name: &String| {
        let shape = known.constant_shapes.get(name)?;
        (shape.iter().filter(|size| **size != 1).count() > 1).then_some(shape)
    };
    let operands = [(left, right), (right, left)];
    let (constant, other, shape) = operands.into_iter().find_map(|(one, two)| Some((one, two, wide(one)?)))?;
    let of = |name: &String| known.types.get(name).map(|(_, shape)| shape);
    let whole = of(output).cloned().or_else(|| of(other).map(|other| broadcast(shape, other)));
    if whole.as_ref().is_some_and(|whole| count(whole) == count(shape)) {
        return None;
    }
    let (as_shape, repeated) = (format!("{output} shape"), format!("{output} repeated"));
    let (mut nodes, constants) = match whole {
        Some(whole) => (vec![], vec![Tensor::of_int64(&as_shape, &[whole.len() as i64], &whole)]),
        // ONNX Runtime knows it, where the file does not say it.
        None => (vec![Node::new("Shape", &[other], &as_shape)], vec![]),
    };
    nodes.push(Node::new("Expand", &[constant, &as_shape], &repeated));
    let operand = |name: &String| if name == constant { repeated.clone() } else { name.clone() };
    nodes.push(Node { input: vec![operand(left), operand(right)], ..node.clone() });
    Some((nodes, constants))
}

fn count(shape: &[i64]) -> i64 {
    shape.iter().product()
}

/// The shape of what two operands give together.
fn broadcast(one: &[i64], other: &[i64]) -> Vec<i64> {
    let rank = one.len().max(other.len());
    let size = |shape: &[i64], at: usize| (at + shape.len()).checked_sub(rank).map_or(1, |at| shape[at]);
    (0..rank).map(|at| size(one, at).max(size(other, at))).collect()
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
        let rewritten = rewrite(&model, &[LACKING]).unwrap().unwrap();
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
            rewrite(&model(std::slice::from_ref(&node), std::slice::from_ref(&indices), &[]), &[LACKING])
                .unwrap()
                .is_none(),
            "no shape"
        );
        let dynamic = ValueInfo::of_tensor("mask", FLOAT, vec![Size::Named("batch".into()), Size::Fixed(3)]);
        assert!(
            rewrite(&model(std::slice::from_ref(&node), std::slice::from_ref(&indices), &[dynamic]), &[LACKING])
                .unwrap()
                .is_none()
        );
        let small = ValueInfo::of_tensor("mask", FLOAT, vec![Size::Fixed(1), Size::Fixed(1)]);
        assert!(
            rewrite(&model(&[node], &[indices], &[small]), &[LACKING]).unwrap().is_none(),
            "an index beyond the data"
        );
    }

    #[test]
    fn a_value_that_is_not_itself_is_not_a_number() {
        let rewritten = rewrite(&model(&[Node::new("IsNaN", &["x"], "y")], &[], &[]), &[LACKING]).unwrap().unwrap();
        assert_eq!(parts(&rewritten.model).0, ["Equal", "Not"]);
    }

    /// The sum of `x` and a constant of this shape, normalized or not, with what the file says of shapes: each [3, 16, 8].
    fn sum(constant: &[i64], next: &str, known: &[&str]) -> Vec<u8> {
        let whole = || vec![Size::Fixed(3), Size::Fixed(16), Size::Fixed(8)];
        let bytes = vec![0; 4 * constant.iter().product::<i64>() as usize];
        let nodes = [Node::new("Add", &["x", "c"], "sum"), Node::new(next, &["sum", "scale"], "y")];
        let values: Vec<ValueInfo> = known.iter().map(|name| ValueInfo::of_tensor(name, FLOAT, whole())).collect();
        model(&nodes, &[Tensor::of_bytes("c", FLOAT, constant, bytes)], &values)
    }

    #[test]
    fn a_constant_that_is_repeated_before_a_normalization_is_written_out() {
        for (shape, known) in [(&[1, 16, 8][..], "sum"), (&[1, 16, 8], "x"), (&[16, 8], "x"), (&[3, 1, 8], "sum")] {
            let model = sum(shape, "LayerNormalization", &[known]);
            assert!(may_repeat(&model));
            let rewritten = rewrite(&model, &[LACKING, REPEATED]).unwrap().unwrap();
            assert_eq!(rewritten.replaced, [("Add", 1)].into());
            let (nodes, constants) = parts(&rewritten.model);
            assert_eq!(nodes, ["Expand", "Add", "LayerNormalization"]);
            assert_eq!(constants[1].int64s().unwrap(), [3, 16, 8]);
        }
        let unknown = rewrite(&sum(&[1, 16, 8], "LayerNormalization", &[]), &[REPEATED]).unwrap().unwrap();
        assert_eq!(parts(&unknown.model).0, ["Shape", "Expand", "Add", "LayerNormalization"]);
    }

    #[test]
    fn a_sum_that_needs_no_repeating_stays_as_it_is() {
        let stays = |model: &[u8], rules: &[&Rules]| rewrite(model, rules).unwrap().is_none();
        assert!(stays(&sum(&[3, 16, 8], "LayerNormalization", &["x"]), &[REPEATED]), "of one shape");
        assert!(stays(&sum(&[8], "LayerNormalization", &["x"]), &[REPEATED]), "a bias");
        assert!(stays(&sum(&[1, 16, 8], "Relu", &["x"]), &[REPEATED]), "not normalized");
        assert!(
            stays(&sum(&[1, 16, 8], "LayerNormalization", &["x"]), &[LACKING]),
            "of a provider that computes it right"
        );
        assert!(!may_repeat(&sum(&[1, 16, 8], "Relu", &["x"])));
    }
}
