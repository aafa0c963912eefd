//! A [`Backend`] as the C table: one blanket implementation for all of them.

use super::backend::Alias;
use super::{Backend, Bindings, Host, Model, Request, extensions};
use crate::error::guarded;
use crate::raw::*;
use crate::tensor::Bound;
use crate::{
    Code, Counter, Device, Dim, Direction, Error, Load, Operator, Options, Port, Result, Source, abi_size, text,
};
use std::collections::HashMap;
use std::ffi::{CString, c_char};
use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// What an `sb_instance *` of an SDK backend points to.
pub(super) struct Instance<B: Backend> {
    pub backend: B,
    devices: Vec<Device>,
    /// Counters as they were when their number was asked for, by device.
    pub counted: Mutex<HashMap<u32, Vec<Counter>>>,
}

/// What an `sb_model *` points to.
pub(super) struct Loaded<B: Backend> {
    pub model: Arc<B::Model>,
    inputs: Vec<CPort>,
    outputs: Vec<CPort>,
    /// Operators of the last recording.
    pub recorded: Mutex<Vec<Operator>>,
}

/// What an `sb_request *` points to.
struct Lane<B: Backend> {
    request: <B::Model as Model>::Request,
    bound: Bindings,
    model: Arc<B::Model>,
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
    pub(crate) fn opened(backend: B) -> *mut sb_instance {
        let devices = backend.devices();
        Box::into_raw(Box::new(Instance { backend, devices, counted: Mutex::default() })).cast()
    }

    /// A model as `load` gives it.
    pub(crate) fn loaded(model: B::Model) -> *mut sb_model {
        let (inputs, outputs) = (model.inputs().iter().map(CPort::new), model.outputs().iter().map(CPort::new));
        let (inputs, outputs) = (inputs.collect(), outputs.collect());
        let loaded = Loaded::<B> { model: Arc::new(model), inputs, outputs, recorded: Mutex::default() };
        Box::into_raw(Box::new(loaded)).cast()
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
        supports: Some(supports::<B>),
        load: Some(load::<B>),
        unload: Some(unload::<B>),
        placement: Some(placement::<B>),
        port_count: Some(port_count::<B>),
        port: Some(port::<B>),
        allocate: None,
        copy: None,
        request: Some(request::<B>),
        release: Some(release::<B>),
        bind: Some(bind::<B>),
        alias: Some(alias::<B>),
        reset: Some(reset::<B>),
        run: Some(run::<B>),
        output: Some(output::<B>),
        submit: None,
        cancel: None,
        memory: Some(memory::<B>),
        extension: Some(extensions::extension::<B>),
    };
}

/// Gives a handle away.
///
/// # Safety
/// `out` is null or writable.
unsafe fn give<H>(handle: *mut H, out: *mut *mut H) -> Result<()> {
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
unsafe fn look_mut<'a, T, H>(handle: *mut H) -> Result<&'a mut T> {
    // SAFETY: the caller promises it.
    unsafe { handle.cast::<T>().as_mut() }.ok_or_else(|| Error::invalid("a null handle"))
}

/// Destroys a handle; a panic in a destructor stays inside.
///
/// # Safety
/// `handle` is null or was made from a `T`, and is not used again.
unsafe fn destroy<T, H>(handle: *mut H) {
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
            let backend = B::open(Host::new(host), &Options::from_raw(options))?;
            give(BackendTable::opened(backend), out)
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
            abi_size::fill(out, &device.to_raw());
            Ok(())
        })
    }
}

