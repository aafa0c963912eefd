//! Marks in the memory of outputs, laid before a run and gone after it. Where they lie, and what they are, comes from a seed of the run.

use super::super::outputs::View;
use super::random::Random;
use skillbench_plugin_api::client::Request;
use skillbench_plugin_api::{DType, Direction, HostTensor, Result};
use std::sync::Arc;

/// Marks in each output; more than one of a line of the cache would cost more than it shows.
const MARKS: usize = 32;
/// Of narrow integers a mark may be what is written: all have to be left, and no fewer than these.
const LEAST: usize = 8;

/// Lays marks into every output that is bound. As many in each run: what is compared with a reference is not to be told from the rest.
///
/// # Errors
/// An output that somebody else holds.
pub(super) fn lay(request: &mut Request<'_>, outputs: u32, seed: u64) -> Result<()> {
    for index in 0..outputs {
        if request.bound(Direction::Output, index).is_none() {
            continue;
        }
        request.change(Direction::Output, index, |tensor| {
            let (dtype, elements) = (tensor.dtype(), elements(tensor));
            places(seed, index, elements).for_each(|place| put(tensor.bytes_mut(), dtype, place, mark(seed, place)));
            Ok(())
        })?;
    }
    Ok(())
}

/// Looks at the marks, and at what lies around bound memory.
///
/// # Errors
/// An output that was not written, one that is not a number, or memory beside it that was.
pub(super) fn look(
    request: &Request<'_>,
    names: impl Fn(u32) -> String,
    inputs: u32,
    outputs: u32,
    seed: u64,
) -> Result<(), String> {
    for (direction, count) in [(Direction::Input, inputs), (Direction::Output, outputs)] {
        for index in 0..count {
            let intact = request.bound(direction, index).is_none_or(HostTensor::is_intact);
            if !intact {
                return Err(format!(
                    "something was written beside the memory of {} {index}",
                    if direction == Direction::Input { "input" } else { "output" }
                ));
            }
        }
    }
    for index in 0..outputs {
        let Some(tensor) = request.bound(Direction::Output, index) else { continue };
        let (dtype, bytes, elements) = (tensor.dtype(), tensor.bytes(), elements(tensor));
        let left = places(seed, index, elements).filter(|place| is(bytes, dtype, *place, mark(seed, *place))).count();
        let laid = elements.min(MARKS);
        let unwritten = match dtype.bytes() {
            // A narrow number may be the mark by chance.
            1 | 2 if !is_float(dtype) => left == laid && laid >= LEAST,
            _ => left > 0,
        };
        if unwritten {
            return Err(format!("output '{}' was not written by the run", names(index)));
        }
        let view = View { dtype, shape: &[], bytes };
        if is_float(dtype) && places(seed, index, elements).any(|place| view.number(place).is_nan()) {
            return Err(format!("output '{}' has elements that are not finite: they are no numbers", names(index)));
        }
    }
    Ok(())
}

/// What stands in outputs where their marks were laid. Nobody else knows these places, so what is there when a run calls back has to be
/// there when it is looked at.
pub(super) fn found(outputs: &[Arc<HostTensor>], seed: u64) -> Vec<u64> {
    let of_output = |(index, tensor): (usize, &Arc<HostTensor>)| {
        let (bytes, size) = (tensor.bytes(), tensor.dtype().bytes());
        let at = |place: usize| {
            bytes[place * size..][..size].iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte))
        };
        places(seed, index as u32, elements(tensor)).map(at).collect::<Vec<_>>()
    };
    outputs.iter().enumerate().flat_map(of_output).collect()
}

fn is_float(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16 | DType::F32 | DType::F64)
}

fn elements(tensor: &HostTensor) -> usize {
    tensor.bytes().len() / tensor.dtype().bytes()
}

/// Where marks lie: everywhere in a small output, else at places that the seed chooses.
fn places(seed: u64, index: u32, elements: usize) -> impl Iterator<Item = usize> {
    let mut random = Random::seeded(seed ^ u64::from(index) << 32);
    (0..elements.min(MARKS)).map(move |place| match elements <= MARKS {
        true => place,
        false => (random.next() % elements as u64) as usize,
    })
}

fn mark(seed: u64, place: usize) -> u64 {
    Random::seeded(seed.wrapping_add(place as u64)).next()
}

/// The bits of a mark: of floats something that is no number, and not the usual one; of wide integers one far below what counts or names anything.
fn bits(dtype: DType, mark: u64) -> u64 {
    match dtype {
        DType::F32 => 0x7FC0_0001 | mark & 0x003F_FFFF,
        DType::F64 => 0x7FF8_0000_0000_0001 | mark & 0x0007_FFFF_FFFF_FFFF,
        DType::F16 => 0x7E01 | mark & 0x01FF,
        DType::BF16 => 0x7FC1 | mark & 0x003F,
        DType::I32 | DType::U32 => 0x9000_0000 | mark & 0x0FFF_FFFF,
        DType::I64 | DType::U64 => 0x9000_0000_0000_0000 | mark & 0x0FFF_FFFF_FFFF_FFFF,
        DType::I8 | DType::U8 | DType::Bool | DType::I16 | DType::U16 => mark,
    }
}

fn put(bytes: &mut [u8], dtype: DType, place: usize, mark: u64) {
    let size = dtype.bytes();
    bytes[place * size..][..size].copy_from_slice(&bits(dtype, mark).to_le_bytes()[..size]);
}

fn is(bytes: &[u8], dtype: DType, place: usize, mark: u64) -> bool {
    let size = dtype.bytes();
    bytes[place * size..][..size] == bits(dtype, mark).to_le_bytes()[..size]
}
