//! Which rule of shape inference an operator follows, with its attributes.

use super::shapes::Value;
use super::values;
use rten_shape_inference::ops::*;
use rten_shape_inference::{
    BinaryOp, InferShapes, InferShapesContext, ReductionOp, SymExpr, SymTensor, SymbolGen, UnaryOp, VariadicOp,
};
use skillbench_onnx::messages::{BOOL, FLOAT, INT64};
use skillbench_onnx::{Attribute, OutlinedNode};

/// The type of what an operator makes.
#[derive(Clone, Copy)]
pub(super) enum Element {
    All(i32),
    /// The others are indices.
    First(i32),
}

/// The type of what a node makes; 0: nobody knows.
pub(super) fn element_of(node: &OutlinedNode, inputs: &[Option<&Value>]) -> Element {
    let of = |at: usize| inputs.get(at).copied().flatten().map_or(0, |value| value.element);
    let stored = || node.tensors.first().map(|tensor| tensor.element);
    Element::All(match node.operator.as_str() {
        "Shape" | "Size" | "ArgMax" | "ArgMin" | "NonZero" | "NonMaxSuppression" => INT64,
        "And" | "Or" | "Xor" | "Not" | "Equal" | "Greater" | "GreaterOrEqual" | "Less" | "LessOrEqual" | "IsNaN"
        | "IsInf" => BOOL,
        "Cast" | "RandomNormal" | "RandomUniform" | "EyeLike" => {
            as_i32(number(node, "to", number(node, "dtype", FLOAT.into())))
        }
        "Constant" => stored().unwrap_or(
            if node.attributes.contains_key("value_int") || node.attributes.contains_key("value_ints") {
                INT64
            } else {
                FLOAT
            },
        ),
        "ConstantOfShape" => stored().unwrap_or(FLOAT),
        "Where" | "CastLike" => of(1),
        "OneHot" => of(2),
        "DequantizeLinear" => of(1),
        "QuantizeLinear" => of(2),
        "QLinearMatMul" | "QLinearConv" => of(7),
        "MatMulInteger" | "ConvInteger" => INT32,
        "TopK" | "MaxPool" | "Unique" => return Element::First(of(0)),
        _ => of(0),
    })
}

const INT32: i32 = skillbench_onnx::messages::INT32;

fn as_i32(number: i64) -> i32 {
    number.clamp(i32::MIN.into(), i32::MAX.into()) as i32
}

pub(super) fn number(node: &OutlinedNode, name: &str, otherwise: i64) -> i64 {
    match node.attributes.get(name) {
        Some(Attribute::Number(number)) => *number,
        _ => otherwise,
    }
}

pub(super) fn numbers<'a>(node: &'a OutlinedNode, name: &str) -> Option<&'a [i64]> {
    match node.attributes.get(name) {
        Some(Attribute::Numbers(numbers)) => Some(numbers),
        _ => None,
    }
}

pub(super) fn text<'a>(node: &'a OutlinedNode, name: &str) -> &'a str {
    match node.attributes.get(name) {
        Some(Attribute::Text(text)) => text,
        _ => "",
    }
}

/// Sizes of a window: no graph that runs has a negative one.
fn sizes(node: &OutlinedNode, name: &str) -> Option<Vec<usize>> {
    numbers(node, name)?.iter().map(|size| usize::try_from(*size).ok()).collect()
}

/// What older versions of an operator say in an attribute, and newer ones in an input.
const MOVED: [(&str, &str, usize); 9] = [
    ("Squeeze", "axes", 1),
    ("Unsqueeze", "axes", 1),
    ("Slice", "starts", 1),
    ("Slice", "ends", 2),
    ("Slice", "axes", 3),
    ("Split", "split", 1),
    ("Pad", "pads", 1),
    ("TopK", "k", 1),
    ("Reshape", "shape", 1),
];

