//! Elements that the rules of shapes lose, and from which graphs compute their shapes: small vectors of whole numbers.

use super::operators::number;
use super::shapes::{FOLLOWED, Value};
use rten_shape_inference::{SymExpr, SymTensor};
use skillbench_onnx::OutlinedNode;

/// The elements that a node makes, where they are known; `None`: they are not, or the rule of shapes tells them too.
pub(super) fn known(node: &OutlinedNode, inputs: &[Option<&Value>], given: &[Option<SymTensor>]) -> Option<SymTensor> {
    let of = |at: usize| given.get(at)?.as_ref();
    let whole = |at: usize| inputs.get(at).copied().flatten().is_some_and(|value| !value.is_float());
    match node.operator.as_str() {
        "Min" => elementwise(given, i32::min),
        "Max" => elementwise(given, i32::max),
        "Mod" if whole(0) => elementwise(given, |one, other| one.checked_rem_euclid(other).unwrap_or(0)),
        // A quotient that is no whole number has no place among these.
        "Div" if !whole(0) => {
            let (one, other) = (numbers(of(0)?)?, numbers(of(1)?)?);
            let exact = one.len() == other.len()
                && one.iter().zip(&other).all(|(one, other)| one.checked_rem(*other) == Some(0));
            (!exact).then(|| {
                SymTensor::from_shape(of(0).and_then(SymTensor::shape).map(Iterator::collect).unwrap_or_default())
            })
        }
        "Ceil" | "Floor" | "Round" => of(0).filter(|tensor| tensor.values().is_some()).cloned(),
        "Reshape" => {
            let values = of(0)?.values()?.to_vec();
            match numbers(of(1)?)?[..] {
                [] => Some(SymTensor::from_scalar(values.into_iter().next()?)),
                [length] if number(node, "allowzero", 0) != 0 || length != 0 => Some(SymTensor::from_vec(values)),
                _ => None,
            }
        }
        "Expand" => {
            let value = of(0)?.values().filter(|values| values.len() == 1)?.first()?.clone();
            let [length] = numbers(of(1)?)?[..] else { return None };
            let length = usize::try_from(length).ok().filter(|length| *length <= FOLLOWED)?;
            // A size of 1 is broadcast to what stands there; a vector of 1 is 1 long at least.
            Some(SymTensor::from_vec(vec![value; length.max(1)]))
        }
        _ => None,
    }
}

/// The elements of a small vector or a scalar, all of which are known.
fn numbers(tensor: &SymTensor) -> Option<Vec<i32>> {
    let number = |expression: &SymExpr| match expression {
        SymExpr::Value(value) => Some(*value),
        _ => None,
    };
    tensor.values()?.iter().map(number).collect()
}

fn elementwise(given: &[Option<SymTensor>], of: fn(i32, i32) -> i32) -> Option<SymTensor> {
    let all: Vec<Vec<i32>> = given.iter().map(|tensor| numbers(tensor.as_ref()?)).collect::<Option<_>>()?;
    let length = all.iter().map(Vec::len).max()?;
    let fits = all.iter().all(|values| values.len() == 1 || values.len() == length);
    let at = |place: usize| {
        all.iter().filter_map(|values| values.get(if values.len() == 1 { 0 } else { place })).copied().reduce(of)
    };
    let made: Vec<SymExpr> = (0..length).filter_map(at).map(SymExpr::Value).collect();
    let scalar = given.iter().flatten().all(|tensor| tensor.ndim() == Some(0));
    match (fits && made.len() == length, scalar) {
        (true, true) => made.into_iter().next().map(SymTensor::from_scalar),
        (true, false) => Some(SymTensor::from_vec(made)),
        (false, _) => None,
    }
}
