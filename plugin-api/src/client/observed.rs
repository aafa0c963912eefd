//! A backend's table whose slots tell of their calls: which one is entered, how long it took, and which texts it left without an
//! end. For the rules of a well-behaved plugin; what is measured is called directly.
//!
//! A slot is a plain function without a place for a value of its own, so one backend of a process can be observed.

use super::BackendRef;
use super::backend::Known;
use crate::raw::*;
use std::ffi::{c_char, c_void};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Who is told of the calls of slots, on the thread that calls.
pub trait Observer: Send + Sync {
    fn enters(&self, slot: &'static str);

    fn leaves(&self, slot: &'static str, took: Duration);

    /// A text of a slot, such as "the name of a device", is not as the contract has it: "has no NUL at its end".
    fn text(&self, slot: &'static str, whose: &'static str, how: &'static str);
}

struct Observed {
    /// The address of the table that was observed first.
    of: usize,
    table: sb_backend,
    observer: &'static dyn Observer,
}

static OBSERVED: OnceLock<Observed> = OnceLock::new();

impl BackendRef {
    /// The same backend, whose slots tell `observer`. Another backend of the same process stays unobserved.
    #[must_use]
    pub fn observed(&self, observer: &'static dyn Observer) -> BackendRef {
        let (raw, known) = (self.as_ptr(), self.known());
        let observed = OBSERVED.get_or_init(|| Observed { of: raw.addr(), table: ***known, observer });
        match observed.of == raw.addr() {
            true => self.with_table(Arc::new(Known::beside(known, observed_table(&observed.table)))),
            false => self.clone(),
        }
    }
}

/// Runs a call of a slot between the two words to the observer.
fn between<R>(observed: &Observed, slot: &'static str, call: impl FnOnce() -> R) -> R {
    observed.observer.enters(slot);
    let began = Instant::now();
    let returned = call();
    observed.observer.leaves(slot, began.elapsed());
    returned
}

/// Tells of a text that is not whole. The struct was zeros before the call: an array without a NUL was filled to its end.
fn look(observed: &Observed, slot: &'static str, whose: &'static str, text: &[c_char]) {
    let bytes: Vec<u8> = text.iter().map(|c| *c as u8).collect();
    match bytes.split(|byte| *byte == 0).next() {
        Some(all) if all.len() == bytes.len() => observed.observer.text(slot, whose, "has no NUL at its end"),
        Some(text) if std::str::from_utf8(text).is_err() => observed.observer.text(slot, whose, "is not UTF-8"),
        _ => {}
    }
}

/// Looks at texts of a struct that a slot filled.
macro_rules! look {
    ($observed:ident, $slot:ident, $at:expr, $($field:ident $whose:literal),*) => {
        // SAFETY: the caller's struct, which lives through the call of the slot.
        if let Some(filled) = unsafe { $at.as_ref() } {
            $(look($observed, stringify!($slot), $whose, &filled.$field);)*
        }
    };
}

/// A function for each slot that calls the one of the observed table. In braces: what is looked at afterwards, by the name that it gets.
macro_rules! slots {
    ($($name:ident($($arg:ident: $type:ty),*) $(-> $ret:ty)? $({ $as:ident => $look:expr })?;)*) => {
        $(
            /// # Safety
            /// As for the slot.
            unsafe extern "C" fn $name($($arg: $type),*) $(-> $ret)? {
                let Some(observed) = OBSERVED.get() else { return Default::default() };
                let Some(slot) = observed.table.$name else { return Default::default() };
                // SAFETY: the caller's promises, passed on.
                let returned = between(observed, stringify!($name), || unsafe { slot($($arg),*) });
                $({
                    let $as = observed;
                    $look
                })?
                returned
            }
        )*

        /// The same slots as `table` has, each behind its observer.
        fn observed_table(table: &sb_backend) -> sb_backend {
            sb_backend {
                extension: table.extension.map(|_| extension as _),
                $($name: table.$name.map(|_| $name as _),)*
                ..*table
            }
        }
    };
}

macro_rules! failure {
    ($observed:ident, $slot:ident, $error:expr) => {
        look!($observed, $slot, $error, message "the message of an error")
    };
}

slots! {
    open(host: *const sb_host, options: *const sb_options, out: *mut *mut sb_instance, error: *mut sb_error) -> sb_status
        { o => failure!(o, open, error) };
    close(instance: *mut sb_instance);
    device_count(instance: *mut sb_instance) -> u32;
    device(instance: *mut sb_instance, index: u32, out: *mut sb_device, error: *mut sb_error) -> sb_status
        { o => {
            look!(o, device, out, id "the id of a device", name "the name of a device", vendor "the vendor of a device",
                  arch "the architecture of a device", driver "the driver of a device", reason "the reason of a device");
            failure!(o, device, error)
        } };
    supports(instance: *mut sb_instance, load: *const sb_load, error: *mut sb_error) -> sb_status
        { o => failure!(o, supports, error) };
    load(instance: *mut sb_instance, load: *const sb_load, out: *mut *mut sb_model, error: *mut sb_error) -> sb_status
        { o => failure!(o, load, error) };
    unload(model: *mut sb_model);
    placement(model: *mut sb_model, out: *mut sb_placement, error: *mut sb_error) -> sb_status
        { o => {
            look!(o, placement, out, precision "the precision of a placement", device "the device of a placement",
                  engine "the engine of a placement");
            failure!(o, placement, error)
        } };
    port_count(model: *mut sb_model, direction: i32) -> u32;
    port(model: *mut sb_model, direction: i32, index: u32, out: *mut sb_port, error: *mut sb_error) -> sb_status
        { o => failure!(o, port, error) };
    allocate(model: *mut sb_model, like: *const sb_tensor, out: *mut *mut sb_owned, error: *mut sb_error) -> sb_status
        { o => failure!(o, allocate, error) };
    copy(instance: *mut sb_instance, from: *const sb_tensor, to: *const sb_tensor, error: *mut sb_error) -> sb_status
        { o => failure!(o, copy, error) };
    request(model: *mut sb_model, out: *mut *mut sb_request, error: *mut sb_error) -> sb_status
        { o => failure!(o, request, error) };
    release(request: *mut sb_request);
    bind(request: *mut sb_request, direction: i32, index: u32, tensor: *const sb_tensor, place: *const sb_place,
         error: *mut sb_error) -> sb_status
        { o => failure!(o, bind, error) };
    alias(request: *mut sb_request, output: u32, input: u32, error: *mut sb_error) -> sb_status
        { o => failure!(o, alias, error) };
    reset(request: *mut sb_request, error: *mut sb_error) -> sb_status { o => failure!(o, reset, error) };
    run(request: *mut sb_request, timing: *mut sb_timing, error: *mut sb_error) -> sb_status
        { o => failure!(o, run, error) };
    output(request: *mut sb_request, index: u32, out: *mut *mut sb_owned, error: *mut sb_error) -> sb_status
        { o => failure!(o, output, error) };
    submit(request: *mut sb_request, done: sb_done, user: *mut c_void, error: *mut sb_error) -> sb_status
        { o => failure!(o, submit, error) };
    cancel(request: *mut sb_request, error: *mut sb_error) -> sb_status { o => failure!(o, cancel, error) };
    memory(instance: *mut sb_instance, device: u32, out: *mut sb_memory, error: *mut sb_error) -> sb_status
        { o => failure!(o, memory, error) };
}

/// By hand, since a pointer has no default.
///
/// # Safety
/// As for the slot.
unsafe extern "C" fn extension(instance: *mut sb_instance, id: *const c_char) -> *const c_void {
    let Some(observed) = OBSERVED.get() else { return std::ptr::null() };
    let Some(slot) = observed.table.extension else { return std::ptr::null() };
    // SAFETY: the caller's promises, passed on.
    between(observed, "extension", || unsafe { slot(instance, id) })
}
