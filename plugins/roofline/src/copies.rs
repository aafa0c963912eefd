//! How fast tensors are copied to the device's memory and back.
//!
//! What was copied is read back, with the source already written over: a copy that returns before it is done is no copy.

use skillbench_plugin_api::client::Allocated;
use skillbench_plugin_api::sdk::{Context, TargetModel};
use skillbench_plugin_api::{Code, DType, Error, HostTensor, Result, RoundKind, SeriesInfo, Why};
use std::time::Instant;

/// Of the tensor that is copied.
pub const BYTES: usize = 32 << 20;
/// The names of the two rates.
pub const TO_DEVICE: &str = "host_to_device";
pub const FROM_DEVICE: &str = "device_to_host";

/// Names, and samples in nanoseconds.
pub type Copies = Vec<(&'static str, Vec<f64>)>;

/// Measures both ways.
///
/// # Errors
/// `Unimplemented` where the device has no memory of its own, `WrongOutput` where a copy is none.
pub fn copies(model: &TargetModel<'_>, context: &Context<'_>) -> Result<Copies> {
    let place = model.place()?;
    if place.is_host() {
        return Err(Error::unimplemented(Why::NONE, "the device computes in the host's memory"));
    }
    let shape = [BYTES / 4];
    let there = model.model().allocate_at(DType::U32, &shape, place)?;
    let mut here = HostTensor::zeroed(DType::U32, &shape)?;
    check(model, &there, &mut here, 1)?;
    let to = measure(context, TO_DEVICE, || model.copy_in(&here, &there))?;
    check(model, &there, &mut here, 2)?;
    let from = measure(context, FROM_DEVICE, || model.copy_out(&there, &mut here))?;
    check(model, &there, &mut here, 3)?;
    Ok(vec![(TO_DEVICE, to), (FROM_DEVICE, from)])
}

/// Copies contents there and back.
fn check(model: &TargetModel<'_>, there: &Allocated, here: &mut HostTensor, seed: u32) -> Result<()> {
    // A step that is odd visits all numbers, so that no two elements near each other are the same.
    let expected = |index: usize| (index as u32).wrapping_mul(0x9E37_79B1).wrapping_add(seed).to_le_bytes();
    here.bytes_mut().chunks_exact_mut(4).enumerate().for_each(|(index, to)| to.copy_from_slice(&expected(index)));
    model.copy_in(here, there)?;
    here.bytes_mut().fill(0);
    model.copy_out(there, here)?;
    match here.bytes().chunks_exact(4).enumerate().all(|(index, have)| have == expected(index)) {
        true => Ok(()),
        false => {
            let text = "what is copied to the device and back is not what it was when `copy` was called";
            Err(Error::new(Code::WrongOutput, text))
        }
    }
}

fn measure(context: &Context<'_>, name: &str, mut copy: impl FnMut() -> Result<()>) -> Result<Vec<f64>> {
    let reporter = &context.reporter;
    let series = reporter.series(&SeriesInfo::duration(name, BYTES as f64))?;
    let mut samples = vec![];
    while let Some(round) = reporter.next_round(series) {
        (0..round.settle).try_for_each(|_| copy())?;
        let mut values = Vec::with_capacity(round.iterations as usize);
        for _ in 0..round.iterations {
            let start = Instant::now();
            copy()?;
            values.push(start.elapsed().as_nanos() as f64);
        }
        reporter.samples(series, &round, &values)?;
        if round.kind == RoundKind::Measured {
            samples.extend_from_slice(&values);
        }
    }
    Ok(samples)
}
