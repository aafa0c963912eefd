//! Writing a journal while a run goes on: by one process, which holds the journal's lock, and in memory too. Where the file cannot be
//! written, or somebody took it away, the run goes on; all of it is written when it ends, there or elsewhere.

use super::{JournalError, NAME, Recorded, recorded, repair};
use skillbench_record::journal::{Contents, Line};
use skillbench_record::scratch::is_at;
use skillbench_record::{Cell, Holder, Run, RunRequest, Samples};
use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Says who writes, as long as somebody does.
const WRITER: &str = ".writer";

/// The journal of a run that this process writes.
pub struct Journal {
    folder: PathBuf,
    file: File,
    request: RunRequest,
    /// Everything that the journal has, or should have.
    text: Vec<u8>,
    /// So much of it is in the file.
    kept: usize,
    /// How long the file was when it was last written.
    length: u64,
    /// A write failed: there may be part of a line behind that length.
    is_torn: bool,
    is_resumed: bool,
    /// It was said that the file cannot be written.
    is_failing: bool,
    /// What was found when it was opened, for the user.
    pub notes: Vec<String>,
}

/// Why the file does not have what it should.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error("the journal is gone")]
    Gone,
    #[error("another file has taken the place of the journal")]
    Replaced,
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// A run was written to another folder than it began in.
#[derive(Debug, PartialEq, Eq)]
pub struct Moved {
    pub from: PathBuf,
    pub to: PathBuf,
}

/// A run could be written nowhere.
#[derive(Debug, thiserror::Error)]
#[error("the run could be kept nowhere: {}", .0.iter().map(|(place, why)| format!("{}: {why}", place.display())).collect::<Vec<_>>().join("; "))]
pub struct Lost(Vec<(PathBuf, String)>);

impl Journal {
    /// Begins a journal in a run's folder that has none.
    ///
    /// # Errors
    /// There is one, or the file cannot be written.
    pub fn create(folder: &Path, request: &RunRequest) -> io::Result<Journal> {
        let file = new_file(folder)?;
        // Nobody else has a reason to lock what was not there. On a file system without locks, the name that was free has to do.
        let _ = file.try_lock();
        let journal = Journal {
            folder: folder.into(),
            file,
            request: request.clone(),
            text: vec![],
            kept: 0,
            length: 0,
            is_torn: false,
            is_resumed: false,
            is_failing: false,
            notes: vec![],
        };
        journal.sign();
        Ok(journal)
    }

