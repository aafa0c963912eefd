//! Loading a plugin's library, through both doors. The only `unsafe` of the engine, and only workers call it.

use abi_stable::library::{LibraryError, ROOT_MODULE_LOADER_NAME_WITH_NUL, lib_header_from_path};
use skillbench_plugin_api::client::Plugin;
use skillbench_plugin_api::door::{RootRef, short_error};
use skillbench_plugin_api::raw::sb_plugin;
use std::path::Path;

/// Which way a plugin was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Door {
    /// The exported C symbol.
    C,
    /// The `abi_stable` root module, which leads to the same table.
    AbiStable,
}

/// Why a library is not a plugin.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("{0}")]
    Open(String),
    #[error("exports no symbol `skillbench_plugin`: is it a skillbench plugin, built with default visibility for it?")]
    NoSymbol,
    #[error("its abi_stable root module does not match this host's: {0}")]
    ForeignRoot(String),
    #[error("its two doors lead to different tables")]
    TwoTables,
    #[error("{0}")]
    Table(#[from] skillbench_plugin_api::Error),
}

/// Opens a library and finds its plugin. The library stays loaded until the process ends.
pub fn load(path: &Path) -> Result<(Plugin, Door), LoadError> {
    if let Some(missing) = elf_bytes_missing(path) {
        return Err(LoadError::Open(format!(
            "cannot be opened: the file is truncated, {missing} bytes are missing at its end"
        )));
    }
    // SAFETY: opening a library runs its constructors; that is why only a worker does it, which can be lost.
    let library = unsafe { libloading::Library::new(path) }.map_err(|error| LoadError::Open(opening(path, &error)))?;
    let library: &'static libloading::Library = Box::leak(Box::new(library));

    // SAFETY: only the address of the symbol is taken; Plugin::new reads it as the contract says.
    let symbol = unsafe { library.get::<*const sb_plugin>(b"skillbench_plugin\0") };
    // A data symbol: its address is the table, so what libloading calls the value is a pointer to look through.
    // SAFETY: the address outlives the symbol, since the library is leaked.
    let address = symbol.ok().and_then(|symbol| unsafe { symbol.try_as_raw_ptr() });
    let direct = address.map(|address| address.cast::<sb_plugin>().cast_const());

    // SAFETY: only asks whether the symbol exists.
    let has_door = unsafe { library.get::<*const ()>(ROOT_MODULE_LOADER_NAME_WITH_NUL.as_bytes()) }.is_ok();
    let (table, door) = match has_door {
        true => (through_root(path)?, Door::AbiStable),
        false => (direct.ok_or(LoadError::NoSymbol)?, Door::C),
    };
    match direct {
        None => return Err(LoadError::NoSymbol),
        Some(direct) if direct != table => return Err(LoadError::TwoTables),
        Some(_) => {}
    }
    // SAFETY: the symbol of a library that is never unloaded.
    Ok((unsafe { Plugin::new(table) }?, door))
}

/// The table behind the `abi_stable` door, after its own layout check.
fn through_root(path: &Path) -> Result<*const sb_plugin, LoadError> {
    let foreign = |error: LibraryError| LoadError::ForeignRoot(short_error(&error));
    // `load_from_file` would keep one library for each type; the header is asked for by path.
    let root = lib_header_from_path(path).map_err(foreign)?.init_root_module::<RootRef>().map_err(foreign)?;
    Ok((&raw const *root.table().get()).cast())
}

/// The loader's text with a hint for the common causes.
fn opening(path: &Path, error: &libloading::Error) -> String {
    let text = std::error::Error::source(error).map_or_else(|| error.to_string(), |source| source.to_string());
    let start = std::fs::File::open(path).and_then(|mut file| {
        let mut bytes = [0; 4];
        std::io::Read::read(&mut file, &mut bytes).map(|n| bytes[..n].to_vec())
    });
    let hint = match start {
        Ok(bytes) if bytes.is_empty() => " (the file is empty)",
        Ok(bytes) if !cfg!(target_os = "linux") || bytes == b"\x7fELF" => "",
        Ok(_) => " (the file is not a shared library of this platform)",
        Err(_) => "",
    };
    format!("cannot be opened: {text}{hint}")
}

/// How many bytes an ELF file lacks at its end. The system's loader does not ask: it maps what is not there, and the process dies of it.
fn elf_bytes_missing(path: &Path) -> Option<u64> {
    let bytes = std::fs::read(path).ok()?;
    let wide = bytes.get(..5)? == b"\x7fELF\x02";
    let number = |at: usize, length: usize| {
        let field = bytes.get(at..at.checked_add(length)?)?;
        Some(field.iter().rev().fold(0u64, |all, byte| all << 8 | u64::from(*byte)))
    };
    if !wide {
        return None;
    }
    // ELF64, little-endian: segments from e_phoff, e_phentsize bytes each, e_phnum of them; p_offset and p_filesz in each.
    let (table, size, count) = (number(0x20, 8)?, number(0x36, 2)?, number(0x38, 2)?);
    let ends = (0..count).map(|index| {
        let at = usize::try_from(table.checked_add(index * size)?).ok()?;
        number(at + 0x08, 8)?.checked_add(number(at + 0x20, 8)?)
    });
    // A table that is itself cut off counts as one byte too few.
    let needed = ends.map(|end| end.unwrap_or(bytes.len() as u64 + 1)).max()?;
    needed.checked_sub(bytes.len() as u64).filter(|missing| *missing > 0)
}
