//! A [`Backend`] as the C table: one blanket implementation for all of them.

use super::request_table::{self, Lane};
use super::{Backend, Host, Model, extensions};
use crate::error::guarded;
use crate::raw::*;
use crate::tensor::{Bound, outline};
use crate::{
    Counter, Device, Dim, Direction, Error, Load, Operator, Options, Place, Port, Result, Source, Why, abi_size, text,
};
use std::collections::HashMap;
use std::ffi::{CString, c_char};
use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// What an `sb_instance *` of an SDK backend points to.
pub(super) struct Instance<B: Backend> {
    pub backend: B,
    host: Host,
    devices: Vec<Device>,
    /// Counters as they were when their number was asked for, by device.
    pub counted: Mutex<HashMap<u32, Vec<Counter>>>,
}

impl<B: Backend> Instance<B> {
    /// Refuses a device that is not there, and more of them than the backend loads a model onto.
    fn has(&self, devices: &[u32]) -> Result<()> {
        if let Some(bad) = devices.iter().find(|index| **index as usize >= self.devices.len()) {
            return Err(Error::not_found(format!("device {bad} of {}", self.devices.len())));
        }
        match devices.len() > 1 && !B::OFFERS.several_devices {
            true => Err(Error::unimplemented(Why::DEVICE, "this backend loads a model onto one device: ask for one")),
            false => Ok(()),
        }
    }
}

/// What an `sb_model *` points to.
pub(super) struct Loaded<B: Backend> {
    pub model: Arc<B::Model>,
    pub host: Host,
    inputs: Vec<CPort>,
    outputs: Vec<CPort>,
    /// Operators of the last recording.
    pub recorded: Mutex<Vec<Operator>>,
}

/// A port with the C strings and arrays that live until unload.
struct CPort {
    name: CString,
    shape: Vec<i64>,
    _names: Vec<Option<CString>>,
    name_pointers: Vec<*const c_char>,
    dtype: sb_dtype,
}

// SAFETY: the pointers point into the strings beside them, which never change.
unsafe impl Send for CPort {}
// SAFETY: as for Send.
unsafe impl Sync for CPort {}

impl CPort {
    fn new(port: &Port) -> CPort {
        let names: Vec<Option<CString>> = port.dim_names.iter().map(|n| n.as_deref().map(text::c_string)).collect();
        let mut pointers: Vec<*const c_char> =
            names.iter().map(|n| n.as_ref().map_or(std::ptr::null(), |n| n.as_ptr())).collect();
        pointers.resize(port.shape.len(), std::ptr::null());
        CPort {
            name: text::c_string(&port.name),
            shape: port.shape.iter().map(|d| d.map_or(-1, |d| d as i64)).collect(),
            name_pointers: pointers,
            _names: names,
            dtype: port.dtype.to_raw(),
        }
    }
}

/// The table of a backend, ready to be a `static`.
pub struct BackendTable<B>(PhantomData<B>);

impl<B: Backend> BackendTable<B> {
    /// The table at an address that lasts.
    pub(crate) const STATIC: &'static sb_backend = &Self::TABLE;

    /// An opened backend as the instance that `open` gives.
    pub(crate) fn opened(backend: B, host: Host) -> *mut sb_instance {
        let devices = backend.devices();
        Box::into_raw(Box::new(Instance { backend, host, devices, counted: Mutex::default() })).cast()
    }

    /// A model as `load` gives it.
    ///
    /// # Safety
    /// `instance` is a live instance of this backend.
    pub(crate) unsafe fn loaded(instance: *mut sb_instance, model: B::Model) -> Result<*mut sb_model> {
        // SAFETY: the caller promises it.
        let host = unsafe { look::<Instance<B>, _>(instance)? }.host;
        let (inputs, outputs) = (model.inputs().iter().map(CPort::new), model.outputs().iter().map(CPort::new));
        let (inputs, outputs) = (inputs.collect(), outputs.collect());
        let loaded = Loaded::<B> { model: Arc::new(model), host, inputs, outputs, recorded: Mutex::default() };
        Ok(Box::into_raw(Box::new(loaded)).cast())
    }

    /// The request behind a handle.
    ///
    /// # Safety
    /// `request` is a live request of a model of this backend, and this thread alone uses it for `'a`.
    pub(crate) unsafe fn request<'a>(request: *mut sb_request) -> Result<&'a mut <B::Model as Model>::Request> {
        // SAFETY: the caller promises it.
        Ok(unsafe { &mut look_mut::<Lane<B>, _>(request)?.request })
    }

