//! The cache of what plugins say of themselves, so that listing many plugins does not open many libraries.

use serde::{Deserialize, Serialize};
use skillbench_record::paths;
use skillbench_record::scratch::write_whole;
use skillbench_record::sealed::FileId;
use skillbench_worker::sandbox::Sandbox;
use skillbench_worker::{Command, Description, Failure, Library, Limits, PROTOCOL, Reply, Stop, Worker};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Descriptions by library: by what the system keeps of its file, and how far its plugin may reach. A library that changes in any of it is
/// described anew, and all are by another host.
#[derive(Default)]
pub struct DescriptionCache {
    file: PathBuf,
    entries: BTreeMap<String, Known>,
    changed: bool,
    stop: Stop,
}

/// What was described once.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Known {
    library: FileId,
    sandbox: Sandbox,
    description: Description,
}

/// The form of the cache's file: another host starts afresh.
#[derive(Serialize, Deserialize)]
struct CacheForm {
    host: Writer,
    entries: BTreeMap<String, Known>,
}

/// Whose descriptions are kept: its worker may say something else of the same library.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Writer {
    version: String,
    protocol: u32,
    program: Option<FileId>,
}

impl Writer {
    fn this() -> Writer {
        let program = std::env::current_exe().and_then(|program| FileId::at(&program)).ok();
        Writer { version: env!("CARGO_PKG_VERSION").into(), protocol: PROTOCOL, program }
    }
}

impl DescriptionCache {
    /// Reads the cache; an unreadable one counts as empty. `stop` ends a description that is being made.
    pub fn open(stop: &Stop) -> DescriptionCache {
        DescriptionCache::in_file(&paths::cache().join("descriptions.json"), stop)
    }

    fn in_file(file: &Path, stop: &Stop) -> DescriptionCache {
        let form = std::fs::read(file).ok().and_then(|bytes| serde_json::from_slice::<CacheForm>(&bytes).ok());
        let form = form.filter(|form| form.host == Writer::this());
        DescriptionCache {
            file: file.into(),
            entries: form.map(|form| form.entries).unwrap_or_default(),
            changed: false,
            stop: stop.clone(),
        }
    }

    /// The description of a library, from the cache or from a worker. That its plugin can still be opened, nobody has tried.
    ///
    /// # Errors
    /// What became of the worker: a library that is none, a plugin that crashes when it is opened.
    pub fn describe(&mut self, library: &Library) -> Result<Description, Failure> {
        match self.known(library) {
            Some(description) => Ok(description.clone()),
            None => self.describe_anew(library),
        }
    }

    /// What is known of a library as it is now.
    fn known(&self, library: &Library) -> Option<&Description> {
        let known = self.entries.get(&name(library)).filter(|known| known.sandbox == library.sandbox)?;
        FileId::at(&library.path).is_ok_and(|id| id == known.library).then_some(&known.description)
    }

    /// The description of a library from a worker that opens it now.
    ///
    /// # Errors
    /// As [`DescriptionCache::describe`].
    pub fn describe_anew(&mut self, library: &Library) -> Result<Description, Failure> {
        // Before it is opened: of one that is replaced meanwhile nothing is kept that holds.
        let id = FileId::at(&library.path).ok();
        let command = Command::Describe { library: library.clone() };
        let described = match Worker::call_once(&command, &Limits::probing(&self.stop)) {
            Ok(Reply::Described(description)) => Ok(*description),
            Ok(other) => Err(Failure::unexpected(&other)),
            Err(failure) => Err(failure),
        };
        // A failure may have a cause outside the file, such as a machine that was suspended, and is looked at again.
        if let (Some(id), Ok(description)) = (id, &described) {
            let known = Known { library: id, sandbox: library.sandbox.clone(), description: description.clone() };
            self.entries.insert(name(library), known);
            self.changed = true;
        }
        described
    }
}

fn name(library: &Library) -> String {
    library.path.display().to_string()
}

impl Drop for DescriptionCache {
    /// Written once, at the end, and whole or not at all. A cache that cannot be written costs time, nothing else.
    fn drop(&mut self) {
        if !self.changed {
            return;
        }
        let mut entries = std::mem::take(&mut self.entries);
        entries.retain(|path, _| Path::new(path).exists());
        let form = CacheForm { host: Writer::this(), entries };
        let _ = write_whole(&self.file, |out| serde_json::to_writer(out, &form).map_err(std::io::Error::from));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillbench_worker::Entry;

    fn acme() -> Description {
        Description {
            id: "acme".into(),
            name: "Acme".into(),
            version: "1".into(),
            vendor: "Acme".into(),
            license: "MIT".into(),
            url: String::new(),
            entry: Entry::C,
            contract: (1, 0),
            backend: None,
            skillset: None,
            benchmarks: vec![],
        }
    }

    /// What the cache knows of a library as it is now.
    fn known(file: &Path, library: &Library) -> Option<String> {
        let cache = DescriptionCache::in_file(file, &Stop::default());
        cache.known(library).map(|description| description.id.clone())
    }

    fn keep(file: &Path, library: &Library) {
        let mut cache = DescriptionCache::in_file(file, &Stop::default());
        let id = FileId::at(&library.path).unwrap();
        let known = Known { library: id, sandbox: library.sandbox.clone(), description: acme() };
        cache.entries.insert(name(library), known);
        cache.changed = true;
    }

    #[test]
    fn what_was_described_is_known_to_whoever_asks_next_as_long_as_the_library_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("descriptions.json");
        let [library, another] = ["a.so", "b.so"].map(|name| {
            std::fs::write(folder.path().join(name), "a library").unwrap();
            Library::from(folder.path().join(name))
        });
        keep(&file, &library);
        assert_eq!(known(&file, &library).as_deref(), Some("acme"));
        // The file is no library, and no worker could say so much of it.
        let mut cache = DescriptionCache::in_file(&file, &Stop::default());
        assert_eq!(cache.describe(&library).unwrap().id, "acme", "nobody opens it again");
        assert!(cache.describe(&another).is_err() && cache.describe_anew(&library).is_err());
        assert_eq!(cache.describe(&library).unwrap().id, "acme", "a failure takes nothing away");
        let confined = Library { sandbox: Sandbox { network: true, ..Sandbox::default() }, ..library.clone() };
        assert_eq!(known(&file, &confined), None, "it may say something else where it reaches something else");
        // Another of the same size and time, as out of an archive that sets times.
        let time = std::fs::metadata(&library.path).unwrap().modified().unwrap();
        std::fs::write(&library.path, "a LIBRARY").unwrap();
        std::fs::File::options().append(true).open(&library.path).unwrap().set_modified(time).unwrap();
        assert_eq!(known(&file, &library), None);
        std::fs::remove_file(&library.path).unwrap();
        keep(&file, &another);
        let cache = DescriptionCache::in_file(&file, &Stop::default());
        assert_eq!(cache.entries.keys().collect::<Vec<_>>(), [&name(&another)], "nobody asks for it again");
    }
}
