//! Tensors on both sides: memory that one side owns and the other borrows.

use crate::raw::*;
use crate::{DType, Error, Place, Result};
use std::any::Any;
use std::ffi::c_void;
use std::ptr::NonNull;

/// A plain number that tensors are made of.
///
/// # Safety
/// Every bit pattern is a valid value, and `DTYPE` is its layout.
pub unsafe trait Element: Copy + Send + Sync + 'static {
    const DTYPE: DType;
}

macro_rules! elements {
    ($($type:ty => $dtype:ident),*) => { $(
        // SAFETY: integers and floats take every bit pattern.
        unsafe impl Element for $type { const DTYPE: DType = DType::$dtype; }
    )* };
}
elements!(f32 => F32, f64 => F64, i8 => I8, i16 => I16, i32 => I32, i64 => I64, u8 => U8, u16 => U16, u32 => U32, u64 => U64);

/// How many bytes a dense tensor takes; `None` where that overflows.
pub(crate) fn byte_len(dtype: DType, shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(dtype.bytes(), |bytes, dim| bytes.checked_mul(*dim))
}

/// Bytes as elements; `None` where type or alignment differ. Booleans are read as bytes.
pub(crate) fn cast<T: Element>(dtype: DType, bytes: &[u8]) -> Option<&[T]> {
    let same = T::DTYPE == dtype || (T::DTYPE == DType::U8 && dtype == DType::Bool);
    if bytes.is_empty() {
        return same.then_some(&[]);
    }
    if !same || bytes.as_ptr().align_offset(align_of::<T>()) != 0 {
        return None;
    }
    // SAFETY: aligned, whole elements of a type for which every bit pattern is valid.
    Some(unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len() / size_of::<T>()) })
}

/// Bytes before and after a tensor's own, which nobody may write.
const GUARD: usize = 64;
/// What the guards hold.
const GUARDED: u8 = 0xA5;

/// A dense tensor in host memory, aligned to 64 bytes, between guards that show who wrote beyond it.
pub struct HostTensor {
    dtype: DType,
    shape: Vec<i64>,
    data: NonNull<u8>,
    layout: std::alloc::Layout,
    bytes: usize,
}

// SAFETY: it owns its memory; shared access reads only, unless the contract lends it to an engine that writes outputs, and then
// the owner does not touch it until the run returned.
unsafe impl Send for HostTensor {}
// SAFETY: as for Send.
unsafe impl Sync for HostTensor {}

impl HostTensor {
    /// Zeroed memory for a tensor of this shape.
    ///
    /// # Errors
    /// `ResourceExhausted` where the machine has no such memory.
    pub fn zeroed(dtype: DType, shape: &[usize]) -> Result<HostTensor> {
        let too_large = || {
            let text = format!("no memory for a tensor of {} {shape:?}: use a smaller batch or sequence", dtype.name());
            Error::new(crate::Code::ResourceExhausted, text).because(crate::Why::MEMORY)
        };
        let bytes = byte_len(dtype, shape).ok_or_else(too_large)?;
        let whole = bytes.checked_add(2 * GUARD).ok_or_else(too_large)?;
        let layout = std::alloc::Layout::from_size_align(whole, 64).map_err(|_| too_large())?;
        // SAFETY: the layout is not empty.
        let start = NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) }).ok_or_else(too_large)?;
        // SAFETY: guard, data and guard lie in it one after the other.
        let data = unsafe {
            start.write_bytes(GUARDED, GUARD);
            start.add(GUARD + bytes).write_bytes(GUARDED, GUARD);
            start.add(GUARD)
        };
        Ok(HostTensor { dtype, shape: shape.iter().map(|d| *d as i64).collect(), data, layout, bytes })
    }

    pub fn dtype(&self) -> DType {
        self.dtype
    }

    pub fn shape(&self) -> Vec<usize> {
        self.shape.iter().map(|d| *d as usize).collect()
    }

    pub fn bytes(&self) -> &[u8] {
        // SAFETY: `bytes` initialized bytes that this tensor owns.
        unsafe { std::slice::from_raw_parts(self.data.as_ptr(), self.bytes) }
    }

    /// Whether nobody wrote before or after it.
    pub fn is_intact(&self) -> bool {
        // SAFETY: the guards lie around the data in one allocation.
        let guards = unsafe {
            let data = self.data.as_ptr();
            [
                std::slice::from_raw_parts(data.sub(GUARD), GUARD),
                std::slice::from_raw_parts(data.add(self.bytes), GUARD),
            ]
        };
        guards.iter().all(|guard| guard.iter().all(|byte| *byte == GUARDED))
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, and borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.data.as_ptr(), self.bytes) }
    }

    /// The elements; `None` where they are not of type `T`.
    pub fn as_slice<T: Element>(&self) -> Option<&[T]> {
        cast(self.dtype, self.bytes())
    }

    /// The tensor in C layout. It points into `self`, which has to stay where it is (in an `Arc` or a `Box`) while it is used.
    pub(crate) fn to_raw(&self) -> sb_tensor {
        sb_tensor {
            data: self.data.as_ptr().cast::<c_void>(),
            place: sb_place { r#type: SB_HOST_MEMORY, id: 0 },
            ndim: self.shape.len() as i32,
            dtype: self.dtype.to_raw(),
            shape: self.shape.as_ptr().cast_mut(),
            strides: std::ptr::null_mut(),
            byte_offset: 0,
        }
    }
}

