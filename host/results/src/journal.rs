//! The journal: appended and flushed as each cell ends. It survives a `kill -9`; a line that was cut off is not counted.

use serde::{Deserialize, Serialize};
use skillbench_engine::document::{Cell, Run, Samples};
use skillbench_engine::run::{Observer, RunRequest};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("{path}: {error}; is that a run's folder?")]
    Unreadable { path: PathBuf, error: io::Error },
    #[error("{path}, line {line}: {text}")]
    Broken { path: PathBuf, line: usize, text: String },
    #[error("{0}: the journal has no first line, so the run had not begun")]
    Empty(PathBuf),
}

/// One line.
#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line {
    /// The first: what was asked for, and the run without cells.
    Run {
        request: Box<RunRequest>,
        run: Box<Run>,
    },
    Cell {
        cell: Box<Cell>,
        samples: Vec<Samples>,
    },
    LeftOut {
        plugin: String,
        why: String,
    },
}

/// A run as its journal tells it.
pub struct Recorded {
    pub request: RunRequest,
    pub run: Run,
    pub samples: Vec<Samples>,
}

/// Writes a journal while a run goes on.
pub struct Journal {
    file: File,
    request: RunRequest,
    resumed: bool,
}

const NAME: &str = "journal.ndjson";

impl Journal {
    /// Opens a run's journal for appending; the folder is made.
    ///
    /// # Errors
    /// The folder or the file cannot be written.
    pub fn open(folder: &Path, request: &RunRequest) -> io::Result<Journal> {
        std::fs::create_dir_all(folder)?;
        let path = folder.join(NAME);
        let mut file = File::options().create(true).append(true).read(true).open(&path)?;
        let resumed = file.metadata()?.len() > 0;
        if resumed && !ends_with_newline(&path)? {
            // The last line was cut off; what comes now begins on a line of its own.
            file.write_all(b"\n")?;
        }
        Ok(Journal { file, request: request.clone(), resumed })
    }

    fn append(&mut self, line: &Line) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.file.write_all(&text)?;
        self.file.sync_data()
    }
}

fn ends_with_newline(path: &Path) -> io::Result<bool> {
    Ok(std::fs::read(path)?.last() == Some(&b'\n'))
}

impl Observer for Journal {
    fn begun(&mut self, run: &Run) -> io::Result<()> {
        if self.resumed {
            return Ok(());
        }
        let run = Run { cells: vec![], ..run.clone() };
        self.append(&Line::Run { request: Box::new(self.request.clone()), run: Box::new(run) })
    }

    fn left_out(&mut self, plugin: &str, why: &str) -> io::Result<()> {
        self.append(&Line::LeftOut { plugin: plugin.into(), why: why.into() })
    }

    fn cell_ended(&mut self, cell: &Cell, samples: &[Samples]) -> io::Result<()> {
        self.append(&Line::Cell { cell: Box::new(cell.clone()), samples: samples.to_vec() })
    }
}

/// Reads a run back. Of a cell that stands there twice, the later line counts.
///
/// # Errors
/// No journal, a broken line other than the last.
pub fn read(folder: &Path) -> Result<Recorded, JournalError> {
    let path = folder.join(NAME);
    let unreadable = |error| JournalError::Unreadable { path: path.clone(), error };
    let bytes = std::fs::read(&path).map_err(unreadable)?;
    let (mut head, mut cells, mut all_samples) = (None, BTreeMap::new(), vec![]);
    let mut left_out = BTreeMap::new();
    let lines = bytes.split(|byte| *byte == b'\n').enumerate();
    for (index, text) in lines.filter(|(_, text)| !text.is_empty()) {
        match serde_json::from_slice(text) {
            Ok(Line::Run { request, run }) => head = Some((request, run)),
            Ok(Line::Cell { cell, samples }) => {
                all_samples.retain(|known: &Samples| known.cell != cell.index);
                all_samples.extend(samples);
                cells.insert(cell.index, *cell);
            }
            Ok(Line::LeftOut { plugin, why }) => drop(left_out.insert(plugin, why)),
            // Cut off by whatever ended the run; a later resume may have gone on after it.
            Err(error) if error.is_eof() => {}
            Err(error) => {
                return Err(JournalError::Broken { path, line: index + 1, text: error.to_string() });
            }
        }
    }
    let (request, run) = head.ok_or(JournalError::Empty(path))?;
    let run = Run { cells: cells.into_values().collect(), left_out, ..*run };
    Ok(Recorded { request: *request, run, samples: all_samples })
}
