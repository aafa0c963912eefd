//! Where a user's files are: data (runtimes, plugins), cache (models, descriptions), configuration.

use std::path::PathBuf;

fn home() -> PathBuf {
    std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE")).map_or_else(std::env::temp_dir, PathBuf::from)
}

/// `$OWN`, else `$XDG/skillbench`, else `~/DEFAULT/skillbench`. Relative settings are taken from the current folder.
fn folder(own: &str, xdg: &str, default: &str) -> PathBuf {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let found = set(own).or_else(|| set(xdg).map(|base| base.join("skillbench")));
    let found = found.unwrap_or_else(|| home().join(default).join("skillbench"));
    std::path::absolute(&found).unwrap_or(found)
}

/// Runtimes and a user's own plugins. `SKILLBENCH_DATA` overrides it.
pub fn data() -> PathBuf {
    folder("SKILLBENCH_DATA", "XDG_DATA_HOME", ".local/share")
}

/// What can be made again: built models, reference outputs, descriptions. `SKILLBENCH_CACHE` overrides it.
pub fn cache() -> PathBuf {
    folder("SKILLBENCH_CACHE", "XDG_CACHE_HOME", ".cache")
}

/// A user's registry. `SKILLBENCH_CONFIG` overrides it.
pub fn config() -> PathBuf {
    folder("SKILLBENCH_CONFIG", "XDG_CONFIG_HOME", ".config")
}

/// Replaces a leading `~`.
pub fn expand(path: &str) -> PathBuf {
    match path.strip_prefix("~/") {
        Some(rest) => home().join(rest),
        None => PathBuf::from(path),
    }
}
