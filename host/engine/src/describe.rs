//! The cache of what plugins say of themselves, so that listing many plugins does not open many libraries.

use serde::{Deserialize, Serialize};
use skillbench_record::paths;
use skillbench_record::scratch::write_whole;
use skillbench_worker::{Command, Description, Failure, Library, Limits, PROTOCOL, Reply, Stop, Worker};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Descriptions by path, size and modification time. A library that changes in any of them is described anew.
#[derive(Default)]
pub struct DescriptionCache {
    file: PathBuf,
    entries: BTreeMap<String, Description>,
    changed: bool,
    stop: Stop,
}

/// The form of the cache's file: another version of the host, or of what its workers say, starts afresh.
#[derive(Serialize, Deserialize)]
struct CacheForm {
    host: String,
    entries: BTreeMap<String, Description>,
}

/// Whose descriptions are kept.
fn writer() -> String {
    format!("{}, protocol {PROTOCOL}", env!("CARGO_PKG_VERSION"))
}

/// What makes a library's file the same as before; `None` where it is not there.
fn key(library: &Path) -> Option<String> {
    let data = std::fs::metadata(library).ok()?;
    let modified = data.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{}|{}|{}", library.display(), data.len(), modified.as_nanos()))
}

impl DescriptionCache {
    /// Reads the cache; an unreadable one counts as empty. `stop` ends a description that is being made.
    pub fn open(stop: &Stop) -> DescriptionCache {
        let file = paths::cache().join("descriptions.json");
        let form = std::fs::read(&file).ok().and_then(|bytes| serde_json::from_slice::<CacheForm>(&bytes).ok());
        let form = form.filter(|form| form.host == writer());
        DescriptionCache {
            file,
            entries: form.map(|form| form.entries).unwrap_or_default(),
            changed: false,
            stop: stop.clone(),
        }
    }

    /// The description of a library, from the cache or from a worker.
    ///
    /// # Errors
    /// What became of the worker: a library that is none, a plugin that crashes when it is opened.
    pub fn describe(&mut self, library: &Library) -> Result<Description, Failure> {
        let key = key(library);
        if let Some(known) = key.as_ref().and_then(|key| self.entries.get(key)) {
            return Ok(known.clone());
        }
        let command = Command::Describe { library: library.clone() };
        let described = match Worker::call_once(&command, &Limits::probing(&self.stop)) {
            Ok(Reply::Described(description)) => Ok(*description),
            Ok(other) => Err(Failure::unexpected(&other)),
            Err(failure) => Err(failure),
        };
        // A failure may have a cause outside the file, such as a machine that was suspended, and is looked at again.
        if let (Some(key), Ok(description)) = (key, &described) {
            let prefix = format!("{}|", library.display());
            self.entries.retain(|known, _| !known.starts_with(&prefix));
            self.entries.insert(key, description.clone());
            self.changed = true;
        }
        described
    }
}

impl Drop for DescriptionCache {
    /// Written once, at the end, and whole or not at all. A cache that cannot be written costs time, nothing else.
    fn drop(&mut self) {
        if !self.changed {
            return;
        }
        let form = CacheForm { host: env!("CARGO_PKG_VERSION").into(), entries: std::mem::take(&mut self.entries) };
        let _ = write_whole(&self.file, |out| serde_json::to_writer(out, &form).map_err(std::io::Error::from));
    }
}
