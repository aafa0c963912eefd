//! A loaded model, its requests, and the outputs that were taken.

use super::BackendRef;
use super::backend::Known;
use crate::error::checked;
use crate::raw::*;
use crate::sdk::{self, Backend, BackendTable};
use crate::tensor::{Described, cast, describe};
use crate::{Code, DType, Direction, Element, Error, HostTensor, Placement, Port, Result, Timing, abi_size, text};
use std::ffi::c_char;
use std::sync::Arc;

/// A loaded model. It borrows from its instance.
pub struct Model<'i> {
    backend: &'i BackendRef,
    raw: *mut sb_model,
    owned: bool,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
}

// SAFETY: every slot that takes a model is [any].
unsafe impl Send for Model<'_> {}
// SAFETY: as for Send.
unsafe impl Sync for Model<'_> {}

impl<'i> Model<'i> {
    /// # Safety
    /// `raw` is a live model of this backend; with `owned` this value alone unloads it.
    pub(super) unsafe fn new(backend: &'i BackendRef, raw: *mut sb_model, owned: bool) -> Result<Model<'i>> {
        let mut model = Model { backend, raw, owned, inputs: vec![], outputs: vec![] };
        model.inputs = model.ports(Direction::Input)?;
        model.outputs = model.ports(Direction::Output)?;
        Ok(model)
    }

    /// A model that somebody else unloads.
    ///
    /// # Safety
    /// `raw` is a model of this backend that lives for `'i`.
    pub(crate) unsafe fn borrowed(backend: &'i BackendRef, raw: *mut sb_model) -> Result<Model<'i>> {
        // SAFETY: the caller promises it.
        unsafe { Model::new(backend, raw, false) }
    }

    pub(crate) fn as_raw(&self) -> *mut sb_model {
        self.raw
    }

    pub(super) fn is_of(&self, backend: &BackendRef) -> bool {
        Arc::ptr_eq(&self.backend.table, &backend.table)
    }

    /// The handle's address, by which the worker knows it again.
    pub fn address(&self) -> usize {
        self.raw as usize
    }

    pub fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    pub fn outputs(&self) -> &[Port] {
        &self.outputs
    }

    fn ports(&self, direction: Direction) -> Result<Vec<Port>> {
        let (count, port) = (slot!(self.backend.table, port_count), slot!(self.backend.table, port));
        // SAFETY: [any]; a live model.
        let count = unsafe { count(self.raw, direction.to_raw()) };
        let one = |index| {
            let mut raw: sb_port = abi_size::sized();
            // SAFETY: [any]; a live model, a writable struct.
            checked(|error| unsafe { port(self.raw, direction.to_raw(), index, &raw mut raw, error) })?;
            // SAFETY: the contract: name, shape and names live until unload and hold `ndim` elements.
            unsafe { read_port(&raw) }
        };
        (0..count).map(one).collect()
    }

    pub(crate) fn port_count(&self, direction: i32) -> u32 {
        // SAFETY: [any]; a live model.
        self.backend.table.port_count.map_or(0, |count| unsafe { count(self.raw, direction) })
    }

    /// # Errors
    /// Whatever the plugin says.
    ///
    /// # Safety
    /// `out` is a caller's struct with its size set.
    pub(crate) unsafe fn port(&self, direction: i32, index: u32, out: *mut sb_port) -> Result<()> {
        let port = slot!(self.backend.table, port);
        // SAFETY: [any]; a live model; the caller promises the rest.
        checked(|error| unsafe { port(self.raw, direction, index, out, error) })
    }

    /// # Errors
    /// Whatever the plugin says.
    ///
    /// # Safety
    /// `like` is a tensor, `out` is writable.
    pub(crate) unsafe fn allocate(&self, like: *const sb_tensor, out: *mut *mut sb_owned) -> Result<()> {
        let allocate = slot!(self.backend.table, allocate);
        // SAFETY: [any]; a live model; the caller promises the rest.
        checked(|error| unsafe { allocate(self.raw, like, out, error) })
    }

    /// What really happened at load.
    ///
    /// # Errors
    /// Whatever the plugin says.
    pub fn placement(&self) -> Result<Placement> {
        let placement = slot!(self.backend.table, placement);
        let mut raw: sb_placement = abi_size::sized();
        // SAFETY: [any]; a live model, a writable struct.
        checked(|error| unsafe { placement(self.raw, &raw mut raw, error) })?;
        Ok(Placement::from_raw(&raw))
    }

    /// # Errors
    /// Whatever the plugin says.
    pub fn request(&self) -> Result<Request<'_>> {
        let request = slot!(self.backend.table, request);
        let mut raw = std::ptr::null_mut();
        // SAFETY: [any]; a live model, a writable pointer.
        checked(|error| unsafe { request(self.raw, &raw mut raw, error) })?;
        match raw.is_null() {
            true => Err(Error::internal("`request` succeeded and returned nothing")),
            false => Ok(Request { table: self.backend.table.clone(), raw, owned: true, kept: vec![], _model: None }),
        }
    }

    /// A request that keeps the owner of its model alive by itself.
    ///
    /// # Errors
    /// Whatever the plugin says.
    pub fn request_of<T: Send + Sync + 'i>(owner: Arc<T>, model: impl Fn(&T) -> &Model<'i>) -> Result<Request<'i>> {
        let Request { table, raw, .. } = &*std::mem::ManuallyDrop::new(model(&owner).request()?);
        Ok(Request { table: table.clone(), raw: *raw, owned: true, kept: vec![], _model: Some(owner) })
    }

    /// A request of this model that somebody else made and releases.
    ///
    /// # Safety
    /// `raw` is a live request of this model, and this thread alone uses it now.
    pub(crate) unsafe fn borrow_request(&self, raw: *mut sb_request) -> Request<'_> {
        Request { table: self.backend.table.clone(), raw, owned: false, kept: vec![], _model: None }
    }
}

