//! A backend's table, and its instances.

use super::{Model, Recording};
use crate::error::checked;
use crate::host_tables::HostTable;
use crate::raw::*;
use crate::sdk::{Backend, BackendTable, Host};
use crate::{Code, Counter, Device, Energy, Error, Load, Memory, Options, Result, abi_size, text};
use std::any::TypeId;
use std::ops::Deref;
use std::sync::Arc;

/// A backend's table, complete enough to work with.
#[derive(Clone)]
pub struct BackendRef {
    raw: *const sb_backend,
    pub(super) table: Arc<Known>,
}

/// A table, and what is known of where it came from.
pub(super) struct Known {
    table: sb_backend,
    /// The type whose table it is, where that is a type of this program.
    of: Option<TypeId>,
    opener: Option<Opener>,
}

type Opener = Box<dyn Fn(Host, &Options) -> Result<*mut sb_instance> + Send + Sync>;

impl Known {
    pub fn is_of<B: Backend>(&self) -> bool {
        self.of == Some(TypeId::of::<B>())
    }
}

impl Deref for Known {
    type Target = sb_backend;

    fn deref(&self) -> &sb_backend {
        &self.table
    }
}

/// What a backend that is opened by a value says of itself.
pub struct BackendFacts {
    pub id: String,
    pub options_schema: String,
    pub serial_load: bool,
}

// SAFETY: a static table of functions and strings.
unsafe impl Send for BackendRef {}
// SAFETY: as for Send.
unsafe impl Sync for BackendRef {}

impl BackendRef {
    /// # Safety
    /// `raw` is null or a backend's static table.
    pub(crate) unsafe fn new(raw: *const sb_backend) -> Result<BackendRef> {
        // SAFETY: the caller promises it.
        let table = unsafe { abi_size::read(raw) }.ok_or_else(|| Error::invalid("the backend's table is null"))?;
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
            None => Ok(BackendRef { raw, table: Arc::new(Known { table, of: None, opener: None }) }),
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

    /// A backend that `open` opens, in place of a function of a table. Its table and its texts stay until the process ends.
    pub fn of<B: Backend>(
        facts: BackendFacts,
        open: impl Fn(Host, &Options) -> Result<B> + Send + Sync + 'static,
    ) -> BackendRef {
        let lasting = |text: &str| text::c_string(text).into_raw().cast_const();
        let table = sb_backend {
            flags: if facts.serial_load { SB_BACKEND_SERIAL_LOAD } else { 0 },
            id: lasting(&facts.id),
            options_schema: lasting(&facts.options_schema),
            ..BackendTable::<B>::TABLE
        };
        let opener = move |host: Host, options: &Options| open(host, options).map(BackendTable::<B>::opened);
        let known = Known { table, of: Some(TypeId::of::<B>()), opener: Some(Box::new(opener)) };
        BackendRef { raw: Box::leak(Box::new(table)), table: Arc::new(known) }
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

    pub(crate) fn table(&self) -> &sb_backend {
        &self.table
    }

    /// Opens the runtime.
    ///
    /// # Errors
    /// `Unavailable` where nothing here can run, and whatever else the plugin says.
    pub fn open(&self, host: &'static HostTable, options: &Options) -> Result<Instance> {
        if let Some(open) = &self.table.opener {
            return Ok(Instance { backend: self.clone(), raw: open(host.services(), options)? });
        }
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
            let mut raw: sb_device = abi_size::sized();
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

    /// A model that was made elsewhere, behind this backend's table.
    ///
    /// # Errors
    /// `InvalidArgument` where this is the instance of another backend.
    pub fn adopt<B: Backend>(&self, model: B::Model) -> Result<Model<'_>> {
        if !self.backend.table.is_of::<B>() {
            return Err(Error::invalid("a model of another backend"));
        }
        // SAFETY: just made behind the table of B; it is unloaded when dropped.
        unsafe { Model::new(&self.backend, BackendTable::<B>::loaded(model), true) }
    }

    /// # Errors
    /// `Unimplemented` where the backend cannot tell.
    pub fn memory(&self, device: u32) -> Result<Memory> {
        let memory = slot!(self.backend.table, memory);
        let mut raw: sb_memory = abi_size::sized();
        (raw.used, raw.peak, raw.total) = (SB_UNKNOWN, SB_UNKNOWN, SB_UNKNOWN);
        // SAFETY: [any]; a live instance, a writable struct.
        checked(|error| unsafe { memory(self.raw, device, &raw mut raw, error) })?;
        Ok(Memory::from_raw(&raw))
    }

    /// The table of an extension; `None` where the backend has none.
    fn extension<T: abi_size::Grows>(&self, id: &str) -> Option<T> {
        let (extension, id) = (self.backend.table.extension?, text::c_string(id));
        // SAFETY: [any]; a live instance, an id that lives through the call. What an id names is a table of its type.
        unsafe { abi_size::read(extension(self.raw, id.as_ptr()).cast::<T>()) }
    }

    /// The energy counter of a device; `None` where the backend has no sensor for it.
    ///
    /// # Errors
    /// Whatever the plugin says of a sensor that it has.
    pub fn energy(&self, device: u32) -> Result<Option<Energy>> {
        let Some(read) = self.extension::<sb_power>(SB_POWER).and_then(|power| power.read) else { return Ok(None) };
        let mut raw: sb_energy = abi_size::sized();
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
            let mut raw: sb_counter = abi_size::sized();
            // SAFETY: [any]; a live instance, a writable struct.
            checked(|error| unsafe { read(self.raw, device, index, &raw mut raw, error) })?;
            Ok(Counter::from_raw(&raw))
        };
        (0..count).map(one).collect()
    }

    /// Whether the engine can tell what the operators of a model cost.
    pub fn profiles(&self) -> bool {
        self.profile_table().is_some()
    }

    /// The recording of a model's operators; `None` where the backend has none, and for a model of another backend.
    pub fn recording<'m>(&self, model: &'m Model<'_>) -> Option<Recording<'m>> {
        let table = self.profile_table().filter(|_| model.is_of(&self.backend))?;
        Some(Recording::new(table, model))
    }

    fn profile_table(&self) -> Option<sb_profile> {
        let whole = |table: &sb_profile| {
            table.begin.is_some() && table.end.is_some() && table.count.is_some() && table.read.is_some()
        };
        self.extension::<sb_profile>(SB_PROFILE).filter(whole)
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

    let mut source: sb_source = abi_size::sized();
    (source.format, source.path) = (format.as_ptr(), path.as_ptr());
    let mut raw: sb_load = abi_size::sized();
    raw.flags = if load.allow_fallback { SB_LOAD_ALLOW_FALLBACK } else { 0 };
    raw.flags |= if load.profile { SB_LOAD_PROFILE } else { 0 };
    raw.source = &raw const source;
    (raw.precision, raw.cache_dir) = (or_null(&precision), or_null(&cache));
    (raw.devices, raw.device_count) = (load.devices.as_ptr(), load.devices.len() as u32);
    (raw.dims, raw.dim_count) = (dims.as_ptr(), dims.len() as u32);
    call(&raw const raw)
}
