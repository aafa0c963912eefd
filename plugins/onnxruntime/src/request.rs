//! One lane of work: what a measured iteration goes through. Everything is made at bind; a run is one call of the C API on
//! arrays that are already there.

use crate::errors::check;
use crate::model::OrtModel;
use crate::profile::Recorder;
use crate::value::Value;
use ort::AsPointer;
use ort::sys::OrtValue;
use skillbench_plugin_api::sdk::{Bindings, Bound, Model, Request};
use skillbench_plugin_api::{OwnedTensor, Result, Timing};
use std::ptr;
use std::sync::Arc;

pub struct OrtRequest {
    /// Values over bound memory; none before a port is bound.
    inputs: Vec<Value>,
    /// Values over bound memory, and between runs those that ONNX Runtime allocated for the others.
    outputs: Vec<Value>,
    /// Which outputs go into bound memory.
    bound: Vec<bool>,
    // Last, so that the session outlives the values.
    model: Arc<OrtModel>,
}

impl OrtRequest {
    pub(crate) fn new(model: Arc<OrtModel>) -> OrtRequest {
        let none = |count: usize| (0..count).map(|_| Value::NONE).collect();
        let (inputs, outputs) = (model.inputs().len(), model.outputs().len());
        OrtRequest { inputs: none(inputs), outputs: none(outputs), bound: vec![false; outputs], model }
    }
}

impl Request for OrtRequest {
    /// Makes the value anew even for the same memory: some providers copy an input when they first see its value.
    fn bind_input(&mut self, index: usize, tensor: &Bound) -> Result<()> {
        // SAFETY: the SDK lends the memory until the port is bound again, which replaces the value, or the request goes.
        self.inputs[index] = unsafe { Value::over(self.model.runtime, tensor) }?;
        Ok(())
    }

    fn bind_output(&mut self, index: usize, tensor: Option<&Bound>) -> Result<()> {
        // SAFETY: as for an input.
        let value = tensor.map(|tensor| unsafe { Value::over(self.model.runtime, tensor) }).transpose()?;
        self.bound[index] = value.is_some();
        self.outputs[index] = value.unwrap_or(Value::NONE);
        Ok(())
    }

    fn run(&mut self, _bound: &Bindings) -> Result<Timing> {
        let OrtRequest { inputs, outputs, bound, model } = self;
        // What the last run allocated goes first: two sets of outputs would count as the model's memory.
        for (output, _) in outputs.iter_mut().zip(bound).filter(|(_, bound)| !**bound) {
            *output = Value::NONE;
        }
        model.recorder.iter().for_each(Recorder::count);
        // SAFETY: the session is alive, and runs may overlap on it. Names and values are as many as said; a `Value` is one
        // pointer; inputs are bound (the SDK has checked) to memory that is lent for as long; where an output is null,
        // ONNX Runtime writes a value that is then ours.
        unsafe {
            check((ort::api().Run)(
                model.session.ptr().cast_mut(),
                ptr::null(),
                model.input_names.as_ptr(),
                inputs.as_ptr().cast::<*const OrtValue>(),
                inputs.len(),
                model.output_names.as_ptr(),
                outputs.len(),
                outputs.as_mut_ptr().cast::<*mut OrtValue>(),
            ))?;
        }
        Ok(Timing::default())
    }

    fn take_output(&mut self, index: usize) -> Result<Option<OwnedTensor>> {
        if self.bound[index] || self.outputs[index].is_none() {
            return Ok(None);
        }
        let (dtype, shape, data) = self.outputs[index].describe()?;
        let value = std::mem::replace(&mut self.outputs[index], Value::NONE);
        // SAFETY: the value owns the dense tensor just described; the session it came from stays with it.
        Ok(Some(unsafe { OwnedTensor::from_raw(dtype, &shape, data, Box::new((value, Arc::clone(&self.model)))) }))
    }
}