impl Drop for HostTensor {
    fn drop(&mut self) {
        // SAFETY: allocated in `zeroed` with this layout, a guard before the data.
        unsafe { std::alloc::dealloc(self.data.as_ptr().sub(GUARD), self.layout) };
    }
}

/// Where the bytes of a dense tensor of the contract lie.
pub(crate) struct Described {
    pub place: Place,
    pub dtype: DType,
    pub shape: Vec<usize>,
    pub data: *mut u8,
    pub bytes: usize,
}

/// Type, shape and size in bytes of a tensor that may have no memory yet.
///
/// # Errors
/// `InvalidArgument` for strides that are not dense, and for a negative dimension.
///
/// # Safety
/// `shape` (and `strides`, where not null) hold `ndim` readable numbers.
pub(crate) unsafe fn outline(raw: &sb_tensor) -> Result<(DType, Vec<usize>, usize)> {
    let ndim = usize::try_from(raw.ndim).map_err(|_| Error::invalid("a tensor with a negative rank"))?;
    if ndim > 0 && raw.shape.is_null() {
        return Err(Error::invalid("a tensor without a shape"));
    }
    // SAFETY: the caller promises `ndim` numbers; no dimension needs no pointer.
    let read = |p: *mut i64| if ndim == 0 { vec![] } else { unsafe { std::slice::from_raw_parts(p, ndim) }.to_vec() };
    let dims = read(raw.shape);
    let shape: Vec<usize> = dims
        .iter()
        .map(|d| usize::try_from(*d).map_err(|_| Error::invalid(format!("a tensor with dimension {d}"))))
        .collect::<Result<_>>()?;
    if !raw.strides.is_null() {
        let mut step = 1;
        for (stride, dim) in read(raw.strides).iter().zip(&dims).rev() {
            if *dim > 1 && *stride != step {
                return Err(Error::invalid("only dense tensors can be bound: leave strides NULL"));
            }
            step *= dim;
        }
    }
    let dtype = DType::from_raw(raw.dtype)?;
    let bytes = byte_len(dtype, &shape).ok_or_else(|| Error::invalid("a tensor larger than memory"))?;
    Ok((dtype, shape, bytes))
}

/// Reads a borrowed `sb_tensor`, wherever it lies. Memory that is not the host's has an address of its own kind.
///
/// # Errors
/// As for [`outline`], and `InvalidArgument` for a tensor without data.
///
/// # Safety
/// As for [`outline`].
pub(crate) unsafe fn describe_anywhere(raw: &sb_tensor) -> Result<Described> {
    // SAFETY: the caller promises it.
    let (dtype, shape, bytes) = unsafe { outline(raw)? };
    if bytes > 0 && raw.data.is_null() {
        return Err(Error::invalid("a tensor without data"));
    }
    let data = raw.data.cast::<u8>().wrapping_add(raw.byte_offset as usize);
    Ok(Described { place: Place::from_raw(raw.place), dtype, shape, data, bytes })
}

