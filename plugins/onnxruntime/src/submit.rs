//! Runs that ONNX Runtime works on by itself: `RunAsync`, on the threads of the session.

use crate::errors::check;
use crate::model::OrtModel;
use crate::turn::Flight;
use crate::value::Value;
use ort::AsPointer;
use ort::sys::{OrtRunOptions, OrtStatusPtr, OrtValue};
use skillbench_plugin_api::sdk::{Cancel, Clock, Done};
use skillbench_plugin_api::{Code, Error, Result, Timing};
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The options of a request's runs, by which one that is under way can be ended.
pub(crate) struct Runs {
    options: NonNull<OrtRunOptions>,
    cancelled: AtomicBool,
}

// SAFETY: the flag that ends a run may be set from any thread, as ONNX Runtime documents; nothing else of the options changes.
unsafe impl Send for Runs {}
// SAFETY: as for Send.
unsafe impl Sync for Runs {}

impl Runs {
    /// # Errors
    /// What ONNX Runtime says.
    pub fn new() -> Result<Arc<Runs>> {
        let mut options = ptr::null_mut();
        // SAFETY: the pointer to a local is writable.
        unsafe { check((ort::api().CreateRunOptions)(&raw mut options))? };
        let options = NonNull::new(options).ok_or_else(|| Error::internal("ONNX Runtime made no run options"))?;
        Ok(Arc::new(Runs { options, cancelled: AtomicBool::new(false) }))
    }

    /// What ends the run that is under way.
    pub fn cancel(self: &Arc<Runs>) -> Cancel {
        let runs = Arc::clone(self);
        Arc::new(move || {
            runs.cancelled.store(true, Ordering::SeqCst);
            // SAFETY: live options.
            unsafe { check((ort::api().RunOptionsSetTerminate)(runs.options.as_ptr())) }
        })
    }

    fn begin(&self) -> Result<()> {
        match self.cancelled.swap(false, Ordering::SeqCst) {
            // SAFETY: live options, with no run under way.
            true => unsafe { check((ort::api().RunOptionsUnsetTerminate)(self.options.as_ptr())) },
            false => Ok(()),
        }
    }
}

impl Drop for Runs {
    fn drop(&mut self) {
        // SAFETY: owned, and released once.
        unsafe { (ort::api().ReleaseRunOptions)(self.options.as_ptr()) }
    }
}

/// A run that is under way.
struct Ticket {
    done: Done,
    clock: Clock,
    submitted: Option<u64>,
    runs: Arc<Runs>,
    /// The session stays until its run has ended.
    model: Arc<OrtModel>,
    flight: Option<Flight>,
}

/// Starts a run; `done` is finished in any case.
///
/// # Safety
/// `inputs` are bound to memory that is lent until `done` is finished; neither they nor `outputs` move or change until then.
pub(crate) unsafe fn submit(
    model: &Arc<OrtModel>,
    runs: &Arc<Runs>,
    inputs: &[Value],
    outputs: &mut [Value],
    clock: Clock,
    done: Done,
) {
    if let Err(error) = runs.begin() {
        return done.finish(Err(error));
    }
    let (submitted, runs, kept) = (clock.now_ns(), Arc::clone(runs), Arc::clone(model));
    let options = runs.options.as_ptr();
    let in_turns = model.device_memory.as_ref().is_some_and(|memory| memory.copies.in_turns());
    let flight = in_turns.then(Flight::begin);
    let ticket = Box::into_raw(Box::new(Ticket { done, clock, submitted, runs, model: kept, flight }));
    // SAFETY: a live session, which the ticket keeps; as many names as values, each of which is one pointer; the caller promises the rest.
    let started = unsafe {
        check((ort::api().RunAsync)(
            model.session.ptr().cast_mut(),
            options,
            model.input_names.as_ptr(),
            inputs.as_ptr().cast::<*const OrtValue>(),
            inputs.len(),
            model.output_names.as_ptr(),
            outputs.len(),
            outputs.as_mut_ptr().cast::<*mut OrtValue>(),
            Some(ended),
            ticket.cast(),
        ))
    };
    if let Err(error) = started {
        // SAFETY: a run that did not start calls nobody back: the ticket is still ours.
        let Ticket { done, flight, .. } = *unsafe { Box::from_raw(ticket) };
        drop(flight);
        done.finish(Err(refused(error)));
    }
}

/// A session of one thread has nobody who could work on it meanwhile.
fn refused(error: Error) -> Error {
    match error.message.contains("intra op thread pool") {
        true => Error {
            code: Code::Unimplemented,
            message: "ONNX Runtime runs nothing by itself with one thread: set the option `threads` to 2 or more"
                .into(),
            ..error
        },
        false => error,
    }
}

unsafe extern "C" fn ended(user: *mut c_void, _outputs: *mut *mut OrtValue, _count: usize, status: OrtStatusPtr) {
    // SAFETY: the ticket of this run, which comes back once.
    let Ticket { done, clock, submitted, runs, model, flight } = *unsafe { Box::from_raw(user.cast::<Ticket>()) };
    // The request holds the session until it is told that the run ended. Whoever lets go of it last destroys its threads, and this is
    // one of them: nothing of it may be held here from that word on.
    drop(model);
    // SAFETY: a status that is given away, or none.
    let outcome = unsafe { check(status) };
    // Whoever is called back may run again at once.
    drop(flight);
    let timing = Timing { submit_ns: submitted, end_ns: clock.now_ns(), ..Timing::default() };
    done.finish(match outcome {
        Err(error) if runs.cancelled.load(Ordering::SeqCst) => Err(Error { code: Code::Cancelled, ..error }),
        outcome => outcome.map(|()| timing),
    });
}
