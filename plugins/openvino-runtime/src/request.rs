//! One lane of work: what a measured iteration goes through. Tensors are set at bind; a run is one call of the C interface.

use crate::compiled::Node;
use crate::failure::{Failure, check};
use crate::model::OvModel;
use crate::submit::Runs;
use crate::tensor::Tensor;
use openvino_sys::*;
use skillbench_plugin_api::sdk::{Bindings, Bound, Cancel, Done, Model, Request};
use skillbench_plugin_api::{Error, OwnedTensor, Port, Result, Timing};
use std::ffi::{CStr, c_char};
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// An inference request of OpenVINO.
pub(crate) struct Lane {
    request: NonNull<ov_infer_request_t>,
    /// Goes after the request.
    runs: Box<Runs>,
}

// SAFETY: a request has no thread; one thread at a time holds it.
unsafe impl Send for Lane {}
// SAFETY: what others may do beside that thread is to cancel a run, which `ov::InferRequest` allows from any.
unsafe impl Sync for Lane {}

impl Lane {
    /// Takes over a request that OpenVINO handed out.
    pub fn new(request: *mut ov_infer_request_t) -> Result<Lane, Failure> {
        let request = NonNull::new(request).ok_or_else(|| Failure::here("no request came back"))?;
        Ok(Lane { request, runs: Runs::new() })
    }

    /// The nodes of the compiled model, which only a request tells. It need not have run, nor have been compiled for
    /// profiling: only the times would be missing. Times are means over the runs of the model, in whole microseconds.
    pub fn nodes(&self) -> Result<Vec<Node>, Failure> {
        let mut list = ov_profiling_info_list_t { profiling_infos: ptr::null_mut(), size: 0 };
        // SAFETY: a live request; the list is filled with `size` entries of texts or nulls, read before it is freed, once.
        unsafe {
            check(ov_infer_request_get_profiling_info(self.request.as_ptr(), &raw mut list))?;
            let text = |text: *const c_char| match text.is_null() {
                true => String::new(),
                false => CStr::from_ptr(text).to_string_lossy().into_owned(),
            };
            let node = |index| {
                let entry = list.profiling_infos.add(index);
                let ran = (*entry).status == ov_profiling_info_t_Status::EXECUTED;
                let mean = u64::try_from((*entry).real_time).ok().filter(|us| ran && *us > 0);
                Node {
                    kind: text((*entry).node_type),
                    kernel: text((*entry).exec_type),
                    name: text((*entry).node_name),
                    mean: mean.map(std::time::Duration::from_micros),
                }
            };
            let nodes = (0..list.size).map(node).collect();
            ov_profiling_info_list_free(&raw mut list);
            Ok(nodes)
        }
    }

    fn output(&self, index: usize) -> Result<Tensor, Failure> {
        let mut tensor = ptr::null_mut();
        // SAFETY: a live request; the tensor is a handle of ours.
        unsafe { check(ov_infer_request_get_output_tensor_by_index(self.request.as_ptr(), index, &raw mut tensor))? };
        Tensor::new(tensor)
    }

    fn set_input(&self, index: usize, tensor: &Tensor) -> Result<(), Failure> {
        // SAFETY: a live request and tensor.
        unsafe { check(ov_infer_request_set_input_tensor_by_index(self.request.as_ptr(), index, tensor.as_ptr())) }
    }

    fn set_output(&self, index: usize, tensor: &Tensor) -> Result<(), Failure> {
        // SAFETY: a live request and tensor.
        unsafe { check(ov_infer_request_set_output_tensor_by_index(self.request.as_ptr(), index, tensor.as_ptr())) }
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        // SAFETY: owned, and freed once.
        unsafe { ov_infer_request_free(self.request.as_ptr()) }
    }
}

/// Where an output goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Output {
    /// Into memory of the request; true after a run, until it is taken.
    Own(bool),
    /// Into memory of the caller, which has room for exactly what comes.
    Lent,
    /// The same, as far as can be told before a run.
    LentOpen,
}

pub struct OvRequest {
    lane: Arc<Lane>,
    outputs: Vec<Output>,
    /// By input: the tensor that an output left for it. It and the output's take turns, so that no run writes what it reads.
    kept: Vec<Option<Tensor>>,
    model: Arc<OvModel>,
}

impl OvRequest {
    pub(crate) fn new(lane: Lane, model: Arc<OvModel>) -> OvRequest {
        let kept = model.inputs().iter().map(|_| None).collect();
        OvRequest { lane: Arc::new(lane), outputs: vec![Output::Own(false); model.outputs().len()], kept, model }
    }

    /// Makes the tensor that an output of the last run lies in an input of the next, and gives the output another.
    fn pass_on(&mut self, output: usize, input: usize) -> Result<()> {
        let port = &self.model.outputs()[output];
        let fault = |failure: Failure| failure.error(&format!("keep output '{}' for the next run", port.name));
        let state = self.lane.output(output).map_err(fault)?;
        self.lane.set_input(input, &state).map_err(fault)?;
        let room = self.kept[input].replace(state);
        let room = room.map_or_else(|| room_for(port), Ok).map_err(fault)?;
        self.lane.set_output(output, &room).map_err(fault)
    }