    pub const TABLE: sb_backend = sb_backend {
        size: size_of::<sb_backend>() as u32,
        flags: if B::SERIAL_LOAD { SB_BACKEND_SERIAL_LOAD } else { 0 },
        id: B::ID.as_ptr(),
        options_schema: B::OPTIONS_SCHEMA.as_ptr(),
        open: Some(open::<B>),
        close: Some(close::<B>),
        device_count: Some(device_count::<B>),
        device: Some(device::<B>),
        supports: if B::OFFERS.supports { Some(supports::<B>) } else { None },
        load: Some(load::<B>),
        unload: Some(unload::<B>),
        placement: Some(placement::<B>),
        port_count: Some(port_count::<B>),
        port: Some(port::<B>),
        allocate: if B::OFFERS.device_memory.is_some() { Some(allocate::<B>) } else { None },
        copy: if B::OFFERS.device_memory.is_some() { Some(copy::<B>) } else { None },
        request: Some(request_table::request::<B>),
        release: Some(request_table::release::<B>),
        bind: Some(request_table::bind::<B>),
        alias: if B::OFFERS.alias { Some(request_table::alias::<B>) } else { None },
        reset: Some(request_table::reset::<B>),
        run: Some(request_table::run::<B>),
        output: Some(request_table::output::<B>),
        submit: if B::OFFERS.submit { Some(request_table::submit::<B>) } else { None },
        cancel: if B::OFFERS.submit { Some(request_table::cancel::<B>) } else { None },
        memory: if B::OFFERS.memory { Some(memory::<B>) } else { None },
        extension: Some(extensions::extension::<B>),
    };
}

/// Gives a handle away.
///
/// # Safety
/// `out` is null or writable.
pub(super) unsafe fn give<H>(handle: *mut H, out: *mut *mut H) -> Result<()> {
    if out.is_null() {
        return Err(Error::invalid("no place to put the new handle"));
    }
    // SAFETY: the caller promises a writable pointer.
    unsafe { out.write(handle) };
    Ok(())
}

/// Looks into a handle that is a boxed `T`.
///
/// # Safety
/// `handle` is null or was made from a `T` and is not destroyed yet.
pub(super) unsafe fn look<'a, T, H>(handle: *mut H) -> Result<&'a T> {
    // SAFETY: the caller promises it.
    unsafe { handle.cast::<T>().as_ref() }.ok_or_else(|| Error::invalid("a null handle"))
}

/// As [`look`], for the one thread that holds the lane.
///
/// # Safety
/// As [`look`], and nothing else looks at the handle now.
pub(super) unsafe fn look_mut<'a, T, H>(handle: *mut H) -> Result<&'a mut T> {
    // SAFETY: the caller promises it.
    unsafe { handle.cast::<T>().as_mut() }.ok_or_else(|| Error::invalid("a null handle"))
}

/// Destroys a handle; a panic in a destructor stays inside.
///
/// # Safety
/// `handle` is null or was made from a `T`, and is not used again.
pub(super) unsafe fn destroy<T, H>(handle: *mut H) {
    if !handle.is_null() {
        let drop_it = || {
            // SAFETY: the caller promises that this is its only and last owner.
            drop(unsafe { Box::from_raw(handle.cast::<T>()) });
            Ok(())
        };
        // SAFETY: no error buffer is given.
        unsafe { guarded(std::ptr::null_mut(), drop_it) };
    }
}

unsafe extern "C" fn open<B: Backend>(
    host: *const sb_host,
    options: *const sb_options,
    out: *mut *mut sb_instance,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: the contract: host and options are valid, `out` and `error` writable.
    unsafe {
        guarded(error, || {
            let host = Host::new(host);
            let backend = B::open(host, &Options::from_raw(options))?;
            give(BackendTable::opened(backend, host), out)
        })
    }
}

unsafe extern "C" fn close<B: Backend>(instance: *mut sb_instance) {
    // SAFETY: the contract: made by `open`, closed once, no model alive.
    unsafe { destroy::<Instance<B>, _>(instance) }
}

