//! Memory of a device: where it is, tensors in it, and copies of tensors between it and the host's.

use crate::errors::check;
use crate::model::OrtModel;
use crate::ports::to_element;
use crate::runtime::Runtime;
use crate::value::Value;
use ort::AsPointer;
use ort::sys::{OrtAllocator, OrtDeviceMemoryType, OrtEnv, OrtMemoryInfo, OrtMemoryInfoDeviceType, OrtValue};
use skillbench_plugin_api::{DType, Error, Result};
use std::ptr::{self, NonNull};

/// The memory of a provider's device, as the provider tells it. It lives as long as the process.
#[derive(Clone, Copy)]
pub(crate) struct DeviceMemory(NonNull<OrtMemoryInfo>);

// SAFETY: the information belongs to the environment, which is never dropped, and never changes.
unsafe impl Send for DeviceMemory {}
// SAFETY: as for Send.
unsafe impl Sync for DeviceMemory {}

impl DeviceMemory {
    /// `None` for a device that has none but the host's.
    pub fn of(device: &ort::device::Device<'_>) -> Option<DeviceMemory> {
        // SAFETY: a device of the environment.
        let place =
            unsafe { (ort::api().EpDevice_MemoryInfo)(device.ptr(), OrtDeviceMemoryType::OrtDeviceMemoryType_DEFAULT) };
        NonNull::new(place.cast_mut()).filter(|_| is_device(place)).map(DeviceMemory)
    }

    pub fn ptr(self) -> *const OrtMemoryInfo {
        self.0.as_ptr()
    }
}

/// Whether memory is such that the host cannot read it.
pub(crate) fn is_device(place: *const OrtMemoryInfo) -> bool {
    if place.is_null() {
        return false;
    }
    let mut kind = OrtMemoryInfoDeviceType::OrtMemoryInfoDeviceType_CPU;
    // SAFETY: memory information of a live session; the pointer to a local is writable.
    unsafe { (ort::api().MemoryInfoGetDeviceType)(place, &raw mut kind) };
    kind != OrtMemoryInfoDeviceType::OrtMemoryInfoDeviceType_CPU
}

/// Copies tensors, each into another one of its type and shape, and returns when those in host memory can be read.
pub(crate) fn copy(runtime: &Runtime, pairs: &[(&Value, &Value)]) -> Result<()> {
    if pairs.is_empty() {
        return Ok(());
    }
    let from: Vec<*const OrtValue> = pairs.iter().map(|(from, _)| from.raw().cast_const()).collect();
    let mut to: Vec<*const OrtValue> = pairs.iter().map(|(_, to)| to.raw().cast_const()).collect();
    let environment: *const OrtEnv = runtime.environment.ptr();
    // SAFETY: a live environment; as many live values on both sides as is said, of equal type and shape.
    unsafe {
        check((ort::api().CopyTensors)(
            environment.cast_mut(),
            from.as_ptr(),
            to.as_mut_ptr(),
            ptr::null_mut(),
            pairs.len(),
        ))
    }
}

/// An allocator, of a session or of host memory.
pub(crate) struct Allocator {
    allocator: NonNull<OrtAllocator>,
    is_of_session: bool,
}

// SAFETY: allocators of ONNX Runtime may be used from any thread.
unsafe impl Send for Allocator {}

impl Allocator {
    /// # Safety
    /// `place` is memory information of the model's session, which outlives this.
    pub unsafe fn new(model: &OrtModel, place: *const OrtMemoryInfo) -> Result<Allocator> {
        let mut allocator = ptr::null_mut();
        // SAFETY: a live session and memory information of it; the pointer to a local is writable.
        unsafe { check((ort::api().CreateAllocator)(model.session.ptr(), place, &raw mut allocator))? };
        Allocator::of(allocator, true)
    }

    pub fn host() -> Result<Allocator> {
        let mut allocator = ptr::null_mut();
        // SAFETY: the pointer to a local is writable; the allocator is one for the whole process.
        unsafe { check((ort::api().GetAllocatorWithDefaultOptions)(&raw mut allocator))? };
        Allocator::of(allocator, false)
    }

    fn of(allocator: *mut OrtAllocator, is_of_session: bool) -> Result<Allocator> {
        let allocator = NonNull::new(allocator).ok_or_else(|| Error::internal("ONNX Runtime has no such allocator"))?;
        Ok(Allocator { allocator, is_of_session })
    }

    /// A tensor of its own memory.
    pub fn tensor(&self, dtype: DType, shape: &[usize]) -> Result<Value> {
        let shape: Vec<i64> = shape.iter().map(|size| *size as i64).collect();
        let mut value = ptr::null_mut();
        // SAFETY: a live allocator, which lives on within the value; the shape is copied; the pointer to a local is writable.
        unsafe {
            check((ort::api().CreateTensorAsOrtValue)(
                self.allocator.as_ptr(),
                shape.as_ptr(),
                shape.len(),
                to_element(dtype),
                &raw mut value,
            ))?;
            Ok(Value::owned(value))
        }
    }
}

impl Drop for Allocator {
    fn drop(&mut self) {
        if self.is_of_session {
            // SAFETY: made by `CreateAllocator`, and released once.
            unsafe { (ort::api().ReleaseAllocator)(self.allocator.as_ptr()) }
        }
    }
}