impl Drop for Model<'_> {
    fn drop(&mut self) {
        if let (true, Some(unload)) = (self.owned, self.backend.table.unload) {
            // SAFETY: requests borrow from the model, so none is alive.
            unsafe { unload(self.raw) }
        }
    }
}

/// # Safety
/// The pointers of `raw` are null or readable, with `ndim` elements.
unsafe fn read_port(raw: &sb_port) -> Result<Port> {
    let ndim = raw.ndim as usize;
    // SAFETY: the caller promises it.
    unsafe {
        let name = text::borrow(raw.name).unwrap_or_default().into_owned();
        if ndim > 64 || (ndim > 0 && raw.shape.is_null()) {
            return Err(Error::internal(format!("port '{name}' has rank {ndim} and no shape to it")));
        }
        let shape = (0..ndim).map(|i| usize::try_from(*raw.shape.add(i)).ok()).collect();
        let names =
            |i| text::borrow(if raw.dim_names.is_null() { std::ptr::null::<c_char>() } else { *raw.dim_names.add(i) });
        let dim_names = (0..ndim).map(|i| names(i).map(|name| name.into_owned())).collect();
        Ok(Port { name, dtype: DType::from_raw(raw.dtype)?, shape, dim_names })
    }
}

/// One lane of work on a model. Dropping it releases it.
pub struct Request<'m> {
    table: Arc<Known>,
    raw: *mut sb_request,
    owned: bool,
    /// What is bound, kept alive: direction, index, tensor.
    kept: Vec<(Direction, u32, Kept)>,
    /// Goes after the request, and after what is bound to it.
    _model: Option<Arc<dyn Send + Sync + 'm>>,
}

/// Memory that is bound.
#[allow(dead_code, reason = "held until it is replaced, never looked at")]
enum Kept {
    Tensor(Arc<HostTensor>),
    Taken(Arc<Output>),
}

// SAFETY: [lane]: any one thread at a time; it is not Sync.
unsafe impl Send for Request<'_> {}

