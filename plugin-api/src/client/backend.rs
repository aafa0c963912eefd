//! A backend's table, its instances, models and requests.

use crate::error::checked;
use crate::provide::HostTable;
use crate::raw::*;
use crate::sdk::{Backend, BackendTable};
use crate::tensor::{Described, describe};
use crate::{
    Code, Counter, DType, Device, Direction, Energy, Error, HostTensor, Load, Memory, Options, Placement, Port, Result,
    Why, grow, text,
};
use std::ffi::c_char;
use std::sync::Arc;

/// A backend's table, complete enough to work with.
#[derive(Clone)]
pub struct BackendRef {
    raw: *const sb_backend,
    table: Arc<sb_backend>,
}

// SAFETY: a static table of functions and strings.
unsafe impl Send for BackendRef {}
// SAFETY: as for Send.
unsafe impl Sync for BackendRef {}

/// Calls a slot that `BackendRef::new` has found to be there.
macro_rules! slot {
    ($table:expr, $name:ident) => {
        $table.$name.ok_or_else(|| missing(stringify!($name)))?
    };
}

fn missing(slot: &str) -> Error {
    Error::unimplemented(Why::NONE, format!("the backend has no `{slot}`"))
}

impl BackendRef {
    /// # Safety
    /// `raw` is null or a backend's static table.
    pub(crate) unsafe fn new(raw: *const sb_backend) -> Result<BackendRef> {
        // SAFETY: the caller promises it.
        let table = unsafe { grow::read(raw) }.ok_or_else(|| Error::invalid("the backend's table is null"))?;
        let needed = [
            ("open", table.open.is_some()),
            ("close", table.close.is_some()),
            ("device_count", table.device_count.is_some()),
            ("device", table.device.is_some()),
            ("load", table.load.is_some()),
            ("unload", table.unload.is_some()),
            ("placement", table.placement.is_some()),
            ("port_count", table.port_count.is_some()),
            ("port", table.port.is_some()),
            ("request", table.request.is_some()),
            ("release", table.release.is_some()),
            ("bind", table.bind.is_some()),
            ("run", table.run.is_some()),
            ("output", table.output.is_some()),
        ];
        match needed.iter().find(|(_, there)| !there) {
            Some((name, _)) => {
                Err(Error::invalid(format!("the backend's table has {} bytes and no `{name}`", table.size)))
            }
            None => Ok(BackendRef { raw, table: Arc::new(table) }),
        }
    }

    /// A backend that is linked into this program, behind the same table as a loaded one: for the tests of a plugin.
    ///
    /// # Errors
    /// None that a backend of the SDK can cause.
    pub fn linked<B: Backend>() -> Result<BackendRef> {
        // SAFETY: the SDK's own table, which is static.
        unsafe { BackendRef::new(BackendTable::<B>::STATIC) }
    }

    pub fn id(&self) -> String {
        // SAFETY: a string of a static table.
        unsafe { text::borrow(self.table.id) }.unwrap_or_default().into_owned()
    }

    /// JSON Schema of its options, or nothing.
    pub fn options_schema(&self) -> String {
        // SAFETY: a string of a static table.
        unsafe { text::borrow(self.table.options_schema) }.unwrap_or_default().into_owned()
    }

    pub fn serial_load(&self) -> bool {
        self.table.flags & SB_BACKEND_SERIAL_LOAD != 0
    }

    pub(crate) fn as_ptr(&self) -> *const sb_backend {
        self.raw
    }

    /// Opens the runtime.
    ///
    /// # Errors
    /// `Unavailable` where nothing here can run, and whatever else the plugin says.
    pub fn open(&self, host: &'static HostTable, options: &Options) -> Result<Instance> {
        let open = slot!(self.table, open);
        let mut raw = std::ptr::null_mut();
        // SAFETY: [main]; host and options are valid, the pointer writable.
        options.lend(|options| checked(|error| unsafe { open(host.as_ptr(), options, &raw mut raw, error) }))?;
        match raw.is_null() {
            true => Err(Error::internal("`open` succeeded and returned no instance")),
            false => Ok(Instance { backend: self.clone(), raw }),
        }
    }
}

