//! Opening libopenvino_c, and making sure that it is one before anything relies on it.

use crate::failure::short;
use libloading::Library;
use openvino_sys::{ov_status_e, ov_version_t};
use skillbench_plugin_api::{Error, Result, Why};
use std::ffi::CStr;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The functions called here. A library without one of them is refused: calling it would panic.
const NEEDED: [&str; 43] = [
    "ov_available_devices_free",
    "ov_compiled_model_create_infer_request",
    "ov_compiled_model_free",
    "ov_compiled_model_get_property",
    "ov_compiled_model_input_by_index",
    "ov_compiled_model_inputs_size",
    "ov_compiled_model_output_by_index",
    "ov_compiled_model_outputs_size",
    "ov_core_compile_model_props",
    "ov_core_create",
    "ov_core_free",
    "ov_core_get_available_devices",
    "ov_core_get_property",
    "ov_core_read_model",
    "ov_free",
    "ov_get_last_err_msg",
    "ov_get_openvino_version",
    "ov_infer_request_free",
    "ov_infer_request_get_output_tensor_by_index",
    "ov_infer_request_get_profiling_info",
    "ov_infer_request_infer",
    "ov_infer_request_set_input_tensor_by_index",
    "ov_infer_request_set_output_tensor_by_index",
    "ov_model_const_input_by_index",
    "ov_model_free",
    "ov_model_inputs_size",
    "ov_model_is_dynamic",
    "ov_model_reshape",
    "ov_output_const_port_free",
    "ov_partial_shape_create_dynamic",
    "ov_partial_shape_free",
    "ov_port_get_any_name",
    "ov_port_get_element_type",
    "ov_port_get_partial_shape",
    "ov_profiling_info_list_free",
    "ov_shape_free",
    "ov_tensor_create",
    "ov_tensor_create_from_host_ptr",
    "ov_tensor_data",
    "ov_tensor_free",
    "ov_tensor_get_byte_size",
    "ov_tensor_get_shape",
    "ov_version_free",
];

/// Opens the library for good, and returns its version: "2026.4.1".
///
/// # Errors
/// `Unavailable` for what the loader refuses, what is not OpenVINO, and what is older than the functions used here.
pub(crate) fn open(path: &Path) -> Result<String> {
    let refuse = |reason: String| refused(path, &reason);
    for file in parts(path) {
        whole(&file).map_err(|reason| refuse(format!("{} {reason}", file.display())))?;
    }
    // SAFETY: the user named this library to be run in this process; whatever its constructors do, a worker is there to bear.
    let library = unsafe { load(path) }.map_err(|error| refuse(short(&said(&error))))?;
    let version = version(&library).map_err(&refuse)?;
    for name in NEEDED {
        // SAFETY: the symbol is only looked for.
        if unsafe { library.get::<unsafe extern "C" fn()>(name) }.is_err() {
            return Err(refuse(format!("it is OpenVINO {version}, which has no {name} yet: install a later one")));
        }
    }
    // A worker never unloads a vendor's library; `openvino-sys` opens it again and gets the same one.
    std::mem::forget(library);
    // It would panic on a version that it cannot parse, which `version` has done.
    openvino_sys::library::load_from(path).map_err(|text| refuse(short(&text)))?;
    Ok(version)
}

/// # Safety
/// The library's constructors run.
#[cfg(not(windows))]
unsafe fn load(path: &Path) -> Result<Library, libloading::Error> {
    // SAFETY: the caller answers for it.
    unsafe { Library::new(path) }
}

/// Windows looks for the libraries that this one needs beside it only if told to.
///
/// # Safety
/// The library's constructors run.
#[cfg(windows)]
unsafe fn load(path: &Path) -> Result<Library, libloading::Error> {
    use libloading::os::windows;
    // SAFETY: the caller answers for it.
    unsafe { windows::Library::load_with_flags(path, windows::LOAD_WITH_ALTERED_SEARCH_PATH) }.map(Library::from)
}

/// What the system's loader says: `libloading` keeps it behind its own words.
fn said(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

pub(crate) fn refused(path: &Path, reason: &str) -> Error {
    let text = format!(
        "OpenVINO cannot be used: {}: {reason}; `host runtime install openvino` installs one that can",
        path.display()
    );
    Error::unavailable(Why::RUNTIME, text)
}

/// "2026.4.1" of "2026.4.1-22982-e213a147257-releases/2026/4".
fn version(library: &Library) -> Result<String, String> {
    type Get = unsafe extern "C" fn(*mut ov_version_t) -> ov_status_e;
    type Free = unsafe extern "C" fn(*mut ov_version_t);
    let missing = |_| "it is a library, but not OpenVINO's C interface (no ov_get_openvino_version)".to_string();
    // SAFETY: the symbols have these types in every version of OpenVINO.
    let (get, free) = unsafe {
        let get = library.get::<Get>("ov_get_openvino_version").map_err(missing)?;
        (get, library.get::<Free>("ov_version_free").map_err(missing)?)
    };
    let mut found = ov_version_t { buildNumber: std::ptr::null(), description: std::ptr::null() };
    // SAFETY: the struct is writable; the text is read before it is freed, once.
    let text = unsafe {
        if get(&raw mut found) != ov_status_e::OK || found.buildNumber.is_null() {
            return Err("it does not tell its version".into());
        }
        let text = CStr::from_ptr(found.buildNumber).to_string_lossy().into_owned();
        free(&raw mut found);
        text
    };
    let number = text.split('-').next().unwrap_or_default();
    let parts: Vec<Option<u32>> = number.split('.').map(|part| part.parse().ok()).collect();
    match parts[..] {
        [Some(year), Some(release), ..] if (year, release) >= (2025, 1) => Ok(number.into()),
        _ => Err(format!("it is version {}; 2025.1 or later is needed", short(&text))),
    }
}

/// The library and those beside it that it will load.
fn parts(path: &Path) -> Vec<std::path::PathBuf> {
    let mut parts = vec![path.to_path_buf()];
    let ours = |name: &str| name.starts_with("libopenvino") || name.starts_with("libtbb");
    let entries = path.parent().and_then(|folder| folder.read_dir().ok()).into_iter().flatten().flatten();
    parts.extend(entries.filter(|entry| entry.file_name().to_str().is_some_and(ours)).map(|entry| entry.path()));
    parts
}

/// Whether a file that begins as an ELF library has its end too: the loader maps a cut one, and the process dies where it
/// touches what is missing. What cannot be read is left to the loader to complain about.
fn whole(path: &Path) -> Result<(), String> {
    let mut head = [0; 64];
    let Ok(mut file) = File::open(path) else { return Ok(()) };
    let Ok(length) = file.metadata().map(|about| about.len()) else { return Ok(()) };
    if file.read_exact(&mut head).is_err() || head[..6] != *b"\x7fELF\x02\x01" {
        return Ok(());
    }
    let number =
        |at: usize, bytes: usize| head[at..at + bytes].iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte));
    // e_shoff, e_shentsize, e_shnum: the table of sections stands at the end.
    let end = number(40, 8).saturating_add(number(58, 2) * number(60, 2));
    if end <= length {
        return Ok(());
    }
    Err(format!("is cut off: it has {length} bytes of at least {end}"))
}
