//! What some providers ask of the process they run in: variables of its environment, and libraries that are loaded before
//! they look for them by name.

use crate::errors::loader_words;
use libloading::Library;
use std::ffi::OsStr;
use std::path::Path;

/// Sets a variable that a vendor's library reads when it is loaded, and nobody else here does. To be called from `open` only.
pub fn set_variable(name: &str, value: impl AsRef<OsStr>) {
    // SAFETY: `open` runs on the worker's control thread. Its other threads watch a pipe and read no variables, and engines,
    // which do, are not loaded yet or have not started theirs.
    unsafe { std::env::set_var(name, value) }
}

/// Loads a library for good, so that later look-ups of its name find this one.
///
/// # Errors
/// The loader's text, shortened.
pub fn preload(library: &Path) -> Result<(), String> {
    // SAFETY: the user or the registry named this library to be run in this process; a worker is there to bear what it does.
    let loaded = unsafe { Library::new(library) };
    loaded.map(std::mem::forget).map_err(|error| loader_words(&error))
}
