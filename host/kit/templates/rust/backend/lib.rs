//! @NAME@: a skillbench backend in one file. It computes ONNX graphs of MatMul, Gemm, Add and Relu in float32 on the CPU.
//!
//! Read from the end, it is what the host sees: a `Backend` that loads `Model`s, whose `Request`s run. Read from the start, it is an
//! engine that reads a graph and computes it. The engine is there to be replaced by yours; the three traits are there to stay. The SDK
//! owns every pointer, so nothing here is `unsafe`, and a panic becomes an error of the one call.
//!
//! [main] is called on the control thread, [any] on several threads at once, [lane] on one at a time for each request.

use skillbench_plugin_api::sdk::{Backend, Bindings, Bound, Host, Model, Offers, Request, onnx};
use skillbench_plugin_api::{Code, DType, Device, DeviceKind, Error, Load, Options, OwnedTensor, Placement, Port, Result};
use skillbench_plugin_api::{Timing, Why, export_plugin};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::Arc;

fn refused(text: impl Into<String>) -> Error {
    Error::invalid(text).because(Why::MODEL)
}

fn lacking(text: impl Into<String>) -> Error {
    Error::unimplemented(Why::MODEL, text)
}

/// Rows and columns; a row of N numbers counts as [1, N]. `None`: known when a run begins.
type Dims = [Option<usize>; 2];

/// A dense tensor: a weight, an input, or what a step made.
struct Array<'a> {
    dims: Dims,
    data: Cow<'a, [f32]>,
}

impl Array<'_> {
    fn at(&self, row: usize, column: usize) -> f32 {
        let [rows, columns] = self.dims.map(Option::unwrap_or_default);
        self.data[if rows == 1 { 0 } else { row * columns } + if columns == 1 { 0 } else { column }]
    }
}

/// left * right + bias, or a part of that. Operands are numbers of values that come before it.
struct Step {
    left: usize,
    right: Option<usize>,
    bias: Option<usize>,
    /// The right operand of Gemm.
    transposed: bool,
    relu: bool,
    name: String,
}

impl Step {
    /// The shape that it makes: asked at load with what is known then, and again in each run. A bias is repeated over the rest where it
    /// has one row or one column.
    fn infer(&self, shape: impl Fn(usize) -> Dims) -> Result<Dims> {
        let agree = |a: Option<usize>, b: Option<usize>| a.zip(b).is_none_or(|(a, b)| a == b);
        let [rows, mut columns] = shape(self.left);
        let mut fits = true;
        if let Some([height, width]) = self.right.map(&shape) {
            let (inner, outer) = if self.transposed { (width, height) } else { (height, width) };
            fits = agree(columns, inner);
            columns = outer;
        }
        if let Some(bias) = self.bias.map(&shape) {
            fits &= bias.iter().zip([rows, columns]).all(|(bias, made)| *bias == Some(1) || agree(*bias, made));
        }
        let text = || refused(format!("'{}': what it is made from does not fit together", self.name));
        if fits { Ok([rows, columns]) } else { Err(text()) }
    }

    /// As simple as it can be: your kernels go here.
    fn compute<'a>(&self, values: &[Array<'a>]) -> Result<Array<'a>> {
        let dims = self.infer(|value| values[value].dims)?;
        let [rows, columns] = dims.map(Option::unwrap_or_default);
        let left = &values[self.left];
        let (right, bias) = (self.right.map(|value| &values[value]), self.bias.map(|value| &values[value]));
        let mut data = Vec::new();
        let room = rows.checked_mul(columns).filter(|room| data.try_reserve_exact(*room).is_ok());
        room.ok_or_else(|| Error::new(Code::ResourceExhausted, "there is not enough memory").because(Why::MEMORY))?;
        for row in 0..rows {
            for column in 0..columns {
                let mut sum = match right {
                    Some(right) => (0..left.dims[1].unwrap_or_default())
                        .map(|k| left.at(row, k) * if self.transposed { right.at(column, k) } else { right.at(k, column) })
                        .sum(),
                    None => left.at(row, column),
                };
                sum += bias.map_or(0.0, |bias| bias.at(row, column));
                data.push(if self.relu && sum < 0.0 { 0.0 } else { sum }); // NaN stays NaN
            }
        }
        Ok(Array { dims, data: data.into() })
    }
}