/// An opened runtime. Dropping it closes it.
pub struct Instance {
    backend: BackendRef,
    raw: *mut sb_instance,
}

// SAFETY: every slot that takes an instance is [any], except open and close.
unsafe impl Send for Instance {}
// SAFETY: as for Send.
unsafe impl Sync for Instance {}

impl Instance {
    pub fn backend(&self) -> &BackendRef {
        &self.backend
    }

    pub(crate) fn as_ptr(&self) -> *mut sb_instance {
        self.raw
    }

    /// # Errors
    /// Whatever the plugin says of one of them.
    pub fn devices(&self) -> Result<Vec<Device>> {
        let (count, device) = (slot!(self.backend.table, device_count), slot!(self.backend.table, device));
        // SAFETY: [any]; a live instance.
        let count = unsafe { count(self.raw) };
        let one = |index| {
            let mut raw: sb_device = grow::sized();
            raw.memory_bytes = SB_UNKNOWN;
            // SAFETY: [any]; a live instance, a writable struct.
            checked(|error| unsafe { device(self.raw, index, &raw mut raw, error) })?;
            Ok(Device::from_raw(&raw))
        };
        (0..count).map(one).collect()
    }

    /// Why this load would not work, as far as the plugin can tell without compiling.
    ///
    /// # Errors
    /// The reason.
    pub fn supports(&self, load: &Load) -> Result<()> {
        let Some(supports) = self.backend.table.supports else { return Ok(()) };
        // SAFETY: [any]; a live instance, a valid load.
        lend_load(load, |load| checked(|error| unsafe { supports(self.raw, load, error) }))
    }