unsafe extern "C" fn device_count<B: Backend>(instance: *mut sb_instance) -> u32 {
    // SAFETY: the contract: a live instance.
    unsafe { look::<Instance<B>, _>(instance) }.map_or(0, |i| i.devices.len() as u32)
}

unsafe extern "C" fn device<B: Backend>(
    instance: *mut sb_instance,
    index: u32,
    out: *mut sb_device,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: the contract: a live instance; `out` with its size set.
    unsafe {
        guarded(error, || {
            let devices = &look::<Instance<B>, _>(instance)?.devices;
            let found = devices.get(index as usize);
            let device = found.ok_or_else(|| Error::not_found(format!("device {index} of {}", devices.len())))?;
            let mut raw = device.to_raw();
            if let Some(kind) = B::OFFERS.device_memory {
                raw.place = Place { kind, id: index as i32 }.to_raw();
            }
            abi_size::fill(out, &raw);
            Ok(())
        })
    }
}

/// # Safety
/// `raw` is null or a caller's load, valid through the call.
unsafe fn read_load(raw: *const sb_load, from_memory: bool) -> Result<Load> {
    // SAFETY: the caller promises it; arrays hold as many elements as their counts say.
    unsafe {
        let raw = abi_size::read(raw).ok_or_else(|| Error::invalid("nothing to load"))?;
        let source = abi_size::read(raw.source).ok_or_else(|| Error::invalid("a load without a source"))?;
        let path = text::borrow(source.path);
        let bytes = match (&path, source.bytes.is_null()) {
            (Some(_), _) => None,
            (None, true) => return Err(Error::invalid("a source that is neither a file nor bytes")),
            (None, false) if !from_memory => {
                return Err(Error::unimplemented(Why::MODEL, "models from memory are not supported: give a path"));
            }
            (None, false) => {
                let length = usize::try_from(source.length).unwrap_or(usize::MAX);
                Some(std::slice::from_raw_parts(source.bytes.cast::<u8>(), length).into())
            }
        };
        let list = |items: *const u32, count: u32| match items.is_null() {
            true => vec![],
            false => std::slice::from_raw_parts(items, count as usize).to_vec(),
        };
        Ok(Load {
            source: Source {
                format: text::borrow(source.format).unwrap_or_default().into_owned(),
                path: path.map_or_else(PathBuf::new, |path| PathBuf::from(&*path)),
                bytes,
            },
            precision: text::borrow(raw.precision).filter(|p| !p.is_empty()).map(|p| p.into_owned()),
            cache_dir: text::borrow(raw.cache_dir).filter(|p| !p.is_empty()).map(|p| PathBuf::from(&*p)),
            devices: list(raw.devices, raw.device_count),
            dims: read_dims(raw.dims, raw.dim_count),
            options: Options::from_raw(raw.options),
            allow_fallback: raw.flags & SB_LOAD_ALLOW_FALLBACK != 0,
            profile: raw.flags & SB_LOAD_PROFILE != 0,
        })
    }
}

/// # Safety
/// `dims` is null or holds `count` elements with names that live through the call.
pub(crate) unsafe fn read_dims(dims: *const sb_dim, count: u32) -> Vec<Dim> {
    if dims.is_null() {
        return vec![];
    }
    // SAFETY: the caller promises it.
    let items = unsafe { std::slice::from_raw_parts(dims, count as usize) };
    let named = |dim: &sb_dim| Dim {
        // SAFETY: as above.
        name: unsafe { text::borrow(dim.name) }.unwrap_or_default().into_owned(),
        min: dim.min,
        opt: dim.opt,
        max: dim.max,
    };
    items.iter().map(named).collect()
}

unsafe extern "C" fn supports<B: Backend>(
    instance: *mut sb_instance,
    load: *const sb_load,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: the contract: a live instance, a valid load.
    unsafe {
        guarded(error, || {
            let opened = look::<Instance<B>, _>(instance)?;
            let load = read_load(load, B::OFFERS.from_memory)?;
            opened.has(&load.devices)?;
            opened.backend.supports(&load)
        })
    }
}

unsafe extern "C" fn load<B: Backend>(
    instance: *mut sb_instance,
    load: *const sb_load,
    out: *mut *mut sb_model,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: the contract: a live instance, a valid load, `out` writable.
    unsafe {
        guarded(error, || {
            let opened = look::<Instance<B>, _>(instance)?;
            let load = read_load(load, B::OFFERS.from_memory)?;
            opened.has(&load.devices)?;
            give(BackendTable::<B>::loaded(instance, opened.backend.load(&load)?)?, out)
        })
    }
}