/// Reads a borrowed `sb_tensor` in host memory.
///
/// # Errors
/// `InvalidArgument` for memory that is not the host's, for strides that are not dense, and for a negative dimension.
///
/// # Safety
/// `shape` (and `strides`, where not null) hold `ndim` readable numbers.
pub(crate) unsafe fn describe(raw: &sb_tensor) -> Result<Described> {
    if !Place::from_raw(raw.place).is_host() {
        let place = raw.place.r#type;
        return Err(Error::invalid(format!("the tensor lies at place {place}, host memory is {SB_HOST_MEMORY}")));
    }
    // SAFETY: the caller promises it.
    unsafe { describe_anywhere(raw) }
}

/// An output that a backend gives away, with whatever keeps its memory alive.
pub struct OwnedTensor {
    place: Place,
    dtype: DType,
    shape: Vec<i64>,
    data: *mut u8,
    _owner: Box<dyn Any + Send>,
}

// SAFETY: it alone leads to its memory, whose owner is Send.
unsafe impl Send for OwnedTensor {}

impl OwnedTensor {
    /// Gives a vector away as a dense tensor.
    ///
    /// # Errors
    /// `Internal` where the shape and the length disagree.
    pub fn from_vec<T: Element>(shape: &[usize], mut data: Vec<T>) -> Result<OwnedTensor> {
        if byte_len(T::DTYPE, shape) != Some(data.len() * size_of::<T>()) {
            return Err(Error::internal(format!("an output of shape {shape:?} with {} elements", data.len())));
        }
        let pointer = data.as_mut_ptr().cast();
        // SAFETY: the vector moves into the owner, and its elements stay where they are on the heap.
        Ok(unsafe { OwnedTensor::from_raw(T::DTYPE, shape, pointer, Box::new(data)) })
    }

    /// As [`OwnedTensor::from_vec`], for booleans, which are one byte each.
    ///
    /// # Errors
    /// As there.
    pub fn from_bools(shape: &[usize], data: Vec<bool>) -> Result<OwnedTensor> {
        let bytes = OwnedTensor::from_vec(shape, data.into_iter().map(u8::from).collect())?;
        Ok(OwnedTensor { dtype: DType::Bool, ..bytes })
    }

    /// Gives a tensor of host memory away.
    pub fn from_host(mut tensor: HostTensor) -> OwnedTensor {
        let (dtype, shape, data) = (tensor.dtype(), tensor.shape(), tensor.bytes_mut().as_mut_ptr());
        // SAFETY: the tensor's own memory, which stays where it is while the tensor, its owner, lives.
        unsafe { OwnedTensor::from_raw(dtype, &shape, data, Box::new(tensor)) }
    }

    /// Gives away memory that `owner` keeps alive.
    ///
    /// # Safety
    /// `data` holds a dense tensor of this type and shape for as long as `owner` lives.
    pub unsafe fn from_raw(dtype: DType, shape: &[usize], data: *mut u8, owner: Box<dyn Any + Send>) -> OwnedTensor {
        // SAFETY: the caller promises it.
        unsafe { OwnedTensor::from_raw_at(Place::HOST, dtype, shape, data, owner) }
    }

    /// Gives away memory at some place, by the address that memory of its kind has there.
    ///
    /// # Safety
    /// As for [`OwnedTensor::from_raw`].
    pub unsafe fn from_raw_at(
        place: Place,
        dtype: DType,
        shape: &[usize],
        data: *mut u8,
        owner: Box<dyn Any + Send>,
    ) -> OwnedTensor {
        OwnedTensor { place, dtype, shape: shape.iter().map(|d| *d as i64).collect(), data, _owner: owner }
    }

    /// Into C layout; `release` takes it back.
    pub(crate) fn into_raw(self) -> *mut sb_owned {
        let mut holder = Box::new(self);
        let tensor = sb_tensor {
            data: holder.data.cast(),
            place: holder.place.to_raw(),
            ndim: holder.shape.len() as i32,
            dtype: holder.dtype.to_raw(),
            shape: holder.shape.as_mut_ptr(),
            strides: std::ptr::null_mut(),
            byte_offset: 0,
        };
        let owner = Box::into_raw(holder).cast();
        Box::into_raw(Box::new(sb_owned { tensor, owner, release: Some(release_owned) }))
    }
}

