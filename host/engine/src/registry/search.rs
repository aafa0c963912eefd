//! Finding libraries: by name in the search paths, and loose ones that no entry names.

use super::entry::{Entry, LibraryName};
use std::path::{Path, PathBuf};

/// "linux-x86_64", "macos-aarch64", ...
pub fn platform() -> String {
    format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH)
}

/// `skillbench_rten` as this platform names the file: `libskillbench_rten.so`.
pub fn library_file_name(name: &str) -> String {
    format!("{}{name}{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX)
}

/// What became of looking for a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lookup {
    pub result: Found,
    /// Every path that was tried, in order.
    pub tried: Vec<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    At(PathBuf),
    Missing,
    /// The machine has none of the hardware that the entry asks for.
    NoMatch(String),
}

impl Lookup {
    pub fn found(&self) -> Option<&PathBuf> {
        match &self.result {
            Found::At(path) => Some(path),
            _ => None,
        }
    }

    /// Why there is no library, in one sentence.
    pub fn why_not(&self) -> String {
        match &self.result {
            Found::At(path) => format!("found at {}", path.display()),
            Found::NoMatch(reason) => reason.clone(),
            Found::Missing => {
                let tried: Vec<String> = self.tried.iter().map(|path| path.display().to_string()).collect();
                format!("the library is not there; tried {}", tried.join(", "))
            }
        }
    }
}

pub(super) fn find(entry: &Entry, search: &[PathBuf]) -> Lookup {
    if let Some(reason) = no_match(&entry.pci_vendors) {
        return Lookup { result: Found::NoMatch(reason), tried: vec![] };
    }
    let tried: Vec<PathBuf> = match &entry.library {
        LibraryName::Path(path) => vec![path.clone()],
        LibraryName::Bare(name) => {
            let beside = entry.origin.file.parent().map(Path::to_path_buf);
            let file = library_file_name(name);
            let mut tried: Vec<PathBuf> = search.iter().cloned().chain(beside).map(|dir| dir.join(&file)).collect();
            let mut seen = std::collections::HashSet::new();
            tried.retain(|path| seen.insert(path.clone()));
            tried
        }
    };
    let there = tried.iter().find(|path| path.is_file());
    let result = there.map_or(Found::Missing, |path| Found::At(std::fs::canonicalize(path).unwrap_or(path.clone())));
    Lookup { result, tried }
}

/// Why none of these PCI vendors is there; `None` where one is, or none is asked for.
fn no_match(vendors: &[String]) -> Option<String> {
    if vendors.is_empty() {
        return None;
    }
    let folder = Path::new("/sys/bus/pci/devices");
    let Ok(devices) = std::fs::read_dir(folder) else {
        return Some(format!(
            "needs a PCI device of vendor {}, and {} cannot be read",
            vendors.join(" or "),
            folder.display()
        ));
    };
    let read = |device: std::fs::DirEntry| std::fs::read_to_string(device.path().join("vendor")).ok();
    let present: Vec<String> =
        devices.flatten().filter_map(read).map(|v| v.trim().trim_start_matches("0x").to_lowercase()).collect();
    match vendors.iter().any(|vendor| present.contains(vendor)) {
        true => None,
        false => Some(format!("no PCI device of vendor {} is in this machine", vendors.join(" or "))),
    }
}

/// Dynamic libraries in a folder, by name. Beside the executable, where other libraries may lie, only ours by name count.
///
/// # Errors
/// The folder cannot be read.
pub fn libraries_in(folder: &Path, ours_only: bool) -> std::io::Result<Vec<PathBuf>> {
    let ours = library_file_name("skillbench_");
    let ours = ours.trim_end_matches(std::env::consts::DLL_SUFFIX);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)?.flatten().map(|file| file.path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == std::env::consts::DLL_EXTENSION) && path.is_file());
    files.retain(|path| !ours_only || path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(ours)));
    files.sort();
    Ok(files)
}

/// What is named like a library in a folder and is none, with what it is.
pub(super) fn odd_libraries(folder: &Path) -> Vec<(PathBuf, String)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let named = entries.filter(|path| path.extension().is_some_and(|end| end == std::env::consts::DLL_EXTENSION));
    let odd = |path: PathBuf| match std::fs::metadata(&path) {
        Ok(data) if data.is_file() => None,
        Ok(data) if data.is_dir() => Some((path, "it is a folder".into())),
        Ok(_) => Some((path, "it is no regular file, but a pipe, a socket or a device".into())),
        Err(error) => Some((path, error.to_string())),
    };
    let mut found: Vec<(PathBuf, String)> = named.filter_map(odd).collect();
    found.sort();
    found
}

/// Dynamic libraries in the search paths.
pub(super) fn loose_libraries(search: &[PathBuf]) -> Vec<PathBuf> {
    let beside = super::sources::beside_executable();
    let of = |folder: &PathBuf| libraries_in(folder, beside.as_ref() == Some(folder)).unwrap_or_default();
    search.iter().flat_map(of).collect()
}
