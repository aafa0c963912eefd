//! One lane of work: what a measured iteration goes through. Everything is made at bind; a run is one call of the C API on
//! arrays that are already there.

use crate::binding::{Binding, Goes, on_device};
use crate::errors::check;
use crate::model::OrtModel;
use crate::profile::Recorder;
use crate::submit::{Runs, submit};
use crate::transfer::Transfers;
use crate::value::Value;
use ort::AsPointer;
use ort::sys::OrtValue;
use skillbench_plugin_api::sdk::{Bindings, Bound, Cancel, Done, Model, Request};
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
    /// Where an output stays in a device's memory for the next run: through it then goes every run.
    device: Option<Binding>,
    /// Where the copies of a run are told apart: through it goes every run that keeps no output there.
    transfers: Option<Transfers>,
    /// Which inputs the device's binding has not been given yet.
    fresh: Vec<bool>,
    runs: Arc<Runs>,
    // Last, so that the session outlives the values.
    model: Arc<OrtModel>,
}

impl OrtRequest {
    /// # Errors
    /// What ONNX Runtime says.
    pub(crate) fn new(model: Arc<OrtModel>) -> Result<OrtRequest> {
        let none = |count: usize| (0..count).map(|_| Value::NONE).collect();
        let (inputs, outputs) = (model.inputs().len(), model.outputs().len());
        let (bound, fresh) = (vec![false; outputs], vec![true; inputs]);
        let (inputs, outputs) = (none(inputs), none(outputs));
        let transfers = Transfers::new(&model)?;
        Ok(OrtRequest { inputs, outputs, bound, device: None, transfers, fresh, runs: Runs::new()?, model })
    }

    /// A run in which values stay where the provider computes.
    fn run_on_device(&mut self, device: &Binding, given: &Bindings) -> Result<()> {
        let OrtRequest { inputs, outputs, bound, fresh, model, .. } = self;
        for index in 0..inputs.len() {
            let kept = given.held(index).map(|output| outputs[output].take());
            if let Some(value) = kept.as_ref().or(fresh[index].then_some(&inputs[index])) {
                // SAFETY: there are as many names as inputs, all of this session.
                unsafe { device.input(*model.input_names.as_ptr().add(index), value)? };
            }
            fresh[index] = false;
        }
        for (output, _) in outputs.iter_mut().zip(&*bound).filter(|(_, bound)| !**bound) {
            *output = Value::NONE;
        }
        let mut kept = vec![false; outputs.len()];
        (0..inputs.len()).filter_map(|input| given.aliased(input)).for_each(|output| kept[output] = true);
        let goes = outputs.iter().zip(&*bound).zip(&kept).map(|((value, bound), kept)| match (bound, kept) {
            (true, _) => Goes::There(value),
            (false, true) => Goes::Device,
            (false, false) => Goes::Host,
        });
        let made = device.run(model, goes)?;
        for ((output, made), _) in outputs.iter_mut().zip(made).zip(&*bound).filter(|(_, bound)| !**bound) {
            *output = made;
        }
        Ok(())
    }
}

impl Request for OrtRequest {
    /// Makes the value anew even for the same memory: some providers copy an input when they first see its value.
    fn bind_input(&mut self, index: usize, tensor: &Bound) -> Result<()> {
        // SAFETY: the SDK lends the memory until the port is bound again, which replaces the value, or the request goes.
        let value = unsafe { Value::over(self.model.runtime, self.model.device_memory.as_ref(), tensor) }?;
        if let Some(transfers) = &mut self.transfers {
            transfers.bind_input(&self.model, index, &value)?;
        }
        self.inputs[index] = value;
        self.fresh[index] = true;
        Ok(())
    }

    fn bind_output(&mut self, index: usize, tensor: Option<&Bound>) -> Result<()> {
        // SAFETY: as for an input.
        let value = tensor
            .map(|tensor| unsafe { Value::over(self.model.runtime, self.model.device_memory.as_ref(), tensor) })
            .transpose()?;
        if let Some(transfers) = &mut self.transfers {
            transfers.bind_output(index, value.as_ref())?;
        }
        self.bound[index] = value.is_some();
        self.outputs[index] = value.unwrap_or(Value::NONE);
        Ok(())
    }

