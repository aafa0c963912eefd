//! The target: a backend's instance and a model's parts, with loading, inputs and verification done by the host.

use super::watched::{self, WatchedTarget};
use crate::client::{Instance, Model, Request};
use crate::error::guarded;
use crate::raw::*;
use crate::{Dim, Error, Result, Source, abi_size, text};
use std::ffi::{CString, c_char, c_void};
use std::marker::PhantomData;

/// `load` and `unload` may be called from any thread, the others from one thread for each request.
pub trait TargetServices: Sync {
    /// Loads a part and keeps the model until `unload`; returns its address.
    ///
    /// # Errors
    /// Whatever the backend says, and a fallback that nobody allowed.
    fn load(&self, part: &str, dims: &[Dim]) -> Result<usize>;
    fn unload(&self, model: usize);

    /// Calls `work` with the model that `load` returned this address for.
    ///
    /// # Errors
    /// `NotFound` for another address, and what `work` returns.
    fn with_model(&self, model: usize, work: &mut dyn FnMut(&Model<'_>) -> Result<()>) -> Result<()>;

    /// Binds every input, filled by the skill's rules; the memory is kept until the model is unloaded.
    ///
    /// # Errors
    /// A dimension that the axes do not give.
    fn prepare(&self, model: &Model<'_>, request: &mut Request<'_>, variant: u64) -> Result<()>;

    /// Takes the outputs, compares them, and binds them back where the engine can write into them; that memory too is kept
    /// until the model is unloaded.
    ///
    /// # Errors
    /// `WrongOutput`.
    fn verify(&self, model: &Model<'_>, request: &mut Request<'_>) -> Result<()>;
}

/// What a target consists of.
pub struct TargetParts<'a> {
    pub instance: &'a Instance,
    pub skill: &'a str,
    /// The text of skill.json; empty for a user's own file.
    pub manifest: &'a str,
    pub parts: Vec<(String, Source)>,
    pub axes: Vec<Dim>,
    pub seed: u64,
}

/// `sb_target` over some services, with everything it points to.
pub struct TargetTable<'a> {
    raw: sb_target,
    /// The backend's table as a benchmark gets it, where its requests are watched.
    _backend: Option<Box<sb_backend>>,
    _texts: Vec<CString>,
    // Boxed: the table points at each of them, and a vector moves its elements when it grows.
    #[allow(clippy::vec_box)]
    _sources: Vec<Box<sb_source>>,
    #[allow(clippy::vec_box)]
    _parts: Vec<Box<sb_part>>,
    _part_pointers: Vec<*const sb_part>,
    _axes: Vec<sb_dim>,
    _borrowed: PhantomData<&'a ()>,
}

impl<'a> TargetTable<'a> {
    pub fn new<S: TargetServices>(parts: &TargetParts<'a>, services: &'a S) -> TargetTable<'a> {
        let mut table = TargetTable::of_parts(parts);
        table.raw.ctx = (&raw const *services).cast_mut().cast();
        table.raw.load = Some(load::<S>);
        table.raw.unload = Some(unload::<S>);
        table.raw.prepare = Some(prepare::<S>);
        table.raw.verify = Some(verify::<S>);
        table
    }

    /// A target whose requests are all watched: whatever a benchmark does with one goes through the services.
    pub fn watched<S: WatchedTarget>(parts: &TargetParts<'a>, services: &'a S) -> TargetTable<'a> {
        let mut table = TargetTable::of_parts(parts);
        let backend = Box::new(watched::backend_table::<S>(parts.instance.backend()));
        table.raw.backend = &raw const *backend;
        table._backend = Some(backend);
        table.raw.ctx = (&raw const *services).cast_mut().cast();
        table.raw.load = Some(watched::load::<S>);
        table.raw.unload = Some(watched::unload::<S>);
        table.raw.prepare = Some(watched::prepare::<S>);
        table.raw.verify = Some(watched::verify::<S>);
        table
    }

    fn of_parts(parts: &TargetParts<'a>) -> TargetTable<'a> {
        let mut texts = Vec::new();
        let mut keep = |text: &str| {
            texts.push(text::c_string(text));
            texts[texts.len() - 1].as_ptr()
        };
        let mut sources = Vec::new();
        let mut raw_parts = Vec::new();
        for (name, source) in &parts.parts {
            let mut raw: sb_source = abi_size::sized();
            (raw.format, raw.path) = (keep(&source.format), keep(&source.path.to_string_lossy()));
            sources.push(Box::new(raw));
            let mut part: sb_part = abi_size::sized();
            (part.name, part.source) = (keep(name), &raw const *sources[sources.len() - 1]);
            raw_parts.push(Box::new(part));
        }
        let axes: Vec<sb_dim> = parts
            .axes
            .iter()
            .map(|axis| sb_dim { name: keep(&axis.name), min: axis.min, opt: axis.opt, max: axis.max })
            .collect();
        let (skill, manifest) = (keep(parts.skill), keep(parts.manifest));
        let pointers: Vec<*const sb_part> = raw_parts.iter().map(|part| &raw const **part).collect();
        TargetTable {
            raw: sb_target {
                part_count: pointers.len() as u32,
                parts: pointers.as_ptr(),
                backend: parts.instance.backend().as_ptr(),
                instance: parts.instance.as_ptr(),
                axes: axes.as_ptr(),
                axis_count: axes.len() as u32,
                flags: 0,
                seed: parts.seed,
                skill,
                manifest,
                ..abi_size::sized()
            },
            _backend: None,
            _texts: texts,
            _sources: sources,
            _parts: raw_parts,
            _part_pointers: pointers,
            _axes: axes,
            _borrowed: PhantomData,
        }
    }

    pub(crate) fn as_ptr(&self) -> *const sb_target {
        &raw const self.raw
    }
}

unsafe extern "C" fn load<S: TargetServices>(
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
            let dims = crate::sdk::read_dims(dims, dim_count);
            let model = (*ctx.cast::<S>()).load(&text::borrow(part).unwrap_or_default(), &dims)?;
            if out.is_null() {
                return Err(Error::invalid("no place to put the model"));
            }
            out.write(model as *mut sb_model);
            Ok(())
        })
    }
}

unsafe extern "C" fn unload<S: TargetServices>(ctx: *mut c_void, model: *mut sb_model) {
    // SAFETY: ctx is the borrowed services.
    unsafe {
        guarded(std::ptr::null_mut(), || {
            (*ctx.cast::<S>()).unload(model as usize);
            Ok(())
        });
    }
}

unsafe extern "C" fn prepare<S: TargetServices>(
    ctx: *mut c_void,
    model: *mut sb_model,
    request: *mut sb_request,
    variant: u64,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: ctx is the borrowed services; [lane]: the caller alone uses this request of this model now.
    unsafe {
        guarded(error, || {
            let services = &*ctx.cast::<S>();
            services.with_model(model as usize, &mut |model| {
                services.prepare(model, &mut model.borrow_request(request), variant)
            })
        })
    }
}

unsafe extern "C" fn verify<S: TargetServices>(
    ctx: *mut c_void,
    model: *mut sb_model,
    request: *mut sb_request,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: as in `prepare`.
    unsafe {
        guarded(error, || {
            let services = &*ctx.cast::<S>();
            services.with_model(model as usize, &mut |model| services.verify(model, &mut model.borrow_request(request)))
        })
    }
}