/// A graph that is ready to run. Values are numbered: weights, inputs, and what each step makes.
#[derive(Default)]
struct Graph {
    weights: Vec<Array<'static>>,
    steps: Vec<Step>,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    /// The number of each output's value.
    made: Vec<usize>,
}

const OPERATORS: [&str; 4] = ["MatMul", "Gemm", "Add", "Relu"];

impl Graph {
    /// Damage anywhere in the file is an error of `onnx`, which believes no length and no number in it.
    ///
    /// ModelProto: graph (7). GraphProto: node (1), initializer (5), input (11), output (12). What others are made from is read first.
    fn read(file: &[u8]) -> Result<Graph> {
        let message = onnx::get(file, 7)?.bytes;
        onnx::check_operators(message, &OPERATORS)?;
        let mut graph = Graph::default();
        let mut names: HashMap<&str, usize> = HashMap::new();
        let mut shapes: Vec<Dims> = vec![];
        for tensor in onnx::all(message, 5)? {
            let weight = weight(tensor.bytes)?;
            names.insert(onnx::text(tensor.bytes, 8)?, shapes.len());
            shapes.push(weight.dims);
            graph.weights.push(weight);
        }
        for info in onnx::all(message, 11)? {
            let name = onnx::text(info.bytes, 1)?;
            if names.contains_key(name) {
                continue; // old files name weights among the inputs, too
            }
            let port = port(info.bytes)?;
            let [rows, columns] = port.shape[..] else {
                return Err(lacking(format!("input '{name}': this engine takes float32 of rank 2")));
            };
            names.insert(name, shapes.len());
            shapes.push([rows, columns]);
            graph.inputs.push(port);
        }
        for node in onnx::all(message, 1)? {
            let step = step(node.bytes, &names, graph.weights.len())?;
            let made = step.infer(|value| shapes[value])?;
            names.insert(onnx::text(node.bytes, 2)?, shapes.len());
            shapes.push(made);
            graph.steps.push(step);
        }
        for info in onnx::all(message, 12)? {
            let value = find(&names, onnx::text(info.bytes, 1)?)?;
            graph.made.push(value);
            graph.outputs.push(Port { shape: shapes[value].to_vec(), ..port(info.bytes)? });
        }
        if graph.made.is_empty() { Err(refused("it is no complete ONNX file")) } else { Ok(graph) }
    }
}

fn find(names: &HashMap<&str, usize>, name: &str) -> Result<usize> {
    names.get(name).copied().ok_or_else(|| refused(format!("nothing makes '{name}'")))
}

/// TensorProto: dims (1), data_type (2), float_data (4), name (8), raw_data (9).
fn weight(tensor: &[u8]) -> Result<Array<'static>> {
    let name = onnx::text(tensor, 8)?;
    let dims = onnx::integers(tensor, 1)?;
    let shape = match dims[..] {
        [] => [1, 1],
        [columns] => [1, columns],
        [rows, columns] => [rows, columns],
        _ => return Err(lacking(format!("weight '{name}': this engine takes rank 2 or less"))),
    };
    if onnx::get(tensor, 2)?.value != 1 {
        return Err(lacking(format!("weight '{name}': this engine takes float32")));
    }
    let raw = onnx::get(tensor, 9)?.bytes;
    let raw = if raw.is_empty() { onnx::get(tensor, 4)?.bytes } else { raw }; // a packed row of floats is the same bytes
    let data: Vec<f32> = raw.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    let dims: Dims = shape.map(|length| usize::try_from(length).ok());
    match dims[0].zip(dims[1]).and_then(|(rows, columns)| rows.checked_mul(columns)) {
        Some(count) if count == data.len() => Ok(Array { dims, data: data.into() }),
        _ => Err(refused(format!("weight '{name}': its numbers are not all in the file"))),
    }
}

