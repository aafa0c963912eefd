//! The file of weights: as large as the model, so it is made in pieces, by as many threads as there are processors, and
//! never lies in memory as a whole.

use crate::rule::Rule;
use skillbench_plugin_api::sdk::Host;
use skillbench_plugin_api::{Code, Error, Result};
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// A tensor starts on a page, so that an engine can map it.
const ALIGNMENT: u64 = 4096;

/// Small enough for a processor's cache, large enough for a system call. A multiple of every element's size.
const PIECE: usize = 1 << 20;

/// Where generated tensors go.
#[derive(Default)]
pub struct Weights {
    tensors: Vec<(Rule, Range<u64>)>,
    /// The size of the file.
    pub bytes: u64,
}

/// A part of one tensor.
struct Piece<'a> {
    rule: &'a Rule,
    first_element: u64,
    offset: u64,
    length: usize,
}

impl Weights {
    /// Finds the next tensor its place. `None`: no file is that large.
    pub fn add(&mut self, rule: Rule, elements: u64) -> Option<Range<u64>> {
        let end = elements.checked_mul(Rule::ELEMENT as u64)?.checked_add(self.bytes)?;
        let next = end.checked_next_multiple_of(ALIGNMENT).filter(|next| i64::try_from(*next).is_ok())?;
        let place = self.bytes..end;
        self.tensors.push((rule, place.clone()));
        self.bytes = next;
        Some(place)
    }

    /// Writes the file; none, where there is nothing to write.
    pub fn write(&self, host: &Host, path: &Path) -> Result<()> {
        if self.tensors.is_empty() {
            return Ok(());
        }
        File::create(path).and_then(|file| file.set_len(self.bytes)).map_err(|error| unwritable(path, &error))?;
        let pieces: Vec<Piece<'_>> = self.pieces().collect();
        let work = Work { host, path, pieces: &pieces, next: AtomicUsize::new(0) };
        let helpers =
            thread::available_parallelism().map_or(0, |processors| processors.get() - 1).min(pieces.len() / 8);
        thread::scope(|scope| {
            // A thread that does not start leaves its share to the others.
            let spawn = |_| thread::Builder::new().spawn_scoped(scope, || work.take_part()).ok();
            let helpers: Vec<_> = (0..helpers).filter_map(spawn).collect();
            let mut outcome = work.take_part();
            for helper in helpers {
                let theirs =
                    helper.join().unwrap_or_else(|_| Err(Error::internal("a thread that fills weights panicked")));
                outcome = outcome.and(theirs);
            }
            outcome
        })
    }

    fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        self.tensors.iter().flat_map(|(rule, place)| {
            place.clone().step_by(PIECE).map(move |offset| Piece {
                rule,
                first_element: (offset - place.start) / Rule::ELEMENT as u64,
                offset,
                length: (place.end - offset).min(PIECE as u64) as usize,
            })
        })
    }
}

/// What the threads share: whoever is free takes the next piece.
struct Work<'a> {
    host: &'a Host,
    path: &'a Path,
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
        let unwritable = |error: io::Error| unwritable(self.path, &error);
        // Each thread has a handle, and so a position, of its own.
        let mut file = OpenOptions::new().write(true).open(self.path).map_err(unwritable)?;
        let mut buffer = vec![0; PIECE];
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(piece) = self.pieces.get(index) else { return Ok(()) };
            if self.host.stopping() {
                return Err(Error::new(Code::Cancelled, "the run is being stopped"));
            }
            self.report(index);
            let bytes = &mut buffer[..piece.length];
            piece.rule.write(piece.first_element, bytes);
            file.seek(SeekFrom::Start(piece.offset)).and_then(|_| file.write_all(bytes)).map_err(unwritable)?;
        }
    }

    /// A hundred times for a file, however large it is.
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
