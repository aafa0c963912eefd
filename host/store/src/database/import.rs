//! Many runs from their files: while some are written, the next are read.

use super::store::store_some;
use super::{Database, DatabaseError, Stored};
use crate::journal::{JournalError, Recorded};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;

/// So many cells are read and made ready at once.
const CELLS_AT_ONCE: usize = 20_000;

/// A commit has about so many: each one writes what the tables end with once more, and all of it lies in memory until then.
const CELLS_OF_A_COMMIT: usize = 100_000;

/// What became of some of the files.
#[derive(Debug)]
pub enum Imported {
    Unreadable(JournalError),
    /// Runs with their number of cells, and what became of them.
    Stored(Vec<(String, usize)>, Stored),
}

impl Database {
    /// Reads each file with `read` and stores the runs; what cannot be read costs the others nothing. `report` is called for each of them.
    ///
    /// # Errors
    /// As for any use of the file; the runs that were reported before are stored.
    pub fn import(
        &self,
        files: &[PathBuf],
        read: impl Fn(&Path) -> Result<Recorded, JournalError> + Send,
        mut report: impl FnMut(Imported),
    ) -> Result<(), DatabaseError> {
        std::thread::scope(|scope| {
            let (sender, receiver) = sync_channel(0);
            scope.spawn(move || {
                let (mut some, mut cells) = (vec![], 0);
                for file in files {
                    // Nobody receives any more after an error of the database.
                    match read_or_say(&read, file) {
                        Err(error) => {
                            if sender.send(Err(error)).is_err() {
                                return;
                            }
                        }
                        Ok(recorded) => {
                            cells += recorded.run.cells.len();
                            some.push(recorded);
                        }
                    }
                    if cells >= CELLS_AT_ONCE {
                        cells = 0;
                        if sender.send(Ok(std::mem::take(&mut some))).is_err() {
                            return;
                        }
                    }
                }
                drop(sender.send(Ok(some)));
            });
            while let Ok(first) = receiver.recv() {
                let mut next = Some(first);
                let (mut runs, mut unreadable) = (vec![], vec![]);
                let stored = self.write(|transaction| {
                    let mut stored = Stored::default();
                    let mut cells = 0;
                    while let Some(read) = next.take() {
                        match read {
                            Err(error) => unreadable.push(error),
                            Ok(some) => {
                                store_some(transaction, &some, &mut stored)?;
                                runs.extend(some.iter().map(|run| (run.run.run_id.clone(), run.run.cells.len())));
                                cells += some.iter().map(|run| run.run.cells.len()).sum::<usize>();
                            }
                        }
                        next = if cells < CELLS_OF_A_COMMIT { receiver.recv().ok() } else { None };
                    }
                    Ok(stored)
                })?;
                unreadable.into_iter().for_each(|error| report(Imported::Unreadable(error)));
                report(Imported::Stored(runs, stored));
            }
            Ok(())
        })
    }
}

/// Reading takes threads, and panics where none can be had.
fn read_or_say(read: &impl Fn(&Path) -> Result<Recorded, JournalError>, file: &Path) -> Result<Recorded, JournalError> {
    let unreadable = |text| JournalError::Unreadable { path: file.into(), error: io::Error::other(text) };
    skillbench_record::caught(|| read(file)).unwrap_or_else(|text| Err(unreadable(text)))
}
