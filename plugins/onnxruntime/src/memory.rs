//! Memory of a device: where it is, tensors in it, and copies of tensors between it and the host's.

use crate::errors::check;
use crate::model::OrtModel;
use crate::ports::to_element;
use crate::provider::NamedMemory;
use crate::runtime::Runtime;
use crate::turn;
use crate::value::Value;
use ort::AsPointer;
use ort::sys::{
    OrtAllocator, OrtAllocatorType, OrtDeviceMemoryType, OrtEnv, OrtMemType, OrtMemoryInfo, OrtMemoryInfoDeviceType,
    OrtValue,
};
use skillbench_drivers::{Copier, Piece};
use skillbench_plugin_api::{DType, Error, Place, Result};
use std::ptr::{self, NonNull};
use std::sync::{Arc, MutexGuard};

/// The memory of a provider's device, and how tensors get there and back. The information lives as long as the process.
#[derive(Clone)]
pub(crate) struct DeviceMemory {
    info: NonNull<OrtMemoryInfo>,
    /// The backend's devices whose memory it is.
    places: Vec<i32>,
    pub copies: Copies,
}

// SAFETY: the information is never released and never changes.
unsafe impl Send for DeviceMemory {}
// SAFETY: as for Send.
unsafe impl Sync for DeviceMemory {}

impl DeviceMemory {
    /// Of a device that the provider lists, and that has this number among the backend's. `None` for one that has none but the host's.
    pub fn of(listed: &ort::device::Device<'_>, number: i32, runtime: &'static Runtime) -> Option<DeviceMemory> {
        // SAFETY: a device of the environment.
        let info =
            unsafe { (ort::api().EpDevice_MemoryInfo)(listed.ptr(), OrtDeviceMemoryType::OrtDeviceMemoryType_DEFAULT) };
        let info = NonNull::new(info.cast_mut()).filter(|_| is_device(info))?;
        Some(DeviceMemory { info, places: vec![number], copies: Copies::OnnxRuntime(runtime) })
    }

    /// Of a device that the provider has by name.
    ///
    /// # Errors
    /// What ONNX Runtime says.
    pub fn named(memory: NamedMemory) -> Result<DeviceMemory> {
        let mut info = ptr::null_mut();
        // SAFETY: the name ends with a NUL and is copied; the pointer to a local is writable.
        unsafe {
            check((ort::api().CreateMemoryInfo)(
                memory.name.as_ptr(),
                OrtAllocatorType::OrtDeviceAllocator,
                memory.device,
                OrtMemType::OrtMemTypeDefault,
                &raw mut info,
            ))?;
        }
        let info = NonNull::new(info).ok_or_else(|| Error::internal("ONNX Runtime made no memory information"))?;
        Ok(DeviceMemory { info, places: memory.places, copies: Copies::Driver(memory.copier) })
    }

    pub fn ptr(&self) -> *const OrtMemoryInfo {
        self.info.as_ptr()
    }

    /// Whether a tensor at this place lies in it.
    pub fn has(&self, place: Place) -> bool {
        !place.is_host() && self.places.contains(&place.id)
    }
}

/// Who copies tensors between the host's memory and a device's.
#[derive(Clone)]
pub(crate) enum Copies {
    /// ONNX Runtime, in the order in which the device is given work, and from one thread at a time. A run may go on behind its return.
    OnnxRuntime(&'static Runtime),
    /// The driver, from any thread. A run has ended when it returns.
    Driver(Arc<dyn Copier>),
}

impl Copies {
    /// Whether only one thread at a time may use the device.
    pub fn in_turns(&self) -> bool {
        matches!(self, Copies::OnnxRuntime(_))
    }

    /// The device for this thread alone, where that is needed.
    pub fn turn(&self) -> Option<MutexGuard<'static, usize>> {
        self.in_turns().then(turn::alone)
    }

    /// Copies tensors, each into another one of its type and shape, and returns when those in host memory can be read.
    ///
    /// # Errors
    /// What ONNX Runtime or the driver says.
    pub fn copy(&self, pairs: &[(&Value, &Value)]) -> Result<()> {
        match self {
            _ if pairs.is_empty() => Ok(()),
            Copies::OnnxRuntime(runtime) => copy_by_engine(runtime, pairs),
            Copies::Driver(copier) => {
                let pieces = pairs.iter().map(|(from, to)| {
                    let ((dtype, shape, from), (to_dtype, to_shape, to)) = (from.describe()?, to.describe()?);
                    // What a session makes may be larger than what the caller has bound for it.
                    if (dtype, &shape) != (to_dtype, &to_shape) {
                        let text = format!("a tensor of shape {shape:?} does not go into memory of shape {to_shape:?}");
                        return Err(Error::invalid(text));
                    }
                    Ok(Piece { from, to, bytes: shape.iter().product::<usize>() * dtype.bytes() })
                });
                let pieces = pieces.collect::<Result<Vec<_>>>()?;
                // SAFETY: live tensors, each pair of one type and shape, which both sides own through the call.
                unsafe { copier.copy(&pieces) }
            }
        }
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

fn copy_by_engine(runtime: &Runtime, pairs: &[(&Value, &Value)]) -> Result<()> {
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
