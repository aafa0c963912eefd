//! What ONNX says about its operators, and ONNX Runtime about its kernels for NVIDIA's GPUs (docs/OperatorKernels.md there).

use super::read::{self, Node};
use crate::messages::*;

/// The element type of an output, given those of the inputs. Most operators give what their first input is.
pub(super) fn element(node: &Node<'_>, output: usize, of: impl Fn(usize) -> Option<i32>) -> Option<i32> {
    match (node.operator, output) {
        ("Cast" | "BitCast", _) => node.number("to"),
        ("CastLike" | "Where", _) => of(1),
        ("OneHot", _) => of(2),
        ("Constant", _) => constant(node),
        ("ConstantOfShape", _) => Some(node.tensor("value").map_or(FLOAT, read::element)),
        ("RandomNormal" | "RandomUniform", _) => Some(node.number("dtype").unwrap_or(FLOAT)),
        ("RandomNormalLike" | "RandomUniformLike" | "EyeLike" | "Bernoulli", _) => {
            node.number("dtype").or_else(|| of(0))
        }
        ("HannWindow" | "HammingWindow" | "BlackmanWindow" | "MelWeightMatrix", _) => {
            Some(node.number("output_datatype").unwrap_or(FLOAT))
        }
        ("Multinomial", _) => Some(node.number("dtype").unwrap_or(INT32)),
        ("Shape" | "Size" | "NonZero" | "ArgMax" | "ArgMin" | "NonMaxSuppression", _) => Some(INT64),
        ("TopK" | "MaxPool" | "Unique", 1..) => Some(INT64),
        ("Equal" | "Greater" | "GreaterOrEqual" | "Less" | "LessOrEqual" | "IsNaN" | "IsInf", _) => Some(BOOL),
        ("Dropout", 1) => Some(BOOL),
        ("TfIdfVectorizer", _) => Some(FLOAT),
        (operator, output) if gives_single(operator, output) => Some(FLOAT),
        _ => of(0),
    }
}

/// The element type of a constant that has one.
fn constant(node: &Node<'_>) -> Option<i32> {
    match node.tensor("value") {
        Some(tensor) => Some(read::element(tensor)),
        None => {
            let floats = ["value_float", "value_floats"].iter().any(|name| node.attribute(name).is_some());
            let whole = ["value_int", "value_ints"].iter().any(|name| node.attribute(name).is_some());
            floats.then_some(FLOAT).or(whole.then_some(INT64))
        }
    }
}

/// Whether an output is in float32 whatever the inputs are: the mean and the deviation of a normalization.
pub(super) fn gives_single(operator: &str, output: usize) -> bool {
    operator == "LayerNormalization" && output > 0
}

/// Whether an input has to be in float32, or is read as such by ONNX Runtime.
pub(super) fn takes_single(operator: &str, input: usize) -> bool {
    matches!(operator, "Resize" | "Upsample") && input > 0
}

/// Whether an operator is there for float32, and not for float16.
pub(super) fn only_single(node: &Node<'_>, opset: u64) -> bool {
    match node.operator {
        // It reads the bits.
        "BitCast" => true,
        // Kernels for float16 put values in their places, and combine none.
        "ScatterElements" | "ScatterND" => node.attribute("reduction").is_some(),
        // Not in ONNX; `Clip` and `CumSum` are in it before their kernels are.
        "Celu" | "NonMaxSuppression" | "Range" | "TfIdfVectorizer" => true,
        "CumSum" => opset < 14,
        "IsInf" => opset < 20,
        "Clip" => opset < 12,
        // No kernel of the GPU for it.
        "EyeLike" | "GridSample" | "RoiAlign" => true,
        // No kernel of the GPU at all, and none of the CPU for float16.
        "Acos" | "Acosh" | "Asin" | "Asinh" | "Atan" | "Atanh" | "Cosh" | "Sinh" | "Tan" => true,
        "AffineGrid" | "Bernoulli" | "BlackmanWindow" | "Col2Im" | "DeformConv" | "Det" | "DFT" | "GlobalLpPool" => {
            true
        }
        "HammingWindow" | "HannWindow" | "Hardmax" | "LpNormalization" | "LpPool" | "MaxRoiPool" | "MaxUnpool" => true,
        "MelWeightMatrix" | "Multinomial" | "STFT" | "Unique" => true,
        _ => false,
    }
}

/// Whether an operator takes nothing of its input but the shape.
pub(super) fn takes_shape(operator: &str) -> bool {
    matches!(operator, "Shape" | "Size" | "RandomNormalLike" | "RandomUniformLike" | "EyeLike")
}

/// Whether an operator quantizes, or computes with quantized numbers.
pub(super) fn is_quantized(operator: &str) -> bool {
    let beginnings = ["Quantize", "Dequantize", "DynamicQuantize", "QLinear", "QGemm", "QAttention"];
    beginnings.iter().any(|beginning| operator.starts_with(beginning))
        || matches!(operator, "MatMulInteger" | "ConvInteger" | "DynamicDequantizeLinear")
}

/// Whether an operator is about sequences or options of tensors.
pub(super) fn is_of_sequences(operator: &str) -> bool {
    operator.starts_with("Sequence")
        || operator.starts_with("Optional")
        || matches!(operator, "SplitToSequence" | "ConcatFromSequence")
}

/// Whether an operator multiplies: what most of a model's work is.
pub(super) fn multiplies(operator: &str) -> bool {
    matches!(operator, "MatMul" | "Gemm" | "Conv" | "ConvTranspose" | "DeformConv" | "Einsum" | "Attention")
        || matches!(operator, "LSTM" | "GRU" | "RNN")
}

/// Whether a weight of this operator is one that was trained, and so never near the ends of float16.
pub(super) fn is_product(operator: &str) -> bool {
    match operator {
        "MatMul" | "Gemm" | "Conv" | "ConvTranspose" | "Gather" | "LSTM" | "GRU" | "RNN" => true,
        "LayerNormalization" | "RMSNormalization" | "BatchNormalization" | "InstanceNormalization" => true,
        _ => operator == "GroupNormalization",
    }
}