    /// Opens the journal of a run that goes on, and returns what it has. A damaged end is set aside.
    ///
    /// # Errors
    /// Another process writes it; it cannot be read, or has no first line; what is damaged cannot be set aside.
    pub fn resume(folder: &Path) -> Result<(Journal, Recorded), JournalError> {
        let path = folder.join(NAME);
        let unreadable = |error| JournalError::Unreadable { path: path.clone(), error };
        let file = existing_file(&path).map_err(unreadable)?;
        let mut notes = vec![];
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let holder = File::open(folder.join(WRITER)).ok().and_then(|mut file| Holder::read(&mut file));
                return Err(JournalError::Busy { folder: folder.into(), holder });
            }
            Err(TryLockError::Error(error)) => notes.push(format!(
                "{}: its file system has no locks ({error}): see to it that no other host goes on with the same run",
                path.display()
            )),
        }
        // Read after it was locked: what another process wrote before is in it.
        let mut text = std::fs::read(&path).map_err(unreadable)?;
        let contents = Contents::read(&text);
        let whole = contents.whole;
        let found = recorded(&path, &text, contents)?;
        let inside = found.damaged.iter().map(|damaged| format!("{}: {damaged}", path.display()));
        notes.extend(inside);
        let repaired = repair::cut_back(folder, &file, &text, whole);
        notes.extend(repaired.map_err(|error| JournalError::Repair { path: path.clone(), error })?);
        text.truncate(whole);
        let kept = text.len();
        if !text.ends_with(b"\n") {
            text.push(b'\n');
        }
        let journal = Journal {
            folder: folder.into(),
            file,
            request: found.request.clone().unwrap_or_default(),
            text,
            kept,
            length: kept as u64,
            is_torn: false,
            is_resumed: true,
            is_failing: false,
            notes,
        };
        journal.sign();
        Ok((journal, found))
    }

    /// The run's folder: where it began, or where it was moved to.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Says who writes. Where that cannot be written, the lock holds all the same.
    fn sign(&self) {
        let path = self.folder.join(WRITER);
        // What has the name may be a link that somebody else put there.
        let _ = std::fs::remove_file(&path);
        if let Ok(mut file) = File::create_new(path) {
            let _ = Holder::own().write(&mut file);
        }
    }

    /// The run begins: what was asked for, and its head. One that is resumed has that already.
    ///
    /// # Errors
    /// The file cannot be written: then the run does not begin.
    pub fn begun(&mut self, run: &Run) -> io::Result<()> {
        if self.is_resumed {
            return Ok(());
        }
        let run = Run { cells: vec![], ..run.clone() };
        let request = self.request.clone();
        self.text.extend(Line::Run { request: &request, run: &run }.text()?);
        self.catch_up().map(drop).map_err(io::Error::other)
    }

    /// A backend has no cells, for this reason. Returns what the user should know of the file, once.
    ///
    /// # Errors
    /// The line cannot be made; so for [`Journal::cell_ended`].
    pub fn left_out(&mut self, plugin: &str, why: &str) -> io::Result<Option<String>> {
        self.append(&Line::LeftOut { plugin, why })
    }

    /// A cell has ended; as [`Journal::left_out`].
    pub fn cell_ended(&mut self, cell: &Cell, samples: &[Samples]) -> io::Result<Option<String>> {
        self.append(&Line::Cell { cell, samples })
    }

    fn append(&mut self, line: &Line<'_>) -> io::Result<Option<String>> {
        self.text.extend(line.text()?);
        let (path, was_failing) = (self.folder.join(NAME), self.is_failing);
        let caught_up = self.catch_up();
        self.is_failing = caught_up.is_err();
        Ok(match caught_up {
            Err(_) if was_failing => None,
            Err(trouble) => Some(format!(
                "{}: what is measured cannot be kept there: {trouble}; the run goes on, and all of it is written when it ends",
                path.display()
            )),
            Ok(_) if was_failing => Some(format!("{}: it can be written again, and is whole", path.display())),
            Ok(Cut::Short) => Some(format!(
                "{}: somebody cut the journal short while the run goes on; all of it was written again",
                path.display()
            )),
            Ok(Cut::Not) => None,
        })
    }

    /// Writes what the file lacks.
    fn catch_up(&mut self) -> Result<Cut, Trouble> {
        let path = self.folder.join(NAME);
        if !is_at(&self.file, &path)? {
            return Err(if path.exists() { Trouble::Replaced } else { Trouble::Gone });
        }
        let cut = match self.file.metadata()?.len() < self.length {
            true => Cut::Short,
            false => Cut::Not,
        };
        if matches!(cut, Cut::Short) {
            (self.kept, self.length, self.is_torn) = (0, 0, true);
        }
        if self.is_torn {
            self.file.set_len(self.length)?;
        }
        self.is_torn = true;
        self.file.write_all(&self.text[self.kept..])?;
        self.file.sync_data()?;
        self.length = self.file.metadata()?.len();
        self.kept = self.text.len();
        self.is_torn = false;
        Ok(cut)
    }

    /// The run as it is in memory, which is what the file has.
    ///
    /// # Errors
    /// It has not begun.
    pub fn recorded(&self) -> Result<Recorded, JournalError> {
        recorded(&self.folder.join(NAME), &self.text, Contents::read(&self.text))
    }

    /// The run has ended. Where its journal is not whole, it is written anew: in the run's folder, or under the run's id in the first of
    /// these folders that takes it. `None`: it is where it began.
    ///
    /// # Errors
    /// No place takes it. It stays in memory.
    pub fn end(&mut self, id: &str, elsewhere: &[PathBuf]) -> Result<Option<Moved>, Lost> {
        let Err(trouble) = self.catch_up() else { return Ok(None) };
        let mut tried = vec![(self.folder.clone(), trouble.to_string())];
        let places = std::iter::once(self.folder.clone()).chain(elsewhere.iter().map(|folder| folder.join(id)));
        for place in places {
            match self.write_anew(&place) {
                Err(error) if place == self.folder => drop(error),
                Err(error) => tried.push((place, error.to_string())),
                Ok(file) => {
                    let from = std::mem::replace(&mut self.folder, place);
                    (self.file, self.kept, self.length) = (file, self.text.len(), self.text.len() as u64);
                    self.sign();
                    let to = self.folder.clone();
                    if from != to {
                        let _ = std::fs::remove_file(from.join(WRITER));
                    }
                    return Ok((from != to).then_some(Moved { from, to }));
                }
            }
        }
        Err(Lost(tried))
    }

    /// All of it in a file that was not there.
    fn write_anew(&self, folder: &Path) -> io::Result<File> {
        std::fs::create_dir_all(folder)?;
        let mut file = new_file(folder)?;
        let _ = file.try_lock();
        let written = file.write_all(&self.text).and_then(|()| file.sync_all());
        if let Err(error) = written {
            let _ = std::fs::remove_file(folder.join(NAME));
            // Only where nothing else is in it.
            let _ = std::fs::remove_dir(folder);
            return Err(error);
        }
        Ok(file)
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(self.folder.join(WRITER));
    }
}

