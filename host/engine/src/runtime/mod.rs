//! What plugins need from outside: fetched with the machine's own pip or npm, or carried to it in pieces; pinned by version and
//! hash, unpacked under the user's data, `runtimes/PACKAGE/VERSION`, so that several versions live side by side.
//!
//! - `fetch`: the package clients; `unpack`: wheels, npm's archives and what is packed inside them; `kept`: the files of a
//!   package that are needed, and their hash;
//! - `pack` writes a package in pieces, described by a `manifest`; `carried` installs from a folder with them;
//! - `machine`: what the machine has of itself.
//!
//! Not here: which plugin needs which package (the registry). Nothing is written outside the user's data folder and the one
//! that `pack` is given.

mod carried;
mod fetch;
mod kept;
mod machine;
mod manifest;
mod pack;
mod unpack;

pub use carried::{Carried, Waiting, install_from, is_carried, waiting};
pub use machine::{OnThisMachine, on_machine};
pub use manifest::{Manifest, Piece};
pub use pack::pack;

use crate::registry::{Need, Package, PackageFile, platform};
use kept::KeptFile;
use skillbench_record::paths;
use skillbench_record::scratch::Scratch;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    #[error(
        "{package} {version} is not published for this platform, {platform}: install it yourself and set the plugin's options to it"
    )]
    NoFile { package: String, version: String, platform: String },
    #[error("{client} was not found: install it, or set the plugin's options to what you have yourself")]
    NoClient { client: &'static str },
    #[error("{client} could not fetch {what}: {text}")]
    Client { client: &'static str, what: String, text: String },
    #[error("{file} has {found}, the registry pins {pinned}: refused")]
    Hash { file: String, found: String, pinned: String },
    #[error(
        "neither {folder} nor this machine has {package}: where there is a network, run `host runtime pack {package} -o DIR`, \
         and carry DIR here"
    )]
    NotCarried { package: String, folder: PathBuf },
    #[error(
        "{folder} has {package} {found}, and this host needs {pinned}: pack it with the registry of this host, and carry it"
    )]
    OtherVersion { package: String, found: String, pinned: String, folder: PathBuf },
    #[error(
        "{package} {version} is not installed: {} of its {total} pieces are not in {folder}: {}: carry them there, or a few at \
         a time with --partial",
        missing.len(),
        first_of(missing)
    )]
    MissingPieces { package: String, version: String, missing: Vec<String>, total: usize, folder: PathBuf },
    #[error("{piece}: {text}: carry it again")]
    BrokenPiece { piece: PathBuf, text: String },
    #[error("{file}: {text}")]
    Manifest { file: PathBuf, text: String },
    #[error("{package} has {} MB, more than {most} pieces of that size: choose a larger --piece-size", size.div_ceil(1_000_000))]
    TooManyPieces { package: String, size: u64, most: u64 },
    #[error("{path}: the disk is full: make room there, and call again")]
    Full { path: PathBuf },
    #[error("{folder}: {} MB are needed there, and {} MB are free", needed.div_ceil(1_000_000), free / 1_000_000)]
    NoRoom { folder: PathBuf, needed: u64, free: u64 },
    #[error("{path}: {text}")]
    Io { path: PathBuf, text: String },
}

/// The first ones of many names.
pub fn first_of(names: &[String]) -> String {
    const SHOWN: usize = 10;
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN { format!("{shown} and {} more", names.len() - SHOWN) } else { shown }
}

fn io(path: &Path) -> impl Fn(std::io::Error) -> RuntimeError + '_ {
    |error| match error.kind() {
        std::io::ErrorKind::StorageFull => RuntimeError::Full { path: path.into() },
        _ => RuntimeError::Io { path: path.into(), text: error.to_string() },
    }
}

fn home(package: &Package) -> PathBuf {
    paths::data().join("runtimes").join(&package.name)
}

/// Where a package is, or would be.
pub fn folder(package: &Package) -> PathBuf {
    home(package).join(&package.version)
}

/// Whether a package is there, whole.
pub fn is_installed(package: &Package) -> bool {
    let there = |path: &String| folder(package).join(path).exists();
    package.file().is_some_and(|file| file.paths.values().all(there)) && folder(package).is_dir()
}

/// What goes into a plugin's option: of the installed package, else what the machine has in its place; `None` where neither is.
pub fn path(need: &Need) -> Option<PathBuf> {
    let within = need.package.file()?.paths.get(&need.path)?;
    let path = folder(&need.package).join(within);
    if path.exists() {
        return Some(path);
    }
    let found = on_machine(&need.package)?;
    Some(if found.whole { found.folder.join(within) } else { found.folder })
}

/// What goes into each option of a plugin, as far as it is installed; several paths with the separator of PATH between them.
pub fn options(needs: &[Need]) -> BTreeMap<String, String> {
    let mut paths: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for need in needs {
        if let Some(path) = path(need) {
            let all = paths.entry(need.option.clone()).or_default();
            if !all.contains(&path) {
                all.push(path);
            }
        }
    }
    let join = |paths: &Vec<PathBuf>| std::env::join_paths(paths).ok()?.into_string().ok();
    paths.iter().filter_map(|(option, paths)| Some((option.clone(), join(paths)?))).collect()
}

/// How large a folder is, in bytes.
pub fn size(path: &Path) -> u64 {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let one = |entry: std::fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => size(&entry.path()),
        Ok(kind) if kind.is_file() => entry.metadata().map_or(0, |data| data.len()),
        _ => 0,
    };
    entries.map(one).sum()
}

