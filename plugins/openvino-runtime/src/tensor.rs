//! A tensor of OpenVINO.

use crate::failure::{Failure, check};
use crate::ports::to_element;
use openvino_sys::*;
use skillbench_plugin_api::sdk::Bound;
use skillbench_plugin_api::{DType, HostTensor, OwnedTensor, Result};
use std::ptr::{self, NonNull};

pub(crate) struct Tensor(NonNull<ov_tensor_t>);

// SAFETY: a tensor has no thread; one thread at a time holds a request and with it its tensors.
unsafe impl Send for Tensor {}

impl Tensor {
    /// Takes over a tensor that OpenVINO handed out.
    pub fn new(tensor: *mut ov_tensor_t) -> Result<Tensor, Failure> {
        NonNull::new(tensor).map(Tensor).ok_or_else(|| Failure::here("no tensor came back"))
    }

    /// A tensor over memory that the other side lends: nothing is copied.
    ///
    /// # Safety
    /// The tensor, and every request that it was given to, no longer use the memory when it goes.
    pub unsafe fn over(memory: &Bound) -> Result<Tensor, Failure> {
        // OpenVINO wants an address even where there is nothing at it.
        let data = match memory.byte_len() {
            0 => NonNull::<u64>::dangling().as_ptr().cast(),
            _ => memory.as_mut_ptr().cast(),
        };
        let (mut dims, mut tensor) = (to_dims(memory.shape()), ptr::null_mut());
        let shape = ov_shape_t { rank: dims.len() as i64, dims: dims.as_mut_ptr() };
        // SAFETY: the memory holds a dense tensor of this type and shape; the shape is only read.
        unsafe { check(ov_tensor_create_from_host_ptr(to_element(memory.dtype()), shape, data, &raw mut tensor))? };
        Tensor::new(tensor)
    }

    /// A tensor in memory of its own.
    pub fn made(dtype: DType, shape: &[usize]) -> Result<Tensor, Failure> {
        let (mut dims, mut tensor) = (to_dims(shape), ptr::null_mut());
        let shape = ov_shape_t { rank: dims.len() as i64, dims: dims.as_mut_ptr() };
        // SAFETY: the shape is only read.
        unsafe { check(ov_tensor_create(to_element(dtype), shape, &raw mut tensor))? };
        Tensor::new(tensor)
    }

    pub fn as_ptr(&self) -> *const ov_tensor_t {
        self.0.as_ptr()
    }

    pub fn shape(&self) -> Result<Vec<usize>, Failure> {
        let mut shape = ov_shape_t { rank: 0, dims: ptr::null_mut() };
        // SAFETY: a live tensor; the shape is ours, holds as many sizes as its rank says, and is freed once.
        unsafe {
            check(ov_tensor_get_shape(self.as_ptr(), &raw mut shape))?;
            let size = |index| usize::try_from(*shape.dims.add(index)).unwrap_or_default();
            let sizes = (0..usize::try_from(shape.rank).unwrap_or_default()).map(size).collect();
            ov_shape_free(&raw mut shape);
            Ok(sizes)
        }
    }

    /// A copy that the caller owns.
    ///
    /// # Errors
    /// `ResourceExhausted` where there is no memory for it, and what OpenVINO says.
    pub fn copy(&self, dtype: DType) -> Result<OwnedTensor> {
        let fault = |failure: Failure| failure.error("give an output");
        let shape = self.shape().map_err(fault)?;
        let (mut data, mut bytes) = (ptr::null_mut(), 0);
        // SAFETY: a live tensor in host memory; pointers to locals are writable.
        unsafe {
            check(ov_tensor_get_byte_size(self.as_ptr(), &raw mut bytes)).map_err(fault)?;
            check(ov_tensor_data(self.as_ptr(), &raw mut data)).map_err(fault)?;
        }
        let mut copy = Box::new(HostTensor::zeroed(dtype, &shape)?);
        let room = copy.bytes_mut();
        if room.len() != bytes {
            let text = format!("an output of {bytes} bytes where {} are declared", room.len());
            return Err(skillbench_plugin_api::Error::internal(text));
        }
        let address = room.as_mut_ptr();
        if bytes > 0 {
            // SAFETY: both hold as many bytes, and no run writes to either now.
            unsafe { ptr::copy_nonoverlapping(data.cast::<u8>(), address, bytes) };
        }
        // SAFETY: the copy is a dense tensor of this type and shape, and goes along.
        Ok(unsafe { OwnedTensor::from_raw(dtype, &shape, address, copy) })
    }
}

fn to_dims(shape: &[usize]) -> Vec<i64> {
    shape.iter().map(|size| *size as i64).collect()
}

impl Drop for Tensor {
    fn drop(&mut self) {
        // SAFETY: owned, and freed once; a request that has it keeps its own hold on it.
        unsafe { ov_tensor_free(self.0.as_ptr()) }
    }
}
