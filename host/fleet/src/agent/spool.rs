//! What was measured on this machine and may not be on the server yet: the journals of its runs, by submission and lot. They stay for a while
//! after that, so that a server that lost its disk can be filled again.

use crate::form::{self, Job};
use skillbench_record::journal::Contents;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Journals stay so long.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

const JOURNAL: &str = "journal.ndjson";

pub struct Spool {
    folder: PathBuf,
}

impl Spool {
    /// # Errors
    /// The folder cannot be made.
    pub fn at(folder: PathBuf) -> io::Result<Spool> {
        std::fs::create_dir_all(&folder)?;
        Ok(Spool { folder })
    }

    fn lot(&self, job: &Job) -> PathBuf {
        self.folder.join(&job.submission).join(&job.lot)
    }

    /// A new folder for runs of a lot.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn begin(&self, job: &Job) -> io::Result<PathBuf> {
        let lot = self.lot(job);
        std::fs::create_dir_all(&lot)?;
        for number in 1_u32.. {
            let folder = lot.join(number.to_string());
            match std::fs::create_dir(&folder) {
                Ok(()) => return Ok(folder),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("there is no number left for a folder"))
    }

    /// The lines of a lot's cells that were measured here, by key; of several the first one.
    pub fn lines(&self, job: &Job) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        for journal in journals(&self.lot(job)) {
            let Ok(text) = std::fs::read_to_string(&journal) else { continue };
            for line in text.lines() {
                if let Some(key) = key_of(job, line) {
                    found.entry(key).or_insert_with(|| line.to_string());
                }
            }
        }
        found
    }

    /// Removes what is older than it is kept.
    pub fn clean(&self) {
        for submission in std::fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let age = submission.metadata().and_then(|data| data.modified()).ok().and_then(|at| at.elapsed().ok());
            if age.is_some_and(|age| age > KEPT) {
                // What cannot be removed now is tried again at the next start.
                let _ = std::fs::remove_dir_all(submission.path());
            }
        }
    }
}

/// The journals of a lot: in each try's folder, that of its run.
fn journals(lot: &Path) -> Vec<PathBuf> {
    let folders = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut tries: Vec<PathBuf> = folders(lot).collect();
    tries.sort();
    tries.iter().filter_map(|folder| journal_in(folder)).collect()
}

/// The journal of the run that was begun in a folder.
pub(super) fn journal_in(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?;
    entries.flatten().map(|entry| entry.path().join(JOURNAL)).find(|journal| journal.is_file())
}

/// The key of the cell that a line of a journal is of: one that was asked for, or one beyond the plan.
fn key_of(job: &Job, line: &str) -> Option<String> {
    let mut contents = Contents::read(line.as_bytes());
    let (_, (cell, _)) = contents.cells.pop_first()?;
    Some(form::key_of(&job.cells, &cell))
}
