//! A target whose requests are watched. A benchmark gets a backend's table in which every slot that touches a model or a request
//! leads through the services: they make the requests, and run them.
//!
//! Handles are boxes of this file; the backend's own never reach the benchmark. What goes around the target is not there: `load`
//! refuses, `submit`, `cancel` and `extension` are missing.

use crate::client::{BackendRef, Model, Request};
use crate::error::guarded;
use crate::raw::*;
use crate::{Dim, Direction, Error, Result, Why, abi_size, text};
use std::ffi::{c_char, c_void};
use std::sync::Arc;

/// What a benchmark does to a request by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    Bind(Direction, u32),
    Alias,
    Reset,
    Take,
}

/// As [`super::TargetServices`], with requests that are the services' own.
pub trait WatchedTarget: Sync {
    type Loaded: Send + Sync;
    type Lane: Send + Sync;

    /// # Errors
    /// Whatever the backend says, and a fallback that nobody allowed.
    fn load(&self, part: &str, dims: &[Dim]) -> Result<Arc<Self::Loaded>>;
    fn unload(&self, loaded: Arc<Self::Loaded>);
    fn model<'l>(&self, loaded: &'l Self::Loaded) -> &'l Model<'l>;
    /// # Errors
    /// Whatever the backend says.
    fn request(&self, loaded: &Arc<Self::Loaded>) -> Result<Self::Lane>;
    /// # Errors
    /// A dimension that the axes do not give.
    fn prepare(&self, lane: &Self::Lane, variant: u64) -> Result<()>;
    /// # Errors
    /// `WrongOutput`.
    fn verify(&self, lane: &Self::Lane) -> Result<()>;
    /// Calls `run` with the request, once.
    ///
    /// # Errors
    /// What `run` says, and `WrongOutput`.
    fn run(&self, lane: &Self::Lane, run: &mut dyn FnMut(&mut Request<'_>) -> Result<()>) -> Result<()>;
    /// Calls `touch` with the request, once.
    ///
    /// # Errors
    /// What `touch` says.
    fn touch(
        &self,
        lane: &Self::Lane,
        what: Touch,
        touch: &mut dyn FnMut(&mut Request<'_>) -> Result<()>,
    ) -> Result<()>;
    fn release(&self, lane: Self::Lane);
}

struct ModelHandle<S: WatchedTarget> {
    services: *const S,
    loaded: Arc<S::Loaded>,
}

struct RequestHandle<S: WatchedTarget> {
    services: *const S,
    lane: S::Lane,
}

/// # Safety
/// `raw` is null or a handle of this type that is alive.
unsafe fn look<'h, T, R>(raw: *mut R) -> Result<&'h T> {
    // SAFETY: the caller promises it.
    unsafe { raw.cast::<T>().as_ref() }.ok_or_else(|| Error::invalid("a null handle"))
}

impl<S: WatchedTarget> ModelHandle<S> {
    fn services(&self) -> &S {
        // SAFETY: the services outlive the table, and the benchmark with its handles.
        unsafe { &*self.services }
    }

    fn model(&self) -> &Model<'_> {
        self.services().model(&self.loaded)
    }
}

impl<S: WatchedTarget> RequestHandle<S> {
    fn services(&self) -> &S {
        // SAFETY: as for a model.
        unsafe { &*self.services }
    }

    fn touch(&self, what: Touch, mut touch: impl FnMut(&mut Request<'_>) -> Result<()>) -> Result<()> {
        self.services().touch(&self.lane, what, &mut touch)
    }
}

/// The backend's table as a benchmark gets it.
pub(super) fn backend_table<S: WatchedTarget>(backend: &BackendRef) -> sb_backend {
    let own = backend.table();
    sb_backend {
        size: size_of::<sb_backend>() as u32,
        load: Some(no_load),
        unload: Some(no_unload),
        supports: None,
        placement: Some(placement::<S>),
        port_count: Some(port_count::<S>),
        port: Some(port::<S>),
        allocate: own.allocate.map(|_| allocate::<S> as _),
        request: Some(request::<S>),
        release: Some(release::<S>),
        bind: Some(bind::<S>),
        alias: own.alias.map(|_| alias::<S> as _),
        reset: own.reset.map(|_| reset::<S> as _),
        run: Some(run::<S>),
        output: Some(output::<S>),
        submit: None,
        cancel: None,
        extension: None,
        ..*own
    }
}

pub(super) unsafe extern "C" fn load<S: WatchedTarget>(
    ctx: *mut c_void,
    part: *const c_char,
    dims: *const sb_dim,
    dim_count: u32,
    out: *mut *mut sb_model,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: ctx is the borrowed services; strings and dims live through the call, `out` is writable.
    unsafe {
        guarded(error, || {
            let services = ctx.cast::<S>().cast_const();
            let dims = crate::sdk::read_dims(dims, dim_count);
            let loaded = (*services).load(&text::borrow(part).unwrap_or_default(), &dims)?;
            if out.is_null() {
                return Err(Error::invalid("no place to put the model"));
            }
            out.write(Box::into_raw(Box::new(ModelHandle { services, loaded })).cast());
            Ok(())
        })
    }
}

pub(super) unsafe extern "C" fn unload<S: WatchedTarget>(_ctx: *mut c_void, model: *mut sb_model) {
    // SAFETY: made by `load`, unloaded once.
    unsafe {
        guarded(std::ptr::null_mut(), || {
            if !model.is_null() {
                let handle = Box::from_raw(model.cast::<ModelHandle<S>>());
                (*handle.services).unload(handle.loaded);
            }
            Ok(())
        });
    }
}

pub(super) unsafe extern "C" fn prepare<S: WatchedTarget>(
    _ctx: *mut c_void,
    _model: *mut sb_model,
    request: *mut sb_request,
    variant: u64,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: [lane]: a live request that the caller alone uses now.
    unsafe {
        guarded(error, || {
            let handle = look::<RequestHandle<S>, _>(request)?;
            handle.services().prepare(&handle.lane, variant)
        })
    }
}

pub(super) unsafe extern "C" fn verify<S: WatchedTarget>(
    _ctx: *mut c_void,
    _model: *mut sb_model,
    request: *mut sb_request,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: as in `prepare`.
    unsafe {
        guarded(error, || {
            let handle = look::<RequestHandle<S>, _>(request)?;
            handle.services().verify(&handle.lane)
        })
    }
}

unsafe extern "C" fn no_load(
    _instance: *mut sb_instance,
    _load: *const sb_load,
    _out: *mut *mut sb_model,
    error: *mut sb_error,
) -> sb_status {
    let refused = || Err(Error::unimplemented(Why::NONE, "a benchmark loads through its target: sb_target.load"));
    // SAFETY: the caller's error, with its size set.
    unsafe { guarded(error, refused) }
}

unsafe extern "C" fn no_unload(_model: *mut sb_model) {}

unsafe extern "C" fn placement<S: WatchedTarget>(
    model: *mut sb_model,
    out: *mut sb_placement,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: a live model; `out` with its size set.
    unsafe {
        guarded(error, || {
            abi_size::fill(out, &look::<ModelHandle<S>, _>(model)?.model().placement()?.to_raw());
            Ok(())
        })
    }
}

unsafe extern "C" fn port_count<S: WatchedTarget>(model: *mut sb_model, direction: i32) -> u32 {
    // SAFETY: a live model.
    match unsafe { look::<ModelHandle<S>, _>(model) } {
        Ok(handle) => handle.model().port_count(direction),
        Err(_) => 0,
    }
}

unsafe extern "C" fn port<S: WatchedTarget>(
    model: *mut sb_model,
    direction: i32,
    index: u32,
    out: *mut sb_port,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: a live model; `out` with its size set.
    unsafe { guarded(error, || look::<ModelHandle<S>, _>(model)?.model().port(direction, index, out)) }
}

unsafe extern "C" fn allocate<S: WatchedTarget>(
    model: *mut sb_model,
    like: *const sb_tensor,
    out: *mut *mut sb_owned,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: a live model, a readable tensor, a writable pointer.
    unsafe { guarded(error, || look::<ModelHandle<S>, _>(model)?.model().allocate(like, out)) }
}

unsafe extern "C" fn request<S: WatchedTarget>(
    model: *mut sb_model,
    out: *mut *mut sb_request,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: a live model, `out` writable.
    unsafe {
        guarded(error, || {
            let handle = look::<ModelHandle<S>, _>(model)?;
            let lane = handle.services().request(&handle.loaded)?;
            if out.is_null() {
                return Err(Error::invalid("no place to put the request"));
            }
            out.write(Box::into_raw(Box::new(RequestHandle { services: handle.services, lane })).cast());
            Ok(())
        })
    }
}

unsafe extern "C" fn release<S: WatchedTarget>(request: *mut sb_request) {
    // SAFETY: made by `request`, released once.
    unsafe {
        guarded(std::ptr::null_mut(), || {
            if !request.is_null() {
                let handle = Box::from_raw(request.cast::<RequestHandle<S>>());
                (*handle.services).release(handle.lane);
            }
            Ok(())
        });
    }
}

unsafe extern "C" fn bind<S: WatchedTarget>(
    request: *mut sb_request,
    direction: i32,
    index: u32,
    tensor: *const sb_tensor,
    place: *const sb_place,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: [lane]; the benchmark keeps the contract for tensor and place.
    unsafe {
        guarded(error, || {
            let what = Touch::Bind(Direction::from_raw(direction)?, index);
            look::<RequestHandle<S>, _>(request)?
                .touch(what, |request| request.bind_lent(direction, index, tensor, place))
        })
    }
}

unsafe extern "C" fn alias<S: WatchedTarget>(
    request: *mut sb_request,
    output: u32,
    input: u32,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: [lane]; a live request.
    unsafe {
        guarded(error, || {
            look::<RequestHandle<S>, _>(request)?.touch(Touch::Alias, |request| request.alias(output, input))
        })
    }
}

unsafe extern "C" fn reset<S: WatchedTarget>(request: *mut sb_request, error: *mut sb_error) -> sb_status {
    // SAFETY: [lane]; a live request.
    unsafe { guarded(error, || look::<RequestHandle<S>, _>(request)?.touch(Touch::Reset, |request| request.reset())) }
}

unsafe extern "C" fn run<S: WatchedTarget>(
    request: *mut sb_request,
    timing: *mut sb_timing,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: [lane]; a live request, a timing that is null or has its size set.
    unsafe {
        guarded(error, || {
            let handle = look::<RequestHandle<S>, _>(request)?;
            handle.services().run(&handle.lane, &mut |request| request.run_timed(timing))
        })
    }
}

unsafe extern "C" fn output<S: WatchedTarget>(
    request: *mut sb_request,
    index: u32,
    out: *mut *mut sb_owned,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: [lane]; a live request, `out` writable.
    unsafe {
        guarded(error, || {
            look::<RequestHandle<S>, _>(request)?.touch(Touch::Take, |request| request.take_raw(index, out))
        })
    }
}
