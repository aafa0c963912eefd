//! Runs whose copies to the device and back are told apart from its work.
//!
//! ONNX Runtime copies within its call, and a device may work on behind it: neither shows from outside. Here inputs and outputs have places
//! of their own in the device's memory. Where a device works on, after each step a copy of one element waits until it has done all before it.

use crate::binding::{Binding, Goes};
use crate::errors::check;
use crate::memory::{Allocator, Copies, is_device};
use crate::model::OrtModel;
use crate::value::Value;
use ort::AsPointer;
use ort::sys::OrtMemoryInfo;
use skillbench_plugin_api::sdk::{Bindings, Model};
use skillbench_plugin_api::{DType, Result, Timing};
use std::ptr;

/// The places of a request's tensors in the memory of a device.
pub(crate) struct Transfers {
    inputs: Vec<Place>,
    /// Which outputs the session makes in the device's memory, and does not leave there for the caller.
    outputs: Vec<bool>,
    /// Which outputs it makes there at all.
    made_there: Vec<bool>,
    /// One element on the device, and the same in host memory.
    fence: (Value, Value),
    copies: Copies,
    binding: Binding,
    // Last, so that it outlives its tensors.
    memory: Allocator,
}

/// Where the session takes an input from.
enum Place {
    Host,
    /// Its tensor there, once one was bound.
    Device(Value),
}

impl Transfers {
    /// `None` for a model whose copies nobody tells apart, or that has no port in a device's memory.
    ///
    /// # Errors
    /// What ONNX Runtime or the driver says: some providers copy nothing by themselves.
    pub fn new(model: &OrtModel) -> Result<Option<Transfers>> {
        let Some(copies) = model.device_memory.as_ref().map(|memory| memory.copies.clone()) else {
            return Ok(None);
        };
        let api = ort::api();
        let mut inputs = vec![ptr::null(); model.inputs().len()];
        let mut outputs = vec![ptr::null(); model.outputs().len()];
        // SAFETY: a live session with so many ports; what is filled in belongs to the session.
        unsafe {
            let session = model.session.ptr();
            check((api.SessionGetMemoryInfoForInputs)(session, inputs.as_mut_ptr(), inputs.len()))?;
            check((api.SessionGetMemoryInfoForOutputs)(session, outputs.as_mut_ptr(), outputs.len()))?;
        }
        let Some(place) = inputs.iter().chain(&outputs).copied().find(|place| is_device(*place)) else {
            return Ok(None);
        };
        let _turn = copies.turn();
        // SAFETY: memory information of the session.
        let memory = unsafe { Allocator::new(model, place)? };
        let fence = (memory.tensor(DType::U32, &[1])?, Allocator::host()?.tensor(DType::U32, &[1])?);
        // There and back once: a provider that cannot says so here, and not in a run.
        copies.copy(&[(&fence.1, &fence.0)])?;
        copies.copy(&[(&fence.0, &fence.1)])?;
        let of_input = |place: &*const OrtMemoryInfo| match is_device(*place) {
            true => Place::Device(Value::NONE),
            false => Place::Host,
        };
        Ok(Some(Transfers {
            inputs: inputs.iter().map(of_input).collect(),
            made_there: outputs.iter().map(|place| is_device(*place)).collect(),
            outputs: outputs.iter().map(|place| is_device(*place)).collect(),
            fence,
            copies,
            binding: Binding::new(model)?,
            memory,
        }))
    }

    /// Waits until the device has done all that it was given.
    fn wait(&self) -> Result<()> {
        match self.copies.in_turns() {
            true => self.copies.copy(&[(&self.fence.0, &self.fence.1)]),
            false => Ok(()),
        }
    }

    /// An output goes into this memory of the caller, or into none.
    ///
    /// # Errors
    /// What ONNX Runtime says.
    pub fn bind_output(&mut self, index: usize, memory: Option<&Value>) -> Result<()> {
        let stays_there = memory.map_or(Ok(false), Value::is_on_device)?;
        self.outputs[index] = self.made_there[index] && !stays_there;
        Ok(())
    }

    /// Runs once. `bound` has the outputs that go into memory of the caller.
    ///
    /// # Errors
    /// What ONNX Runtime says.
    pub fn run(
        &mut self,
        model: &OrtModel,
        given: &Bindings,
        inputs: &[Value],
        outputs: &mut [Value],
        bound: &[bool],
    ) -> Result<Timing> {
        let _turn = self.copies.turn();
        let clock = given.clock();
        let began = clock.now_ns();
        let on_device = inputs.iter().zip(&self.inputs).filter_map(|(from, place)| match place {
            Place::Device(to) if !to.is_none() => Some((from, to)),
            _ => None,
        });
        self.copies.copy(&on_device.collect::<Vec<_>>())?;
        self.wait()?;
        let start = clock.now_ns();
        let goes = outputs.iter().zip(bound).zip(&self.outputs).map(|((value, bound), device)| match (device, bound) {
            (true, _) => Goes::Device,
            (false, true) => Goes::There(value),
            (false, false) => Goes::Host,
        });
        let made = self.binding.run(model, goes)?;
        self.wait()?;
        let end = clock.now_ns();
        let host = Allocator::host()?;
        let mut read = Vec::with_capacity(made.len());
        for (((made, output), bound), device) in made.into_iter().zip(outputs).zip(bound).zip(&self.outputs) {
            match (device, bound) {
                (true, false) => {
                    let (dtype, shape) = made.shape()?;
                    *output = host.tensor(dtype, &shape)?;
                    read.push((made, &*output));
                }
                (true, true) => read.push((made, &*output)),
                (false, false) => *output = made,
                (false, true) => {}
            }
        }
        self.copies.copy(&read.iter().map(|(from, to)| (from, *to)).collect::<Vec<_>>())?;
        let done = clock.now_ns();
        let between = |from: Option<u64>, to: Option<u64>| to?.checked_sub(from?);
        Ok(Timing {
            start_ns: start,
            end_ns: end,
            host_to_device_ns: between(began, start),
            device_to_host_ns: between(end, done),
            ..Timing::default()
        })
    }

    /// Gives the session an input where it takes it from. An empty tensor needs no place on the device, nor does one that lies there.
    ///
    /// # Errors
    /// What ONNX Runtime says.
    pub fn bind_input(&mut self, model: &OrtModel, index: usize, value: &Value) -> Result<()> {
        let _turn = self.copies.turn();
        let (dtype, shape) = value.shape()?;
        // SAFETY: there are as many names as inputs, all of this session.
        let name = unsafe { *model.input_names.as_ptr().add(index) };
        let there = match &mut self.inputs[index] {
            Place::Device(there) if !shape.contains(&0) && !value.is_on_device()? => there,
            Place::Device(there) => {
                *there = Value::NONE;
                // SAFETY: the name is a port of this session.
                return unsafe { self.binding.input(name, value) };
            }
            // SAFETY: as above.
            Place::Host => return unsafe { self.binding.input(name, value) },
        };
        if there.is_none() || there.shape()? != (dtype, shape.clone()) {
            *there = self.memory.tensor(dtype, &shape)?;
            // SAFETY: as above.
            unsafe { self.binding.input(name, there)? };
        }
        Ok(())
    }
}

impl Drop for Transfers {
    fn drop(&mut self) {
        let _turn = self.copies.turn();
        self.binding.clear();
        self.inputs.clear();
        self.fence = (Value::NONE, Value::NONE);
    }
}
