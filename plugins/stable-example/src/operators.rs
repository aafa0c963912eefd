//! The operators of the engine: which shapes they take, and how they compute.

use crate::onnx::Node;
use skillbench_plugin_api::sdk::Bound;
use skillbench_plugin_api::{Error, Result, Why};

/// A shape of rank 2 or less. `None` is a dimension that is not known before a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    rank: usize,
    dims: [Option<usize>; 2],
}

impl Shape {
    /// `None` where the rank is more than 2.
    pub fn new(from: &[Option<usize>]) -> Option<Shape> {
        let mut dims = [None; 2];
        dims.get_mut(..from.len())?.copy_from_slice(from);
        Some(Shape { rank: from.len(), dims })
    }

    pub fn dims(&self) -> &[Option<usize>] {
        &self.dims[..self.rank]
    }

    /// The dimensions during a run, when all are known.
    pub fn known(&self) -> Vec<usize> {
        self.dims().iter().map(|dim| dim.unwrap_or_default()).collect()
    }

    /// A row of N numbers counts as [1, N].
    fn rows(&self) -> Option<usize> {
        if self.rank == 2 { self.dims[0] } else { Some(1) }
    }

    fn columns(&self) -> Option<usize> {
        self.dims().last().copied().unwrap_or(Some(1))
    }

    /// How many elements it has; `None` where a dimension is not known or they could not be addressed.
    pub fn elements(&self) -> Option<usize> {
        self.rows()?.checked_mul(self.columns()?).filter(|count| *count <= isize::MAX as usize / size_of::<f32>())
    }
}

/// A dense tensor that lies somewhere else. Every dimension of its shape is known.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub shape: Shape,
    pub data: &'a [f32],
}

