//! The rule about memory of a device's own.

use super::backend::{ensure, floats, for_batch, input, open, text};
use super::{Finding, Test};
use crate::CheckJob;
use crate::child::Services;
use skillbench_plugin_api::{Code, DType, Direction, HostTensor};
use std::sync::Arc;

const ROWS: usize = 2;
const SHAPE: [usize; 2] = [ROWS, 64];

pub(super) fn device_memory(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open(services, job)?;
    let instance = &opened.instance;
    match (instance.backend().has("allocate"), instance.backend().has("copy")) {
        (true, true) => {}
        (false, false) => return Err(Finding::NotOffered),
        _ => return Err("of `allocate` and `copy` it has one alone: memory that nobody fills is of no use".into()),
    }
    let model = instance.load(&for_batch(&job.probe, ROWS as i64)).map_err(text)?;
    let device = model.placement().map_err(text)?.device;
    let index = opened.devices.iter().position(|known| known.id == device).ok_or("it is on no device of its own")?;
    let place = instance.place(index as u32).map_err(text)?;
    let allocate = |shape: &[usize]| model.allocate_at(DType::F32, shape, place).map_err(text);
    let (one, other) = (allocate(&SHAPE)?, allocate(&SHAPE)?);

    let mut from = input(ROWS, 1)?;
    let (first, second) = (from.bytes().to_vec(), input(ROWS, 2)?);
    instance.copy_in(&second, &other).map_err(text)?;
    instance.copy_in(&from, &one).map_err(text)?;
    // `copy` returned: what lies in the source now is nobody's business.
    from.bytes_mut().fill(0x5A);
    let mut to = HostTensor::zeroed(DType::F32, &SHAPE).map_err(text)?;
    instance.copy_out(&one, &mut to).map_err(text)?;
    ensure(to.bytes() == first, "what is copied to the device and back is not what it was when `copy` was called")?;
    instance.copy_out(&other, &mut to).map_err(text)?;
    ensure(to.bytes() == second.bytes(), "a copy into one tensor changes another one")?;
    ensure(to.is_intact(), "a copy writes beside the memory that it is given")?;
    let mut wider = HostTensor::zeroed(DType::F32, &[ROWS, 65]).map_err(text)?;
    ensure(instance.copy_out(&one, &mut wider).is_err(), "a tensor is copied into one of another shape")?;
    let mut whole = HostTensor::zeroed(DType::I32, &SHAPE).map_err(text)?;
    ensure(instance.copy_out(&one, &mut whole).is_err(), "a tensor is copied into one of another type")?;

    let mut request = model.request().map_err(text)?;
    match request.bind_allocated(Direction::Input, 0, Arc::new(one)) {
        Err(error) if error.code == Code::Unimplemented => return Ok(()),
        bound => bound.map_err(text)?,
    }
    request.run().map_err(text)?;
    let have = floats(&request.take_output(0).map_err(text)?);
    request.bind(Direction::Input, 0, Arc::new(input(ROWS, 1)?)).map_err(text)?;
    request.run().map_err(text)?;
    let want = floats(&request.take_output(0).map_err(text)?);
    ensure(have == want, "an input in the device's memory gives other outputs than the same input in the host's")
}
