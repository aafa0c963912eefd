//! The files of weights: as large as the model, so they are made in pieces, by as many threads as there are processors, and
//! never lie in memory as a whole.

use crate::rule::Rule;
use skillbench_plugin_api::sdk::Host;
use skillbench_plugin_api::{Code, Error, Result};
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// A tensor starts on a page, so that an engine can map it.
const ALIGNMENT: u64 = 4096;

/// About as much is made at once: small enough for a processor's cache, large enough for a system call.
const PIECE: usize = 1 << 20;

/// What a folder holds besides the weights: graphs and skill.json, and what a file system needs for itself.
const BESIDE: u64 = 16 << 20;

/// Where the generated tensors of one graph go.
#[derive(Default)]
pub struct Weights {
    tensors: Vec<(Rule, Range<u64>)>,
    /// The size of the file.
    pub bytes: u64,
}

/// A part of one tensor.
struct Piece<'a> {
    rule: &'a Rule,
    file: usize,
    first_unit: u64,
    offset: u64,
    length: usize,
}

impl Weights {
    /// Finds the next tensor of so many numbers its place. `None`: no file is that large.
    pub fn add(&mut self, rule: Rule, numbers: u64) -> Option<Range<u64>> {
        let element = rule.element();
        let end = element.units(numbers).checked_mul(element.unit() as u64)?.checked_add(self.bytes)?;
        let next = end.checked_next_multiple_of(ALIGNMENT).filter(|next| i64::try_from(*next).is_ok())?;
        let place = self.bytes..end;
        self.tensors.push((rule, place.clone()));
        self.bytes = next;
        Some(place)
    }

    fn pieces(&self, file: usize) -> impl Iterator<Item = Piece<'_>> {
        self.tensors.iter().flat_map(move |(rule, place)| {
            let unit = rule.element().unit();
            let piece = (PIECE / unit).max(1) * unit;
            place.clone().step_by(piece).map(move |offset| Piece {
                rule,
                file,
                first_unit: (offset - place.start) / unit as u64,
                offset,
                length: (place.end - offset).min(piece as u64) as usize,
            })
        })
    }
}

/// Writes the files, none for a graph without generated weights.
pub fn write(host: &Host, folder: &Path, files: &[(String, Weights)]) -> Result<()> {
    let files: Vec<&(String, Weights)> = files.iter().filter(|(_, weights)| !weights.tensors.is_empty()).collect();
    let bytes = files.iter().map(|(_, weights)| weights.bytes).sum();
    room(folder, bytes, free(folder))?;
    let paths: Vec<PathBuf> = files.iter().map(|(name, _)| folder.join(name)).collect();
    fill(host, &paths, &files).map_err(|error| match error.code {
        Code::ResourceExhausted => Error { message: format!("{}; {}", error.message, needs(folder, bytes)), ..error },
        _ => error,
    })
}

/// Whether the weights have room, where the system tells how much there is.
fn room(folder: &Path, bytes: u64, free: Option<u64>) -> Result<()> {
    match free {
        Some(free) if free < bytes.saturating_add(BESIDE) => {
            let text = format!(
                "{}, {BESIDE} more are left to others, and there are {free} free: make room, or choose a smaller model",
                needs(folder, bytes)
            );
            Err(Error::new(Code::ResourceExhausted, text))
        }
        _ => Ok(()),
    }
}

fn needs(folder: &Path, bytes: u64) -> String {
    format!("the model needs {bytes} bytes in {}", folder.display())
}

/// What the system says a folder may still take; `None` where it does not say.
#[cfg(unix)]
fn free(folder: &Path) -> Option<u64> {
    let system = rustix::fs::statvfs(folder).ok()?;
    system.f_bavail.checked_mul(system.f_frsize)
}

#[cfg(not(unix))]
fn free(_folder: &Path) -> Option<u64> {
    None
}