unsafe extern "C" fn unload<B: Backend>(model: *mut sb_model) {
    // SAFETY: the contract: made by `load`, unloaded once, no request alive.
    unsafe { destroy::<Loaded<B>, _>(model) }
}

unsafe extern "C" fn placement<B: Backend>(
    model: *mut sb_model,
    out: *mut sb_placement,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: the contract: a live model; `out` with its size set.
    unsafe {
        guarded(error, || {
            abi_size::fill(out, &look::<Loaded<B>, _>(model)?.model.placement().to_raw());
            Ok(())
        })
    }
}

unsafe extern "C" fn port_count<B: Backend>(model: *mut sb_model, direction: i32) -> u32 {
    // SAFETY: the contract: a live model.
    match (unsafe { look::<Loaded<B>, _>(model) }, Direction::from_raw(direction)) {
        (Ok(model), Ok(Direction::Input)) => model.inputs.len() as u32,
        (Ok(model), Ok(Direction::Output)) => model.outputs.len() as u32,
        _ => 0,
    }
}

unsafe extern "C" fn port<B: Backend>(
    model: *mut sb_model,
    direction: i32,
    index: u32,
    out: *mut sb_port,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: the contract: a live model; `out` with its size set.
    unsafe {
        guarded(error, || {
            let model = look::<Loaded<B>, _>(model)?;
            let ports = match Direction::from_raw(direction)? {
                Direction::Input => &model.inputs,
                Direction::Output => &model.outputs,
            };
            let found = ports.get(index as usize);
            let port = found.ok_or_else(|| Error::not_found(format!("port {index} of {}", ports.len())))?;
            let mut raw: sb_port = abi_size::sized();
            raw.ndim = port.shape.len() as u32;
            raw.name = port.name.as_ptr();
            raw.shape = port.shape.as_ptr();
            raw.dim_names = port.name_pointers.as_ptr();
            raw.dtype = port.dtype;
            abi_size::fill(out, &raw);
            Ok(())
        })
    }
}

unsafe extern "C" fn allocate<B: Backend>(
    model: *mut sb_model,
    like: *const sb_tensor,
    out: *mut *mut sb_owned,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: the contract: a live model, a tensor whose shape can be read, `out` writable.
    unsafe {
        guarded(error, || {
            let model = &look::<Loaded<B>, _>(model)?.model;
            let like = like.as_ref().ok_or_else(|| Error::invalid("nothing says what to allocate"))?;
            let (dtype, shape, _) = outline(like)?;
            let place = Place::from_raw(like.place);
            B::OFFERS.takes(place)?;
            let made = model.allocate(dtype, &shape, place)?;
            give(made.into_raw(), out)
        })
    }
}

unsafe extern "C" fn copy<B: Backend>(
    instance: *mut sb_instance,
    from: *const sb_tensor,
    to: *const sb_tensor,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: the contract: a live instance, two tensors that live through the call.
    unsafe {
        guarded(error, || {
            let backend = &look::<Instance<B>, _>(instance)?.backend;
            let tensor = |raw: *const sb_tensor, written| {
                Bound::new(raw.as_ref().ok_or_else(|| Error::invalid("a copy needs two tensors"))?, written)
            };
            let (from, to) = (tensor(from, false)?, tensor(to, true)?);
            [&from, &to].into_iter().try_for_each(|bound| B::OFFERS.takes(bound.place()))?;
            if (from.dtype(), from.shape()) != (to.dtype(), to.shape()) {
                let told = |bound: &Bound| format!("{} {:?}", bound.dtype().name(), bound.shape());
                return Err(Error::invalid(format!("{} cannot be copied into {}", told(&from), told(&to))));
            }
            backend.copy(&from, &to)
        })
    }
}

unsafe extern "C" fn memory<B: Backend>(
    instance: *mut sb_instance,
    device: u32,
    out: *mut sb_memory,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: the contract: a live instance; `out` with its size set.
    unsafe {
        guarded(error, || {
            let memory = look::<Instance<B>, _>(instance)?.backend.memory(device)?;
            abi_size::fill(out, &memory.to_raw());
            Ok(())
        })
    }
}
