//! Running with values that stay in the device's memory: an IO binding of ONNX Runtime.
//!
//! Requests go this way that keep outputs for their next run, and those whose copies are told apart (`transfer`), on a provider whose
//! outputs do not lie in host memory.

use crate::errors::check;
use crate::memory::is_device;
use crate::model::OrtModel;
use crate::value::Value;
use ort::AsPointer;
use ort::sys::{OrtAllocator, OrtIoBinding, OrtMemoryInfo, OrtValue};
use skillbench_plugin_api::{Error, Result};
use std::ffi::c_char;
use std::ptr::{self, NonNull};
use std::slice;

/// Where the output of a port goes in the next run.
pub(crate) enum Goes<'v> {
    /// Into memory of the caller.
    There(&'v Value),
    /// Into memory where the node that makes it runs, allocated by ONNX Runtime.
    Device,
    /// Into host memory that ONNX Runtime allocates.
    Host,
}

/// An `OrtIoBinding`.
pub(crate) struct Binding(NonNull<OrtIoBinding>);

// SAFETY: a binding has no thread; one thread at a time holds a request and with it its binding.
unsafe impl Send for Binding {}

/// The memory in which the session makes each output.
fn places(model: &OrtModel, outputs: usize) -> Result<Vec<*const OrtMemoryInfo>> {
    let mut places = vec![ptr::null(); outputs];
    // SAFETY: a live session with so many outputs; what is filled in belongs to the session.
    unsafe { check((ort::api().SessionGetMemoryInfoForOutputs)(model.session.ptr(), places.as_mut_ptr(), outputs))? };
    Ok(places)
}

/// Whether an output is made in memory that the host cannot read.
pub(crate) fn on_device(model: &OrtModel, output: usize, outputs: usize) -> Result<bool> {
    Ok(is_device(places(model, outputs)?[output]))
}

impl Binding {
    /// # Errors
    /// What ONNX Runtime says.
    pub fn new(model: &OrtModel) -> Result<Binding> {
        let mut binding = ptr::null_mut();
        // SAFETY: a live session; the pointer to a local is writable.
        unsafe { check((ort::api().CreateIoBinding)(model.session.ptr().cast_mut(), &raw mut binding))? };
        NonNull::new(binding).map(Binding).ok_or_else(|| Error::internal("ONNX Runtime made no binding"))
    }

    /// Sets an input; a value that lies elsewhere is copied to the device.
    ///
    /// # Safety
    /// `name` is a port of the session that this was made of.
    pub unsafe fn input(&self, name: *const c_char, value: &Value) -> Result<()> {
        // SAFETY: a live binding and value; the binding takes a hold of its own on the value.
        unsafe { check((ort::api().BindInput)(self.0.as_ptr(), name, value.raw())) }
    }

    /// Lets go of all that is bound.
    pub fn clear(&self) {
        // SAFETY: a live binding.
        unsafe {
            (ort::api().ClearBoundInputs)(self.0.as_ptr());
            (ort::api().ClearBoundOutputs)(self.0.as_ptr());
        }
    }

    /// Says where every output goes, runs, and returns the outputs in the order of their ports.
    ///
    /// # Errors
    /// What ONNX Runtime says.
    pub fn run<'v>(&self, model: &OrtModel, outputs: impl ExactSizeIterator<Item = Goes<'v>>) -> Result<Vec<Value>> {
        let (api, count, binding) = (ort::api(), outputs.len(), self.0.as_ptr());
        let places = places(model, count)?;
        // SAFETY: a live binding of a live session; as many names and places as outputs; where memory is lent, it is for as long
        // as the request has it. Bound anew for every run: what the last one made is its own, and may have another size.
        unsafe {
            (api.ClearBoundOutputs)(binding);
            for (index, goes) in outputs.enumerate() {
                let name = *model.output_names.as_ptr().add(index);
                check(match goes {
                    Goes::There(value) => (api.BindOutput)(binding, name, value.raw()),
                    Goes::Device => (api.BindOutputToDevice)(binding, name, places[index]),
                    Goes::Host => (api.BindOutputToDevice)(binding, name, model.runtime.host_memory.ptr()),
                })?;
            }
            check((api.SynchronizeBoundInputs)(binding))?;
            check((api.RunWithBinding)(model.session.ptr().cast_mut(), ptr::null(), binding))?;
            check((api.SynchronizeBoundOutputs)(binding))?;
        }
        let values = self.outputs()?;
        match values.len() == count {
            true => Ok(values),
            false => Err(Error::internal(format!("{} outputs came of a run with {count}", values.len()))),
        }
    }

    fn outputs(&self) -> Result<Vec<Value>> {
        let api = ort::api();
        let mut allocator: *mut OrtAllocator = ptr::null_mut();
        let (mut values, mut count): (*mut *mut OrtValue, usize) = (ptr::null_mut(), 0);
        // SAFETY: a live binding; the list is allocated by the allocator that is passed, holds `count` values that are ours, and
        // is freed once.
        unsafe {
            check((api.GetAllocatorWithDefaultOptions)(&raw mut allocator))?;
            check((api.GetBoundOutputValues)(self.0.as_ptr(), allocator, &raw mut values, &raw mut count))?;
            if values.is_null() {
                return Ok(vec![]);
            }
            let owned = slice::from_raw_parts(values, count).iter().map(|value| Value::owned(*value)).collect();
            check((api.AllocatorFree)(allocator, values.cast()))?;
            Ok(owned)
        }
    }
}

impl Drop for Binding {
    fn drop(&mut self) {
        // SAFETY: owned, and released once.
        unsafe { (ort::api().ReleaseIoBinding)(self.0.as_ptr()) }
    }
}
