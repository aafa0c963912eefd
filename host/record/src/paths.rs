//! Where a user's files are: data (runtimes, plugins), cache (models, descriptions), configuration. The one reader of the environment
//! for paths that a program is trusted by.
//!
//! Without a home there are no user folders: data and configuration lie [`NOWHERE`], and the cache is a private folder for this process.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A folder that cannot be, for nobody: reading finds nothing, writing fails and names what to set.
pub const NOWHERE: &str = "/dev/null/HOME-is-not-set";

/// A variable of the environment. Where the system started this program with more rights than its caller has (set-user-ID, file
/// capabilities), the caller's environment counts for nothing. Plain root is no such case: containers and CI run as root.
pub fn variable(name: &str) -> Option<OsString> {
    if has_more_rights_than_its_caller() {
        return None;
    }
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// `AT_SECURE` of the auxiliary vector, as the kernel set it.
fn has_more_rights_than_its_caller() -> bool {
    static SECURE: OnceLock<bool> = OnceLock::new();
    *SECURE.get_or_init(|| {
        const AT_SECURE: usize = 23;
        const WORD: usize = size_of::<usize>();
        let vector = std::fs::read("/proc/self/auxv").unwrap_or_default();
        let (words, _) = vector.as_chunks::<WORD>();
        let (pairs, _) = words.as_chunks::<2>();
        pairs.iter().any(|pair| pair.map(usize::from_ne_bytes)[0] == AT_SECURE && pair[1] != [0; WORD])
    })
}

/// `None` where the environment names none, or one that depends on the current folder.
fn home() -> Option<PathBuf> {
    let home = variable("HOME").or_else(|| variable("USERPROFILE")).map(PathBuf::from);
    home.filter(|home| home.is_absolute())
}

/// Whether there are user folders at all.
pub fn has_home() -> bool {
    home().is_some()
}

/// `$OWN`, else `$XDG/skillbench`, else `~/DEFAULT/skillbench`. A relative `$OWN` is taken from the current folder; a relative `$XDG`
/// counts for nothing, as its specification says.
fn folder(own: &str, xdg: &str, default: &str) -> Option<PathBuf> {
    let own = variable(own).map(|set| std::path::absolute(&set).unwrap_or(set.into()));
    let xdg = || variable(xdg).map(PathBuf::from).filter(|base| base.is_absolute());
    let base = || xdg().or_else(|| Some(home()?.join(default)));
    own.or_else(|| Some(base()?.join("skillbench")))
}

fn nowhere() -> PathBuf {
    NOWHERE.into()
}

/// Runtimes and a user's own plugins. `SKILLBENCH_DATA` overrides it.
pub fn data() -> PathBuf {
    folder("SKILLBENCH_DATA", "XDG_DATA_HOME", ".local/share").unwrap_or_else(nowhere)
}

/// What can be made again: built models, reference outputs, descriptions. `SKILLBENCH_CACHE` overrides it.
pub fn cache() -> PathBuf {
    static OWN: OnceLock<PathBuf> = OnceLock::new();
    let own = || OWN.get_or_init(|| private_folder().unwrap_or_else(|_| nowhere())).clone();
    folder("SKILLBENCH_CACHE", "XDG_CACHE_HOME", ".cache").unwrap_or_else(own)
}

/// A new folder that nobody else can enter.
fn private_folder() -> std::io::Result<PathBuf> {
    Ok(tempfile::Builder::new().prefix("skillbench-").tempdir()?.keep())
}

/// Removes the cache of a process without a home. Called once, at the end.
pub fn remove_private_cache() {
    if folder("SKILLBENCH_CACHE", "XDG_CACHE_HOME", ".cache").is_none() {
        let _ = std::fs::remove_dir_all(cache());
    }
}

/// A user's registry. `SKILLBENCH_CONFIG` overrides it.
pub fn config() -> PathBuf {
    folder("SKILLBENCH_CONFIG", "XDG_CONFIG_HOME", ".config").unwrap_or_else(nowhere)
}

/// Replaces a leading `~`.
pub fn expand(path: &str) -> PathBuf {
    match path.strip_prefix("~/") {
        Some(rest) => home().unwrap_or_else(|| Path::new(NOWHERE).into()).join(rest),
        None => PathBuf::from(path),
    }
}
