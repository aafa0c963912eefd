//! Which registry files count, in which order, and where libraries are searched for.

use super::trust::{Trust, look};
use skillbench_record::located::Problem;
use skillbench_record::paths;
use skillbench_worker::sandbox::Mode;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Where registries come from. The default reads the environment.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// `--registry`
    pub registry: Option<PathBuf>,
    /// `--search-path`, before every other folder.
    pub search: Vec<PathBuf>,
    /// `--trust-folder`: the registry of the current folder counts.
    pub trust_folder: bool,
    /// What plugins may reach.
    pub sandbox: Mode,
}

/// A registry file, or a folder of libraries.
pub(super) struct Place {
    pub path: PathBuf,
    /// Named by the user: it is a problem if it cannot be read.
    pub required: bool,
    given: Given,
}

/// How a place came to be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Given {
    /// By the user: a flag, or a variable that is there for it.
    Named,
    /// The folder of the program that runs: whoever owns it has been trusted already.
    OfProgram,
    /// A folder that programs look into by themselves.
    Implied,
}

impl Place {
    fn new(path: PathBuf, given: Given) -> Place {
        Place { path, required: given == Given::Named, given }
    }

    /// Whether it counts; what a user should know of it goes into `problems`.
    pub fn counts(&self, problems: &mut Vec<Problem>) -> bool {
        if self.given == Given::Named || !self.path.exists() {
            return true;
        }
        let (counts, message) = match look(&self.path, self.given == Given::Implied) {
            Trust::Good => return true,
            Trust::Doubtful(reason) => (true, format!("{reason}: they can have plugins loaded here")),
            Trust::Refused(reason) => {
                let named = "--registry FILE and --search-path DIR read what you name";
                (false, format!("is not used for plugins, because {reason}; {named}"))
            }
        };
        problems.push(of_file(&self.path, message));
        counts
    }
}

fn of_file(file: &Path, message: String) -> Problem {
    Problem { file: file.into(), line: 0, key: String::new(), message }
}

/// The folder of the executable.
pub(crate) fn beside_executable() -> Option<PathBuf> {
    std::env::current_exe().ok()?.parent().map(Path::to_path_buf)
}

/// The files of a folder's `registry.d`, by name.
fn drop_ins(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder.join("registry.d")).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    files
}

/// A registry file and those of the `registry.d` next to it.
fn with_drop_ins(path: PathBuf, given: Given) -> Vec<Place> {
    let next_to_it = drop_ins(path.parent().unwrap_or(Path::new(".")));
    let of_drop_in = |path| Place { required: true, ..Place::new(path, given) };
    std::iter::once(Place::new(path, given)).chain(next_to_it.into_iter().map(of_drop_in)).collect()
}

/// Under the user's own variable a folder is named; elsewhere it is where programs look by themselves.
fn given_by(variable: &str) -> Given {
    if paths::variable(variable).is_some() { Given::Named } else { Given::Implied }
}

impl Sources {
    pub(super) fn files(&self) -> Vec<Place> {
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        let mut files = vec![];
        if let Some(path) = &self.registry {
            files.extend(with_drop_ins(absolute(path.clone()), Given::Named));
        }
        if let Some(path) = paths::variable("SKILLBENCH_REGISTRY") {
            files.extend(with_drop_ins(absolute(path.into()), Given::Named));
        }
        if self.trust_folder {
            files.extend(optional(with_drop_ins(absolute("registry.toml".into()), Given::Named)));
        }
        let of_user = paths::config().join("registry.toml");
        files.extend(optional(with_drop_ins(of_user, given_by("SKILLBENCH_CONFIG"))));
        if cfg!(unix) {
            files.extend(with_drop_ins("/etc/skillbench/registry.toml".into(), Given::Implied));
        }
        if let Some(folder) = beside_executable() {
            files.extend(with_drop_ins(folder.join("registry.toml"), Given::OfProgram));
        }
        let mut seen = HashSet::new();
        files.retain(|file| seen.insert(file.path.clone()));
        files
    }

    /// Says which registry files of the current folder are left alone: a folder may be anybody's, and what a registry names is loaded.
    /// `known` says of a text that it adds nothing.
    pub(super) fn left_alone(&self, read: &[PathBuf], known: impl Fn(&str) -> bool) -> Vec<Problem> {
        let Ok(here) = std::env::current_dir() else { return vec![] };
        let files = std::iter::once(here.join("registry.toml")).chain(drop_ins(&here));
        let unread = files.filter(|file| !read.contains(file));
        let news = unread.filter(|file| std::fs::read_to_string(file).is_ok_and(|text| !known(&text)));
        let text =
            "is not read, because any folder may have one; --trust-folder reads it, --registry FILE reads one file";
        news.map(|file| of_file(&file, text.into())).collect()
    }

    /// Folders for libraries: the user's, the executable's, then those of `SKILLBENCH_PLUGIN_PATH` and of the data folder.
    pub(super) fn search_paths(&self) -> Vec<Place> {
        let listed = paths::variable("SKILLBENCH_PLUGIN_PATH").unwrap_or_default();
        let listed = std::env::split_paths(&listed).filter(|path| !path.as_os_str().is_empty()).collect::<Vec<_>>();
        let named = |path: PathBuf| Place::new(path, Given::Named);
        let mut folders: Vec<Place> = self.search.iter().cloned().map(named).collect();
        folders.extend(beside_executable().map(|path| Place::new(path, Given::OfProgram)));
        folders.extend(listed.into_iter().map(named));
        folders.push(Place::new(paths::data().join("plugins"), given_by("SKILLBENCH_DATA")));
        let mut seen = HashSet::new();
        folders.retain(|folder| seen.insert(folder.path.clone()));
        folders
    }
}

/// A user may have none of them; a file of `registry.d` that is there is to be read.
fn optional(mut files: Vec<Place>) -> Vec<Place> {
    if let Some(first) = files.first_mut() {
        first.required = false;
    }
    files
}
