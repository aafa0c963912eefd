//! Memory that a backend allocates, such as a device's, and copies between it and the host's.

use super::model::release;
use super::{Instance, Model};
use crate::error::checked;
use crate::raw::*;
use crate::tensor::{Described, describe_anywhere};
use crate::{DType, Error, HostTensor, Place, Result};

/// A tensor in memory that a backend allocated. Dropping it releases it; it has to go before its model.
pub struct Allocated {
    raw: *mut sb_owned,
    described: Described,
}

// SAFETY: `release` is [any], and this side never looks at the memory.
unsafe impl Send for Allocated {}
// SAFETY: as for Send.
unsafe impl Sync for Allocated {}

impl Allocated {
    pub fn dtype(&self) -> DType {
        self.described.dtype
    }

    pub fn shape(&self) -> &[usize] {
        &self.described.shape
    }

    pub fn place(&self) -> Place {
        self.described.place
    }

    pub(crate) fn as_ptr(&self) -> *const sb_tensor {
        // SAFETY: ours until it is released.
        unsafe { &raw const (*self.raw).tensor }
    }
}

impl Drop for Allocated {
    fn drop(&mut self) {
        // SAFETY: allocated once, released once.
        unsafe { release(self.raw) }
    }
}

impl Model<'_> {
    /// Memory for a tensor, at a place that the backend has.
    ///
    /// # Errors
    /// `Unimplemented` where the backend has no such memory, and a tensor that is not the one that was asked for.
    pub fn allocate_at(&self, dtype: DType, shape: &[usize], place: Place) -> Result<Allocated> {
        let mut dims: Vec<i64> = shape.iter().map(|size| *size as i64).collect();
        let like = sb_tensor {
            data: std::ptr::null_mut(),
            place: place.to_raw(),
            ndim: dims.len() as i32,
            dtype: dtype.to_raw(),
            shape: dims.as_mut_ptr(),
            strides: std::ptr::null_mut(),
            byte_offset: 0,
        };
        let mut raw = std::ptr::null_mut();
        // SAFETY: a tensor that lives through the call, a writable pointer.
        unsafe { self.allocate(&raw const like, &raw mut raw)? };
        if raw.is_null() {
            return Err(Error::internal("`allocate` succeeded and returned nothing"));
        }
        // SAFETY: the tensor is ours until it is released.
        let described = match unsafe { describe_anywhere(&(*raw).tensor) } {
            Ok(described) => described,
            Err(error) => {
                // SAFETY: released once, here.
                unsafe { release(raw) };
                return Err(error);
            }
        };
        let allocated = Allocated { raw, described };
        let is_like = (allocated.dtype(), allocated.shape(), allocated.place()) == (dtype, shape, place);
        match is_like {
            true => Ok(allocated),
            false => Err(Error::internal(format!(
                "asked for {} {shape:?} at {place:?}, `allocate` gave {} {:?} at {:?}",
                dtype.name(),
                allocated.dtype().name(),
                allocated.shape(),
                allocated.place()
            ))),
        }
    }
}

impl Instance {
    /// The memory of a device.
    ///
    /// # Errors
    /// Whatever the plugin says.
    pub fn place(&self, device: u32) -> Result<Place> {
        // SAFETY: a live instance of this table.
        unsafe { place(self.backend().table(), self.as_ptr(), device) }
    }

    /// Copies a tensor of the host's into one that the backend allocated.
    ///
    /// # Errors
    /// `Unimplemented` where the backend copies nothing, and whatever else it says.
    pub fn copy_in(&self, from: &HostTensor, to: &Allocated) -> Result<()> {
        // SAFETY: a live instance of this table.
        unsafe { copy(self.backend().table(), self.as_ptr(), &from.to_raw(), to.as_ptr()) }
    }

    /// Copies a tensor that the backend allocated into one of the host's.
    ///
    /// # Errors
    /// As for [`Instance::copy_in`].
    pub fn copy_out(&self, from: &Allocated, to: &mut HostTensor) -> Result<()> {
        // SAFETY: as above; nobody else looks at the host's tensor.
        unsafe { copy(self.backend().table(), self.as_ptr(), from.as_ptr(), &to.to_raw()) }
    }
}

/// # Safety
/// A live instance of the table.
pub(crate) unsafe fn place(table: &sb_backend, instance: *mut sb_instance, index: u32) -> Result<Place> {
    let device = table.device.ok_or_else(|| super::missing("device"))?;
    let mut raw: sb_device = crate::abi_size::sized();
    raw.place = Place::HOST.to_raw();
    // SAFETY: [any]; a live instance, a writable struct.
    checked(|error| unsafe { device(instance, index, &raw mut raw, error) })?;
    Ok(Place::from_raw(raw.place))
}

/// # Safety
/// A live instance of the table, and two tensors that live through the call, of which this side writes neither meanwhile.
pub(crate) unsafe fn copy(
    table: &sb_backend,
    instance: *mut sb_instance,
    from: *const sb_tensor,
    to: *const sb_tensor,
) -> Result<()> {
    let copy = table.copy.ok_or_else(|| super::missing("copy"))?;
    // SAFETY: [any]; the caller promises the rest.
    checked(|error| unsafe { copy(instance, from, to, error) })
}
