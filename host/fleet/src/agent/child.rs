//! A host of its own measures each lot: whatever a plugin does to it, the agent lives. It asks before each cell, tells each that has ended, and
//! ends when nobody answers any more.
//!
//! | the child says | the agent answers |
//! |---|---|
//! | `begin N`: the cell at that place is next | `go`, or `stop` |
//! | `ended N`: its line is in the journal | nothing |
//!
//! `stop` may come at any time.

use super::measure::{Answer, Finished, Measure, Step};
use super::spool::journal_in;
use crate::courier::CourierError;
use parking_lot::Mutex;
use skillbench_record::RunRequest;
use skillbench_record::journal::Contents;
use skillbench_worker::Stop;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

pub const BEGIN: &str = "begin";
pub const ENDED: &str = "ended";
pub const GO: &str = "go";
pub const STOP: &str = "stop";
/// The environment variable with the number of the process that is asked.
pub const ASK: &str = "SKILLBENCH_ASKS";

/// Between two looks whether the agent was asked to end.
const LOOK: Duration = Duration::from_millis(100);
/// So much of what the child said is told when it died.
const LAST_WORDS: usize = 400;

/// Starts hosts.
pub struct ChildHost {
    pub program: PathBuf,
    /// Those before the subcommand: registry, search path.
    pub global: Vec<OsString>,
    pub stop: Stop,
}

impl Measure for ChildHost {
    fn measure(
        &self,
        request: &RunRequest,
        folder: &Path,
        on: &mut dyn FnMut(Step<'_>) -> Result<Answer, CourierError>,
    ) -> Result<Finished, CourierError> {
        match self.start(request, folder) {
            Ok((child, errors)) => Running { child, folder, errors, journal: Tail::default() }.follow(&self.stop, on),
            Err(error) => Ok(Finished::NoRoom(format!("{}: {error}", folder.display()))),
        }
    }
}

impl ChildHost {
    fn start(&self, request: &RunRequest, folder: &Path) -> io::Result<(Child, PathBuf)> {
        let (asked, errors) = (folder.join("request.json"), folder.join("host.log"));
        std::fs::write(&asked, serde_json::to_vec(request).map_err(io::Error::other)?)?;
        let child = Command::new(&self.program)
            .args(&self.global)
            .args(["run", "--no-save", "--quiet", "--format", "csv", "--request"])
            .arg(asked)
            .arg("--results-dir")
            .arg(folder)
            .env(ASK, std::process::id().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(&errors)?)
            .spawn()?;
        Ok((child, errors))
    }
}

struct Running<'f> {
    child: Child,
    folder: &'f Path,
    errors: PathBuf,
    journal: Tail,
}

/// The journal, as far as it was read.
#[derive(Default)]
struct Tail {
    read: u64,
    is_headed: bool,
    /// So many cells were told whose lines were not there.
    lacks: usize,
}

impl Running<'_> {
    fn follow(
        mut self,
        stop: &Stop,
        on: &mut dyn FnMut(Step<'_>) -> Result<Answer, CourierError>,
    ) -> Result<Finished, CourierError> {
        let (Some(stdin), Some(stdout)) = (self.child.stdin.take(), self.child.stdout.take()) else {
            return Ok(Finished::Died("it has no pipes".into()));
        };
        let stdin = Mutex::new(Some(stdin));
        let done = std::sync::atomic::AtomicBool::new(false);
        let followed = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(std::sync::atomic::Ordering::SeqCst) {
                    if stop.asked() {
                        say(&stdin, STOP);
                        return;
                    }
                    std::thread::park_timeout(LOOK);
                }
            });
            let followed = self.listen(BufReader::new(stdout), &stdin, on);
            done.store(true, std::sync::atomic::Ordering::SeqCst);
            if followed.is_err() {
                say(&stdin, STOP);
            }
            followed
        });
        drop(stdin.lock().take());
        let status = self.child.wait();
        let is_stopped = followed? || stop.asked();
        self.tail(on)?;
        Ok(match status {
            Ok(status) if is_stopped || status.code() == Some(130) => Finished::Stopped,
            _ if self.journal.lacks > 0 => Finished::NoRoom("a cell has ended, and its journal lacks it".into()),
            // The codes of a run that came to its end, whatever came of its cells.
            Ok(status) if matches!(status.code(), Some(0 | 3..=6)) && self.journal.is_headed => Finished::All,
            Ok(status) => Finished::Died(format!("{status}{}", self.last_words())),
            Err(error) => Finished::Died(error.to_string()),
        })
    }

    /// Whether it was told to stop.
    fn listen(
        &mut self,
        stdout: impl BufRead,
        stdin: &Mutex<Option<ChildStdin>>,
        on: &mut dyn FnMut(Step<'_>) -> Result<Answer, CourierError>,
    ) -> Result<bool, CourierError> {
        let mut is_stopped = false;
        for line in stdout.lines() {
            let Ok(line) = line else { break };
            let step = line.split_once(' ').and_then(|(word, place)| Some((word, place.parse::<usize>().ok()?)));
            let answer = match step {
                Some((BEGIN, place)) => {
                    let answer = match self.tail(on)? {
                        Answer::Stop => Answer::Stop,
                        Answer::Go => on(Step::Begin(place))?,
                    };
                    say(stdin, if answer == Answer::Go { GO } else { STOP });
                    answer
                }
                Some((ENDED, _)) => {
                    let before = self.journal.read;
                    let answer = self.tail(on)?;
                    self.journal.lacks += usize::from(self.journal.read == before);
                    answer
                }
                // The table that a host prints at its end.
                _ => Answer::Go,
            };
            is_stopped |= answer == Answer::Stop;
        }
        Ok(is_stopped)
    }

    /// Tells what is new in the journal.
    fn tail(&mut self, on: &mut dyn FnMut(Step<'_>) -> Result<Answer, CourierError>) -> Result<Answer, CourierError> {
        let Some(path) = journal_in(self.folder) else { return Ok(Answer::Go) };
        let mut text = vec![];
        let read = File::open(path).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.journal.read))?;
            file.read_to_end(&mut text)
        });
        if read.is_err() {
            return Ok(Answer::Go);
        }
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        self.journal.read += whole as u64;
        let mut answer = Answer::Go;
        for line in text[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let told = match (self.journal.is_headed, Contents::read(line).head) {
                (false, Some((_, run))) => {
                    self.journal.is_headed = true;
                    on(Step::Head(&run))?
                }
                _ => on(Step::Ended(&String::from_utf8_lossy(line)))?,
            };
            if told == Answer::Stop {
                answer = told;
            }
        }
        Ok(answer)
    }

    fn last_words(&self) -> String {
        let said = std::fs::read_to_string(&self.errors).unwrap_or_default();
        let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines[lines.len().saturating_sub(3)..].join(" | ");
        let last: String = last.chars().take(LAST_WORDS).collect();
        if last.is_empty() { last } else { format!(": {last}") }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // Without its pipe it ends by itself; one that hangs does not.
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// A child that has ended hears nothing.
fn say(stdin: &Mutex<Option<ChildStdin>>, word: &str) {
    if let Some(stdin) = &mut *stdin.lock() {
        let _ = writeln!(stdin, "{word}").and_then(|()| stdin.flush());
    }
}
