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
pub(super) const WRITER: &str = ".writer";

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
    /// Its cells can be had again from where they were measured: they reach the disk when the run ends, in place of one by one.
    is_copy: bool,
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
#[error("the run could be kept nowhere: {}", list(.0))]
pub struct Lost(Vec<(PathBuf, String)>);

fn list(tried: &[(PathBuf, String)]) -> String {
    tried.iter().map(|(place, why)| format!("{}: {why}", place.display())).collect::<Vec<_>>().join("; ")
}

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
            is_copy: false,
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
            is_copy: false,
            is_failing: false,
            notes,
        };
        journal.sign();
        Ok((journal, found))
    }

    /// The journal of a run that another machine measures, and keeps until it is whole here.
    #[must_use]
    pub fn as_copy(mut self) -> Journal {
        self.is_copy = true;
        self
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
        if !self.is_copy {
            self.file.sync_data()?;
        }
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
        self.is_copy = false;
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
