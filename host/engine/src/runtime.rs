//! What plugins need from outside: fetched with the machine's own pip, pinned by version and hash, unpacked under the user's data.

use crate::environment::sha256;
use crate::paths;
use crate::registry::{RuntimeFile, RuntimeSpec, platform};
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    #[error(
        "{package} {version} is not published for this platform, {platform}: install it yourself and set the plugin's `library` option"
    )]
    NoFile { package: String, version: String, platform: String },
    #[error(
        "neither python3 nor python with pip was found; install Python with pip, or set the plugin's `library` option to a library you have"
    )]
    NoPip,
    #[error("pip could not fetch {what}: {text}")]
    Pip { what: String, text: String },
    #[error("{file} has sha256 {found}, the registry pins {pinned}: refused")]
    Hash { file: String, found: String, pinned: String },
    #[error("{path}: {text}")]
    Io { path: PathBuf, text: String },
}

fn io(path: &Path) -> impl Fn(std::io::Error) -> RuntimeError + '_ {
    |error| RuntimeError::Io { path: path.into(), text: error.to_string() }
}

fn folder(plugin: &str, spec: &RuntimeSpec) -> PathBuf {
    paths::data().join("runtimes").join(plugin).join(&spec.version)
}

fn file(spec: &RuntimeSpec) -> Option<&RuntimeFile> {
    spec.files.get(&platform())
}

/// The installed library of a plugin's runtime; `None` where it is not installed.
pub fn installed(plugin: &str, spec: &RuntimeSpec) -> Option<PathBuf> {
    let library = folder(plugin, spec).join(&file(spec)?.library);
    library.is_file().then_some(library)
}

/// How large the installed runtime is, in bytes.
pub fn size(plugin: &str, spec: &RuntimeSpec) -> u64 {
    fn of(path: &Path) -> u64 {
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        entries.map(|e| if e.path().is_dir() { of(&e.path()) } else { e.metadata().map_or(0, |m| m.len()) }).sum()
    }
    of(&folder(plugin, spec))
}

/// Fetches a runtime, checks it and unpacks it. Returns the library, and whether it was there already.
///
/// # Errors
/// What is missing, what pip said, a hash that is not the pinned one.
pub fn install(plugin: &str, spec: &RuntimeSpec) -> Result<(PathBuf, bool), RuntimeError> {
    if let Some(library) = installed(plugin, spec) {
        return Ok((library, true));
    }
    let wanted = file(spec).ok_or_else(|| RuntimeError::NoFile {
        package: spec.pypi.clone(),
        version: spec.version.clone(),
        platform: platform(),
    })?;
    let target = folder(plugin, spec);
    let parent = target.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent).map_err(io(parent))?;
    let scratch = tempfile::Builder::new().prefix(".installing-").tempdir_in(parent).map_err(io(parent))?;
    let wheel = download(spec, wanted, scratch.path())?;
    let found = sha256(&wheel).map_err(io(&wheel))?;
    if found != wanted.sha256 {
        let file = wheel.file_name().unwrap_or_default().to_string_lossy().into_owned();
        return Err(RuntimeError::Hash { file, found, pinned: wanted.sha256.clone() });
    }
    let unpacked = scratch.path().join("unpacked");
    unpack(&wheel, &unpacked)?;
    match std::fs::rename(&unpacked, &target) {
        Ok(()) => {}
        // Another process was faster.
        Err(_) if installed(plugin, spec).is_some() => {}
        Err(error) => return Err(io(&target)(error)),
    }
    let missing = || RuntimeError::Io { path: target.join(&wanted.library), text: "is not in the package".into() };
    installed(plugin, spec).map(|library| (library, false)).ok_or_else(missing)
}

/// Removes an installed runtime; says whether there was one.
///
/// # Errors
/// The folder cannot be removed.
pub fn remove(plugin: &str, spec: &RuntimeSpec) -> Result<bool, RuntimeError> {
    let target = folder(plugin, spec);
    if !target.exists() {
        return Ok(false);
    }
    std::fs::remove_dir_all(&target).map_err(io(&target))?;
    Ok(true)
}

/// The package's file for this platform, whatever Python it is that has pip: the tag is pinned with the hash.
fn download(spec: &RuntimeSpec, wanted: &RuntimeFile, into: &Path) -> Result<PathBuf, RuntimeError> {
    let what = format!("{}=={}", spec.pypi, spec.version);
    let tag: Vec<&str> = wanted.tag.splitn(3, '-').collect();
    let [python, abi, platforms] = tag[..] else {
        return Err(RuntimeError::Pip { what, text: format!("'{}' is not a wheel's tag", wanted.tag) });
    };
    let version = python.trim_start_matches("cp");
    let version = version.split_at_checked(1).map_or(version.to_string(), |(major, minor)| format!("{major}.{minor}"));
    for interpreter in ["python3", "python"] {
        let mut command = Command::new(interpreter);
        command.args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--no-cache-dir"]);
        command.args(["--implementation", "cp", "--python-version", &version, "--abi", abi]);
        platforms.split('.').for_each(|platform| {
            command.args(["--platform", platform]);
        });
        command.arg("--dest").arg(into).arg(&what);
        let Ok(output) = command.output() else { continue };
        if output.status.success() {
            let files = std::fs::read_dir(into).map_err(io(into))?.flatten().map(|entry| entry.path());
            let wheel = files.into_iter().find(|path| path.extension().is_some_and(|extension| extension == "whl"));
            return wheel.ok_or_else(|| RuntimeError::Pip { what, text: "it ended well and left no wheel".into() });
        }
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        if text.contains("No module named pip") {
            continue;
        }
        let lines: Vec<&str> = text.lines().filter(|line| line.contains("ERROR")).collect();
        let text = if lines.is_empty() { text.trim().to_string() } else { lines.join("; ") };
        return Err(RuntimeError::Pip { what, text });
    }
    Err(RuntimeError::NoPip)
}

fn unpack(wheel: &Path, into: &Path) -> Result<(), RuntimeError> {
    let broken = |error: zip::result::ZipError| RuntimeError::Io { path: wheel.into(), text: error.to_string() };
    let file = std::fs::File::open(wheel).map_err(io(wheel))?;
    zip::ZipArchive::new(file).map_err(broken)?.extract(into).map_err(broken)
}
