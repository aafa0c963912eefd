//! The operations of one operator: two for each multiplication and addition of products and convolutions. Elementwise operators,
//! normalizations and the like are not counted.

use super::Uncounted;
use super::operators::{number, text};
use super::shapes::Shapes;
use skillbench_onnx::OutlinedNode;
use std::collections::BTreeMap;

/// Operators with products inside that nobody wrote a rule for.
const UNKNOWN: [&str; 8] = [
    "Attention",
    "MultiHeadAttention",
    "GroupQueryAttention",
    "If",
    "Loop",
    "Scan",
    "DeformConv",
    "ConvTransposeInteger",
];
/// The domain of operators with which ONNX Runtime goes beyond the standard.
const RUNTIME: &str = "com.microsoft";

pub(super) fn operations(node: &OutlinedNode, shapes: &Shapes) -> Result<f64, Uncounted> {
    let of = |at: usize| {
        let name = node.inputs.get(at).ok_or(Uncounted::Contradiction)?;
        shapes.dims(name)
    };
    let made = || shapes.elements(node.outputs.first().ok_or(Uncounted::Contradiction)?);
    let pairs = match node.operator.as_str() {
        "MatMul" | "MatMulInteger" | "QLinearMatMul" => made()? * of(0)?.last().copied().unwrap_or(1.0),
        "MatMulNBits" => made()? * number(node, "K", 0) as f64,
        "Gemm" => {
            let [rows, columns] = of(0)?[..] else { return Err(Uncounted::Contradiction) };
            made()? * if number(node, "transA", 0) == 0 { columns } else { rows }
        }
        "Conv" | "ConvInteger" => made()? * window(&of(1)?),
        "QLinearConv" => made()? * window(&of(3)?),
        "ConvTranspose" => of(0)?.iter().product::<f64>() * window(&of(1)?),
        "Einsum" => einsum(node, shapes)?,
        "LSTM" => recurrent(&of(0)?, &of(1)?, 4.0)?,
        "GRU" => recurrent(&of(0)?, &of(1)?, 3.0)?,
        "RNN" => recurrent(&of(0)?, &of(1)?, 1.0)?,
        name if UNKNOWN.contains(&name) => return Err(Uncounted::Operator(name.to_string())),
        // Of another domain's operator nobody knows what is inside.
        name if !["", RUNTIME].contains(&node.domain.as_str()) => {
            return Err(Uncounted::Operator(format!("{}.{name}", node.domain)));
        }
        _ => 0.0,
    };
    Ok(2.0 * pairs)
}

/// Of a filter: what goes into one output.
fn window(filter: &[f64]) -> f64 {
    filter.iter().skip(1).product()
}

fn recurrent(input: &[f64], weights: &[f64], gates: f64) -> Result<f64, Uncounted> {
    let ([steps, batch, _], [directions, rows, inputs]) = (input, weights) else {
        return Err(Uncounted::Contradiction);
    };
    Ok(steps * batch * directions * rows * (inputs + rows / gates))
}

fn einsum(node: &OutlinedNode, shapes: &Shapes) -> Result<f64, Uncounted> {
    let equation: String = text(node, "equation").split("->").next().unwrap_or_default().split_whitespace().collect();
    let factors: Vec<&str> = equation.split(',').collect();
    // Letters, and the places that dots stand for, counted from the last: factors are broadcast against each other there.
    let mut sizes: BTreeMap<(char, usize), f64> = BTreeMap::new();
    for (letters, name) in factors.iter().zip(&node.inputs) {
        let dims = shapes.dims(name)?;
        let (before, after) = letters.split_once("...").unwrap_or((letters, ""));
        let (first, last) = (before.chars().count(), after.chars().count());
        let Some(spread) = dims.len().checked_sub(first + last) else { return Err(Uncounted::Contradiction) };
        for (place, dim) in dims[first..first + spread].iter().rev().enumerate() {
            let size = sizes.entry(('.', place)).or_insert(1.0);
            *size = size.max(*dim);
        }
        let named = before.chars().zip(&dims).chain(after.chars().zip(&dims[first + spread..]));
        sizes.extend(named.map(|(letter, dim)| ((letter, 0), *dim)));
    }
    Ok(sizes.values().product::<f64>() * factors.len().saturating_sub(1) as f64)
}