/// What a node makes of these inputs; `None`: no rule is known for it, or its inputs break the rule.
pub(super) fn outputs(
    node: &OutlinedNode,
    opset: i64,
    inputs: &[Option<&Value>],
    symbols: &mut SymbolGen,
) -> Option<Vec<SymTensor>> {
    let mut given: Vec<Option<SymTensor>> =
        inputs.iter().map(|value| value.map(|value| value.tensor.clone())).collect();
    for (operator, name, at) in MOVED {
        if node.operator != operator || given.get(at).is_some_and(Option::is_some) {
            continue;
        }
        let moved = match node.attributes.get(name) {
            Some(Attribute::Numbers(all)) => Value::of_numbers(all),
            Some(Attribute::Number(one)) => Value::of_numbers(&[*one]),
            _ => continue,
        };
        given.resize(given.len().max(at + 1), None);
        given[at] = Some(moved.tensor);
    }
    if node.operator == "Split" && given.get(1).is_none_or(Option::is_none) {
        given.truncate(1);
        given.push(Some(equal_parts(node, given.first()?.as_ref()?)?));
    }
    if let Some(known) = values::known(node, inputs, &given) {
        return Some(vec![known]);
    }
    let mut rule = |rule: &dyn InferShapes| rule.infer_shapes(InferShapesContext::new(&given), symbols).ok();
    let axis = |otherwise: i64| as_i32(number(node, "axis", otherwise));
    let flag = |name: &str| number(node, name, 0) != 0;
    let spatial =
        inputs.first().copied().flatten().and_then(|value| value.tensor.ndim()).unwrap_or(2).saturating_sub(2);
    let ones = || vec![1; spatial];
    match node.operator.as_str() {
        "Constant" => Some(vec![constant(node)?]),
        "Identity" | "Cast" | "CastLike" => rule(&Identity),
        "Shape" => {
            let end = node.attributes.contains_key("end").then(|| as_i32(number(node, "end", 0)));
            rule(&Shape { start: Some(as_i32(number(node, "start", 0))), end })
        }
        "Size" => rule(&Size),
        "Reshape" => rule(&Reshape { allow_zero: flag("allowzero") }),
        "Flatten" => rule(&Flatten { axis: axis(1) }),
        "Squeeze" => rule(&Squeeze),
        "Unsqueeze" => rule(&Unsqueeze),
        "Transpose" => rule(&Transpose { perm: sizes(node, "perm").as_deref() }),
        "Expand" => rule(&Expand),
        "Concat" => rule(&Concat { axis: axis(0) }),
        "Tile" => rule(&Tile),
        "Slice" => rule(&Slice),
        "Split" => rule(&Split { axis: axis(0), num_outputs: None }),
        "Gather" => rule(&Gather { axis: axis(0) }),
        "GatherElements" => rule(&GatherElements),
        "GatherND" => rule(&GatherND { batch_dims: usize::try_from(number(node, "batch_dims", 0)).ok()? }),
        "DepthToSpace" => rule(&DepthToSpace { block_size: u32::try_from(number(node, "blocksize", 1)).ok()? }),
        "Pad" => rule(&Pad),
        "Where" => rule(&Where),
        "Range" => {
            // The rule reads the first element of each.
            let empty = |value: &Option<SymTensor>| {
                value.as_ref().is_some_and(|tensor| tensor.values().is_some_and(<[SymExpr]>::is_empty))
            };
            if given.iter().any(empty) { None } else { rule(&Range) }
        }
        "ConstantOfShape" => {
            let value = node.tensors.first().map_or(Some(vec![]), |tensor| tensor.integers());
            let value = value.and_then(|all| all.first().copied()).map(as_i32);
            // A long one has a shape alone.
            let short = given
                .first()?
                .as_ref()?
                .values()
                .is_some_and(|all| all.iter().all(|size| matches!(size, SymExpr::Value(0..=1024))));
            rule(&ConstantOfShape { value: value.filter(|_| short) })
        }
        "OneHot" => rule(&OneHot { axis: axis(-1) }),
        "TopK" => rule(&TopK { axis: Some(axis(-1)) }),
        "NonZero" => rule(&NonZero),
        "Resize" | "Upsample" => {
            let at = if node.operator == "Upsample" || opset < 11 { 1 } else { 2 };
            resized(inputs, at).map(|shape| vec![shape]).or_else(|| rule(&Resize))
        }
        "GridSample" => rule(&GridSample),
        "Add" => rule(&Add),
        "Sub" => rule(&Sub),
        "Mul" => rule(&Mul),
        "Div" => rule(&Div),
        "Equal" => rule(&Equal),
        "Neg" => rule(&Neg),
        "And" | "Or" | "Xor" | "Greater" | "GreaterOrEqual" | "Less" | "LessOrEqual" | "Pow" | "Mod" | "BitShift"
        | "PRelu" => rule(&BinaryOp),
        "Max" | "Min" | "Sum" | "Mean" => rule(&VariadicOp),
        "ArgMax" | "ArgMin" => {
            rule(&ReductionOp { axes: Some(&[axis(0)]), keep_dims: number(node, "keepdims", 1) != 0 })
        }
        name if name.starts_with("Reduce") => reduced(node, &given, rule),
        "MatMul" | "MatMulInteger" => rule(&MatMul),
        "QLinearMatMul" => {
            let factors = [given.first()?.clone(), given.get(3)?.clone()];
            MatMul.infer_shapes(InferShapesContext::new(&factors), symbols).ok()
        }
        "MatMulNBits" => {
            let mut shape: Vec<SymExpr> = given.first()?.as_ref()?.shape()?.collect();
            *shape.last_mut()? = SymExpr::Value(as_i32(number(node, "N", 0)));
            Some(vec![SymTensor::from_shape(shape)])
        }
        "Gemm" => rule(&Gemm { transpose_a: flag("transA"), transpose_b: flag("transB") }),
        "Einsum" => rule(&Einsum { equation: text(node, "equation") }),
        "Conv" | "ConvInteger" | "QLinearConv" => {
            let filters = given.get(if node.operator == "QLinearConv" { 3 } else { 1 })?.as_ref()?;
            let kernel = whole(filters)?.get(2..)?.to_vec();
            Some(vec![windowed(node, given.first()?.as_ref()?, Some(filters.size(0)?), &kernel)?])
        }
        "ConvTranspose" => {
            let (strides, dilations) =
                (sizes(node, "strides").unwrap_or_else(ones), sizes(node, "dilations").unwrap_or_else(ones));
            let pads = pads(node, spatial)?;
            rule(&ConvTranspose {
                groups: usize::try_from(number(node, "group", 1)).ok()?,
                padding: padding(node, &pads),
                strides: &strides,
                dilations: &dilations,
                output_padding: sizes(node, "output_padding").as_deref(),
            })
        }
        "MaxPool" | "AveragePool" | "LpPool" => {
            let made = windowed(node, given.first()?.as_ref()?, None, numbers(node, "kernel_shape")?)?;
            // The second output of a MaxPool has the shape of the first.
            Some(vec![made; 2])
        }
        "GlobalAveragePool" | "GlobalMaxPool" | "GlobalLpPool" => rule(&GlobalPool),
        "LSTM" => rule(&LSTM { direction: direction(node) }),
        "GRU" => rule(&GRU { direction: direction(node) }),
        "DFT" => rule(&DFT { inverse: flag("inverse"), onesided: flag("onesided") }),
        "STFT" => rule(&STFT { onesided: number(node, "onesided", 1) != 0 }),
        "Dropout" => rule(&Dropout),
        _ if AS_THE_FIRST.contains(&node.operator.as_str()) => rule(&UnaryOp),
        _ => None,
    }
}

