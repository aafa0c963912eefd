//! The registry: which plugins this host knows of, from which file, where their libraries are, and why others are not there.
//!
//! Nothing is skipped in silence: a bad entry is a [`Problem`] with file, line, key and what was expected.
//! Not here: opening libraries (that is a worker's work), what a plugin says of itself (`describe`).

mod entry;
mod file;
mod search;
mod sources;

pub use entry::{Entry, Kind, LibraryName, Origin, Problem, RuntimeFile, RuntimeSpec};
pub use search::{Found, Lookup, library_file_name, platform};
pub use sources::Sources;

use crate::suggest;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The registry that is compiled into the host: the plugins it ships with.
const SHIPPED: &str = include_str!("../../../../registry.toml");

/// All entries, in the order in which they count.
#[derive(Debug, Default)]
pub struct Registry {
    pub entries: Vec<Entry>,
    pub problems: Vec<Problem>,
    /// Entries that an earlier one of the same id hides.
    pub hidden: Vec<(Entry, Origin)>,
    /// Where loose libraries are looked for, in order.
    pub search: Vec<PathBuf>,
    /// The files that were read, in order.
    pub files: Vec<PathBuf>,
}

impl Registry {
    /// Reads every registry file, then looks for loose libraries in the search paths.
    pub fn load(sources: &Sources) -> Registry {
        let mut registry = Registry { search: sources.search_paths(), ..Registry::default() };
        for file in sources.files() {
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
        let shipped = std::env::current_exe().unwrap_or_default().with_file_name("registry.toml (shipped)");
        registry.add_text(SHIPPED, &shipped);
        registry.add_loose();
        registry
    }

    fn add_text(&mut self, text: &str, path: &std::path::Path) {
        let parsed = file::parse(text, path);
        self.problems.extend(parsed.problems);
        for path in parsed.search {
            if !self.search.contains(&path) {
                self.search.push(path);
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

    pub fn entry(&self, id: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.id == id)
    }

    /// The ids of all entries, and a hint for one that is not there.
    pub fn unknown(&self, id: &str) -> String {
        let ids = self.entries.iter().map(|entry| entry.id.as_str());
        format!("there is no plugin '{id}'{}", suggest::did_you_mean(id, ids))
    }
}

/// Options in the form plugins get them.
pub type PluginOptions = BTreeMap<String, String>;