fn port(info: &[u8]) -> Result<Port> {
    let port = onnx::port(info)?;
    if port.dtype != DType::F32 {
        return Err(lacking(format!("'{}': this engine takes float32", port.name)));
    }
    Ok(port)
}

/// NodeProto: input (1), output (2), op_type (4), attribute (5). AttributeProto: name (1), f (2), i (3).
fn step(node: &[u8], names: &HashMap<&str, usize>, weights: usize) -> Result<Step> {
    let name = onnx::text(node, 2)?.to_string();
    let mut transposed = false;
    for attribute in onnx::all(node, 5)? {
        let (key, number) = (onnx::text(attribute.bytes, 1)?, onnx::get(attribute.bytes, 2)?.bytes);
        let is_set = onnx::get(attribute.bytes, 3)?.value != 0;
        transposed |= key == "transB" && is_set;
        if (key == "transA" && is_set) || !(number.is_empty() || number == 1f32.to_le_bytes()) {
            return Err(lacking(format!("'{name}': this engine has no Gemm with {key}")));
        }
    }
    let mut operands = vec![];
    for input in onnx::all(node, 1)?.iter().filter(|input| !input.bytes.is_empty()) {
        operands.push(find(names, input.text()?)?);
    }
    let operator = onnx::text(node, 4)?;
    let (left, right, bias) = match (operator, &operands[..]) {
        ("Relu", &[only]) => (only, None, None),
        // What is added to the other is the smaller of the two.
        ("Add", &[weight, other]) if weight < weights => (other, None, Some(weight)),
        ("Add", &[left, bias]) => (left, None, Some(bias)),
        ("MatMul" | "Gemm", &[left, right]) => (left, Some(right), None),
        ("Gemm", &[left, right, bias]) => (left, Some(right), Some(bias)),
        _ => return Err(refused(format!("'{name}' has a wrong number of inputs"))),
    };
    Ok(Step { left, right, bias, transposed, relu: operator == "Relu", name })
}

/// One set of bound tensors, and the outputs of its last run that nobody has taken.
struct Lane {
    graph: Arc<Graph>,
    host: Host,
    kept: Vec<Option<OwnedTensor>>,
}

impl Request for Lane {
    /// [lane] Outputs go into memory of the caller, or into the plugin's own. An engine that always allocates leaves this out.
    fn bind_output(&mut self, index: usize, _tensor: Option<&Bound>) -> Result<()> {
        self.kept[index] = None;
        Ok(())
    }

    /// [lane] Inputs are read where they lie; type, rank and fixed dimensions were checked. Where it fails, no output is left.
    fn run(&mut self, bound: &Bindings) -> Result<Timing> {
        self.kept.fill_with(|| None);
        let (kept, timing) = bound.timed(|| compute(&self.graph, &self.host, bound))?;
        self.kept = kept;
        Ok(timing)
    }

    /// [lane] Gives an output away, once; what is given away is never written again.
    fn take_output(&mut self, index: usize) -> Result<Option<OwnedTensor>> {
        Ok(self.kept[index].take())
    }
}

fn compute(graph: &Graph, host: &Host, bound: &Bindings) -> Result<Vec<Option<OwnedTensor>>> {
    let mut values: Vec<Array<'_>> = vec![];
    for weight in &graph.weights {
        values.push(Array { dims: weight.dims, data: Cow::Borrowed(&weight.data) });
    }
    for index in 0..graph.inputs.len() {
        let tensor = bound.input(index)?;
        let data = tensor.as_slice().ok_or_else(|| Error::invalid("an input is not aligned to its elements"))?;
        values.push(Array { dims: [Some(tensor.shape()[0]), Some(tensor.shape()[1])], data: data.into() });
    }
    for step in &graph.steps {
        if host.stopping() {
            return Err(Error::new(Code::Cancelled, "the run was stopped"));
        }
        values.push(step.compute(&values)?);
    }
    let made: Vec<_> = graph.made.iter().map(|value| &values[*value]).collect();
    let shape = |value: &Array<'_>| value.dims.map(Option::unwrap_or_default);
    // Before the first one is written: a run that fails leaves no output.
    for (index, value) in made.iter().enumerate() {
        if bound.output(index).is_some_and(|memory| memory.shape() != shape(value)) {
            return Err(Error::invalid("the memory bound to an output has another shape"));
        }
    }
    let mut kept = vec![];
    for (index, value) in made.iter().enumerate() {
        kept.push(match bound.output(index) {
            Some(memory) => memory.write(&value.data).map(|()| None)?,
            None => Some(OwnedTensor::from_vec(&shape(value), value.data.to_vec())?),
        });
    }
    Ok(kept)
}