/// What they make has the shape of their first input.
const AS_THE_FIRST: [&str; 66] = [
    "Abs",
    "Acos",
    "Acosh",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "BatchNormalization",
    "Bernoulli",
    "BiasGelu",
    "Ceil",
    "Celu",
    "Clip",
    "Cos",
    "Cosh",
    "CumSum",
    "DequantizeLinear",
    "Elu",
    "Erf",
    "Exp",
    "EyeLike",
    "FastGelu",
    "Floor",
    "Gelu",
    "GroupNormalization",
    "HardSigmoid",
    "HardSwish",
    "InstanceNormalization",
    "IsInf",
    "IsNaN",
    "LayerNormalization",
    "LeakyRelu",
    "Log",
    "LogSoftmax",
    "Hardmax",
    "LpNormalization",
    "LRN",
    "MeanVarianceNormalization",
    "Mish",
    "Not",
    "QuantizeLinear",
    "QuickGelu",
    "RandomNormalLike",
    "RandomUniformLike",
    "Reciprocal",
    "Relu",
    "RMSNormalization",
    "Round",
    "ScatterElements",
    "ScatterND",
    "Selu",
    "Shrink",
    "Sigmoid",
    "Sign",
    "SimplifiedLayerNormalization",
    "Sin",
    "Sinh",
    "Softmax",
    "Softplus",
    "Softsign",
    "Sqrt",
    "Swish",
    "Tan",
    "Tanh",
    "ThresholdedRelu",
    "Trilu",
];

