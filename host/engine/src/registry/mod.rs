//! The registry: which plugins this host knows of, from which file, where their libraries are, and why others are not there.
//!
//! Nothing is skipped in silence: a bad entry is a [`Problem`] with file, line, key and what was expected.
//! Not here: opening libraries (that is a worker's work), what a plugin says of itself (`describe`).

mod entry;
mod file;
#[cfg(test)]
mod fuzz;
mod package;
mod reader;
mod search;
mod sources;
mod trust;

pub use entry::{Entry, LibraryName};
pub use package::{Hash, Keep, OnMachine, Package, PackageFile, PackagePath, Source};
pub use search::{Found, Lookup, libraries_in, library_file_name, platform};
pub use skillbench_record::located::{Origin, Problem};
pub use sources::Sources;
pub(crate) use sources::beside_executable;

use skillbench_record::suggest;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The registry that is compiled into the host: the plugins it ships with.
const SHIPPED: &str = include_str!("../../../../registry.toml");

/// All entries, in the order in which they count.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    pub entries: Vec<Entry>,
    /// What plugins need from outside. Of one name, the first version is the one that is used where none is named.
    pub packages: Vec<Package>,
    pub problems: Vec<Problem>,
    /// Entries that an earlier one of the same id hides.
    pub hidden: Vec<(Entry, Origin)>,
    /// Where loose libraries are looked for, in order.
    pub search: Vec<PathBuf>,
    /// Where machines have libraries of packages, in order: absolute, or relative to the packages of a Python environment.
    pub machine: Vec<String>,
    /// Indexes of plugin packages, in order: addresses, or paths.
    pub indexes: Vec<String>,
    /// The files that were read, in order.
    pub files: Vec<PathBuf>,
}

impl Registry {
    /// The colours that entries set, by id.
    pub fn colours(&self) -> BTreeMap<String, String> {
        self.entries.iter().filter_map(|entry| Some((entry.id.clone(), entry.colour.clone()?))).collect()
    }

    /// Reads every registry file, then looks for loose libraries in the search paths.
    pub fn load(sources: &Sources) -> Registry {
        let mut registry = Registry::default();
        let problems = &mut registry.problems;
        registry.search = sources.search_paths().into_iter().filter(|f| f.counts(problems)).map(|f| f.path).collect();
        for file in sources.files() {
            if !file.counts(&mut registry.problems) {
                continue;
            }
            match std::fs::read_to_string(&file.path) {
                Ok(text) => {
                    registry.files.push(file.path.clone());
                    registry.add_text(&text, &file.path);
                }
                Err(_) if !file.required => {}
                Err(error) => registry.problems.push(Problem {
                    file: file.path.clone(),
                    line: 0,
                    key: String::new(),
                    message: format!("cannot be read: {error}"),
                }),
            }
        }
        registry.problems.extend(sources.left_alone(&registry.files, |text| text == SHIPPED));
        let shipped = std::env::current_exe().unwrap_or_default().with_file_name("registry.toml (shipped)");
        registry.add_text(SHIPPED, &shipped);
        for file in registry.packages.iter_mut().flat_map(|package| package.files.values_mut()) {
            file.machine.iter_mut().for_each(|machine| machine.folders.clone_from(&registry.machine));
        }
        registry.add_loose();
        registry.check_needs();
        registry
    }

    /// Packages may stand in another file than the plugins that need them, so they are looked for when all is read.
    fn check_needs(&mut self) {
        let unknown = |(entry, option, need): (&Entry, &String, &PackagePath)| {
            let names = self.packages.iter().map(|package| package.name.as_str());
            let message = match self.package(&need.package) {
                None => {
                    format!("there is no package '{}'{}", need.package, suggest::did_you_mean(&need.package, names))
                }
                Some(package) if package.file().is_some_and(|file| !file.paths.contains_key(&need.path)) => {
                    format!("package '{}' has no path '{}'", need.package, need.path)
                }
                Some(_) => return None,
            };
            let Origin { file, line } = entry.origin.clone();
            Some(Problem { file, line, key: format!("runtime.{option}"), message })
        };
        let all = self.entries.iter().flat_map(|entry| {
            entry.runtime.iter().flat_map(move |(option, needs)| needs.iter().map(move |need| (entry, option, need)))
        });
        let found: Vec<Problem> = all.filter_map(unknown).collect();
        self.problems.extend(found);
    }

