//! The journal: appended and flushed as each cell ends. It survives a `kill -9`; a line that was cut off is not counted.

use serde::{Deserialize, Serialize};
use skillbench_record::RunRequest;
use skillbench_record::{Cell, Run, Samples};
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
    #[error("{path}: '{id}' cannot be the id of a run: letters, digits, '-', '_' and '.' can")]
    Id { path: PathBuf, id: String },
}

/// One line, as it is written.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line<'a> {
    /// The first: what was asked for, and the run without cells.
    Run {
        request: &'a RunRequest,
        run: &'a Run,
    },
    Cell {
        cell: &'a Cell,
        samples: &'a [Samples],
    },
    LeftOut {
        plugin: &'a str,
        why: &'a str,
    },
}

/// One line, as it is read. Not an enum by `type`: that would parse every line twice.
#[derive(Deserialize)]
struct Read {
    #[serde(rename = "type")]
    kind: Kind,
    request: Option<Box<RunRequest>>,
    run: Option<Box<Run>>,
    cell: Option<Box<Cell>>,
    #[serde(default)]
    samples: Vec<Samples>,
    plugin: Option<String>,
    why: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Run,
    Cell,
    LeftOut,
}

/// A run as its journal tells it, or another file that has all of it.
pub struct Recorded {
    /// What was asked for; `None`: a `run.json` does not tell.
    pub request: Option<RunRequest>,
    pub run: Run,
    pub samples: Vec<Samples>,
    /// SHA-256 of the file, by which a run that was stored already is known.
    pub fingerprint: String,
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
    Ok(Recorded { request: None, run, samples: vec![], fingerprint })
}

/// Refuses an id that would be another place as the name of a folder.
fn named(run: &Run, path: &Path) -> Result<(), JournalError> {
    let id = &run.run_id;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    match !id.is_empty() && !id.starts_with('.') && id.chars().all(plain) {
        true => Ok(()),
        false => Err(JournalError::Id { path: path.into(), id: id.clone() }),
    }
}

/// Writes a journal while a run goes on.
pub struct Journal {
    file: File,
    request: RunRequest,
    resumed: bool,
}

pub const NAME: &str = "journal.ndjson";

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

    fn append(&mut self, line: &Line<'_>) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.file.write_all(&text)?;
        self.file.sync_data()
    }
}

fn ends_with_newline(path: &Path) -> io::Result<bool> {
    Ok(std::fs::read(path)?.last() == Some(&b'\n'))
}

impl Journal {
    /// The run begins: what was asked for, and its head. One that is resumed has that already.
    ///
    /// # Errors
    /// The file cannot be written; so for each of these.
    pub fn begun(&mut self, run: &Run) -> io::Result<()> {
        if self.resumed {
            return Ok(());
        }
        let run = Run { cells: vec![], ..run.clone() };
        let request = self.request.clone();
        self.append(&Line::Run { request: &request, run: &run })
    }

    /// A backend has no cells, for this reason.
    pub fn left_out(&mut self, plugin: &str, why: &str) -> io::Result<()> {
        self.append(&Line::LeftOut { plugin, why })
    }

    pub fn cell_ended(&mut self, cell: &Cell, samples: &[Samples]) -> io::Result<()> {
        self.append(&Line::Cell { cell, samples })
    }
}

/// When the run of a journal began, as its first line has it; `None`: it has none.
pub fn began(journal: &Path) -> Option<String> {
    use std::io::{BufRead, BufReader};
    let mut first = String::new();
    BufReader::new(File::open(journal).ok()?).read_line(&mut first).ok()?;
    serde_json::from_str::<Read>(&first).ok()?.run.map(|run| run.started_at)
}

/// Reads a run back, from its folder or from the journal itself. Of a cell that stands there twice, the later line counts.
///
/// # Errors
/// No journal, a broken line other than the last.
pub fn read(place: &Path) -> Result<Recorded, JournalError> {
    let path = if place.is_dir() { place.join(NAME) } else { place.to_path_buf() };
    let unreadable = |error| JournalError::Unreadable { path: path.clone(), error };
    let bytes = std::fs::read(&path).map_err(unreadable)?;
    let mut head = None;
    let mut cells: BTreeMap<usize, (Cell, Vec<Samples>)> = BTreeMap::new();
    let mut left_out = BTreeMap::new();
    let lines = parsed(&bytes);
    let last = lines.last().map(|(index, _)| *index);
    for (index, line) in lines {
        let line = match line {
            Ok(line) => line,
            // Cut off by whatever ended the run; a later resume may have gone on after it. A power cut may leave anything at the end.
            Err(error) if error.is_eof() || Some(index) == last => continue,
            Err(error) => return Err(JournalError::Broken { path, line: index + 1, text: error.to_string() }),
        };
        match (line.kind, line) {
            (Kind::Run, Read { request: Some(request), run: Some(run), .. }) => head = Some((request, run)),
            (Kind::Cell, Read { cell: Some(cell), samples, .. }) => drop(cells.insert(cell.index, (*cell, samples))),
            (Kind::LeftOut, Read { plugin: Some(plugin), why: Some(why), .. }) => drop(left_out.insert(plugin, why)),
            _ => {
                let text = "it lacks what its type has".to_string();
                return Err(JournalError::Broken { path, line: index + 1, text });
            }
        }
    }
    let Some((request, run)) = head else { return Err(JournalError::Empty(path)) };
    named(&run, &path)?;
    let (cells, samples): (Vec<Cell>, Vec<Vec<Samples>>) = cells.into_values().unzip();
    let mut run = Run { cells, left_out, ..*run };
    run.upgrade(Some(&request));
    let fingerprint = skillbench_record::hash::sha256_bytes(&bytes);
    Ok(Recorded { request: Some(*request), run, samples: samples.into_iter().flatten().collect(), fingerprint })
}

/// The lines that are not empty, each with its place; parsed on all processors, since a long run has many megabytes of them.
fn parsed(bytes: &[u8]) -> Vec<(usize, serde_json::Result<Read>)> {
    let lines: Vec<(usize, &[u8])> =
        bytes.split(|byte| *byte == b'\n').enumerate().filter(|(_, text)| text.iter().any(|byte| *byte != 0)).collect();
    let parse = |lines: &[(usize, &[u8])]| -> Vec<(usize, serde_json::Result<Read>)> {
        lines.iter().map(|(index, text)| (*index, serde_json::from_slice(text))).collect()
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = lines.len().div_ceil(threads).max(256);
    std::thread::scope(|scope| {
        let parts: Vec<_> = lines.chunks(share).map(|part| scope.spawn(move || parse(part))).collect();
        parts
            .into_iter()
            .flat_map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}
