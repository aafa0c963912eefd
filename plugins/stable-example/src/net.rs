//! The engine: what this plugin is about, and what a vendor replaces by a runtime of their own.
//!
//! [`Net::plan`] asks whether the engine can run a graph, [`Net::compile`] compiles it, [`Net::run`] computes.

use crate::onnx::{self, Graph};
use crate::operators::{Operator, Shape, View};
use crate::weights;
use skillbench_plugin_api::{Code, DType, Error, Port, Result, Why};
use std::path::Path;

/// A compiled model. Runs share it; what changes in a run is in the [`Lane`].
pub struct Net {
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    /// Numbered: first the inputs, then the weights, then what each step makes.
    shapes: Vec<Shape>,
    weights: Vec<Vec<f32>>,
    steps: Vec<Step>,
    /// The number of each output's value.
    made: Vec<usize>,
}

struct Step {
    operator: Operator,
    operands: Vec<usize>,
}

/// The working memory of one run at a time, kept from run to run.
#[derive(Default)]
pub struct Lane {
    computed: Vec<(Option<Shape>, Vec<f32>)>,
}

impl Net {
    /// Finds out whether the engine can run the graph, without touching its weights.
    ///
    /// # Errors
    /// `Unimplemented`, naming the operator or the tensor; `InvalidArgument` for a graph that makes no sense.
    pub fn plan(graph: &Graph<'_>) -> Result<Net> {
        let operators = graph.nodes.iter().map(Operator::of).collect::<Result<Vec<_>>>()?;
        let inputs = graph.inputs.iter().map(input_port).collect::<Result<Vec<_>>>()?;
        let mut shapes: Vec<Shape> = inputs.iter().filter_map(|port| Shape::new(&port.shape)).collect();
        for weight in &graph.weights {
            shapes.push(weight_shape(weight)?);
        }
        let mut names: Vec<&str> = graph.inputs.iter().map(|input| input.name).collect();
        names.extend(graph.weights.iter().map(|weight| weight.name));
        let mut steps = Vec::new();
        for (operator, node) in operators.into_iter().zip(&graph.nodes) {
            let named = node.inputs.iter().filter(|name| !name.is_empty());
            let operands = named.map(|name| find(&names, name)).collect::<Result<Vec<usize>>>()?;
            let from: Vec<Shape> = operands.iter().map(|operand| shapes[*operand]).collect();
            shapes.push(operator.shape(&from)?);
            names.extend(&node.outputs);
            steps.push(Step { operator, operands });
        }
        let made = graph.outputs.iter().map(|output| find(&names, output.name)).collect::<Result<Vec<usize>>>()?;
        if made.is_empty() {
            return Err(Error::invalid("the graph has no output").because(Why::MODEL));
        }
        let outputs = graph.outputs.iter().zip(&made).map(|(output, value)| output_port(output, shapes[*value]));
        let outputs = outputs.collect();
        Ok(Net { inputs, outputs, shapes, weights: vec![], steps, made })
    }

    /// Makes a planned model ready to run: here, reads its weights.
    ///
    /// # Errors
    /// Weights that are missing or too short.
    pub fn compile(&mut self, graph: &Graph<'_>, folder: &Path) -> Result<()> {
        let shapes = &self.shapes[self.inputs.len()..];
        let read = |(weight, shape): (_, &Shape)| weights::read(weight, shape.elements().unwrap_or_default(), folder);
        self.weights = graph.weights.iter().zip(shapes).map(read).collect::<Result<_>>()?;
        Ok(())
    }

    pub fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    pub fn outputs(&self) -> &[Port] {
        &self.outputs
    }

    /// How many nodes the graph has.
    pub fn nodes(&self) -> usize {
        self.steps.len()
    }

