//! The journal: appended and flushed as each cell ends. It survives a `kill -9`; a line that was cut off is not counted.
//!
//! - `write`: one process writes a run, and holds the lock of its journal as long; what it writes stays in memory too.
//! - `repair`: what is cut off the end before anything is appended.
//!
//! How a line looks is said by `skillbench_record::journal`.

mod repair;
#[cfg(test)]
mod tests;
mod write;

pub use skillbench_record::journal::Damaged;
pub use write::{Journal, Lost, Moved};

use skillbench_record::journal::{self, Contents};
use skillbench_record::run_id::{self, NoRunId};
use skillbench_record::{Cell, Holder, Run, RunRequest, Samples};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

pub const NAME: &str = "journal.ndjson";

#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("{path}: {error}; is that a run's folder?")]
    Unreadable { path: PathBuf, error: io::Error },
    #[error("{path}, line {line}: {text}")]
    Broken { path: PathBuf, line: usize, text: String },
    #[error("{0}: the journal has no first line, so the run had not begun")]
    Empty(PathBuf),
    #[error("{path}: {error}")]
    Id { path: PathBuf, error: NoRunId },
    #[error(
        "{} is being written by {}: let it end, or stop it, before the run goes on",
        folder.display(), holder.as_ref().map_or("another process".into(), Holder::to_string)
    )]
    Busy { folder: PathBuf, holder: Option<Holder> },
    #[error("{path}: what is damaged at its end could not be set aside: {error}")]
    Repair { path: PathBuf, error: io::Error },
}

/// A run as its journal has it, or another file that has all of it.
pub struct Recorded {
    /// What was asked for; `None`: a `run.json` does not say.
    pub request: Option<RunRequest>,
    pub run: Run,
    pub samples: Vec<Samples>,
    /// SHA-256 of the file, by which a run that was stored already is known.
    pub fingerprint: String,
    /// Lines of the journal that are damaged, and are not in it.
    pub damaged: Vec<Damaged>,
}

/// Reads a `run.json`. The samples are not in it.
///
/// # Errors
/// The file cannot be read, or is no run.
pub fn read_document(path: &Path) -> Result<Recorded, JournalError> {
    let bytes = std::fs::read(path).map_err(|error| JournalError::Unreadable { path: path.into(), error })?;
    let mut run: Run = serde_json::from_slice(&bytes).map_err(|error| JournalError::Broken {
        path: path.into(),
        line: error.line(),
        text: error.to_string(),
    })?;
    named(&run, path)?;
    run.upgrade(None);
    let fingerprint = skillbench_record::hash::sha256_bytes(&bytes);
    Ok(Recorded { request: None, run, samples: vec![], fingerprint, damaged: vec![] })
}

/// Refuses an id that would be another place as the name of a folder.
fn named(run: &Run, path: &Path) -> Result<(), JournalError> {
    run_id::check(&run.run_id).map_err(|error| JournalError::Id { path: path.into(), error })
}

/// When the run of a journal began, as its first line has it; `None`: it has none.
pub fn began(journal: &Path) -> Option<String> {
    use std::io::{BufRead, BufReader};
    let mut first = String::new();
    BufReader::new(File::open(journal).ok()?).read_line(&mut first).ok()?;
    journal::began(&first)
}

/// Reads a run back, from its folder or from the journal itself. Lines that are damaged are left out, and named.
///
/// # Errors
/// No journal, or one without its first line.
pub fn read(place: &Path) -> Result<Recorded, JournalError> {
    let path = if place.is_dir() { place.join(NAME) } else { place.to_path_buf() };
    let bytes = std::fs::read(&path).map_err(|error| JournalError::Unreadable { path: path.clone(), error })?;
    recorded(&path, &bytes, Contents::read(&bytes))
}

/// What the bytes of a journal have of a run.
fn recorded(path: &Path, bytes: &[u8], contents: Contents) -> Result<Recorded, JournalError> {
    let Contents { head, cells, left_out, damaged, .. } = contents;
    let Some((request, run)) = head else {
        return Err(match damaged.into_iter().next() {
            None => JournalError::Empty(path.into()),
            Some(first) => JournalError::Broken { path: path.into(), line: first.line, text: first.why },
        });
    };
    named(&run, path)?;
    let (cells, samples): (Vec<Cell>, Vec<Vec<Samples>>) = cells.into_values().unzip();
    let mut run = Run { cells, left_out, ..*run };
    run.upgrade(Some(&request));
    let fingerprint = skillbench_record::hash::sha256_bytes(bytes);
    let samples = samples.into_iter().flatten().collect();
    Ok(Recorded { request: Some(*request), run, samples, fingerprint, damaged })
}