    /// Refuses a run that wrote another shape than the memory bound to an output has.
    fn fits(&self, index: usize, bound: &Bindings) -> Result<()> {
        let shape = self.lane.output(index).and_then(|tensor| tensor.shape());
        let shape = shape.map_err(|failure| failure.error("tell an output's shape"))?;
        match bound.output(index) {
            Some(memory) if memory.shape() != shape => {
                let (name, room) = (&self.model.outputs()[index].name, memory.shape());
                let text = format!("output '{name}' has the shape {shape:?}, the memory bound to it {room:?}");
                Err(Error { vendor_code: ov_status_e::PARAMETER_MISMATCH as i32, ..Error::invalid(text) })
            }
            _ => Ok(()),
        }
    }
}

impl Request for OvRequest {
    /// Sets the tensor anew even for the same memory: some devices copy an input when it is set.
    fn bind_input(&mut self, index: usize, tensor: &Bound) -> Result<()> {
        let fault = |failure: Failure| failure.error(&format!("take input '{}'", self.model.inputs()[index].name));
        // SAFETY: the SDK lends the memory until the port is bound again, which replaces the tensor, or the request goes,
        // which happens before the memory does.
        let value = unsafe { Tensor::over(tensor) }.map_err(fault)?;
        self.lane.set_input(index, &value).map_err(fault)
    }

    fn bind_output(&mut self, index: usize, tensor: Option<&Bound>) -> Result<()> {
        let port = &self.model.outputs()[index];
        let fault = |failure: Failure| failure.error(&format!("write output '{}' there", port.name));
        let (value, goes) = match tensor {
            // SAFETY: as for an input.
            Some(tensor) => (unsafe { Tensor::over(tensor) }.map_err(fault)?, lent(port)),
            None if matches!(self.outputs[index], Output::Own(_)) => return Ok(()),
            None => (room_for(port).map_err(fault)?, Output::Own(false)),
        };
        self.lane.set_output(index, &value).map_err(fault)?;
        self.outputs[index] = goes;
        Ok(())
    }

    /// Outputs and inputs lie in tensors of the same kind, which change places between runs.
    fn alias(&mut self, _output: usize, _input: usize) -> Result<()> {
        Ok(())
    }

    fn run(&mut self, bound: &Bindings) -> Result<Timing> {
        for input in 0..self.kept.len() {
            match (bound.held(input), bound.aliased(input)) {
                (Some(output), _) => self.pass_on(output, input)?,
                (None, None) => self.kept[input] = None,
                (None, Some(_)) => {}
            }
        }
        // SAFETY: a live request that this thread alone holds; what is bound to it is lent for as long.
        let (done, timing) = bound.timed(|| Ok(unsafe { ov_infer_request_infer(self.lane.request.as_ptr()) }))?;
        let own = |output: &mut Output, fresh| {
            if let Output::Own(state) = output {
                *state = fresh;
            }
        };
        if let Err(failure) = check(done) {
            self.outputs.iter_mut().for_each(|output| own(output, false));
            return Err(failure.error("run the model"));
        }
        self.outputs.iter_mut().for_each(|output| own(output, true));
        if let Some(recorder) = &self.model.recorder {
            recorder.ran(|| self.lane.nodes())?;
        }
        for index in 0..self.outputs.len() {
            if self.outputs[index] == Output::LentOpen {
                self.fits(index, bound)?;
            }
        }
        Ok(timing)
    }

    fn submit(&mut self, bound: &Bindings, done: Done) {
        let own = |output: &mut Output| {
            if let Output::Own(state) = output {
                *state = false;
            }
        };
        self.outputs.iter_mut().for_each(own);
        // SAFETY: the SDK lets nobody touch this request, and what is bound to it, until the run has ended.
        unsafe { self.lane.runs.submit(self.lane.request.as_ptr(), bound.clock(), done) }
    }

    fn cancel(&self) -> Option<Cancel> {
        let lane = Arc::clone(&self.lane);
        Some(Arc::new(move || {
            lane.runs.cancel();
            // SAFETY: a live request; see `Sync`.
            unsafe { check(ov_infer_request_cancel(lane.request.as_ptr())) }
                .map_err(|failure| failure.error("cancel a run"))
        }))
    }

    fn landed(&mut self) -> Result<()> {
        // SAFETY: a live request that this thread alone holds.
        let can_be_read = unsafe { self.lane.runs.wait(self.lane.request.as_ptr())? };
        for output in &mut self.outputs {
            if let Output::Own(state) = output {
                *state = can_be_read;
            }
        }
        Ok(())
    }

    /// Copies: the request goes on with its own memory.
    fn take_output(&mut self, index: usize) -> Result<Option<OwnedTensor>> {
        if self.outputs[index] != Output::Own(true) {
            return Ok(None);
        }
        let tensor = self.lane.output(index).map_err(|failure| failure.error("give an output"))?;
        let copy = tensor.copy(self.model.outputs()[index].dtype)?;
        self.outputs[index] = Output::Own(false);
        Ok(Some(copy))
    }
}

/// A tensor for an output: an open size starts as nothing, and grows with the first run.
fn room_for(port: &Port) -> Result<Tensor, Failure> {
    let sizes: Vec<usize> = port.shape.iter().map(|size| size.unwrap_or(0)).collect();
    Tensor::made(port.dtype, &sizes)
}

fn lent(port: &Port) -> Output {
    if port.shape.iter().all(Option::is_some) { Output::Lent } else { Output::LentOpen }
}