fn given_at<'a>(inputs: &[Option<&'a Value>], at: usize) -> Option<&'a Value> {
    inputs.get(at).copied().flatten()
}

fn constant(node: &OutlinedNode) -> Option<SymTensor> {
    match (node.tensors.first(), node.attributes.get("value_int"), node.attributes.get("value_ints")) {
        (Some(tensor), _, _) => Some(Value::of_tensor(tensor).tensor),
        (_, Some(Attribute::Number(one)), _) => Some(SymTensor::from_scalar(SymExpr::Value(as_i32(*one)))),
        (_, _, Some(Attribute::Numbers(all))) => Some(Value::of_numbers(all).tensor),
        _ => node.attributes.is_empty().then(|| SymTensor::from_fixed_shape(&[])),
    }
}

/// The axes stand in an attribute, or in an input that may be left out.
fn reduced(
    node: &OutlinedNode,
    given: &[Option<SymTensor>],
    mut rule: impl FnMut(&dyn InferShapes) -> Option<Vec<SymTensor>>,
) -> Option<Vec<SymTensor>> {
    let axes: Option<Vec<i32>> = numbers(node, "axes").map(|axes| axes.iter().copied().map(as_i32).collect());
    let none = axes.as_ref().is_none_or(Vec::is_empty) && given.get(1).is_none_or(Option::is_none);
    if none && number(node, "noop_with_empty_axes", 0) != 0 {
        return rule(&UnaryOp);
    }
    rule(&ReductionOp { axes: axes.as_deref(), keep_dims: number(node, "keepdims", 1) != 0 })
}

fn pads(node: &OutlinedNode, spatial: usize) -> Option<Vec<usize>> {
    match numbers(node, "pads") {
        Some(_) => sizes(node, "pads"),
        None => Some(vec![0; 2 * spatial]),
    }
}

fn padding<'a>(node: &OutlinedNode, pads: &'a [usize]) -> Padding<'a> {
    if text(node, "auto_pad").starts_with("SAME") { Padding::Same } else { Padding::Fixed(pads) }
}

fn direction(node: &OutlinedNode) -> Direction {
    if text(node, "direction") == "bidirectional" { Direction::Bidirectional } else { Direction::Unidirectional }
}