unsafe extern "C" fn release_owned(raw: *mut sb_owned) {
    if raw.is_null() {
        return;
    }
    // SAFETY: made by `into_raw`, and released once, as the contract says.
    unsafe {
        let raw = Box::from_raw(raw);
        drop(Box::from_raw(raw.owner.cast::<OwnedTensor>()));
    }
}

/// Memory that the other side lends: valid from bind until the port is bound again or the request is released.
/// The SDK holds it for just that long and lends it out by reference only.
pub struct Bound {
    place: Place,
    dtype: DType,
    shape: Vec<usize>,
    data: *mut u8,
    bytes: usize,
    /// Bound to an output: written, and never lent as a slice.
    output: bool,
}

// SAFETY: [lane]: one thread at a time uses a request and with it its bound tensors.
unsafe impl Send for Bound {}

impl Bound {
    /// # Safety
    /// `raw` is a tensor whose data stays valid until this value is dropped.
    pub(crate) unsafe fn new(raw: &sb_tensor, output: bool) -> Result<Bound> {
        // SAFETY: the caller promises a readable tensor.
        let Described { place, dtype, shape, data, bytes } = unsafe { describe_anywhere(raw)? };
        Ok(Bound { place, dtype, shape, data, bytes, output })
    }

    pub fn dtype(&self) -> DType {
        self.dtype
    }

    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Where it lies: in host memory, unless the backend offers other.
    pub fn place(&self) -> Place {
        self.place
    }

    /// The address, for an engine that binds memory itself; its own `unsafe` answers for the use.
    pub fn as_mut_ptr(&self) -> *mut u8 {
        self.data
    }

    pub fn byte_len(&self) -> usize {
        self.bytes
    }

    /// An input's elements; `None` where they are not of type `T`, for memory of an output, which is only written, and for other than host
    /// memory.
    pub fn as_slice<T: Element>(&self) -> Option<&[T]> {
        if self.output || !self.place.is_host() {
            return None;
        }
        if self.bytes == 0 {
            return (T::DTYPE == self.dtype).then_some(&[]);
        }
        // SAFETY: valid for as long as `self`, see `new`; nothing writes to an input.
        cast(self.dtype, unsafe { std::slice::from_raw_parts(self.data, self.bytes) })
    }

    /// An input's bytes, whatever their type; `None` for memory of an output, and for other than host memory.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self.bytes {
            _ if self.output || !self.place.is_host() => None,
            0 => Some(&[]),
            // SAFETY: valid for as long as `self`, see `new`; nothing writes to an input.
            bytes => Some(unsafe { std::slice::from_raw_parts(self.data, bytes) }),
        }
    }

    /// Writes all elements of an output.
    ///
    /// # Errors
    /// `InvalidArgument` where the memory has room for another number of them, `Internal` for an input, another type or other than host memory.
    pub fn write<T: Element>(&self, elements: &[T]) -> Result<()> {
        // SAFETY: initialized memory of that size: numbers have no padding.
        let bytes = unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) };
        self.write_bytes(T::DTYPE, bytes)
    }

    /// Writes an output whose elements are there as bytes, as they lie in this machine's memory.
    ///
    /// # Errors
    /// As for [`Bound::write`].
    pub fn write_bytes(&self, dtype: DType, bytes: &[u8]) -> Result<()> {
        if !self.output || !self.place.is_host() || dtype != self.dtype {
            return Err(Error::internal(format!("memory for {} cannot take {}", self.dtype.name(), dtype.name())));
        }
        if bytes.len() != self.bytes {
            let elements = bytes.len() / dtype.bytes();
            let text = format!("an output has {elements} elements, the memory bound to it is {:?}", self.shape);
            return Err(Error::invalid(text));
        }
        // SAFETY: valid for as long as `self`; memory of an output is never lent as a slice, and one thread holds the lane.
        unsafe { std::ptr::copy(bytes.as_ptr(), self.data, self.bytes) };
        Ok(())
    }
}