impl<'a> View<'a> {
    /// Of a bound input. The SDK has held it against its port, so that it is float32 of a rank that `Shape` has.
    ///
    /// # Errors
    /// `InvalidArgument` for memory that is not aligned to its elements.
    pub fn of(bound: &'a Bound) -> Result<View<'a>> {
        let dims: Vec<Option<usize>> = bound.shape().iter().copied().map(Some).collect();
        let found = Shape::new(&dims).zip(bound.as_slice());
        let (shape, data) = found.ok_or_else(|| Error::invalid("an input is not aligned float32"))?;
        Ok(View { shape, data })
    }

    fn rows(&self) -> usize {
        self.shape.rows().unwrap_or_default()
    }

    fn columns(&self) -> usize {
        self.shape.columns().unwrap_or_default()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    MatMul,
    /// With the second operand stored column by column, where `transposed`.
    Gemm {
        transposed: bool,
    },
    Add,
    Relu,
}

impl Operator {
    /// Recognises a node.
    ///
    /// # Errors
    /// `Unimplemented`, naming the operator.
    pub fn of(node: &Node<'_>) -> Result<Operator> {
        let standard = matches!(node.domain, "" | "ai.onnx");
        let (operator, operands) = match node.op {
            "MatMul" if standard => (Operator::MatMul, 2..=2),
            "Gemm" if standard => (gemm(node)?, 2..=3),
            "Add" if standard => (Operator::Add, 2..=2),
            "Relu" if standard => (Operator::Relu, 1..=1),
            other => {
                let domain = if standard { String::new() } else { format!("{}.", node.domain) };
                let text = format!(
                    "operator '{domain}{other}' (node '{}') is not supported: this engine has MatMul, Gemm, Add and Relu",
                    node.name
                );
                return Err(Error::unimplemented(Why::MODEL, text));
            }
        };
        match operands.contains(&node.inputs.len()) && node.outputs.len() == 1 {
            true => Ok(operator),
            false => {
                let (inputs, outputs) = (node.inputs.len(), node.outputs.len());
                Err(unfit(format!("operator '{}' has {inputs} inputs and {outputs} outputs", node.op)))
            }
        }
    }

    /// The shape that it makes from these.
    ///
    /// # Errors
    /// `InvalidArgument` for shapes that do not fit together, `Unimplemented` for those the engine has no code for.
    pub fn shape(self, operands: &[Shape]) -> Result<Shape> {
        match (self, operands) {
            (Operator::Relu, [a]) => Ok(*a),
            (Operator::Add, [a, b]) => sum(*a, *b),
            (Operator::MatMul, [a, b]) => product(*a, *b, false),
            (Operator::Gemm { transposed }, [a, b]) => product(*a, *b, transposed),
            (Operator::Gemm { transposed }, [a, b, bias]) => {
                let made = product(*a, *b, transposed)?;
                // The bias may be repeated over the product, never the other way round.
                let same = |(sum, made): (&Option<usize>, &Option<usize>)| made.is_none() || sum == made;
                match sum(made, *bias)?.dims().iter().zip(made.dims()).all(same) {
                    true => Ok(made),
                    false => Err(mismatch(made, *bias)),
                }
            }
            _ => Err(unfit(format!("{self:?} has {} operands", operands.len()))),
        }
    }

    /// Computes into `out`, which has as many elements as [`Operator::shape`] told.
    pub fn compute(self, operands: &[View<'_>], out: &mut [f32]) {
        match (self, operands) {
            (Operator::Relu, [a]) => {
                for (out, value) in out.iter_mut().zip(a.data) {
                    *out = if *value < 0.0 { 0.0 } else { *value }; // NaN stays NaN
                }
            }
            (Operator::Add, [a, b]) => {
                let width = a.columns().max(b.columns());
                out.fill(0.0);
                add(a, width, out);
                add(b, width, out);
            }
            (Operator::MatMul, [a, b]) => multiply(a, b, false, out),
            (Operator::Gemm { transposed }, [a, b, bias @ ..]) => {
                multiply(a, b, transposed, out);
                for bias in bias {
                    add(bias, if transposed { b.rows() } else { b.columns() }, out);
                }
            }
            _ => {}
        }
    }
}

fn gemm(node: &Node<'_>) -> Result<Operator> {
    let float = |name| node.attribute(name).is_none_or(|attribute| attribute.float == 1.0);
    let set = |name| node.attribute(name).is_some_and(|attribute| attribute.int != 0);
    match float("alpha") && float("beta") && !set("transA") {
        true => Ok(Operator::Gemm { transposed: set("transB") }),
        false => {
            let text = "alpha, beta and transA are supported with their defaults only";
            Err(Error::unimplemented(Why::MODEL, format!("operator 'Gemm' (node '{}'): {text}", node.name)))
        }
    }
}

fn unfit(message: String) -> Error {
    Error::invalid(message).because(Why::MODEL)
}

fn mismatch(a: Shape, b: Shape) -> Error {
    unfit(format!("shapes {} and {} do not fit together", described(a), described(b)))
}

fn described(shape: Shape) -> String {
    let dims: Vec<String> = shape.dims().iter().map(|dim| dim.map_or("?".into(), |dim| dim.to_string())).collect();
    format!("[{}]", dims.join(", "))
}

fn sum(a: Shape, b: Shape) -> Result<Shape> {
    let common = |a, b| match (a, b) {
        (a, b) if a == b => Some(a),
        (a, Some(1)) => Some(a),
        (Some(1) | None, b) => Some(b),
        (a, None) => Some(a),
        _ => None,
    };
    match (common(a.rows(), b.rows()), common(a.columns(), b.columns())) {
        (Some(rows), Some(columns)) => {
            let rank = a.rank.max(b.rank);
            let dims = if rank == 2 { [rows, columns] } else { [columns, None] };
            Ok(Shape { rank, dims })
        }
        _ => Err(mismatch(a, b)),
    }
}

fn product(a: Shape, b: Shape, transposed: bool) -> Result<Shape> {
    if (a.rank, b.rank) != (2, 2) {
        let text = format!("products of {} and {} are not supported: the rank has to be 2", described(a), described(b));
        return Err(Error::unimplemented(Why::MODEL, text));
    }
    let (inner, width) = if transposed { (b.dims[1], b.dims[0]) } else { (b.dims[0], b.dims[1]) };
    match a.dims[1].zip(inner).is_none_or(|(left, right)| left == right) {
        true => Ok(Shape { rank: 2, dims: [a.dims[0], width] }),
        false => Err(mismatch(a, b)),
    }
}

/// Adds a tensor to rows of `width`, repeated where it has one row or one column.
fn add(what: &View<'_>, width: usize, out: &mut [f32]) {
    if width == 0 || what.data.is_empty() {
        return;
    }
    let columns = what.columns();
    for (row, out) in out.chunks_exact_mut(width).enumerate() {
        let start = if what.rows() == 1 { 0 } else { row * columns };
        let from = &what.data[start..start + columns];
        match from {
            [one] => out.iter_mut().for_each(|out| *out += one),
            many => out.iter_mut().zip(many).for_each(|(out, value)| *out += value),
        }
    }
}

fn multiply(a: &View<'_>, b: &View<'_>, transposed: bool, out: &mut [f32]) {
    let (inner, width) = (a.columns(), if transposed { b.rows() } else { b.columns() });
    out.fill(0.0);
    if inner == 0 || width == 0 {
        return;
    }
    for (left, out) in a.data.chunks_exact(inner).zip(out.chunks_exact_mut(width)) {
        if transposed {
            for (right, out) in b.data.chunks_exact(inner).zip(out) {
                *out = left.iter().zip(right).map(|(left, right)| left * right).sum();
            }
        } else {
            for (left, right) in left.iter().zip(b.data.chunks_exact(width)) {
                out.iter_mut().zip(right).for_each(|(out, right)| *out += left * right);
            }
        }
    }
}
