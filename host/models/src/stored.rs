//! What the weights of a graph are stored as. A plugin says what it computes in; that weights were narrower than that, the host reads
//! from the file.

use skillbench_onnx::messages::{BFLOAT16, FLOAT, FLOAT16, INT8, UINT8};
use skillbench_onnx::{Outline, OutlinedTensor};
use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

/// The types of ONNX for 4 bits.
const UINT4: i32 = 21;
const INT4: i32 = 22;
/// Behind the name of a type in which weights are stored and not computed.
const SUFFIX: &str = "-stored";

/// The name of the type that most of the numbers in these graphs are stored in, without tables that are only looked up; `None` where
/// nothing tells.
pub fn weights<'a>(graphs: impl Iterator<Item = &'a Path>) -> Option<&'static str> {
    let mut counts = [("float32", 0_u64), ("float16", 0), ("bfloat16", 0), ("int8", 0), ("int4", 0)];
    for path in graphs {
        let graph = Outline::read(File::open(path).ok()?).ok()?.graph;
        let mut users: HashMap<&str, Vec<&str>> = HashMap::new();
        for node in &graph.nodes {
            node.inputs.iter().for_each(|input| users.entry(input).or_default().push(&node.operator));
        }
        let uses = |tensor: &OutlinedTensor, operator: &str, all: bool| {
            let of = users.get(tensor.name.as_str()).map_or(&[][..], Vec::as_slice);
            let is = |known: &&str| *known == operator;
            !of.is_empty() && if all { of.iter().all(is) } else { of.iter().any(is) }
        };
        for tensor in graph.weights.iter().filter(|tensor| !uses(tensor, "Gather", true)) {
            let Some((name, numbers)) = stored(tensor, uses(tensor, "MatMulNBits", false)) else { continue };
            counts.iter_mut().filter(|(of, _)| *of == name).for_each(|(_, sum)| *sum = sum.saturating_add(numbers));
        }
    }
    counts.into_iter().max_by_key(|(_, count)| *count).filter(|(_, count)| *count > 0).map(|(name, _)| name)
}

/// `in_bytes`: two of its numbers are in a byte.
fn stored(tensor: &OutlinedTensor, in_bytes: bool) -> Option<(&'static str, u64)> {
    let numbers = tensor.dims.iter().try_fold(1_u64, |all, dim| all.checked_mul(u64::try_from(*dim).ok()?))?;
    match tensor.element {
        FLOAT => Some(("float32", numbers)),
        FLOAT16 => Some(("float16", numbers)),
        BFLOAT16 => Some(("bfloat16", numbers)),
        INT4 | UINT4 => Some(("int4", numbers)),
        UINT8 if in_bytes => Some(("int4", numbers.saturating_mul(2))),
        INT8 | UINT8 => Some(("int8", numbers)),
        _ => None,
    }
}

/// The precision of a model that computes in `computed` with weights that are stored as `stored`: "int4-stored" for float32 over int4.
pub fn effective(computed: &str, stored: Option<&str>) -> String {
    match stored {
        Some(narrower @ ("float16" | "bfloat16" | "int8" | "int4")) if computed == "float32" => {
            format!("{narrower}{SUFFIX}")
        }
        _ => computed.into(),
    }
}

/// What a model of this effective precision computes in.
pub fn arithmetic(effective: &str) -> &str {
    if effective.ends_with(SUFFIX) { "float32" } else { effective }
}

/// What the weights of a model of this effective precision are stored as.
pub fn stored_in(effective: &str) -> &str {
    effective.strip_suffix(SUFFIX).unwrap_or(effective)
}

/// The form in which weights are stored for a precision that a backend does not compute in.
pub fn form_for(precision: &str) -> String {
    format!("{precision}{SUFFIX}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillbench_onnx::messages::Tensor;
    use skillbench_onnx::messages::{Message as _, Node};
    use skillbench_onnx::{Graph, Model};

    /// Of tensors, each with its elements and the operator that reads it.
    fn of(weights: &[(i32, i64, &str)]) -> Option<&'static str> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.onnx");
        let named = |place: usize| format!("w{place}");
        let tensor = |(place, (element, count, _)): (usize, &(i32, i64, &str))| {
            Tensor::of_bytes(&named(place), *element, &[*count], vec![])
        };
        let node = |(place, (_, _, operator)): (usize, &(i32, i64, &str))| {
            Node::new(operator, &["x", &named(place)], &format!("y{place}"))
        };
        let initializer = weights.iter().enumerate().map(tensor).collect();
        let graph = Graph { initializer, node: weights.iter().enumerate().map(node).collect(), ..Graph::default() };
        std::fs::write(&path, Model::new("test", 17, graph).encode_to_vec()).unwrap();
        super::weights(std::iter::once(path.as_path()))
    }

    #[test]
    fn most_of_the_numbers_that_are_computed_with_decide_and_a_byte_of_matmulnbits_holds_two() {
        assert_eq!(of(&[(FLOAT, 100, "MatMul"), (FLOAT16, 101, "Cast")]), Some("float16"));
        assert_eq!(of(&[(FLOAT, 100, "Add"), (UINT8, 60, "MatMulNBits")]), Some("int4"));
        assert_eq!(of(&[(FLOAT, 100, "MatMul"), (UINT8, 60, "MatMul")]), Some("float32"));
        assert_eq!(of(&[(FLOAT, 100, "MatMul"), (FLOAT16, 1000, "Gather")]), Some("float32"), "a table");
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn weights_that_are_narrower_than_what_is_computed_show_in_the_precision() {
        assert_eq!(effective("float32", Some("int4")), "int4-stored");
        assert_eq!(effective("float16", Some("float16")), "float16");
        assert_eq!(effective("int4", Some("int4")), "int4");
        assert_eq!(effective("float32", Some("float32")), "float32");
        assert_eq!((arithmetic("int4-stored"), arithmetic("int8")), ("float32", "int8"));
    }
}