/// A model does not change once it is loaded, so that its requests may run at once.
struct Loaded {
    graph: Arc<Graph>,
    host: Host,
    read_ns: Option<u64>,
}

impl Model for Loaded {
    type Request = Lane;

    /// [any] Reads back what happened, never what was asked for. An engine that leaves nodes to another device says so here.
    fn placement(&self) -> Placement {
        Placement {
            precision: "float32".into(),
            device: "cpu0".into(),
            engine: concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION")).into(),
            nodes_total: Some(self.graph.steps.len() as u64),
            nodes_on_device: Some(self.graph.steps.len() as u64),
            read_ns: self.read_ns,
            ..Placement::default() // unknown: it has no cache, compiles nothing, uploads nothing
        }
    }

    fn inputs(&self) -> &[Port] {
        &self.graph.inputs
    }

    fn outputs(&self) -> &[Port] {
        &self.graph.outputs
    }

    /// [any] Requests share the weights.
    fn request(self: &Arc<Self>) -> Result<Lane> {
        let kept = self.graph.made.iter().map(|_| None).collect();
        Ok(Lane { graph: self.graph.clone(), host: self.host, kept })
    }
}

/// What is asked for is done or refused, never ignored: a figure of the wrong precision is worse than none.
fn read(load: &Load) -> Result<Graph> {
    if let Some(other) = load.precision.as_deref().filter(|precision| *precision != "float32") {
        return Err(Error::unimplemented(Why::PRECISION, format!("precision '{other}': this engine computes in float32")));
    }
    if load.source.format != "onnx" {
        return Err(lacking("this engine reads ONNX files"));
    }
    if let Some(bytes) = &load.source.bytes {
        return Graph::read(bytes);
    }
    let named = |error: String| refused(format!("{}: {error}", load.source.path.display()));
    Graph::read(&std::fs::read(&load.source.path).map_err(|error| named(error.to_string()))?)
}

struct Engine {
    host: Host,
}

impl Backend for Engine {
    const ID: &'static CStr = c"@NAME@";
    /// Closed: the host refuses an option that is not in it.
    const OPTIONS_SCHEMA: &'static CStr = cr#"{"type":"object","additionalProperties":false,"properties":{}}"#;
    const OFFERS: Offers = Offers { supports: true, from_memory: true, ..Offers::NONE };
    type Model = Loaded;

    /// [main] A vendor's library is loaded here, with `dlopen`; where there is none this says `Error::unavailable`, what was looked for,
    /// where, and how to install it.
    fn open(host: Host, _options: &Options) -> Result<Engine> {
        Ok(Engine { host })
    }

    /// A device that is known of but cannot be used is told too: with `why`, and in `reason` what was looked at.
    fn devices(&self) -> Vec<Device> {
        vec![Device::new("cpu0", "The CPU, in plain Rust", DeviceKind::Cpu)]
    }

    /// [any] Why a load would not work, as far as it can be told without compiling. Here reading is all that there is to it.
    fn supports(&self, load: &Load) -> Result<()> {
        read(load).map(drop)
    }

    /// [any]
    fn load(&self, load: &Load) -> Result<Loaded> {
        let start = self.host.now_ns();
        let graph = Arc::new(read(load)?);
        let read_ns = self.host.now_ns().zip(start).map(|(end, start)| end - start);
        Ok(Loaded { graph, host: self.host, read_ns })
    }
}

export_plugin! {
    id: "@NAME@",
    name: "@NAME@",
    vendor: "",
    backend: Engine,
}
