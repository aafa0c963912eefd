//! Numbers to bind, and to read.

use skillbench_plugin_api::client::Request;
use skillbench_plugin_api::{DType, Element, HostTensor};
use std::sync::Arc;

fn tensor(dtype: DType, shape: &[usize], bytes: impl IntoIterator<Item = u8>) -> Arc<HostTensor> {
    let mut tensor = HostTensor::zeroed(dtype, shape).unwrap();
    tensor.bytes_mut().iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    Arc::new(tensor)
}

pub fn floats(shape: &[usize], data: &[f32]) -> Arc<HostTensor> {
    tensor(DType::F32, shape, data.iter().flat_map(|value| value.to_ne_bytes()))
}

pub fn integers(shape: &[usize], data: &[i64]) -> Arc<HostTensor> {
    tensor(DType::I64, shape, data.iter().flat_map(|value| value.to_ne_bytes()))
}

pub fn booleans(shape: &[usize], data: &[bool]) -> Arc<HostTensor> {
    tensor(DType::Bool, shape, data.iter().map(|value| u8::from(*value)))
}

/// Takes an output and reads its elements.
pub fn taken<T: Element>(request: &mut Request, index: u32) -> Vec<T> {
    let output = request.take_output(index).unwrap().to_host().unwrap();
    output.as_slice::<T>().expect("the element type").to_vec()
}

/// The largest difference between two lists of as many numbers; NaN where one is not a number.
pub fn apart(have: &[f32], want: &[f32]) -> f32 {
    assert_eq!(have.len(), want.len());
    let differences = have.iter().zip(want).map(|(have, want)| (have - want).abs());
    differences.fold(0.0, |most, next| if next > most || next.is_nan() { next } else { most })
}

/// As close as float32 arithmetic in any order comes for graphs as small as these.
pub fn close(have: &[f32], want: &[f32]) -> bool {
    apart(have, want) < 1e-5
}
