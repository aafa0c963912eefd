//! An `OrtValue`, laid out so that an array of them is the array the C API takes.

use crate::errors::check;
use crate::memory::{DeviceMemory, is_device};
use crate::ports::{to_dtype, to_element};
use crate::runtime::Runtime;
use ort::AsPointer;
use ort::sys::{ONNXTensorElementDataType, OrtValue};
use skillbench_plugin_api::sdk::Bound;
use skillbench_plugin_api::{DType, Error, Result, Why};
use std::ptr::{self, NonNull};
use std::slice;

/// An owned value, or none.
#[repr(transparent)]
pub(crate) struct Value(Option<NonNull<OrtValue>>);

// SAFETY: a value has no thread; one thread at a time holds a request and with it its values.
unsafe impl Send for Value {}

impl Value {
    pub const NONE: Value = Value(None);

    pub fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// Takes over a value that ONNX Runtime handed out.
    ///
    /// # Safety
    /// `value` is null, or nobody else releases it.
    pub unsafe fn owned(value: *mut OrtValue) -> Value {
        Value(NonNull::new(value))
    }

    pub fn take(&mut self) -> Value {
        std::mem::replace(self, Value::NONE)
    }

    pub fn raw(&self) -> *mut OrtValue {
        self.0.map_or(ptr::null_mut(), NonNull::as_ptr)
    }

    /// A value over memory that the other side lends, of the host's or of the device's.
    ///
    /// # Errors
    /// `Unimplemented` for other memory, and what ONNX Runtime says.
    ///
    /// # Safety
    /// The value is dropped, or no longer used in a run, when the memory goes.
    pub unsafe fn over(runtime: &Runtime, device: Option<&DeviceMemory>, memory: &Bound) -> Result<Value> {
        let place = memory.place();
        let elsewhere = || Error::unimplemented(Why::NONE, format!("this model has no memory at {place:?}"));
        let info = match place.is_host() {
            true => runtime.host_memory.ptr(),
            false => device.filter(|device| device.has(place)).ok_or_else(elsewhere)?.ptr(),
        };
        // ONNX Runtime wants an address even where there is nothing at it.
        let data = match memory.byte_len() {
            0 => NonNull::<u64>::dangling().as_ptr().cast(),
            _ => memory.as_mut_ptr().cast(),
        };
        let shape: Vec<i64> = memory.shape().iter().map(|size| *size as i64).collect();
        let mut value = ptr::null_mut();
        // SAFETY: the memory holds as many bytes as it says, the shape is copied, and the pointer to a local is writable.
        unsafe {
            check((ort::api().CreateTensorWithDataAsOrtValue)(
                info,
                data,
                memory.byte_len(),
                shape.as_ptr(),
                shape.len(),
                to_element(memory.dtype()),
                &raw mut value,
            ))?;
        }
        Ok(Value(NonNull::new(value)))
    }

    /// Type, shape and address of a dense tensor, wherever it lies.
    ///
    /// # Errors
    /// `Unimplemented` for a type that the contract has not, and what ONNX Runtime says.
    pub fn describe(&self) -> Result<(DType, Vec<usize>, *mut u8)> {
        let (dtype, shape) = self.shape()?;
        let mut data = ptr::null_mut();
        // SAFETY: a live value; the pointer to a local is writable.
        unsafe { check((ort::api().GetTensorMutableData)(self.raw(), &raw mut data))? };
        Ok((dtype, shape, data.cast()))
    }

    /// Whether the host cannot read it where it lies.
    ///
    /// # Errors
    /// What ONNX Runtime says.
    pub fn is_on_device(&self) -> Result<bool> {
        let mut place = ptr::null();
        // SAFETY: a live value; the pointer to a local is writable.
        unsafe { check((ort::api().GetTensorMemoryInfo)(self.raw(), &raw mut place))? };
        Ok(is_device(place))
    }

    /// Type and shape of a tensor, wherever it lies.
    ///
    /// # Errors
    /// As for [`Value::describe`].
    pub fn shape(&self) -> Result<(DType, Vec<usize>)> {
        let mut element = ONNXTensorElementDataType::ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
        let (mut dims, mut rank) = (ptr::null(), 0);
        // SAFETY: a live value; pointers to locals are writable; the dimensions are the value's own, `rank` of them.
        let shape = unsafe {
            check((ort::api().GetTensorElementTypeAndShapeDataReference)(
                self.raw(),
                &raw mut element,
                &raw mut dims,
                &raw mut rank,
            ))?;
            if rank == 0 { &[] } else { slice::from_raw_parts(dims, rank) }
        };
        let dtype = to_dtype(element.into())
            .ok_or_else(|| Error::unimplemented(Why::MODEL, "an output of a type that the contract has not"))?;
        Ok((dtype, shape.iter().map(|size| *size as usize).collect()))
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        if let Some(value) = self.0 {
            // SAFETY: owned, and released once.
            unsafe { (ort::api().ReleaseValue)(value.as_ptr()) }
        }
    }
}
