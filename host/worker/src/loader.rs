//! Loading a plugin's library, through either door, and what the C library alone tells of a process that has loaded one
//! (`c_library`). The only `unsafe` of the engine, and only workers call it.

pub(crate) mod c_library;

use skillbench_plugin_api::client::Plugin;
use skillbench_plugin_api::raw::sb_plugin;
use skillbench_plugin_stable::host as stable;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Which way a plugin was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Entry {
    /// The exported C symbol.
    C,
    /// The `abi_stable` root module.
    AbiStable,
}

impl Entry {
    /// As people are shown it.
    pub fn name(self) -> &'static str {
        match self {
            Entry::C => "C table",
            Entry::AbiStable => "abi_stable root module",
        }
    }
}

/// Why a library is not a plugin.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("{0}")]
    Open(String),
    #[error(
        "exports neither `skillbench_plugin` nor an abi_stable root module: is it a skillbench plugin, built with default visibility?"
    )]
    NoSymbol,
    #[error("{0}")]
    Root(#[from] stable::Refusal),
    #[error("{0}")]
    Table(#[from] skillbench_plugin_api::Error),
}

/// Opens a library and finds its plugin: behind the C symbol, and in a library without it behind the `abi_stable` root module. The
/// library stays loaded until the process ends.
pub fn load(path: &Path) -> Result<(Plugin, Entry), LoadError> {
    // SAFETY: opening a library runs its constructors; that is why only a worker does it, which can be lost.
    let library = unsafe { libloading::Library::new(path) }.map_err(|error| LoadError::Open(opening(path, &error)))?;
    let library: &'static libloading::Library = Box::leak(Box::new(library));

    // SAFETY: only the address of the symbol is taken; Plugin::new reads it as the contract says.
    let symbol = unsafe { library.get::<*const sb_plugin>(b"skillbench_plugin\0") };
    // A data symbol: its address is the table, so what libloading calls the value is a pointer to look through.
    // SAFETY: the address outlives the symbol, since the library is leaked.
    if let Some(table) = symbol.ok().and_then(|symbol| unsafe { symbol.try_as_raw_ptr() }) {
        // SAFETY: the symbol of a library that is never unloaded.
        return Ok((unsafe { Plugin::new(table.cast::<sb_plugin>().cast_const()) }?, Entry::C));
    }
    // SAFETY: abi_stable alone exports this name, and the header behind it begins the same in every version.
    let header = unsafe { library.get::<stable::AbiHeaderRef>(stable::SYMBOL) }.map_err(|_| LoadError::NoSymbol)?;
    Ok((stable::plugin(*header)?, Entry::AbiStable))
}

/// The loader's text with a hint for the common causes.
fn opening(path: &Path, error: &libloading::Error) -> String {
    let text = std::error::Error::source(error).map_or_else(|| error.to_string(), |source| source.to_string());
    let start = std::fs::File::open(path).and_then(|mut file| {
        let mut bytes = [0; 4];
        std::io::Read::read(&mut file, &mut bytes).map(|n| bytes[..n].to_vec())
    });
    let hint = match start {
        Ok(bytes) if bytes.is_empty() => " (the file is empty)".into(),
        Ok(bytes) if cfg!(target_os = "linux") && bytes == b"\x7fELF" => match machine_of(path) {
            // The loader's own text is "no such file", since it goes on looking for one that fits.
            Some(machine) if machine != std::env::consts::ARCH => {
                return format!(
                    "cannot be opened: it is built for {machine}, and this host for {}",
                    std::env::consts::ARCH
                );
            }
            _ => String::new(),
        },
        Ok(_) if cfg!(target_os = "linux") => " (the file is not a shared library of this platform)".into(),
        _ => String::new(),
    };
    format!("cannot be opened: {text}{hint}")
}

/// The processor that an ELF file is built for, as this language names it; else its number. `None`: the file is cut off.
fn machine_of(path: &Path) -> Option<String> {
    const NAMES: [(u16, &str); 7] =
        [(3, "x86"), (21, "powerpc64"), (22, "s390x"), (40, "arm"), (62, "x86_64"), (183, "aarch64"), (243, "riscv64")];
    let mut header = [0; 20];
    std::fs::File::open(path).ok()?.read_exact(&mut header).ok()?;
    let bytes = [header[18], header[19]];
    // The sixth byte says in which order the others are.
    let machine = if header[5] == 2 { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) };
    let name = NAMES.iter().find(|(number, _)| *number == machine).map(|(_, name)| name.to_string());
    Some(name.unwrap_or_else(|| format!("ELF machine {machine}")))
}

/// Whether a library's file is whole. The system's loader does not ask: it maps what is not there, and the process dies of it.
/// Asked when a library is described, not when it is timed.
///
/// # Errors
/// How many bytes are missing.
pub fn check_whole(path: &Path) -> Result<(), LoadError> {
    match elf_bytes_missing(path) {
        Some(missing) => Err(LoadError::Open(format!(
            "cannot be opened: the file is truncated, {missing} bytes are missing at its end"
        ))),
        None => Ok(()),
    }
}

/// How many bytes an ELF file lacks at its end; `None` for a whole one, and for other formats.
fn elf_bytes_missing(path: &Path) -> Option<u64> {
    let mut file = std::fs::File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    let mut header = [0; 64];
    file.read_exact(&mut header).ok()?;
    if &header[..5] != b"\x7fELF\x02" {
        return None;
    }
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |all, byte| all << 8 | u64::from(*byte));
    // ELF64, little-endian: segments from e_phoff, e_phentsize bytes each, e_phnum of them; p_offset and p_filesz in each.
    let (table, size, count) = (number(&header[0x20..0x28]), number(&header[0x36..0x38]), number(&header[0x38..0x3A]));
    let mut segments = vec![0; usize::try_from(size * count).ok()?];
    file.seek(SeekFrom::Start(table)).ok()?;
    if file.read_exact(&mut segments).is_err() {
        return Some((table + size * count).saturating_sub(length).max(1));
    }
    let end = |segment: &[u8]| number(&segment[0x08..0x10]).saturating_add(number(&segment[0x20..0x28]));
    let whole = segments.chunks_exact((size as usize).max(1)).filter(|segment| segment.len() >= 0x38);
    whole.map(end).max()?.checked_sub(length).filter(|missing| *missing > 0)
}