/// # Safety
/// `raw` is null or a caller's load, valid through the call.
unsafe fn read_load(raw: *const sb_load) -> Result<Load> {
    // SAFETY: the caller promises it; arrays hold as many elements as their counts say.
    unsafe {
        let raw = abi_size::read(raw).ok_or_else(|| Error::invalid("nothing to load"))?;
        let source = abi_size::read(raw.source).ok_or_else(|| Error::invalid("a load without a source"))?;
        let path = text::borrow(source.path).ok_or_else(|| {
            Error::unimplemented(crate::Why::MODEL, "models from memory are not supported: give a path")
        })?;
        let list = |items: *const u32, count: u32| match items.is_null() {
            true => vec![],
            false => std::slice::from_raw_parts(items, count as usize).to_vec(),
        };
        Ok(Load {
            source: Source {
                format: text::borrow(source.format).unwrap_or_default().into_owned(),
                path: PathBuf::from(&*path),
            },
            precision: text::borrow(raw.precision).filter(|p| !p.is_empty()).map(|p| p.into_owned()),
            cache_dir: text::borrow(raw.cache_dir).filter(|p| !p.is_empty()).map(|p| PathBuf::from(&*p)),
            devices: list(raw.devices, raw.device_count),
            dims: read_dims(raw.dims, raw.dim_count),
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
    unsafe { guarded(error, || look::<Instance<B>, _>(instance)?.backend.supports(&read_load(load)?)) }
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
            let instance = look::<Instance<B>, _>(instance)?;
            let load = read_load(load)?;
            if let Some(bad) = load.devices.iter().find(|index| **index as usize >= instance.devices.len()) {
                return Err(Error::not_found(format!("device {bad} of {}", instance.devices.len())));
            }
            give(BackendTable::<B>::loaded(instance.backend.load(&load)?), out)
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

unsafe extern "C" fn request<B: Backend>(
    model: *mut sb_model,
    out: *mut *mut sb_request,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: the contract: a live model, `out` writable.
    unsafe {
        guarded(error, || {
            let model = look::<Loaded<B>, _>(model)?.model.clone();
            let bound = Bindings::new(model.inputs().len(), model.outputs().len());
            let lane = Lane::<B> { request: model.request()?, bound, model };
            give(Box::into_raw(Box::new(lane)).cast(), out)
        })
    }
}

unsafe extern "C" fn release<B: Backend>(request: *mut sb_request) {
    // SAFETY: the contract: made by `request`, released once.
    unsafe { destroy::<Lane<B>, _>(request) }
}

/// Holds a tensor against its port: type, rank and fixed dimensions.
fn fits(port: &Port, tensor: &Bound) -> Result<()> {
    let fixed = |(want, have): (&Option<usize>, &usize)| want.is_none_or(|want| want == *have);
    let same = port.shape.len() == tensor.shape().len() && port.shape.iter().zip(tensor.shape()).all(fixed);
    if port.dtype == tensor.dtype() && same {
        return Ok(());
    }
    let want: Vec<String> = port.shape.iter().map(|d| d.map_or("?".into(), |d| d.to_string())).collect();
    Err(Error::invalid(format!(
        "'{}' is {} [{}], the tensor is {} {:?}",
        port.name,
        port.dtype.name(),
        want.join(", "),
        tensor.dtype().name(),
        tensor.shape()
    )))
}

unsafe extern "C" fn bind<B: Backend>(
    request: *mut sb_request,
    direction: i32,
    index: u32,
    tensor: *const sb_tensor,
    place: *const sb_place,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: the contract: a live request on this thread alone; the data lives until the port is bound again or released, and
    // a `Bound` is replaced at exactly that moment.
    unsafe {
        guarded(error, || {
            let lane = look_mut::<Lane<B>, _>(request)?;
            let index = index as usize;
            let host_memory = place.as_ref().is_none_or(|place| place.r#type == SB_HOST_MEMORY);
            if !host_memory {
                return Err(Error::unimplemented(crate::Why::NONE, "this backend binds host memory only"));
            }
            let direction = Direction::from_raw(direction)?;
            let bound = tensor.as_ref().map(|t| Bound::new(t, direction == Direction::Output)).transpose()?;
            match direction {
                Direction::Input => {
                    let port = lane.model.inputs().get(index).ok_or_else(|| no_port(index))?;
                    let bound = bound.ok_or_else(|| Error::invalid("an input needs a tensor"))?;
                    fits(port, &bound)?;
                    lane.request.bind_input(index, &bound)?;
                    lane.bound.inputs[index] = Some(bound);
                    if let Some(alias) = &mut lane.bound.aliases[index] {
                        alias.held = false;
                    }
                }
                Direction::Output => {
                    let port = lane.model.outputs().get(index).ok_or_else(|| no_port(index))?;
                    if let Some(bound) = &bound {
                        fits(port, bound)?;
                    }
                    lane.request.bind_output(index, bound.as_ref())?;
                    lane.bound.outputs[index] = bound;
                    if let Some(input) = lane.bound.taker(index) {
                        lane.bound.end(input);
                    }
                }
            }
            Ok(())
        })
    }
}

fn no_port(index: usize) -> Error {
    Error::not_found(format!("the model has no port {index}"))
}

/// Holds the two ports of an alias against each other.
fn matches(output: &Port, input: &Port) -> Result<()> {
    let open = |(one, other): (&Option<usize>, &Option<usize>)| one.is_none() || other.is_none() || one == other;
    let same = output.shape.len() == input.shape.len() && output.shape.iter().zip(&input.shape).all(open);
    match output.dtype == input.dtype && same {
        true => Ok(()),
        false => {
            let told = |port: &Port| format!("'{}', which is {} {:?}", port.name, port.dtype.name(), port.shape);
            Err(Error::invalid(format!("output {} cannot be input {}", told(output), told(input))))
        }
    }
}

unsafe extern "C" fn alias<B: Backend>(
    request: *mut sb_request,
    output: u32,
    input: u32,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: the contract: a live request on this thread alone.
    unsafe {
        guarded(error, || {
            let lane = look_mut::<Lane<B>, _>(request)?;
            let (output, input) = (output as usize, input as usize);
            let from = lane.model.outputs().get(output).ok_or_else(|| no_port(output))?;
            let to = lane.model.inputs().get(input).ok_or_else(|| no_port(input))?;
            matches(from, to)?;
            if lane.bound.outputs[output].is_some() {
                let text = format!("output '{}' is bound to memory of the caller: leave it to the backend", from.name);
                return Err(Error::new(Code::FailedPrecondition, text));
            }
            lane.request.alias(output, input)?;
            if let Some(other) = lane.bound.taker(output).filter(|other| *other != input) {
                lane.bound.end(other);
            }
            if lane.bound.aliased(input).is_none_or(|known| known != output) {
                lane.bound.end(input);
                lane.bound.aliases[input] = Some(Alias { output, held: false });
            }
            Ok(())
        })
    }
}

unsafe extern "C" fn reset<B: Backend>(request: *mut sb_request, error: *mut sb_error) -> sb_status {
    // SAFETY: the contract: a live request on this thread alone.
    unsafe {
        guarded(error, || {
            let lane = look_mut::<Lane<B>, _>(request)?;
            lane.request.reset()?;
            lane.bound.let_go();
            Ok(())
        })
    }
}

unsafe extern "C" fn run<B: Backend>(
    request: *mut sb_request,
    timing: *mut sb_timing,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: the contract: a live request on this thread alone; timing is null or has its size set.
    unsafe {
        guarded(error, || {
            let lane = look_mut::<Lane<B>, _>(request)?;
            let missing = |index: &usize| lane.bound.inputs[*index].is_none() && lane.bound.held(*index).is_none();
            let known = if lane.request.is_bound_elsewhere() { 0 } else { lane.bound.inputs.len() };
            if let Some(index) = (0..known).find(missing) {
                let text = format!("input '{}' is not bound", lane.model.inputs()[index].name);
                return Err(Error::new(Code::FailedPrecondition, text));
            }
            let done = lane.request.run(&lane.bound).inspect_err(|_| lane.bound.let_go())?;
            lane.bound.hold();
            if !timing.is_null() {
                abi_size::fill(timing, &done.to_raw());
            }
            Ok(())
        })
    }
}

unsafe extern "C" fn output<B: Backend>(
    request: *mut sb_request,
    index: u32,
    out: *mut *mut sb_owned,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: the contract: a live request on this thread alone; `out` writable.
    unsafe {
        guarded(error, || {
            let lane = look_mut::<Lane<B>, _>(request)?;
            let index = index as usize;
            let port = lane.model.outputs().get(index).ok_or_else(|| no_port(index))?;
            let nothing = |why: &str| Error::new(Code::FailedPrecondition, format!("output '{}' {why}", port.name));
            if lane.bound.outputs[index].is_some() {
                return Err(nothing("is bound to memory of the caller: read it there"));
            }
            if let Some(input) = lane.bound.taker(index) {
                return Err(nothing(&format!("is kept for input '{}'", lane.model.inputs()[input].name)));
            }
            let taken = lane.request.take_output(index)?;
            let taken = taken.ok_or_else(|| nothing("holds nothing: run first, and take it once"))?;
            if out.is_null() {
                return Err(Error::invalid("no place to put the output"));
            }
            out.write(taken.into_raw());
            Ok(())
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
