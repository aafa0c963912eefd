//! The shape and the type of every value of a graph, and the elements of those that shapes are computed from.

use super::Uncounted;
use super::operators::{Element, element_of, outputs};
use rten_shape_inference::{SymExpr, SymTensor, SymbolGen};
use skillbench_onnx::messages::{BFLOAT16, DOUBLE, FLOAT, FLOAT16, INT64};
use skillbench_onnx::{Outline, OutlinedNode, OutlinedTensor};
use std::collections::{BTreeMap, HashMap};

pub(super) struct Shapes(HashMap<String, Value>);

pub(super) struct Value {
    pub tensor: SymTensor,
    /// The ONNX number of its type; 0: nobody knows.
    pub element: i32,
    /// Of a small weight of floating point: factors of a change of size.
    pub floats: Option<Vec<f32>>,
}

/// Elements of a value that is followed; a longer one has a shape alone.
pub(super) const FOLLOWED: usize = 1 << 10;

impl Value {
    pub fn is_float(&self) -> bool {
        [FLOAT, FLOAT16, BFLOAT16, DOUBLE].contains(&self.element)
    }

    /// Of a weight or a constant.
    pub fn of_tensor(tensor: &OutlinedTensor) -> Value {
        let dims: Option<Vec<i32>> =
            tensor.dims.iter().map(|dim| i32::try_from(*dim).ok().filter(|dim| *dim >= 0)).collect();
        // Sizes are computed in floating point too, as long as they are whole.
        let whole = |all: Vec<f32>| {
            all.into_iter().map(|one| (one.fract() == 0.0).then_some(one as i64)).collect::<Option<Vec<i64>>>()
        };
        let of_floats = || tensor.floats().filter(|all| all.len() <= 8).and_then(whole);
        let small = tensor.integers().or_else(of_floats).filter(|all| all.len() <= FOLLOWED && tensor.dims.len() < 2);
        // "To the end" is often written as the largest number there is.
        let small = small.map(|all| all.into_iter().map(number).collect::<Vec<_>>());
        let shape = match (small, dims) {
            (Some(all), _) if tensor.dims.is_empty() => all.into_iter().next().map(SymTensor::from_scalar),
            (Some(all), _) => Some(SymTensor::from_vec(all)),
            (None, Some(dims)) => Some(SymTensor::from_shape(dims.into_iter().map(SymExpr::Value).collect())),
            (None, None) => None,
        };
        let tensor_of = shape.unwrap_or_else(|| SymTensor::unknown("no tensor has these dimensions"));
        Value { tensor: tensor_of, element: tensor.element, floats: tensor.floats() }
    }

    pub fn of_numbers(numbers: &[i64]) -> Value {
        let all = numbers.iter().copied().map(number).collect();
        Value { tensor: SymTensor::from_vec(all), element: INT64, floats: None }
    }
}

fn number(value: i64) -> SymExpr {
    SymExpr::Value(value.clamp(i32::MIN.into(), i32::MAX.into()) as i32)
}

impl Shapes {
    pub fn of(outline: &Outline, sizes: &BTreeMap<String, Vec<usize>>) -> Result<Shapes, Uncounted> {
        let graph = &outline.graph;
        let mut shapes = Shapes(HashMap::new());
        let mut symbols = SymbolGen::new();
        for weight in &graph.weights {
            shapes.0.insert(weight.name.clone(), Value::of_tensor(weight));
        }
        for port in graph.ports() {
            let Some(dims) = sizes.get(&port.name) else { return Err(Uncounted::Shape(port.name.clone())) };
            let tensor = SymTensor::from_fixed_shape(dims);
            shapes.0.insert(port.name.clone(), Value { tensor, element: port.element().unwrap_or(0), floats: None });
        }
        let opset = outline.opset().unwrap_or_default();
        for node in &graph.nodes {
            shapes.infer(node, opset, &mut symbols);
        }
        Ok(shapes)
    }

    fn infer(&mut self, node: &OutlinedNode, opset: i64, symbols: &mut SymbolGen) {
        let inputs: Vec<Option<&Value>> = node.inputs.iter().map(|name| self.0.get(name)).collect();
        let element = element_of(node, &inputs);
        // What an operator outside of the rules makes is unknown, and so is what follows from it; only what is asked for matters.
        let made = outputs(node, opset, &inputs, symbols).unwrap_or_default();
        let mut made = made.into_iter();
        for (at, name) in node.outputs.iter().enumerate() {
            let tensor = made.next().unwrap_or_else(|| SymTensor::unknown("nobody says"));
            if name.is_empty() {
                continue;
            }
            let element = match element {
                Element::All(element) => element,
                Element::First(element) if at == 0 => element,
                Element::First(_) => INT64,
            };
            self.0.insert(name.clone(), Value { tensor: settled(tensor, symbols), element, floats: None });
        }
    }

    pub fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// The dimensions of a value, all of which are known.
    pub fn dims(&self, name: &str) -> Result<Vec<f64>, Uncounted> {
        let unknown = || Uncounted::Shape(name.to_string());
        let dims = self.value(name).and_then(|value| value.tensor.shape()).ok_or_else(unknown)?;
        dims.map(|dim| match dim {
            SymExpr::Value(size) if size >= 0 => Ok(f64::from(size)),
            _ => Err(unknown()),
        })
        .collect()
    }

    pub fn elements(&self, name: &str) -> Result<f64, Uncounted> {
        Ok(self.dims(name)?.iter().product())
    }
}

/// Numbers as numbers; whatever only data tells is a symbol of its own, so that no expression grows.
fn settled(tensor: SymTensor, symbols: &mut SymbolGen) -> SymTensor {
    let tensor = tensor.simplify();
    let mut known = |expression: SymExpr| match expression {
        SymExpr::Value(_) => expression,
        _ => symbols.generate(),
    };
    if let Some(value) = tensor.as_scalar() {
        return SymTensor::from_scalar(known(value.clone()));
    }
    match (tensor.values().map(<[SymExpr]>::to_vec), tensor.shape().map(Iterator::collect::<Vec<_>>)) {
        (Some(values), _) if values.len() <= FOLLOWED => SymTensor::from_vec(values.into_iter().map(known).collect()),
        (_, Some(dims)) => SymTensor::from_shape(dims.into_iter().map(known).collect()),
        (_, None) => tensor,
    }
}
