//! What a device computes in, found out by computing: a small product and a small convolution, whose exact results are known.
//! An engine that rounds to fewer bits than float32 has is off by far more than one that does not.

use crate::request::BrowserRequest;
use skillbench_onnx::messages::*;
use skillbench_onnx::{Graph, Model};
use skillbench_plugin_api::{DType, Error, Result};
use tungstenite::Bytes;

/// Error against the sum of magnitudes. float32 stays below 2e-7; bits cut off as in TF32 give 1e-5 and more.
const TOLERANCE: f64 = 1e-6;

const ROWS: usize = 16;
const INNER: usize = 64;
const CHANNELS: usize = 8;
const SIDE: usize = 8;
const KERNEL: usize = 3;
const OUT: usize = SIDE - KERNEL + 1;

/// Numbers between -1 and 1 that use all bits of a float32.
fn numbers(count: usize, step: f64) -> Vec<f32> {
    (1..=count).map(|index| (index as f64 * step).sin() as f32).collect()
}

struct Data {
    a: Vec<f32>,
    b: Vec<f32>,
    image: Vec<f32>,
    kernel: Vec<f32>,
}

fn data() -> Data {
    Data {
        a: numbers(ROWS * INNER, 0.37),
        b: numbers(INNER * ROWS, 0.73),
        image: numbers(CHANNELS * SIDE * SIDE, 0.53),
        kernel: numbers(CHANNELS * CHANNELS * KERNEL * KERNEL, 0.91),
    }
}

/// The graph to load: `product = a × b` and `folded = image * kernel`.
pub(crate) fn graph() -> Bytes {
    let data = data();
    let square = CHANNELS * SIDE * SIDE;
    debug_assert_eq!(data.image.len(), square);
    let graph = Graph {
        name: "check".into(),
        node: vec![Node::new("MatMul", &["a", "b"], "product"), Node::new("Conv", &["image", "kernel"], "folded")],
        initializer: vec![
            tensor("b", &[INNER, ROWS], &data.b),
            tensor("kernel", &[CHANNELS, CHANNELS, KERNEL, KERNEL], &data.kernel),
        ],
        input: vec![port("a", &[ROWS, INNER]), port("image", &[1, CHANNELS, SIDE, SIDE])],
        output: vec![port("product", &[ROWS, ROWS]), port("folded", &[1, CHANNELS, OUT, OUT])],
    };
    Model::new("skillbench", 17, graph).encode_to_vec().into()
}

fn tensor(name: &str, dims: &[usize], data: &[f32]) -> Tensor {
    let dims: Vec<i64> = dims.iter().map(|dim| *dim as i64).collect();
    Tensor::of_bytes(name, FLOAT, &dims, data.iter().flat_map(|value| value.to_le_bytes()).collect())
}

fn port(name: &str, dims: &[usize]) -> ValueInfo {
    ValueInfo::of_tensor(name, FLOAT, dims.iter().map(|dim| Size::Fixed(*dim as i64)).collect())
}

/// Runs the loaded graph. Whether it computed in float32.
///
/// # Errors
/// What the page says.
pub(crate) fn computes_float32(request: &mut BrowserRequest) -> Result<bool> {
    let data = data();
    let bytes = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    request.send(0, DType::F32, &[ROWS, INNER], &bytes(&data.a))?;
    request.send(1, DType::F32, &[1, CHANNELS, SIDE, SIDE], &bytes(&data.image))?;
    request.infer()?;
    let mut right = true;
    for (index, exact) in [product(&data), folded(&data)].iter().enumerate() {
        let output = request.receive(index)?;
        let values = output.as_slice::<f32>().ok_or_else(|| Error::internal("the check gave no float32"))?;
        right &= values.len() == exact.len() && values.iter().zip(exact).all(|(value, exact)| exact.holds(*value));
    }
    Ok(right)
}

/// A sum of products in double precision, and the sum of their magnitudes.
#[derive(Default)]
struct Exact {
    sum: f64,
    size: f64,
}

impl Exact {
    fn of(terms: impl Iterator<Item = (f32, f32)>) -> Exact {
        terms.fold(Exact::default(), |exact, (a, b)| {
            let term = f64::from(a) * f64::from(b);
            Exact { sum: exact.sum + term, size: exact.size + term.abs() }
        })
    }

    fn holds(&self, value: f32) -> bool {
        (f64::from(value) - self.sum).abs() <= TOLERANCE * self.size
    }
}

fn product(data: &Data) -> Vec<Exact> {
    let cell = |row: usize, column: usize| {
        Exact::of((0..INNER).map(move |k| (data.a[row * INNER + k], data.b[k * ROWS + column])))
    };
    (0..ROWS * ROWS).map(|at| cell(at / ROWS, at % ROWS)).collect()
}

fn folded(data: &Data) -> Vec<Exact> {
    let cell = |out: usize, y: usize, x: usize| {
        let taps = (0..CHANNELS * KERNEL * KERNEL).map(move |tap| {
            let (channel, dy, dx) = (tap / (KERNEL * KERNEL), tap / KERNEL % KERNEL, tap % KERNEL);
            let pixel = data.image[(channel * SIDE + y + dy) * SIDE + x + dx];
            (pixel, data.kernel[out * CHANNELS * KERNEL * KERNEL + tap])
        });
        Exact::of(taps)
    };
    (0..CHANNELS * OUT * OUT).map(|at| cell(at / (OUT * OUT), at / OUT % OUT, at % OUT)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Exact, data, folded, product};

    /// What is left of a number with ten bits of mantissa.
    fn cut(value: f32) -> f32 {
        f32::from_bits(value.to_bits() & !0x1fff)
    }

    #[test]
    fn float32_passes_and_tf32_does_not() {
        let data = data();
        let terms = || (0..64).map(|k| (data.a[k], data.b[k * 16]));
        let exact = Exact::of(terms());
        assert!(exact.holds(terms().map(|(a, b)| a * b).sum()));
        assert!(!exact.holds(terms().map(|(a, b)| cut(a) * cut(b)).sum()));
        assert_eq!((product(&data).len(), folded(&data).len()), (256, 288));
    }
}
