//! The host's services to every plugin.

use crate::raw::*;
use crate::sdk::Host;
use crate::text;
use std::ffi::{c_char, c_void};

/// Every method may be called from any thread.
pub trait HostServices: Sync + 'static {
    fn log(&self, level: i32, target: &str, message: &str);
    /// A long step is alive; `fraction` is NaN where unknown.
    fn phase(&self, name: &str, fraction: f64);
    fn now_ns(&self) -> u64;
    fn stopping(&self) -> bool;
    /// Something was looked at while a backend opened.
    fn evidence(&self, _what: &str, _found: &str) {}
}

/// `sb_host` over some services. It lives as long as the process.
pub struct HostTable(sb_host);

// SAFETY: it holds functions, static strings and a pointer to services that are Sync.
unsafe impl Sync for HostTable {}
// SAFETY: as for Sync.
unsafe impl Send for HostTable {}

impl HostTable {
    pub fn leak<S: HostServices>(services: &'static S) -> &'static HostTable {
        Box::leak(Box::new(HostTable(sb_host {
            size: size_of::<sb_host>() as u32,
            flags: 0,
            ctx: (&raw const *services).cast_mut().cast(),
            name: c"skillbench".as_ptr(),
            version: crate::sdk::terminated(concat!(env!("CARGO_PKG_VERSION"), "\0")),
            log: Some(log::<S>),
            phase: Some(phase::<S>),
            now_ns: Some(now_ns::<S>),
            stopping: Some(stopping::<S>),
            extension: Some(extension),
            evidence: Some(evidence::<S>),
        })))
    }

    /// The same services, as a plugin calls them.
    pub fn services(&'static self) -> Host {
        // SAFETY: a whole table, which lives as long as the process.
        unsafe { Host::new(self.as_ptr()) }
    }

    pub(crate) fn as_ptr(&'static self) -> *const sb_host {
        &raw const self.0
    }
}

/// Services never let a panic out into a plugin.
fn quiet<R>(default: R, work: impl FnOnce() -> R) -> R {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or(default)
}

unsafe extern "C" fn log<S: HostServices>(ctx: *mut c_void, level: i32, target: *const c_char, message: *const c_char) {
    // SAFETY: ctx is the leaked services; the strings live through the call.
    quiet((), || unsafe {
        let text = |text| text::borrow(text).unwrap_or_default();
        (*ctx.cast::<S>()).log(level, &text(target), &text(message))
    })
}

unsafe extern "C" fn phase<S: HostServices>(ctx: *mut c_void, name: *const c_char, fraction: f64) {
    // SAFETY: as in `log`.
    quiet((), || unsafe { (*ctx.cast::<S>()).phase(&text::borrow(name).unwrap_or_default(), fraction) })
}

unsafe extern "C" fn now_ns<S: HostServices>(ctx: *mut c_void) -> u64 {
    // SAFETY: as in `log`.
    quiet(SB_UNKNOWN, || unsafe { (*ctx.cast::<S>()).now_ns() })
}

unsafe extern "C" fn stopping<S: HostServices>(ctx: *mut c_void) -> i32 {
    // SAFETY: as in `log`.
    quiet(0, || unsafe { i32::from((*ctx.cast::<S>()).stopping()) })
}

unsafe extern "C" fn evidence<S: HostServices>(ctx: *mut c_void, what: *const c_char, found: *const c_char) {
    // SAFETY: as in `log`.
    quiet((), || unsafe {
        let text = |text| text::borrow(text).unwrap_or_default();
        (*ctx.cast::<S>()).evidence(&text(what), &text(found))
    })
}

/// This version of the host has no extension.
unsafe extern "C" fn extension(_ctx: *mut c_void, _id: *const c_char) -> *const c_void {
    std::ptr::null()
}
