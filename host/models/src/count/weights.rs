//! The weights that every inference reads.

use skillbench_onnx::{Outline, OutlinedNode, OutlinedTensor};
use std::collections::{BTreeSet, HashMap};

/// Elements of the weights that some operator takes whole. Of a table in which rows are looked up, an inference reads few; a weight that
/// is copied, turned or cast first counts by what takes that.
pub fn read_by_each(outline: &Outline) -> u64 {
    let graph = &outline.graph;
    let mut taken_by: HashMap<&str, Vec<&OutlinedNode>> = HashMap::new();
    for node in &graph.nodes {
        node.inputs.iter().for_each(|name| taken_by.entry(name.as_str()).or_default().push(node));
    }
    let given: BTreeSet<&str> = graph.outputs.iter().map(|port| port.name.as_str()).collect();
    let read = graph
        .weights
        .iter()
        .filter(|weight| is_trained(weight))
        .filter(|weight| is_read(&weight.name, &taken_by, &given));
    read.filter_map(OutlinedTensor::count).fold(0, u64::saturating_add)
}

/// Tables of whole numbers that a graph keeps for its shapes, texts and truth values are not.
pub(crate) fn is_trained(weight: &OutlinedTensor) -> bool {
    const WHOLE_NUMBERS_AND_TEXTS: [i32; 6] = [6, 7, 8, 9, 12, 13];
    !WHOLE_NUMBERS_AND_TEXTS.contains(&weight.element)
}

fn is_read(weight: &str, taken_by: &HashMap<&str, Vec<&OutlinedNode>>, given: &BTreeSet<&str>) -> bool {
    let mut left = vec![weight];
    let mut seen = BTreeSet::new();
    while let Some(name) = left.pop() {
        if given.contains(name) {
            return true;
        }
        if !seen.insert(name) {
            continue;
        }
        for node in taken_by.get(name).into_iter().flatten() {
            let table = node.inputs.first().is_some_and(|first| first == name);
            match node.operator.as_str() {
                "Gather" | "GatherND" if table && node.inputs.iter().skip(1).all(|other| other != name) => {}
                "Shape" | "Slice" => {}
                "Identity" | "Transpose" | "Cast" | "Reshape" => left.extend(node.outputs.first().map(String::as_str)),
                _ => return true,
            }
        }
    }
    false
}
