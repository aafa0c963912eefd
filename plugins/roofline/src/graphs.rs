//! The graphs of the parts.
//!
//! A chain of products starts from a matrix that only exists once the input is there (a weight matrix plus the input's row),
//! so that nothing of it can be worked out at load, and ends in the largest value of each column: no product can be left
//! out, and what goes in and out is one row, which costs nothing beside the products even where it travels to a device.

use crate::parts::{Form, Part};
use crate::weights::{Matrix, Store, step};
use skillbench_onnx::messages::*;
use skillbench_onnx::{Graph, Model};

/// Old enough for every engine; `ReduceMax` still has its axes as an attribute.
const OPSET: i64 = 17;

/// The output's name.
fn output(part: Part) -> String {
    format!("y.{}", part.name())
}

/// The file of a part's graph.
pub fn file(part: Part) -> String {
    format!("{}.onnx", part.name())
}

pub fn write(part: Part) -> Vec<u8> {
    let mut graph = Building::default();
    let out = output(part);
    match part {
        Part::Products { form: Form::Float32, size } => graph.floats(part, Store::Float32, size),
        Part::Products { form: Form::Float16, size } => graph.floats(part, Store::Float16, size),
        Part::Products { form: Form::Int8, size } => graph.integers(part, size),
        Part::Products { form: Form::Qdq, size } => graph.quantized(part, size),
        Part::Copy => {
            graph.constant("one", FLOAT, &[], 1f32.to_le_bytes().into());
            graph.node("Add", &[&part.input(), "one"], &out);
        }
        Part::Read { passes } => graph.read(part, passes),
    }
    let element = if matches!(part, Part::Products { form: Form::Float16, .. }) { FLOAT16 } else { FLOAT };
    let port = |name: &str, shape: [u64; 2]| {
        ValueInfo::of_tensor(name, element, shape.map(|size| Size::Fixed(size as i64)).to_vec())
    };
    let whole = Graph {
        node: graph.nodes,
        name: part.name(),
        initializer: graph.constants,
        input: vec![port(&part.input(), part.input_shape())],
        output: vec![port(&out, part.output_shape())],
    };
    Model::new("skillbench roofline", OPSET, whole).encode_to_vec()
}

#[derive(Default)]
struct Building {
    nodes: Vec<Node>,
    constants: Vec<Tensor>,
}

impl Building {
    fn node(&mut self, operator: &str, inputs: &[&str], output: &str) {
        self.nodes.push(Node::new(operator, inputs, output));
    }

    fn constant(&mut self, name: &str, data_type: i32, dims: &[i64], bytes: Vec<u8>) {
        self.constants.push(Tensor::of_bytes(name, data_type, dims, bytes));
    }

    fn scalar(&mut self, name: &str, value: f32) {
        self.constant(name, FLOAT, &[], value.to_le_bytes().into());
    }

    /// The matrix `w`.
    fn weights(&mut self, matrix: Matrix) {
        let data_type = match matrix.store {
            Store::Float32 => FLOAT,
            Store::Float16 => FLOAT16,
            Store::Int8 => INT8,
        };
        let dims = [matrix.rows as i64, matrix.columns as i64];
        self.constants.push(Tensor::in_file("w", data_type, &dims, &matrix.file(), 0..matrix.bytes()));
    }

    /// What comes of one pass is half as wide as what goes in: twice of it is the input of the next.
    fn read(&mut self, part: Part, passes: u64) {
        self.weights(Matrix::READ);
        let mut input = part.input();
        for pass in 1..passes {
            let (half, next) = (format!("y{pass}"), format!("x{pass}"));
            self.node("MatMul", &[&input, "w"], &half);
            self.nodes.push(Node::new("Concat", &[&half, &half], &next).with("axis", 1));
            input = next;
        }
        self.node("MatMul", &[&input, "w"], &output(part));
    }

    /// The largest value of each column.
    fn largest(&mut self, input: &str, output: &str) {
        self.nodes.push(Node::new("ReduceMax", &[input], output).with_several("axes", &[0]));
    }

    fn floats(&mut self, part: Part, store: Store, size: u64) {
        self.weights(Matrix::square(store, size));
        self.node("Add", &["w", &part.input()], "h0");
        for layer in 0..part.layers() {
            self.node("MatMul", &[&format!("h{layer}"), "w"], &format!("h{}", layer + 1));
        }
        self.largest(&format!("h{}", part.layers()), &output(part));
    }

    /// `h0`: the weights, which are in steps of `wide`, plus the input's row. What is quantized after it is in steps of `fine`.
    fn start_of_integers(&mut self, part: Part, size: u64) {
        self.weights(Matrix::square(Store::Int8, size));
        self.scalar("wide", step(size));
        self.scalar("fine", activation_step(size));
        self.constant("zero", INT8, &[], vec![0]);
        self.node("DequantizeLinear", &["w", "wide", "zero"], "wf");
        self.node("Add", &["wf", &part.input()], "h0");
    }

    /// Unsigned activations and signed weights: the pair that processors have instructions for.
    fn integers(&mut self, part: Part, size: u64) {
        self.start_of_integers(part, size);
        self.constant("middle", UINT8, &[], vec![128]);
        // A sum of products stands for sum × fine × wide, and in steps of fine for sum × wide.
        self.scalar("narrow", 1.0 / step(size));
        self.scalar("both", step(size) * activation_step(size));
        self.node("QuantizeLinear", &["h0", "fine", "middle"], "q0");
        let layers = part.layers();
        for layer in 0..layers {
            let name = |what: &str| format!("{what}{}", layer + 1);
            self.node("MatMulInteger", &[&format!("q{layer}"), "w", "middle", "zero"], &name("i"));
            self.nodes.push(Node::new("Cast", &[&name("i")], &name("f")).with("to", FLOAT.into()));
            if layer + 1 < layers {
                self.node("QuantizeLinear", &[&name("f"), "narrow", "middle"], &name("q"));
            }
        }
        self.largest(&format!("f{layers}"), "most");
        self.node("Mul", &["most", "both"], &output(part));
    }

    /// Signed and symmetric throughout, which is all that some accelerators take.
    fn quantized(&mut self, part: Part, size: u64) {
        self.start_of_integers(part, size);
        for layer in 0..part.layers() {
            let (here, next) = (|what: &str| format!("{what}{layer}"), format!("h{}", layer + 1));
            self.node("QuantizeLinear", &[&here("h"), "fine", "zero"], &here("q"));
            self.node("DequantizeLinear", &[&here("q"), "fine", "zero"], &here("d"));
            self.node("DequantizeLinear", &["w", "wide", "zero"], &here("w"));
            self.node("MatMul", &[&here("d"), &here("w")], &next);
        }
        // The last product has points around it as the others have.
        let last = format!("h{}", part.layers());
        self.node("QuantizeLinear", &[&last, "fine", "zero"], "last_q");
        self.node("DequantizeLinear", &["last_q", "fine", "zero"], "last_d");
        self.largest("last_d", &output(part));
    }
}

/// Weights and the input's row, both of deviation 1/√size, were added; four deviations are in reach.
fn activation_step(size: u64) -> f32 {
    4.0 * (2.0 / size as f32).sqrt() / 127.0
}