    /// Computes the outputs. They live in the inputs, the weights or the lane.
    ///
    /// # Errors
    /// `Cancelled` where `stopping` says so, inputs whose shapes do not fit together, a lack of memory.
    pub fn run<'v>(
        &'v self,
        inputs: &'v [View<'v>],
        lane: &'v mut Lane,
        stopping: impl Fn() -> bool,
    ) -> Result<Vec<View<'v>>> {
        lane.computed.resize_with(self.steps.len(), Default::default);
        for (index, step) in self.steps.iter().enumerate() {
            if stopping() {
                return Err(Error::new(Code::Cancelled, "the run was stopped"));
            }
            let (before, rest) = lane.computed.split_at_mut(index);
            let operands: Vec<View<'_>> =
                step.operands.iter().map(|value| self.value(*value, inputs, before)).collect::<Result<_>>()?;
            let shapes: Vec<Shape> = operands.iter().map(|operand| operand.shape).collect();
            let shape = step.operator.shape(&shapes)?;
            let (known, data) = &mut rest[0];
            grow(data, shape)?;
            *known = Some(shape);
            step.operator.compute(&operands, data);
        }
        self.made.iter().map(|value| self.value(*value, inputs, &lane.computed)).collect()
    }

    fn value<'v>(
        &'v self,
        number: usize,
        inputs: &'v [View<'v>],
        computed: &'v [(Option<Shape>, Vec<f32>)],
    ) -> Result<View<'v>> {
        let weight = number.checked_sub(inputs.len());
        let step = weight.and_then(|weight| weight.checked_sub(self.weights.len()));
        let missing = || Error::internal(format!("value {number} was not computed"));
        match (weight, step) {
            (None, _) => Ok(inputs[number]),
            (Some(weight), None) => Ok(View { shape: self.shapes[number], data: &self.weights[weight] }),
            (_, Some(step)) => {
                let (shape, data) = computed.get(step).ok_or_else(missing)?;
                Ok(View { shape: (*shape).ok_or_else(missing)?, data })
            }
        }
    }
}

fn grow(data: &mut Vec<f32>, shape: Shape) -> Result<()> {
    let too_large = || Error::new(Code::ResourceExhausted, "there is no memory for the model").because(Why::MEMORY);
    let elements = shape.elements().ok_or_else(too_large)?;
    data.try_reserve_exact(elements.saturating_sub(data.len())).map_err(|_| too_large())?;
    data.resize(elements, 0.0);
    Ok(())
}

fn find(names: &[&str], name: &str) -> Result<usize> {
    let missing = || Error::invalid(format!("'{name}' is read, but nothing before makes it")).because(Why::MODEL);
    names.iter().position(|known| *known == name).ok_or_else(missing)
}

fn input_port(input: &onnx::Value<'_>) -> Result<Port> {
    let unsupported = || {
        let text = format!("input '{}' is not supported: this engine takes float32 of rank 1 or 2", input.name);
        Error::unimplemented(Why::MODEL, text)
    };
    let dims = input.dims.as_ref().filter(|dims| input.dtype == onnx::FLOAT && matches!(dims.len(), 1 | 2));
    let dims = dims.ok_or_else(unsupported)?;
    Ok(Port {
        name: input.name.into(),
        dtype: DType::F32,
        shape: dims.iter().map(|dim| dim.value).collect(),
        dim_names: dims.iter().map(|dim| dim.name.map(Into::into)).collect(),
    })
}

/// An output has the shape that the graph computes; the file adds the names of its dimensions.
fn output_port(output: &onnx::Value<'_>, shape: Shape) -> Port {
    let dims = output.dims.as_ref().filter(|dims| dims.len() == shape.dims().len());
    let names = dims.map(|dims| dims.iter().map(|dim| dim.name.map(Into::into)).collect());
    let shape = shape.dims().to_vec();
    let dim_names = names.unwrap_or_else(|| vec![None; shape.len()]);
    Port { name: output.name.into(), dtype: DType::F32, shape, dim_names }
}

fn weight_shape(weight: &onnx::Weight<'_>) -> Result<Shape> {
    let dims: Vec<Option<usize>> = weight.dims.iter().map(|dim| usize::try_from(*dim).ok()).collect();
    match Shape::new(&dims).filter(|_| weight.dtype == onnx::FLOAT) {
        Some(shape) if shape.elements().is_some() => Ok(shape),
        Some(_) => Err(Error::invalid(format!("weight '{}' has an impossible shape", weight.name)).because(Why::MODEL)),
        None => {
            let text =
                format!("weight '{}' is not supported: this engine takes float32 of rank 2 or less", weight.name);
            Err(Error::unimplemented(Why::MODEL, text))
        }
    }
}