/// Whether somebody took lines out of the file.
enum Cut {
    Short,
    Not,
}

/// A journal that is there, to be written. The folder may be another's: what is a link or a pipe is not opened.
fn existing_file(path: &Path) -> io::Result<File> {
    match std::fs::symlink_metadata(path)?.is_file() {
        true => File::options().read(true).append(true).open(path),
        false => Err(io::Error::other("it is no plain file")),
    }
}

/// A journal that was not there.
fn new_file(folder: &Path) -> io::Result<File> {
    File::options().read(true).append(true).create_new(true).open(folder.join(NAME))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::read;

    /// The head of a run of this id.
    fn head(id: &str) -> Run {
        serde_json::from_value(serde_json::json!({
            "schema": skillbench_record::RUN_SCHEMA, "run_id": id, "started_at": "2026-01-31T12:00:00Z", "command": [], "seed": 42,
            "environment": {"host_version": "0.1.0", "os": "linux", "arch": "x86_64", "clock": "monotonic", "plugin_sha256": {}},
            "left_out": {}, "cells": []
        }))
        .unwrap()
    }

    fn begun(folder: &Path) -> Journal {
        let mut journal = Journal::create(folder, &RunRequest::default()).unwrap();
        journal.begun(&head("it")).unwrap();
        journal
    }

    fn measure(journal: &mut Journal, index: usize) -> Option<String> {
        journal.cell_ended(&Cell { index, ..Cell::blank() }, &[]).unwrap()
    }

    fn cells(place: &Path) -> Vec<usize> {
        read(place).unwrap().run.cells.iter().map(|cell| cell.index).collect()
    }

    #[test]
    fn one_process_at_a_time_writes_a_run_and_the_second_is_told_who_does() {
        let folder = tempfile::tempdir().unwrap();
        let mut first = begun(folder.path());
        measure(&mut first, 0);
        let Err(busy) = Journal::resume(folder.path()) else { panic!("two write the same run") };
        let named = format!("is being written by process {}", std::process::id());
        assert!(busy.to_string().contains(&named), "{busy}");
        assert!(Journal::create(folder.path(), &RunRequest::default()).is_err());
        drop(first);
        assert!(!folder.path().join(WRITER).exists());
        let (mut second, found) = Journal::resume(folder.path()).unwrap();
        assert_eq!(found.run.cells.len(), 1);
        measure(&mut second, 1);
        assert_eq!(cells(folder.path()), [0, 1]);
    }

    #[cfg(unix)]
    #[test]
    fn links_in_a_folder_lead_no_write_out_of_it() {
        let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        drop(begun(folder.path()));
        let precious = outside.path().join("precious");
        std::fs::write(&precious, "kept").unwrap();
        std::os::unix::fs::symlink(&precious, folder.path().join(WRITER)).unwrap();
        drop(Journal::resume(folder.path()).unwrap());
        std::fs::rename(folder.path().join(NAME), outside.path().join(NAME)).unwrap();
        std::os::unix::fs::symlink(outside.path().join(NAME), folder.path().join(NAME)).unwrap();
        let Err(refused) = Journal::resume(folder.path()) else { panic!("a link was opened") };
        assert!(refused.to_string().contains("no plain file"), "{refused}");
        assert_eq!(std::fs::read(&precious).unwrap(), b"kept");
    }

    #[test]
    fn a_damaged_end_is_set_aside_before_anything_is_appended() {
        for end in [&b"{\"type\":\"cell\",\"ce"[..], &[0; 64], b"\xff\xfegarbage\nmore\n\n"] {
            let folder = tempfile::tempdir().unwrap();
            let mut journal = begun(folder.path());
            measure(&mut journal, 0);
            drop(journal);
            let path = folder.path().join(NAME);
            File::options().append(true).open(&path).unwrap().write_all(end).unwrap();
            assert_eq!(cells(folder.path()), [0], "what is whole is read as it lies");
            let (mut journal, found) = Journal::resume(folder.path()).unwrap();
            assert_eq!(found.run.cells.len(), 1);
            assert!(journal.notes.iter().any(|note| note.contains("journal.damaged-1")), "{:?}", journal.notes);
            measure(&mut journal, 1);
            drop(journal);
            assert_eq!(std::fs::read(folder.path().join("journal.damaged-1")).unwrap(), end);
            assert!(read(folder.path()).unwrap().damaged.is_empty());
            assert_eq!(cells(folder.path()), [0, 1]);
        }
    }

    #[test]
    fn a_line_that_is_damaged_in_the_middle_costs_its_cell_which_can_be_measured_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = begun(folder.path());
        (0..3).for_each(|index| drop(measure(&mut journal, index)));
        drop(journal);
        let path = folder.path().join(NAME);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("\"index\":1", "\"index\":9")).unwrap();
        let (mut journal, found) = Journal::resume(folder.path()).unwrap();
        assert_eq!(found.run.cells.iter().map(|cell| cell.index).collect::<Vec<_>>(), [0, 2]);
        assert!(journal.notes[0].contains("line 3 is left out: its sum does not hold"), "{:?}", journal.notes);
        measure(&mut journal, 1);
        drop(journal);
        assert_eq!(cells(folder.path()), [0, 1, 2]);
    }

    #[test]
    fn a_last_line_that_lost_its_end_counts_and_is_ended_first() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = begun(folder.path());
        measure(&mut journal, 0);
        drop(journal);
        let path = folder.path().join(NAME);
        let text = std::fs::read(&path).unwrap();
        std::fs::write(&path, &text[..text.len() - 1]).unwrap();
        let (mut journal, _) = Journal::resume(folder.path()).unwrap();
        measure(&mut journal, 1);
        assert_eq!(cells(folder.path()), [0, 1]);
    }

    #[test]
    fn a_folder_that_goes_away_is_said_once_and_made_again_at_the_end() {
        let runs = tempfile::tempdir().unwrap();
        let folder = runs.path().join("it");
        std::fs::create_dir(&folder).unwrap();
        let mut journal = begun(&folder);
        assert_eq!(measure(&mut journal, 0), None);
        std::fs::remove_dir_all(&folder).unwrap();
        let said = measure(&mut journal, 1).expect("it is said at once");
        assert!(said.contains("the journal is gone") && said.contains("the run goes on"), "{said}");
        assert_eq!(measure(&mut journal, 2), None);
        assert_eq!(journal.end("it", &[]).unwrap(), None);
        assert_eq!(cells(&folder), [0, 1, 2]);
    }

    #[test]
    fn a_run_whose_place_another_file_took_is_written_elsewhere() {
        let runs = tempfile::tempdir().unwrap();
        let (folder, elsewhere) = (runs.path().join("it"), runs.path().join("elsewhere"));
        std::fs::create_dir(&folder).unwrap();
        let mut journal = begun(&folder);
        std::fs::rename(folder.join(NAME), folder.join("taken")).unwrap();
        std::fs::write(folder.join(NAME), "another's").unwrap();
        assert!(measure(&mut journal, 0).unwrap().contains("another file"));
        let nowhere = folder.join(NAME);
        let moved = journal.end("it", &[nowhere, elsewhere.clone()]).unwrap();
        assert_eq!(moved, Some(Moved { from: folder.clone(), to: elsewhere.join("it") }));
        assert_eq!(cells(&elsewhere.join("it")), [0]);
        assert_eq!(std::fs::read(folder.join(NAME)).unwrap(), b"another's");
    }

    #[test]
    fn a_journal_that_is_cut_short_is_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = begun(folder.path());
        (0..2).for_each(|index| drop(measure(&mut journal, index)));
        File::options().write(true).open(folder.path().join(NAME)).unwrap().set_len(100).unwrap();
        assert!(measure(&mut journal, 2).unwrap().contains("cut the journal short"));
        assert_eq!(cells(folder.path()), [0, 1, 2]);
        assert_eq!(journal.end("it", &[]).unwrap(), None);
    }

    #[test]
    fn a_run_that_no_place_takes_stays_in_memory_and_all_places_are_named() {
        let runs = tempfile::tempdir().unwrap();
        let folder = runs.path().join("it");
        std::fs::create_dir(&folder).unwrap();
        let mut journal = begun(&folder);
        std::fs::remove_dir_all(&folder).unwrap();
        std::fs::write(&folder, "a file has the name").unwrap();
        measure(&mut journal, 0);
        let nowhere = folder.join("deeper");
        let lost = journal.end("it", std::slice::from_ref(&nowhere)).unwrap_err().to_string();
        assert!(lost.contains(nowhere.to_str().unwrap()) && lost.contains(folder.to_str().unwrap()), "{lost}");
        assert_eq!(journal.recorded().unwrap().run.cells.len(), 1);
    }
}
