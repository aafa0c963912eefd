//! The slots of a request, for every [`Backend`]: what is bound, kept, run and taken, and the rules about it.

use super::backend::Alias;
use super::backend_table::{Loaded, destroy, give, look, look_mut};
use super::submit::under_way;
use super::{Backend, Bindings, Cancel, Done, Model, Request};
use crate::error::guarded;
use crate::raw::*;
use crate::tensor::Bound;
use crate::{Code, Direction, Error, Port, Result, abi_size};
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What an `sb_request *` points to.
pub(super) struct Lane<B: Backend> {
    pub(super) request: <B::Model as Model>::Request,
    bound: Bindings,
    model: Arc<B::Model>,
    cancel: Option<Cancel>,
    /// A submitted run is under way.
    flies: Arc<AtomicBool>,
    /// One was submitted, and the engine was not asked since how it ended.
    flew: bool,
}

impl<B: Backend> Lane<B> {
    /// Refuses while a submitted run is under way.
    fn idle(&mut self) -> Result<()> {
        if self.flies.load(Ordering::SeqCst) {
            return Err(under_way());
        }
        if std::mem::take(&mut self.flew) {
            self.request.landed()?;
        }
        Ok(())
    }

    /// Refuses while an input is neither bound nor held.
    fn is_bound(&self) -> Result<()> {
        let missing = |index: &usize| self.bound.inputs[*index].is_none() && self.bound.held(*index).is_none();
        let known = if self.request.is_bound_elsewhere() { 0 } else { self.bound.inputs.len() };
        match (0..known).find(missing) {
            None => Ok(()),
            Some(index) => {
                let text = format!("input '{}' is not bound", self.model.inputs()[index].name);
                Err(Error::new(Code::FailedPrecondition, text))
            }
        }
    }
}

pub(super) unsafe extern "C" fn request<B: Backend>(
    model: *mut sb_model,
    out: *mut *mut sb_request,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: the contract: a live model, `out` writable.
    unsafe {
        guarded(error, || {
            let loaded = look::<Loaded<B>, _>(model)?;
            let model = loaded.model.clone();
            let bound = Bindings::new(loaded.host, model.inputs().len(), model.outputs().len());
            let request = model.request()?;
            let (cancel, flies) = (request.cancel(), Arc::default());
            let lane = Lane::<B> { request, bound, model, cancel, flies, flew: false };
            give(Box::into_raw(Box::new(lane)).cast(), out)
        })
    }
}

pub(super) unsafe extern "C" fn release<B: Backend>(request: *mut sb_request) {
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

pub(super) unsafe extern "C" fn bind<B: Backend>(
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
            lane.idle()?;
            let index = index as usize;
            let host_memory = place.as_ref().is_none_or(|place| place.r#type == SB_HOST_MEMORY);
            if !host_memory {
                return Err(Error::unimplemented(crate::Why::NONE, "this backend binds host memory only"));
            }
            let direction = Direction::from_raw(direction)?;
            let bound = tensor.as_ref().map(|t| Bound::new(t, direction == Direction::Output)).transpose()?;
            bound.iter().try_for_each(|bound| B::OFFERS.takes(bound.place()))?;
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

pub(super) unsafe extern "C" fn alias<B: Backend>(
    request: *mut sb_request,
    output: u32,
    input: u32,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: the contract: a live request on this thread alone.
    unsafe {
        guarded(error, || {
            let lane = look_mut::<Lane<B>, _>(request)?;
            lane.idle()?;
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

pub(super) unsafe extern "C" fn reset<B: Backend>(request: *mut sb_request, error: *mut sb_error) -> sb_status {
    // SAFETY: the contract: a live request on this thread alone.
    unsafe {
        guarded(error, || {
            let lane = look_mut::<Lane<B>, _>(request)?;
            lane.idle()?;
            lane.request.reset()?;
            lane.bound.let_go();
            Ok(())
        })
    }
}

pub(super) unsafe extern "C" fn run<B: Backend>(
    request: *mut sb_request,
    timing: *mut sb_timing,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: the contract: a live request on this thread alone; timing is null or has its size set.
    unsafe {
        guarded(error, || {
            let lane = look_mut::<Lane<B>, _>(request)?;
            lane.idle()?;
            lane.is_bound()?;
            let done = lane.request.run(&lane.bound).inspect_err(|_| lane.bound.let_go())?;
            lane.bound.hold();
            if !timing.is_null() {
                abi_size::fill(timing, &done.to_raw());
            }
            Ok(())
        })
    }
}

pub(super) unsafe extern "C" fn output<B: Backend>(
    request: *mut sb_request,
    index: u32,
    out: *mut *mut sb_owned,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: the contract: a live request on this thread alone; `out` writable.
    unsafe {
        guarded(error, || {
            let lane = look_mut::<Lane<B>, _>(request)?;
            lane.idle()?;
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

pub(super) unsafe extern "C" fn submit<B: Backend>(
    request: *mut sb_request,
    done: Option<unsafe extern "C" fn(*mut c_void, sb_status, *const sb_timing, *const sb_error)>,
    user: *mut c_void,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: the contract: a live request on this thread alone; `user` goes back with the one call of `done`.
    unsafe {
        guarded(error, || {
            let lane = look_mut::<Lane<B>, _>(request)?;
            lane.idle()?;
            lane.is_bound()?;
            if lane.bound.aliases.iter().any(Option::is_some) {
                return Err(Error::unimplemented(crate::Why::NONE, "an output is kept for the next run: run it"));
            }
            let callback = done.ok_or_else(|| Error::invalid("a run is submitted and nobody to call"))?;
            lane.flew = true;
            lane.request.submit(&lane.bound, Done::new(callback, user, Arc::clone(&lane.flies)));
            Ok(())
        })
    }
}

pub(super) unsafe extern "C" fn cancel<B: Backend>(request: *mut sb_request, error: *mut sb_error) -> sb_status {
    // SAFETY: the contract: a live request. Another thread may hold the lane: only what never changes is looked at.
    unsafe {
        guarded(error, || {
            let lane = request.cast::<Lane<B>>();
            if lane.is_null() {
                return Err(Error::invalid("a null handle"));
            }
            let cancel = &raw const (*lane).cancel;
            match &*cancel {
                Some(cancel) => cancel(),
                None => Err(Error::unimplemented(crate::Why::NONE, "this engine cannot end a run early")),
            }
        })
    }
}