impl Request<'_> {
    pub(crate) fn as_raw(&self) -> *mut sb_request {
        self.raw
    }

    /// Binds a tensor, and keeps it alive until it is replaced.
    ///
    /// # Errors
    /// Whatever the plugin says; the port then stays as it was.
    pub fn bind(&mut self, direction: Direction, index: u32, tensor: Arc<HostTensor>) -> Result<()> {
        let bind = slot!(self.table, bind);
        let raw = tensor.to_raw();
        // SAFETY: [lane]; the struct is copied, and the data is kept alive below (or by the lender, for a borrowed request).
        checked(|e| unsafe { bind(self.raw, direction.to_raw(), index, &raw const raw, std::ptr::null(), e) })?;
        self.keep(direction, index, Kept::Tensor(tensor));
        Ok(())
    }

    /// Binds an output that was taken, of this request or of another, as it lies in its backend's memory: nothing is copied on
    /// this side. It is kept until the input is bound again or the request goes, and has to go before the model it came from.
    ///
    /// # Errors
    /// Whatever the plugin says; the port then stays as it was.
    pub fn bind_taken(&mut self, index: u32, taken: Arc<Output>) -> Result<()> {
        let bind = slot!(self.table, bind);
        // SAFETY: the tensor is ours until it is released.
        let raw = unsafe { &raw const (*taken.raw).tensor };
        // SAFETY: [lane]; the struct is copied, and the data is kept alive below.
        checked(|e| unsafe { bind(self.raw, SB_INPUT, index, raw, std::ptr::null(), e) })?;
        self.keep(Direction::Input, index, Kept::Taken(taken));
        Ok(())
    }

    /// Writes other contents into a bound input, where it lies, and binds it again at the same address: an engine may have read
    /// it when it was bound.
    ///
    /// # Errors
    /// `FailedPrecondition` where no tensor is bound there, or somebody else holds it too; and whatever `write` and the plugin say.
    pub fn rewrite(&mut self, index: u32, write: impl FnOnce(&mut HostTensor) -> Result<()>) -> Result<()> {
        self.change(Direction::Input, index, write)?;
        self.bind_again(index)
    }

    /// Writes into a bound tensor where it lies, and leaves it bound as it is: into an input that is bound again before the next
    /// run, or into an output.
    ///
    /// # Errors
    /// As for [`Request::rewrite`].
    pub fn change(
        &mut self,
        direction: Direction,
        index: u32,
        write: impl FnOnce(&mut HostTensor) -> Result<()>,
    ) -> Result<()> {
        let kept = self.kept.iter_mut().find(|(d, i, _)| (*d, *i) == (direction, index));
        // Nobody else has it, and this request does not run: nothing reads what is written here.
        let memory = kept.and_then(|(.., kept)| match kept {
            Kept::Tensor(tensor) => Arc::get_mut(tensor),
            Kept::Taken(_) => None,
        });
        write(memory.ok_or_else(|| not_bound(direction, index))?)
    }

    /// Binds an input again, with what lies in its memory now.
    ///
    /// # Errors
    /// `FailedPrecondition` where no tensor is bound there, and whatever the plugin says.
    pub fn bind_again(&mut self, index: u32) -> Result<()> {
        let bind = slot!(self.table, bind);
        let raw = self.bound(Direction::Input, index).ok_or_else(|| not_bound(Direction::Input, index))?.to_raw();
        // SAFETY: [lane]; the struct is copied, and the data is kept alive already.
        checked(|e| unsafe { bind(self.raw, SB_INPUT, index, &raw const raw, std::ptr::null(), e) })
    }

    /// The tensor that is bound to a port; `None` where it is none of this side's.
    pub fn bound(&self, direction: Direction, index: u32) -> Option<&HostTensor> {
        let kept = self.kept.iter().find(|(d, i, _)| (*d, *i) == (direction, index));
        kept.and_then(|(.., kept)| match kept {
            Kept::Tensor(tensor) => Some(&**tensor),
            Kept::Taken(_) => None,
        })
    }

    /// The tensors that are bound, taken back: for a request that is not run any more.
    pub fn into_bound(mut self) -> Vec<(Direction, u32, Arc<HostTensor>)> {
        let kept = std::mem::take(&mut self.kept);
        drop(self);
        let tensors = kept.into_iter().filter_map(|(direction, index, kept)| match kept {
            Kept::Tensor(tensor) => Some((direction, index, tensor)),
            Kept::Taken(_) => None,
        });
        tensors.collect()
    }

    /// What is behind the handle, where the backend is a type of this program.
    pub fn behind<B: Backend>(&mut self) -> Option<&mut <B::Model as sdk::Model>::Request> {
        if !self.table.is_of::<B>() {
            return None;
        }
        // SAFETY: a live request behind the table of B, which is borrowed mutably.
        unsafe { BackendTable::<B>::request(self.raw) }.ok()
    }

    /// Binds what somebody else lends.
    ///
    /// # Errors
    /// Whatever the plugin says; the port then stays as it was.
    ///
    /// # Safety
    /// Tensor and place are as the contract wants them, and the data lives until the port is bound again or the request goes.
    pub unsafe fn bind_lent(
        &mut self,
        direction: i32,
        index: u32,
        tensor: *const sb_tensor,
        place: *const sb_place,
    ) -> Result<()> {
        let bind = slot!(self.table, bind);
        // SAFETY: [lane]; the caller promises the rest.
        checked(|error| unsafe { bind(self.raw, direction, index, tensor, place, error) })?;
        self.kept.retain(|(d, i, _)| (d.to_raw(), *i) != (direction, index));
        Ok(())
    }

    /// Runs once, with the backend's own times where a place for them is given.
    ///
    /// # Errors
    /// Whatever the plugin says.
    ///
    /// # Safety
    /// `timing` is null or a caller's struct with its size set.
    pub(crate) unsafe fn run_timed(&mut self, timing: *mut sb_timing) -> Result<()> {
        let run = slot!(self.table, run);
        // SAFETY: [lane]; the caller promises the rest.
        checked(|error| unsafe { run(self.raw, timing, error) })
    }

    /// Runs once, and gives the backend's own times.
    ///
    /// # Errors
    /// Whatever the plugin says.
    pub fn run_with_timing(&mut self) -> Result<Timing> {
        let mut raw = Timing::unknown();
        // SAFETY: a struct of this side, with its size set.
        unsafe { self.run_timed(&raw mut raw) }?;
        Ok(Timing::from_raw(&raw))
    }

    /// Takes an output as it is.
    ///
    /// # Errors
    /// Whatever the plugin says.
    ///
    /// # Safety
    /// `out` is writable.
    pub(crate) unsafe fn take_raw(&mut self, index: u32, out: *mut *mut sb_owned) -> Result<()> {
        let output = slot!(self.table, output);
        // SAFETY: [lane]; the caller promises the rest.
        checked(|error| unsafe { output(self.raw, index, out, error) })
    }

    fn keep(&mut self, direction: Direction, index: u32, kept: Kept) {
        match self.kept.iter_mut().find(|(d, i, _)| (*d, *i) == (direction, index)) {
            Some((.., known)) => *known = kept,
            None => self.kept.push((direction, index, kept)),
        }
    }

    /// Lets an input take what an output held after the run before, from the next run on.
    ///
    /// # Errors
    /// `Unimplemented` where the backend cannot, and whatever else it says.
    pub fn alias(&mut self, output: u32, input: u32) -> Result<()> {
        let alias = slot!(self.table, alias);
        // SAFETY: [lane]; two numbers.
        checked(|error| unsafe { alias(self.raw, output, input, error) })
    }

    /// Clears the state that the model keeps between runs, and drops what is held for its inputs.
    ///
    /// # Errors
    /// Whatever the plugin says.
    pub fn reset(&mut self) -> Result<()> {
        let reset = slot!(self.table, reset);
        // SAFETY: [lane].
        checked(|error| unsafe { reset(self.raw, error) })
    }

    /// Leaves an output to the backend to allocate.
    ///
    /// # Errors
    /// Whatever the plugin says.
    pub fn leave_output(&mut self, index: u32) -> Result<()> {
        let bind = slot!(self.table, bind);
        // SAFETY: [lane]; a null tensor for an output is allowed.
        checked(|e| unsafe { bind(self.raw, SB_OUTPUT, index, std::ptr::null(), std::ptr::null(), e) })?;
        self.kept.retain(|(d, i, _)| (*d, *i) != (Direction::Output, index));
        Ok(())
    }

    /// Runs once; the outputs can be read when it returns.
    ///
    /// # Errors
    /// Whatever the plugin says.
    pub fn run(&mut self) -> Result<()> {
        let run = slot!(self.table, run);
        // SAFETY: [lane]; timing may be null.
        checked(|error| unsafe { run(self.raw, std::ptr::null_mut(), error) })
    }

    /// Takes an output that the backend allocated.
    ///
    /// # Errors
    /// Whatever the plugin says, and a tensor that does not lie in host memory.
    pub fn take_output(&mut self, index: u32) -> Result<Output> {
        let output = slot!(self.table, output);
        let mut raw = std::ptr::null_mut();
        // SAFETY: [lane]; a writable pointer.
        checked(|error| unsafe { output(self.raw, index, &raw mut raw, error) })?;
        if raw.is_null() {
            return Err(Error::internal("`output` succeeded and returned nothing"));
        }
        // SAFETY: the tensor is ours until it is released, which Output does.
        unsafe { Output::new(raw) }
    }
}

