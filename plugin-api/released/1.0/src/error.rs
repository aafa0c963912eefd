//! What goes wrong, as it crosses the contract.

use crate::raw::*;
use crate::{abi_size, text};
use std::fmt;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kind of a failure: the contract's status codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    Cancelled,
    InvalidArgument,
    DeadlineExceeded,
    NotFound,
    ResourceExhausted,
    FailedPrecondition,
    Unimplemented,
    Internal,
    Unavailable,
    WrongOutput,
}

impl Code {
    const ALL: [(Code, sb_status, &'static str); 10] = [
        (Code::Cancelled, SB_CANCELLED, "cancelled"),
        (Code::InvalidArgument, SB_INVALID_ARGUMENT, "invalid-argument"),
        (Code::DeadlineExceeded, SB_DEADLINE_EXCEEDED, "deadline-exceeded"),
        (Code::NotFound, SB_NOT_FOUND, "not-found"),
        (Code::ResourceExhausted, SB_RESOURCE_EXHAUSTED, "resource-exhausted"),
        (Code::FailedPrecondition, SB_FAILED_PRECONDITION, "failed-precondition"),
        (Code::Unimplemented, SB_UNIMPLEMENTED, "unimplemented"),
        (Code::Internal, SB_INTERNAL, "internal"),
        (Code::Unavailable, SB_UNAVAILABLE, "unavailable"),
        (Code::WrongOutput, SB_WRONG_OUTPUT, "wrong-output"),
    ];

    pub fn status(self) -> sb_status {
        Self::ALL.iter().find(|(code, ..)| *code == self).map_or(SB_INTERNAL, |(_, status, _)| *status)
    }

    /// A status this version does not know counts as an internal error.
    pub fn from_status(status: sb_status) -> Code {
        Self::ALL.iter().find(|(_, known, _)| *known == status).map_or(Code::Internal, |(code, ..)| *code)
    }

    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(code, ..)| *code == self).map_or("internal", |(.., name)| *name)
    }
}

/// What stands in the way; the bits of `SB_WHY_*`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Why(pub u32);

impl Why {
    pub const NONE: Why = Why(0);
    pub const PLATFORM: Why = Why(SB_WHY_PLATFORM);
    pub const RUNTIME: Why = Why(SB_WHY_RUNTIME);
    pub const DRIVER: Why = Why(SB_WHY_DRIVER);
    pub const DEVICE: Why = Why(SB_WHY_DEVICE);
    pub const MODEL: Why = Why(SB_WHY_MODEL);
    pub const MEMORY: Why = Why(SB_WHY_MEMORY);
    pub const PRECISION: Why = Why(SB_WHY_PRECISION);
}

/// An error of a plugin or of the host's services to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub code: Code,
    pub why: Why,
    /// The runtime's own number, 0 where it has none.
    pub vendor_code: i32,
    /// What happened, where, and what to do next.
    pub message: String,
}

impl Error {
    pub fn new(code: Code, message: impl Into<String>) -> Error {
        Error { code, why: Why::NONE, vendor_code: 0, message: message.into() }
    }

    pub fn because(mut self, why: Why) -> Error {
        self.why = why;
        self
    }

    pub fn invalid(message: impl Into<String>) -> Error {
        Error::new(Code::InvalidArgument, message)
    }

    pub fn internal(message: impl Into<String>) -> Error {
        Error::new(Code::Internal, message)
    }

    pub fn not_found(message: impl Into<String>) -> Error {
        Error::new(Code::NotFound, message)
    }

    /// Not usable on this machine: `why` says what is missing, the message what was looked at.
    pub fn unavailable(why: Why, message: impl Into<String>) -> Error {
        Error::new(Code::Unavailable, message).because(why)
    }

    /// The engine cannot do it: an operator, a precision, a kind of binding.
    pub fn unimplemented(why: Why, message: impl Into<String>) -> Error {
        Error::new(Code::Unimplemented, message).because(why)
    }

    /// Fills the caller's error and returns the status to hand back.
    ///
    /// # Safety
    /// `to` is null or a caller's `sb_error` with its size set.
    pub(crate) unsafe fn give(&self, to: *mut sb_error) -> sb_status {
        let mut raw: sb_error = abi_size::sized();
        raw.why = self.why.0;
        raw.code = self.code.status();
        raw.vendor_code = self.vendor_code;
        raw.message = text::to_array(&self.message);
        // SAFETY: the caller promises a writable struct.
        unsafe { abi_size::fill(to, &raw) };
        raw.code
    }

    /// The error of a call that returned `status`, from the buffer it was given.
    pub(crate) fn taken(status: sb_status, raw: &sb_error) -> Error {
        let message = text::from_array(&raw.message);
        let code = Code::from_status(status);
        let message = match message.is_empty() {
            true => format!("the plugin returned status {status} ({}) and gave no reason", code.name()),
            false => message,
        };
        Error { code, why: Why(raw.why), vendor_code: raw.vendor_code, message }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match self.vendor_code {
            0 => Ok(()),
            code => write!(f, " (code {code})"),
        }
    }
}

impl std::error::Error for Error {}

/// Calls a slot that fills an `sb_error`, and turns its status into a `Result`.
pub(crate) fn checked(call: impl FnOnce(*mut sb_error) -> sb_status) -> Result<()> {
    let mut raw: sb_error = abi_size::sized();
    match call(&raw mut raw) {
        SB_OK => Ok(()),
        status => Err(Error::taken(status, &raw)),
    }
}

/// Runs what a slot does: a panic becomes an error, an error fills the caller's buffer.
///
/// # Safety
/// `error` is null or a caller's `sb_error` with its size set.
pub(crate) unsafe fn guarded(error: *mut sb_error, work: impl FnOnce() -> Result<()>) -> sb_status {
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    match outcome.unwrap_or_else(|panic| Err(Error::internal(format!("panicked: {}", panic_text(&*panic))))) {
        Ok(()) => SB_OK,
        // SAFETY: the caller promises a writable struct.
        Err(failure) => unsafe { failure.give(error) },
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
