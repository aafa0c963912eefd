//! Finding libonnxruntime, and making sure that it is one before anything relies on it.

use crate::errors::loader_words;
use libloading::{Library, Symbol};
use ort::sys::OrtApiBase;
use skillbench_drivers::missing_bytes;
use skillbench_plugin_api::sdk::Host;
use skillbench_plugin_api::{Error, Options, Result, Why};
use std::ffi::{CStr, OsString};
use std::path::{Path, PathBuf};

/// Where libonnxruntime is: the option `library`, else the environment's `ORT_DYLIB_PATH`.
///
/// # Errors
/// `Unavailable`, with the command that installs it for this plugin, where neither says.
pub fn find_library(options: &Options, plugin: &str) -> Result<PathBuf> {
    let given = |path: &OsString| !path.is_empty();
    let option = options.get("library").map(OsString::from).filter(given);
    let path = option.or_else(|| std::env::var_os("ORT_DYLIB_PATH").filter(given));
    path.map(PathBuf::from).ok_or_else(|| {
        let text = format!(
            "ONNX Runtime is not installed: run `host runtime install {plugin}`, or set ORT_DYLIB_PATH to libonnxruntime.so"
        );
        Error::unavailable(Why::RUNTIME, text)
    })
}

/// Where the library of a plugin's execution provider is: the option `provider`.
///
/// # Errors
/// `Unavailable`, with the command that installs it, where it is not set; the host is told so too.
pub fn find_provider(host: &Host, options: &Options, plugin: &CStr) -> Result<PathBuf> {
    options.get("provider").map(PathBuf::from).ok_or_else(|| {
        let plugin = plugin.to_string_lossy();
        let text = format!(
            "its execution provider is not installed: run `host runtime install {plugin}`, or set the option `provider`"
        );
        host.evidence("execution provider", &text);
        Error::unavailable(Why::RUNTIME, text)
    })
}

/// Opens the library for good, and returns its version: "1.31.1".
///
/// # Errors
/// `Unavailable` for what the loader refuses, what is not ONNX Runtime, and what is older than the API used here.
pub(crate) fn open(path: &Path) -> Result<String> {
    let refuse = |reason: String| {
        // The loader's own words begin with the path too.
        let reason = reason.trim_start_matches(&format!("{}: ", path.display()));
        let text = format!("ONNX Runtime cannot be used: {}: {reason}", path.display());
        Error::unavailable(Why::RUNTIME, text)
    };
    if let Some(missing) = missing_bytes(path) {
        return Err(refuse(format!("the file is cut short, {missing} bytes are missing at its end: install it again")));
    }
    // SAFETY: the user named this library to be run in this process; whatever its constructors do, a worker is there to bear.
    let library = unsafe { Library::new(path) }.map_err(|error| refuse(loader_words(&error)))?;
    // SAFETY: the symbol has this type in every version of ONNX Runtime.
    let base = unsafe { library.get::<unsafe extern "C" fn() -> *const OrtApiBase>(b"OrtGetApiBase") };
    let base: Symbol<'_, _> =
        base.map_err(|_| refuse("it is a library, but not ONNX Runtime (no OrtGetApiBase)".into()))?;
    // SAFETY: it returns a static table, or null; the version is a static string.
    let version = unsafe { base().as_ref().map(|base| CStr::from_ptr((base.GetVersionString)())) };
    let version = version.ok_or_else(|| refuse("its OrtGetApiBase returns nothing".into()))?;
    let version = version.to_string_lossy().into_owned();
    // A worker never unloads a vendor's library; `ort` opens it again and gets the same one.
    std::mem::forget(library);

    let minor = version.strip_prefix("1.").and_then(|rest| rest.split('.').next());
    let minor: Option<u32> = minor.and_then(|minor| minor.parse().ok());
    match minor {
        Some(minor) if minor >= ort::MINOR_VERSION => Ok(version),
        _ => Err(refuse(format!("it is version {version}; 1.{} or a later 1.x is needed", ort::MINOR_VERSION))),
    }
}