    /// On the processor an output is as good as an input, and needs nothing; elsewhere ONNX Runtime has to be told to leave it
    /// where it is. Where copies are timed apart, runs that keep nothing go another way.
    fn alias(&mut self, output: usize, _input: usize) -> Result<()> {
        let needs_binding = self.transfers.is_some() || on_device(&self.model, output, self.outputs.len())?;
        if self.device.is_none() && needs_binding {
            self.device = Some(Binding::new(&self.model)?);
            self.fresh.fill(true);
        }
        Ok(())
    }

    fn run(&mut self, given: &Bindings) -> Result<Timing> {
        self.model.recorder.iter().for_each(Recorder::count);
        if let Some(device) = self.device.take() {
            let _turn = self.model.device_memory.as_ref().map(|memory| memory.copies.turn());
            let done = self.run_on_device(&device, given);
            self.device = Some(device);
            return done.map(|()| Timing::default());
        }
        let OrtRequest { inputs, outputs, bound, transfers, model, .. } = self;
        if let Some(transfers) = transfers {
            for (output, _) in outputs.iter_mut().zip(&*bound).filter(|(_, bound)| !**bound) {
                *output = Value::NONE;
            }
            return transfers.run(model, given, inputs, outputs, bound);
        }
        for (index, input) in inputs.iter_mut().enumerate() {
            if let Some(output) = given.held(index) {
                *input = outputs[output].take();
            }
        }
        // What the last run allocated goes first: two sets of outputs would count as the model's memory.
        for (output, _) in outputs.iter_mut().zip(bound).filter(|(_, bound)| !**bound) {
            *output = Value::NONE;
        }
        // SAFETY: the session is alive, and runs may overlap on it. Names and values are as many as said; a `Value` is one
        // pointer; inputs are bound (the SDK has checked) to memory that is lent for as long; where an output is null,
        // ONNX Runtime writes a value that is then ours.
        let ((), timing) = given.timed(|| unsafe {
            check((ort::api().Run)(
                model.session.ptr().cast_mut(),
                ptr::null(),
                model.input_names.as_ptr(),
                inputs.as_ptr().cast::<*const OrtValue>(),
                inputs.len(),
                model.output_names.as_ptr(),
                outputs.len(),
                outputs.as_mut_ptr().cast::<*mut OrtValue>(),
            ))
        })?;
        // What was read is not read again: the output takes its place, and two states at once would count as the model's memory.
        for (index, input) in inputs.iter_mut().enumerate() {
            if given.aliased(index).is_some() {
                *input = Value::NONE;
            }
        }
        // Elsewhere ONNX Runtime copies within its call, and tells nobody for how long.
        Ok(if model.on_processor { timing } else { Timing::default() })
    }

    fn submit(&mut self, given: &Bindings, done: Done) {
        for (output, _) in self.outputs.iter_mut().zip(&self.bound).filter(|(_, bound)| !**bound) {
            *output = Value::NONE;
        }
        // SAFETY: the SDK lets nobody touch this request, and what is bound to it, until the run has ended: the two lists stay as they are.
        unsafe { submit(&self.model, &self.runs, &self.inputs, &mut self.outputs, given.clock(), done) }
    }

    fn cancel(&self) -> Option<Cancel> {
        Some(self.runs.cancel())
    }

    fn take_output(&mut self, index: usize) -> Result<Option<OwnedTensor>> {
        if self.bound[index] || self.outputs[index].is_none() {
            return Ok(None);
        }
        let (dtype, shape, data) = self.outputs[index].describe()?;
        let value = self.outputs[index].take();
        // SAFETY: the value owns the dense tensor just described; the session it came from stays with it.
        Ok(Some(unsafe { OwnedTensor::from_raw(dtype, &shape, data, Box::new((value, Arc::clone(&self.model)))) }))
    }
}