fn fill(host: &Host, paths: &[PathBuf], files: &[&(String, Weights)]) -> Result<()> {
    for (path, (_, weights)) in paths.iter().zip(files) {
        File::create(path).and_then(|file| file.set_len(weights.bytes)).map_err(|error| unwritable(path, &error))?;
    }
    let pieces: Vec<Piece<'_>> = files.iter().enumerate().flat_map(|(file, (_, w))| w.pieces(file)).collect();
    let work = Work { host, paths, pieces: &pieces, next: AtomicUsize::new(0) };
    let helpers = thread::available_parallelism().map_or(0, |processors| processors.get() - 1).min(pieces.len() / 8);
    thread::scope(|scope| {
        // A thread that does not start leaves its share to the others.
        let spawn = |_| thread::Builder::new().spawn_scoped(scope, || work.take_part()).ok();
        let helpers: Vec<_> = (0..helpers).filter_map(spawn).collect();
        let mut outcome = work.take_part();
        for helper in helpers {
            let theirs = helper.join().unwrap_or_else(|_| Err(Error::internal("a thread that fills weights panicked")));
            outcome = outcome.and(theirs);
        }
        outcome
    })
}

/// What the threads share: whoever is free takes the next piece.
struct Work<'a> {
    host: &'a Host,
    paths: &'a [PathBuf],
    pieces: &'a [Piece<'a>],
    next: AtomicUsize,
}

impl Work<'_> {
    fn take_part(&self) -> Result<()> {
        let outcome = self.fill();
        if outcome.is_err() {
            // Nothing left for the others.
            self.next.store(self.pieces.len(), Ordering::Relaxed);
        }
        outcome
    }

    fn fill(&self) -> Result<()> {
        // Each thread has a handle, and so a position, of its own.
        let mut open: Option<(usize, File)> = None;
        let mut buffer = vec![];
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(piece) = self.pieces.get(index) else { return Ok(()) };
            if self.host.stopping() {
                return Err(Error::new(Code::Cancelled, "the run is being stopped"));
            }
            self.report(index);
            let path = &self.paths[piece.file];
            let unwritable = |error: io::Error| unwritable(path, &error);
            let file = match &mut open {
                Some((number, file)) if *number == piece.file => file,
                other => {
                    let file = OpenOptions::new().write(true).open(path).map_err(unwritable)?;
                    &mut other.insert((piece.file, file)).1
                }
            };
            buffer.resize(piece.length.max(buffer.len()), 0);
            let bytes = &mut buffer[..piece.length];
            piece.rule.write(piece.first_unit, bytes);
            file.seek(SeekFrom::Start(piece.offset)).and_then(|_| file.write_all(bytes)).map_err(unwritable)?;
        }
    }

    /// A hundred times, however large the files are.
    fn report(&self, index: usize) {
        let percent = |index: usize| index * 100 / self.pieces.len();
        if index > 0 && percent(index) != percent(index - 1) {
            self.host.phase("build", index as f64 / self.pieces.len() as f64);
        }
    }
}

pub fn unwritable(path: &Path, error: &io::Error) -> Error {
    let code = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            Code::ResourceExhausted
        }
        io::ErrorKind::NotFound => Code::NotFound,
        _ => Code::Internal,
    };
    Error::new(code, format!("cannot write {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_without_room_is_told_before_anything_is_written() {
        let error = room(Path::new("models/bert"), 400_000_000, Some(300_000_000)).unwrap_err();
        assert_eq!(error.code, Code::ResourceExhausted);
        for part in ["models/bert", "400000000 bytes", "300000000 free"] {
            assert!(error.message.contains(part), "{error}");
        }
        assert!(room(Path::new("models/bert"), 400_000_000, Some(500_000_000)).is_ok());
        assert!(room(Path::new("models/bert"), 400_000_000, None).is_ok(), "a system that does not say");
    }

    #[test]
    #[cfg(unix)]
    fn the_system_says_how_much_room_there_is() {
        assert!(free(Path::new(".")).is_some_and(|bytes| bytes > 0));
        assert_eq!(free(Path::new("nowhere/at/all")), None);
    }
}