fn not_bound(direction: Direction, index: u32) -> Error {
    let text = format!("{direction:?} {index} has no tensor that this side may write");
    Error::new(Code::FailedPrecondition, text)
}

impl Drop for Request<'_> {
    fn drop(&mut self) {
        if let (true, Some(release)) = (self.owned, self.table.release) {
            // SAFETY: [lane]; made by `request`, released once.
            unsafe { release(self.raw) }
        }
    }
}

/// An output that was taken. Dropping it releases it; it has to go before its model.
pub struct Output {
    raw: *mut sb_owned,
    described: Described,
}

// SAFETY: `release` is [any], and the memory is read only.
unsafe impl Send for Output {}
// SAFETY: as for Send: sharing it reads.
unsafe impl Sync for Output {}

impl Output {
    /// # Safety
    /// `raw` is an owned tensor that nobody else releases.
    unsafe fn new(raw: *mut sb_owned) -> Result<Output> {
        // SAFETY: the caller promises it.
        match unsafe { describe(&(*raw).tensor) } {
            Ok(described) => Ok(Output { raw, described }),
            Err(error) => {
                // SAFETY: released once, here.
                unsafe { release(raw) };
                Err(error)
            }
        }
    }

    pub fn dtype(&self) -> DType {
        self.described.dtype
    }

    pub fn shape(&self) -> &[usize] {
        &self.described.shape
    }

    pub fn bytes(&self) -> &[u8] {
        if self.described.bytes == 0 {
            return &[];
        }
        // SAFETY: valid until released.
        unsafe { std::slice::from_raw_parts(self.described.data, self.described.bytes) }
    }

    /// The elements; `None` where they are not of type `T`.
    pub fn as_slice<T: Element>(&self) -> Option<&[T]> {
        cast(self.dtype(), self.bytes())
    }

    /// A copy that this side owns.
    ///
    /// # Errors
    /// `ResourceExhausted` where there is no memory for it.
    pub fn to_host(&self) -> Result<HostTensor> {
        let mut copy = HostTensor::zeroed(self.dtype(), self.shape())?;
        copy.bytes_mut().copy_from_slice(self.bytes());
        Ok(copy)
    }
}

/// # Safety
/// `raw` is an owned tensor, released here for the first and last time.
unsafe fn release(raw: *mut sb_owned) {
    // SAFETY: the caller promises it.
    unsafe {
        if let Some(release) = (*raw).release {
            release(raw)
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // SAFETY: taken once, released once.
        unsafe { release(self.raw) }
    }
}
