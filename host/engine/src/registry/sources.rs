//! Which registry files count, in which order, and where libraries are searched for.

use skillbench_record::paths;
use std::path::{Path, PathBuf};

/// Where registries come from. The default reads the environment.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// `--registry`
    pub registry: Option<PathBuf>,
    /// `--search-path`, before every other folder.
    pub search: Vec<PathBuf>,
}

pub(super) struct File {
    pub path: PathBuf,
    /// Named by the user: it is a problem if it cannot be read.
    pub required: bool,
}

/// The folder of the executable.
pub(crate) fn beside_executable() -> Option<PathBuf> {
    std::env::current_exe().ok()?.parent().map(Path::to_path_buf)
}

/// A registry file and the files of the `registry.d` beside it, by name.
fn with_drop_ins(path: PathBuf, required: bool) -> Vec<File> {
    let folder = path.parent().unwrap_or(Path::new(".")).join("registry.d");
    let mut drop_ins: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|f| f.path()).collect();
    drop_ins.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    drop_ins.sort();
    let first = File { path, required };
    std::iter::once(first).chain(drop_ins.into_iter().map(|path| File { path, required: true })).collect()
}

impl Sources {
    pub(super) fn files(&self) -> Vec<File> {
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        let mut files = vec![];
        if let Some(path) = &self.registry {
            files.extend(with_drop_ins(absolute(path.clone()), true));
        }
        if let Some(path) = std::env::var_os("SKILLBENCH_REGISTRY").filter(|value| !value.is_empty()) {
            files.extend(with_drop_ins(absolute(path.into()), true));
        }
        files.extend(with_drop_ins(absolute("registry.toml".into()), false));
        files.extend(with_drop_ins(paths::config().join("registry.toml"), false));
        if cfg!(unix) {
            files.extend(with_drop_ins("/etc/skillbench/registry.toml".into(), false));
        }
        if let Some(folder) = beside_executable() {
            files.extend(with_drop_ins(folder.join("registry.toml"), false));
        }
        let mut seen = std::collections::HashSet::new();
        files.retain(|file| seen.insert(file.path.clone()));
        files
    }

    /// Folders for libraries: the user's, the executable's, then those of the data folder and of `SKILLBENCH_PLUGIN_PATH`.
    pub(super) fn search_paths(&self) -> Vec<PathBuf> {
        let listed = std::env::var_os("SKILLBENCH_PLUGIN_PATH").unwrap_or_default();
        let listed = std::env::split_paths(&listed).filter(|path| !path.as_os_str().is_empty()).collect::<Vec<_>>();
        let mut folders: Vec<PathBuf> = self.search.clone();
        folders.extend(beside_executable());
        folders.extend(listed);
        folders.push(paths::data().join("plugins"));
        let mut seen = std::collections::HashSet::new();
        folders.retain(|path| seen.insert(path.clone()));
        folders
    }
}