/// Other versions of a package that are there, with their folders.
pub fn other_versions(package: &Package) -> Vec<(String, PathBuf)> {
    let entries = std::fs::read_dir(home(package)).into_iter().flatten().flatten();
    let versions = entries.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()));
    let mut others: Vec<_> =
        versions.filter(|(version, _)| !version.starts_with('.') && *version != package.version).collect();
    others.sort();
    others
}

/// The versions of a package that are there.
pub fn versions(package: &Package) -> Vec<String> {
    let own = is_installed(package).then(|| package.version.clone());
    own.into_iter().chain(other_versions(package).into_iter().map(|(version, _)| version)).collect()
}

/// The same need at another version of its package; `None`: that is not here. Libraries have their version in their names.
pub fn at_version(need: &Need, version: &str) -> Option<Need> {
    let mut other = need.clone();
    other.package.version = version.into();
    for file in other.package.files.values_mut() {
        file.paths.values_mut().for_each(|path| *path = path.replace(&need.package.version, version));
    }
    let path = folder(&other.package).join(other.package.file()?.paths.get(&other.path)?);
    path.exists().then_some(other)
}

/// Fetches a package, checks it and unpacks it. Says whether it was there already.
///
/// # Errors
/// What is missing, what the client said, a hash that is not the pinned one.
pub fn install(package: &Package) -> Result<bool, RuntimeError> {
    if is_installed(package) {
        return Ok(true);
    }
    let wanted = wanted_file(package)?;
    let scratch = scratch(package)?;
    let archive = fetch::download(package, wanted, scratch.path())?;
    fetch::check(&archive, &wanted.hash)?;
    place(package, wanted, &archive, None, scratch.path())
}

/// The file of a package for this platform.
fn wanted_file(package: &Package) -> Result<&PackageFile, RuntimeError> {
    package.file().ok_or_else(|| RuntimeError::NoFile {
        package: package.name.clone(),
        version: package.version.clone(),
        platform: platform(),
    })
}

/// A folder to work in, on the file system that the package will be on.
fn scratch(package: &Package) -> Result<Scratch, RuntimeError> {
    let home = home(package);
    Scratch::in_folder(&home).map_err(io(&home))
}

/// Unpacks a checked archive, and puts it where it is looked for. Says whether another process did so before.
fn place(
    package: &Package,
    wanted: &PackageFile,
    archive: &Path,
    listed: Option<&[KeptFile]>,
    scratch: &Path,
) -> Result<bool, RuntimeError> {
    let unpacked = scratch.join("unpacked");
    if listed.is_none() {
        room(scratch, unpack::size(archive, wanted.keep.as_ref())?)?;
    }
    unpack::archive(archive, wanted.keep.as_ref(), listed, &unpacked)?;
    if let Some(keep) = &wanted.keep {
        kept::check(package, keep, &kept::files(&unpacked)?)?;
    }
    for inner in &wanted.unpack {
        unpack::brotli(&unpacked.join(inner))?;
    }
    if let Some(missing) = wanted.paths.values().find(|path| !unpacked.join(path).exists()) {
        return Err(RuntimeError::Io { path: folder(package).join(missing), text: "is not in the package".into() });
    }
    let target = folder(package);
    if target.exists() && !is_installed(package) {
        // What an older host left there, or half of it was removed by hand.
        std::fs::remove_dir_all(&target).map_err(io(&target))?;
    }
    match std::fs::rename(&unpacked, &target) {
        Ok(()) => Ok(false),
        // Another process was faster.
        Err(_) if is_installed(package) => Ok(true),
        Err(error) => Err(io(&target)(error)),
    }
}

/// Refuses to write so many bytes where there is no room for them, before the first one: a full disk harms others too.
#[cfg(unix)]
fn room(folder: &Path, needed: u64) -> Result<(), RuntimeError> {
    let Ok(system) = rustix::fs::statvfs(folder) else { return Ok(()) };
    let free = system.f_bavail.saturating_mul(system.f_frsize);
    if needed <= free { Ok(()) } else { Err(RuntimeError::NoRoom { folder: folder.into(), needed, free }) }
}

#[cfg(not(unix))]
fn room(_folder: &Path, _needed: u64) -> Result<(), RuntimeError> {
    Ok(())
}

/// Removes an installed version of a package; says whether there was one. Only what stands among its versions is removed,
/// whatever a name may look like.
///
/// # Errors
/// The folder cannot be removed.
pub fn remove(package: &Package) -> Result<bool, RuntimeError> {
    let target = folder(package);
    let is_version = |entry: &std::fs::DirEntry| *entry.file_name() == *package.version && entry.path().is_dir();
    let forgot = carried::forget(package)?;
    if !std::fs::read_dir(home(package)).into_iter().flatten().flatten().any(|entry| is_version(&entry)) {
        return Ok(forgot);
    }
    std::fs::remove_dir_all(&target).map_err(io(&target))?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Source;

    #[test]
    fn only_a_version_of_the_package_can_be_removed() {
        let victim = tempfile::tempdir().unwrap();
        let package = |version: &str| Package {
            name: "never-installed".into(),
            source: Source::PyPi("x".into()),
            version: version.into(),
            files: BTreeMap::new(),
            origin: crate::registry::Origin { file: PathBuf::new(), line: 1 },
        };
        for version in [victim.path().to_str().unwrap(), "../..", "..", ".", ""] {
            assert!(!remove(&package(version)).unwrap(), "'{version}' is no version");
        }
        assert!(victim.path().is_dir());
    }
}
