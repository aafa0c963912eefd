//! What was measured on this machine and may not be on the server yet: the journals of its runs, by submission and lot, and what its cells left. They stay for a while
//! after that, so that a server that lost its disk can be filled again.

use crate::form::{self, Job};
use skillbench_record::journal::Contents;
use skillbench_record::{Cell, cell_files};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Journals stay so long.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

/// Where files of submitters are; no submission is called so.
pub(super) const OWN: &str = ".own";

const JOURNAL: &str = "journal.ndjson";

/// A cell as its host wrote it down.
pub struct MeasuredCell {
    /// Of the journal, with its sum.
    pub line: String,
    /// What it left beside the journal, by name.
    pub left: Vec<(String, PathBuf)>,
    /// The folder of its run.
    pub run: PathBuf,
}

impl MeasuredCell {
    /// What a line of the journal of a run says, under the key of its cell: one that was asked for, or one beyond the plan.
    pub(super) fn read(job: &Job, line: &str, run: &Path) -> Option<(String, Cell, MeasuredCell)> {
        let mut contents = Contents::read(line.as_bytes());
        let (_, (cell, _)) = contents.cells.pop_first()?;
        let left = cell_files::of(run, cell.index);
        Some((form::key_of(&job.cells, &cell), cell, MeasuredCell { line: line.into(), left, run: run.into() }))
    }
}

pub struct Spool {
    pub(super) folder: PathBuf,
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

    /// The cells of a lot that were measured here, by key; of several the first one.
    pub fn measured(&self, job: &Job) -> BTreeMap<String, MeasuredCell> {
        let mut found = BTreeMap::new();
        for journal in journals(&self.lot(job)) {
            let Ok(text) = std::fs::read_to_string(&journal) else { continue };
            let run = journal.parent().unwrap_or(&self.folder);
            for (key, _, cell) in text.lines().filter_map(|line| MeasuredCell::read(job, line, run)) {
                found.entry(key).or_insert(cell);
            }
        }
        found
    }

    /// Removes what is older than it is kept.
    pub fn clean(&self) {
        let all = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten();
        let submissions = all(&self.folder).filter(|entry| entry.file_name() != OWN);
        for old in submissions.chain(all(&self.folder.join(OWN))) {
            let age = old.metadata().and_then(|data| data.modified()).ok().and_then(|at| at.elapsed().ok());
            if age.is_some_and(|age| age > KEPT) {
                // What cannot be removed now is tried again at the next start.
                let _ = std::fs::remove_dir_all(old.path());
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