    /// A package by its name, or by `name@version`.
    pub fn package(&self, name: &str) -> Option<&Package> {
        match name.split_once('@').filter(|(name, _)| !name.is_empty()) {
            None => self.packages.iter().find(|package| package.name == name),
            Some((name, version)) => self.packages.iter().find(|p| p.name == name && p.version == version),
        }
    }

    /// What a plugin needs, package by package; an unknown one is a problem already, and left out here.
    pub fn needs(&self, entry: &Entry) -> Vec<Need> {
        let of_option = |(option, paths): (&String, &Vec<PackagePath>)| -> Vec<Need> {
            let need = |path: &PackagePath| {
                let package = self.package(&path.package)?.clone();
                Some(Need { option: option.clone(), package, path: path.path.clone() })
            };
            paths.iter().filter_map(need).collect()
        };
        entry.runtime.iter().flat_map(of_option).collect()
    }

    fn add_text(&mut self, text: &str, path: &std::path::Path) {
        let parsed = file::parse(text, path);
        self.problems.extend(parsed.problems);
        for path in parsed.search {
            if !self.search.contains(&path) {
                self.search.push(path);
            }
        }
        self.machine.extend(parsed.machine);
        for index in parsed.indexes {
            if !self.indexes.contains(&index) {
                self.indexes.push(index);
            }
        }
        for package in parsed.packages {
            let known = |p: &Package| p.name == package.name && p.version == package.version;
            if !self.packages.iter().any(known) {
                self.packages.push(package);
            }
        }
        for entry in parsed.entries {
            match self.entries.iter().find(|known| known.id == entry.id) {
                Some(first) if first.origin.file == entry.origin.file => self.problems.push(Problem {
                    file: entry.origin.file.clone(),
                    line: entry.origin.line,
                    key: "id".into(),
                    message: format!("'{}' is there already, at line {}: an id is unique", entry.id, first.origin.line),
                }),
                Some(first) => {
                    let winner = first.origin.clone();
                    self.hidden.push((entry, winner));
                }
                None => self.entries.push(entry),
            }
        }
    }

    /// Libraries without an entry. Their ids are not known before they are described, so the file's name stands in.
    fn add_loose(&mut self) {
        for (file, what) in self.search.iter().flat_map(|folder| search::odd_libraries(folder)) {
            let message = format!("is named like a library and cannot be one: {what}");
            self.problems.push(Problem { file, line: 0, key: String::new(), message });
        }
        let mut known: Vec<PathBuf> = self.entries.iter().filter_map(|e| self.lookup(e).found().cloned()).collect();
        for path in search::loose_libraries(&self.search) {
            let path = std::fs::canonicalize(&path).unwrap_or(path);
            if !known.contains(&path) {
                known.push(path.clone());
                self.entries.push(Entry::loose(&path));
            }
        }
    }

    /// Where an entry's library is, with every path that was tried.
    pub fn lookup(&self, entry: &Entry) -> Lookup {
        search::find(entry, &self.search)
    }

    /// An entry by its id, or by another name that it has.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        let by_id = self.entries.iter().find(|entry| entry.id == name);
        by_id.or_else(|| self.entries.iter().find(|entry| entry.is_called(name)))
    }

    /// The ids of all entries, and a hint for one that is not there.
    pub fn unknown(&self, id: &str) -> String {
        let ids = self.entries.iter().map(|entry| entry.id.as_str());
        format!("there is no plugin '{id}'{}", suggest::one_of(id, ids))
    }
}

/// A package that goes into an option of a plugin.
#[derive(Clone, Debug)]
pub struct Need {
    pub option: String,
    pub package: Package,
    /// Which of its paths.
    pub path: String,
}
