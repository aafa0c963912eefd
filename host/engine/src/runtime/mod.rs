//! What plugins need from outside: fetched with the machine's own pip or npm, pinned by version and hash, unpacked under the
//! user's data, `runtimes/PACKAGE/VERSION`, so that several versions live side by side.
//!
//! - `fetch`: the package clients; `unpack`: wheels, npm's archives and what is packed inside them.
//!
//! Not here: which plugin needs which package (the registry), and anything outside the user's data folder.

mod fetch;
mod unpack;

use crate::paths;
use crate::registry::{Need, Package, platform};
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
    #[error("{path}: {text}")]
    Io { path: PathBuf, text: String },
}

fn io(path: &Path) -> impl Fn(std::io::Error) -> RuntimeError + '_ {
    |error| RuntimeError::Io { path: path.into(), text: error.to_string() }
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

/// What goes into a plugin's option; `None` where the package is not installed.
pub fn path(need: &Need) -> Option<PathBuf> {
    let path = folder(&need.package).join(need.package.file()?.paths.get(&need.path)?);
    path.exists().then_some(path)
}

/// What goes into each option of a plugin, as far as it is installed; several paths with the separator of PATH between them.
pub fn options(needs: &[Need]) -> BTreeMap<String, String> {
    let mut paths: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for need in needs {
        if let Some(path) = path(need) {
            paths.entry(need.option.clone()).or_default().push(path);
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

/// Fetches a package, checks it and unpacks it. Says whether it was there already.
///
/// # Errors
/// What is missing, what the client said, a hash that is not the pinned one.
pub fn install(package: &Package) -> Result<bool, RuntimeError> {
    if is_installed(package) {
        return Ok(true);
    }
    let wanted = package.file().ok_or_else(|| RuntimeError::NoFile {
        package: package.name.clone(),
        version: package.version.clone(),
        platform: platform(),
    })?;
    let home = home(package);
    std::fs::create_dir_all(&home).map_err(io(&home))?;
    sweep(&home);
    let scratch = tempfile::Builder::new().prefix(SCRATCH).tempdir_in(&home).map_err(io(&home))?;
    let archive = fetch::download(package, wanted, scratch.path())?;
    fetch::check(&archive, &wanted.hash)?;
    let unpacked = scratch.path().join("unpacked");
    unpack::archive(&archive, &unpacked)?;
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

/// Removes an installed version of a package; says whether there was one. Only what stands among its versions is removed,
/// whatever a name may look like.
///
/// # Errors
/// The folder cannot be removed.
pub fn remove(package: &Package) -> Result<bool, RuntimeError> {
    let target = folder(package);
    let is_version = |entry: &std::fs::DirEntry| *entry.file_name() == *package.version && entry.path().is_dir();
    if !std::fs::read_dir(home(package)).into_iter().flatten().flatten().any(|entry| is_version(&entry)) {
        return Ok(false);
    }
    std::fs::remove_dir_all(&target).map_err(io(&target))?;
    Ok(true)
}

/// What an interrupted installation left behind.
fn sweep(home: &Path) {
    const OLD: std::time::Duration = std::time::Duration::from_secs(3600);
    for entry in std::fs::read_dir(home).into_iter().flatten().flatten() {
        let old =
            entry.metadata().and_then(|data| data.modified()).is_ok_and(|at| at.elapsed().is_ok_and(|age| age > OLD));
        if old && entry.file_name().to_string_lossy().starts_with(SCRATCH) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

const SCRATCH: &str = ".installing-";

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