/// The shape of what a window of any rank makes that moves over an input: [batch, channels, spatial...].
fn windowed(node: &OutlinedNode, input: &SymTensor, channels: Option<SymExpr>, kernel: &[i64]) -> Option<SymTensor> {
    let dims = whole(input)?;
    let spatial = dims.get(2..)?;
    let each = |name: &str, otherwise: i64| match numbers(node, name) {
        Some(all) => (all.len() == spatial.len()).then(|| all.to_vec()),
        None => Some(vec![otherwise; spatial.len()]),
    };
    let (strides, dilations) = (each("strides", 1)?, each("dilations", 1)?);
    let pads = numbers(node, "pads").map_or_else(|| vec![0; 2 * spatial.len()], <[i64]>::to_vec);
    let (before, after) = pads.split_at_checked(spatial.len())?;
    if kernel.len() != spatial.len() || after.len() != spatial.len() || strides.iter().any(|stride| *stride < 1) {
        return None;
    }
    let same = text(node, "auto_pad").starts_with("SAME");
    let up = number(node, "ceil_mode", 0) != 0;
    let mut shape: Vec<SymExpr> = vec![input.size(0)?, channels.or_else(|| input.size(1))?];
    for at in 0..spatial.len() {
        let stride = strides[at];
        let reach = dilations[at].checked_mul(kernel[at] - 1)?.checked_add(1)?;
        let room = spatial[at].checked_add(before[at])?.checked_add(after[at])?.checked_sub(reach)?;
        let size = match (same, up) {
            (true, _) => (spatial[at].checked_add(stride - 1)?) / stride,
            (false, false) => room.div_euclid(stride) + 1,
            // A window that begins in the padding behind is left out.
            (false, true) => {
                let all = room.checked_add(stride - 1)?.div_euclid(stride) + 1;
                let begins = (all - 1).checked_mul(stride)?;
                if begins >= spatial[at].checked_add(before[at])? { all - 1 } else { all }
            }
        };
        shape.push(SymExpr::Value(i32::try_from(size).ok().filter(|size| *size >= 0)?));
    }
    Some(SymTensor::from_shape(shape))
}

/// The dimensions of a shape, all of which are known.
fn whole(tensor: &SymTensor) -> Option<Vec<i64>> {
    let size = |dim| match dim {
        SymExpr::Value(size) => Some(i64::from(size)),
        _ => None,
    };
    tensor.shape()?.map(size).collect()
}

/// The sizes of parts that nobody gave: equal ones, of which the last may be smaller.
fn equal_parts(node: &OutlinedNode, data: &SymTensor) -> Option<SymTensor> {
    let axis = number(node, "axis", 0);
    let count = data.ndim()?;
    let at =
        if axis < 0 { count.checked_add_signed(isize::try_from(axis).ok()?)? } else { usize::try_from(axis).ok()? };
    let SymExpr::Value(size) = data.size(at).filter(|_| at < count)? else { return None };
    let parts = i32::try_from(node.outputs.len()).ok().filter(|parts| *parts > 0)?;
    let each = size.checked_add(parts - 1)? / parts;
    let sizes = (0..parts).map(|part| SymExpr::Value(each.min(size.saturating_sub(part.saturating_mul(each))).max(0)));
    Some(SymTensor::from_vec(sizes.collect()))
}

/// By factors that are weights: the rule of the crate knows whole numbers alone.
fn resized(inputs: &[Option<&Value>], scales: usize) -> Option<SymTensor> {
    let factors = given_at(inputs, scales)?.floats.as_ref().filter(|factors| !factors.is_empty())?;
    let dims = given_at(inputs, 0)?.tensor.shape().filter(|dims| dims.len() == factors.len())?;
    let size = |(dim, factor): (SymExpr, &f32)| match dim {
        SymExpr::Value(size) => Some(SymExpr::Value((f64::from(size) * f64::from(*factor)).floor() as i32)),
        _ => None,
    };
    Some(SymTensor::from_shape(dims.zip(factors).map(size).collect::<Option<_>>()?))
}
