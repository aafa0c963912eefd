//! Which weights an input meets first: the table that token ids are looked up in, the convolution that takes the pixels.

use skillbench_onnx::{Outline, OutlinedTensor};
use std::collections::BTreeMap;

/// A weight that an input leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Met {
    pub weight: String,
    pub dims: Vec<i64>,
}

/// For each input: the table with the fewest rows that its values are looked up in, and the convolution that takes it.
#[derive(Debug, Default)]
pub(super) struct Trace {
    pub tables: BTreeMap<String, Met>,
    pub convolutions: BTreeMap<String, Met>,
}

/// Operators that hand on what they take.
const SAME: [&str; 8] =
    ["Cast", "Identity", "Reshape", "Unsqueeze", "Squeeze", "Flatten", "DequantizeLinear", "QuantizeLinear"];

pub(super) fn trace(outline: &Outline) -> Trace {
    let mut weights: BTreeMap<&str, &OutlinedTensor> = BTreeMap::new();
    let mut inputs: BTreeMap<&str, &str> = BTreeMap::new();
    for port in outline.graph.ports() {
        inputs.insert(&port.name, &port.name);
    }
    let mut found = Trace::default();
    // Branches take names of the graph around them, so all graphs are read as one. Nodes come in order.
    for graph in outline.graphs() {
        weights.extend(graph.weights.iter().map(|weight| (weight.name.as_str(), weight)));
        for node in &graph.nodes {
            let given = |at: usize| node.inputs.get(at).map(String::as_str);
            let (Some(output), first) = (node.outputs.first(), given(0)) else { continue };
            let operator = node.operator.as_str();
            if let ("Constant", Some(tensor)) = (operator, node.tensors.first()) {
                weights.insert(output, tensor);
            }
            if let (true, Some(first)) = (SAME.contains(&operator), first) {
                if let Some(weight) = weights.get(first).copied() {
                    weights.insert(output, weight);
                }
                if let Some(input) = inputs.get(first).copied() {
                    inputs.insert(output, input);
                }
            }
            let (Some(first), Some(second)) = (first, given(1)) else { continue };
            match operator {
                "Gather" | "GatherBlockQuantized" => {
                    if let (Some(table), Some(input)) = (weights.get(first), inputs.get(second)) {
                        found.table(input, first, table);
                    }
                }
                "Conv" | "ConvInteger" => {
                    if let (Some(input), Some(kernel)) = (inputs.get(first), weights.get(second)) {
                        let met = || Met { weight: second.into(), dims: kernel.dims.clone() };
                        found.convolutions.entry(input.to_string()).or_insert_with(met);
                    }
                }
                _ => {}
            }
        }
    }
    found
}

impl Trace {
    fn table(&mut self, input: &str, name: &str, table: &OutlinedTensor) {
        // A list of numbers that is looked up in is no embedding.
        let Some(rows) = table.dims.first().copied().filter(|rows| *rows > 0 && table.dims.len() > 1) else { return };
        let fewer = |known: &Met| known.dims.first().is_none_or(|known| rows < *known);
        if self.tables.get(input).is_none_or(fewer) {
            self.tables.insert(input.into(), Met { weight: name.into(), dims: table.dims.clone() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::samples::{Sample, node, weights};
    use super::*;

    fn of(sample: &Sample) -> Trace {
        trace(&Outline::of(&sample.bytes()).unwrap())
    }

    #[test]
    fn token_ids_lead_to_their_table_through_whatever_hands_them_on() {
        let mut sample = Sample::encoder();
        sample.nodes.insert(0, node("Cast", &["input_ids"], "ids"));
        sample.nodes[1] = node("Gather", &["words", "ids"], "a");
        let trace = of(&sample);
        assert_eq!(trace.tables["input_ids"], Met { weight: "words".into(), dims: vec![120, 8] });
        assert_eq!(trace.tables["token_type_ids"].dims[0], 2);
    }

    #[test]
    fn of_two_tables_the_one_with_fewer_rows_counts() {
        let mut sample = Sample::encoder();
        sample.nodes.push(node("Gather", &["few", "input_ids"], "f"));
        sample.weights.push(weights("few", &[50, 2]));
        assert_eq!(of(&sample).tables["input_ids"].dims[0], 50);
    }

    #[test]
    fn pixels_lead_to_their_convolution() {
        assert_eq!(of(&Sample::vision()).convolutions["pixel_values"].dims, [8, 3, 4, 4]);
        assert!(of(&Sample::perceptron()).tables.is_empty());
    }
}