    /// # Errors
    /// Whatever the plugin says.
    pub fn load(&self, load: &Load) -> Result<Model<'_>> {
        let slot = slot!(self.backend.table, load);
        let mut raw = std::ptr::null_mut();
        // SAFETY: [any]; a live instance, a valid load, a writable pointer.
        lend_load(load, |load| checked(|error| unsafe { slot(self.raw, load, &raw mut raw, error) }))?;
        if raw.is_null() {
            return Err(Error::internal("`load` succeeded and returned no model"));
        }
        // SAFETY: just made by this backend; it is unloaded when dropped.
        unsafe { Model::new(&self.backend, raw, true) }
    }

    /// # Errors
    /// `Unimplemented` where the backend cannot tell.
    pub fn memory(&self, device: u32) -> Result<Memory> {
        let memory = slot!(self.backend.table, memory);
        let mut raw: sb_memory = grow::sized();
        (raw.used, raw.peak, raw.total) = (SB_UNKNOWN, SB_UNKNOWN, SB_UNKNOWN);
        // SAFETY: [any]; a live instance, a writable struct.
        checked(|error| unsafe { memory(self.raw, device, &raw mut raw, error) })?;
        Ok(Memory::from_raw(&raw))
    }

    /// The table of an extension; `None` where the backend has none.
    fn extension<T: grow::Grows>(&self, id: &str) -> Option<T> {
        let (extension, id) = (self.backend.table.extension?, text::c_string(id));
        // SAFETY: [any]; a live instance, an id that lives through the call. What an id names is a table of its type.
        unsafe { grow::read(extension(self.raw, id.as_ptr()).cast::<T>()) }
    }

    /// The energy counter of a device; `None` where the backend has no sensor for it.
    ///
    /// # Errors
    /// Whatever the plugin says of a sensor that it has.
    pub fn energy(&self, device: u32) -> Result<Option<Energy>> {
        let Some(read) = self.extension::<sb_power>(SB_POWER).and_then(|power| power.read) else { return Ok(None) };
        let mut raw: sb_energy = grow::sized();
        (raw.microjoules, raw.at_ns, raw.period_ns) = (SB_UNKNOWN, SB_UNKNOWN, SB_UNKNOWN);
        // SAFETY: [any]; a live instance, a writable struct.
        match checked(|error| unsafe { read(self.raw, device, &raw mut raw, error) }) {
            Ok(()) => Ok(Energy::from_raw(&raw)),
            Err(error) if error.code == Code::Unimplemented => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The backend's own figures of a device; none where it has none.
    ///
    /// # Errors
    /// Whatever the plugin says.
    pub fn counters(&self, device: u32) -> Result<Vec<Counter>> {
        let Some(table) = self.extension::<sb_counters>(SB_COUNTERS) else { return Ok(vec![]) };
        let (Some(count), Some(read)) = (table.count, table.read) else { return Ok(vec![]) };
        // SAFETY: [any]; a live instance.
        let count = unsafe { count(self.raw, device) };
        let one = |index| {
            let mut raw: sb_counter = grow::sized();
            // SAFETY: [any]; a live instance, a writable struct.
            checked(|error| unsafe { read(self.raw, device, index, &raw mut raw, error) })?;
            Ok(Counter::from_raw(&raw))
        };
        (0..count).map(one).collect()
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if let Some(close) = self.backend.table.close {
            // SAFETY: models borrow from the instance, so none is alive.
            unsafe { close(self.raw) }
        }
    }
}

/// Lends a load in C layout for the length of one call.
fn lend_load<R>(load: &Load, call: impl FnOnce(*const sb_load) -> R) -> R {
    let format = text::c_string(&load.source.format);
    let path = text::c_string(&load.source.path.to_string_lossy());
    let precision = load.precision.as_deref().map(text::c_string);
    let cache = load.cache_dir.as_ref().map(|dir| text::c_string(&dir.to_string_lossy()));
    let names: Vec<_> = load.dims.iter().map(|dim| text::c_string(&dim.name)).collect();
    let dims: Vec<sb_dim> = load
        .dims
        .iter()
        .zip(&names)
        .map(|(dim, name)| sb_dim { name: name.as_ptr(), min: dim.min, opt: dim.opt, max: dim.max })
        .collect();
    let or_null = |text: &Option<std::ffi::CString>| text.as_ref().map_or(std::ptr::null(), |text| text.as_ptr());

    let mut source: sb_source = grow::sized();
    (source.format, source.path) = (format.as_ptr(), path.as_ptr());
    let mut raw: sb_load = grow::sized();
    raw.flags = if load.allow_fallback { SB_LOAD_ALLOW_FALLBACK } else { 0 };
    raw.source = &raw const source;
    (raw.precision, raw.cache_dir) = (or_null(&precision), or_null(&cache));
    (raw.devices, raw.device_count) = (load.devices.as_ptr(), load.devices.len() as u32);
    (raw.dims, raw.dim_count) = (dims.as_ptr(), dims.len() as u32);
    call(&raw const raw)
}

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
    unsafe fn new(backend: &'i BackendRef, raw: *mut sb_model, owned: bool) -> Result<Model<'i>> {
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
            let mut raw: sb_port = grow::sized();
            // SAFETY: [any]; a live model, a writable struct.
            checked(|error| unsafe { port(self.raw, direction.to_raw(), index, &raw mut raw, error) })?;
            // SAFETY: the contract: name, shape and names live until unload and hold `ndim` elements.
            unsafe { read_port(&raw) }
        };
        (0..count).map(one).collect()
    }

    /// What really happened at load.
    ///
    /// # Errors
    /// Whatever the plugin says.
    pub fn placement(&self) -> Result<Placement> {
        let placement = slot!(self.backend.table, placement);
        let mut raw: sb_placement = grow::sized();
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
            false => Ok(Request { table: &self.backend.table, raw, owned: true, kept: vec![] }),
        }
    }

    /// A request of this model that somebody else made and releases.
    ///
    /// # Safety
    /// `raw` is a live request of this model, and this thread alone uses it now.
    pub(crate) unsafe fn borrow_request(&self, raw: *mut sb_request) -> Request<'_> {
        Request { table: &self.backend.table, raw, owned: false, kept: vec![] }
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
    table: &'m sb_backend,
    raw: *mut sb_request,
    owned: bool,
    /// What is bound, kept alive: direction, index, tensor.
    kept: Vec<(Direction, u32, Arc<HostTensor>)>,
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
        self.kept.retain(|(d, i, _)| (*d, *i) != (direction, index));
        self.kept.push((direction, index, tensor));
        Ok(())
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
