//! Seed after seed from outside: workers use the backend, and one that ends costs its seed. A fault is tried again alone, so that it is
//! told with the least that shows it.

use super::Played;
use crate::{Command, Event, Failure, FailureKind, FuzzJob, Limits, PluginUse, Reply, Stop, Worker};
use skillbench_record::scratch;
use std::path::Path;
use std::time::{Duration, Instant};

/// Seeds of one worker.
const BATCH: u64 = 32;
/// Memory of a worker: a model that was changed may ask for more than there is.
const MEMORY: u64 = 4 << 30;
/// The hunt ends with so many faults.
const MOST: usize = 20;
/// A fault that is a matter of luck, such as of two threads or of what lies beside memory, is tried again so often.
const TRIES: usize = 5;

/// What to use at random, and for how long.
pub struct Hunt<'a> {
    pub backend: &'a PluginUse,
    pub options_schema: &'a str,
    /// The first seed.
    pub seed: u64,
    /// Models are whole.
    pub whole_models: bool,
    /// How many; `None`: as many as fit into the time.
    pub runs: Option<u64>,
    /// New ones begin until then.
    pub time: Option<Duration>,
    /// How long one may take.
    pub limit: Duration,
    pub stop: Stop,
}

/// What kind of fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    Crashed,
    Hung,
    OutOfBounds,
}

impl Fault {
    pub fn name(self) -> &'static str {
        match self {
            Fault::Crashed => "crashed",
            Fault::Hung => "hung",
            Fault::OutOfBounds => "wrote out of bounds",
        }
    }
}

/// A fault, and the seeds that show it again: `runs` of them from `first`, in one process.
#[derive(Clone, Debug)]
pub struct Found {
    pub seed: u64,
    pub fault: Fault,
    pub text: String,
    pub first: u64,
    pub runs: u64,
    /// It came again when these seeds were run again.
    pub repeats: bool,
}

/// What came of a hunt.
#[derive(Clone, Debug, Default)]
pub struct Hunted {
    pub runs: u64,
    pub asked: u64,
    pub refused: u64,
    pub found: Vec<Found>,
}

/// How a row of seeds ended before its end.
struct Ended {
    seed: u64,
    fault: Fault,
    text: String,
}

impl Hunt<'_> {
    /// # Errors
    /// The backend cannot be opened as it was asked for, or this machine does not let it happen.
    pub fn hunt(&self) -> Result<Hunted, Failure> {
        let failed = |error: std::io::Error| Failure::failed("scratch", error.to_string());
        let scratch = scratch::folder().map_err(failed)?;
        let began = Instant::now();
        let mut hunted = Hunted::default();
        let mut next = self.seed;
        loop {
            let left = self.runs.map_or(BATCH, |runs| runs.saturating_sub(hunted.runs).min(BATCH));
            let late = self.time.is_some_and(|time| began.elapsed() >= time);
            if left == 0 || late || hunted.found.len() >= MOST || self.stop.asked() {
                return Ok(hunted);
            }
            let ended = self.row(next, left, scratch.path(), &mut hunted)?;
            next = match ended {
                None => next.saturating_add(left),
                Some(ended) => {
                    let after = ended.seed.saturating_add(1);
                    let found = self.again(ended, next, scratch.path())?;
                    hunted.found.push(found);
                    after
                }
            };
        }
    }

    /// Seeds one after the other in one worker.
    fn row(&self, first: u64, count: u64, scratch: &Path, hunted: &mut Hunted) -> Result<Option<Ended>, Failure> {
        let job = FuzzJob {
            backend: self.backend.clone(),
            options_schema: self.options_schema.into(),
            first,
            count,
            whole_models: self.whole_models,
            scratch: scratch.into(),
        };
        let mut limits = Limits::probing(&self.stop);
        limits.memory = limits.memory.map(|most| most.min(MEMORY));
        (limits.opening, limits.step) = (self.limit, Some(self.limit));
        limits.total = self.limit.saturating_mul(count as u32 + 1);
        let (mut under_way, mut fault) = (None, None);
        let mut listen = |event: &Event| match event {
            Event::Played { seed, ended: None } => under_way = Some(*seed),
            Event::Played { seed, ended: Some(Played { asked, refused, fault: how }) } => {
                under_way = None;
                hunted.runs += 1;
                hunted.asked += asked;
                hunted.refused += refused;
                if let (None, Some(text)) = (&fault, how) {
                    fault = Some(Ended { seed: *seed, fault: Fault::OutOfBounds, text: text.clone() });
                }
            }
            _ => {}
        };
        let command = Command::Fuzz(Box::new(job));
        let (reply, _) = Worker::start(&command)?.call(&command, &limits, &mut listen);
        match (reply, under_way) {
            // What was written over memory may have ended the process later; the first word counts.
            _ if fault.is_some() => Ok(fault),
            (Ok(Reply::Fuzzed), _) => Ok(None),
            (Ok(other), _) => Err(Failure::unexpected(&other)),
            (Err(failure), Some(seed)) => {
                let fault = match failure.kind {
                    FailureKind::Crashed => Fault::Crashed,
                    FailureKind::TimedOut => Fault::Hung,
                    _ => return Err(failure),
                };
                hunted.runs += 1;
                Ok(Some(Ended { seed, fault, text: failure.to_string() }))
            }
            (Err(failure), None) => Err(failure),
        }
    }

    /// Tries a fault again: its seed alone, and where that shows nothing, with the seeds before it.
    fn again(&self, ended: Ended, first: u64, scratch: &Path) -> Result<Found, Failure> {
        let Ended { seed, fault, text } = ended;
        let same = |first: u64, count: u64| {
            // What takes its time took it once.
            for _ in 0..if fault == Fault::Hung { 1 } else { TRIES } {
                let ended = self.row(first, count, scratch, &mut Hunted::default())?;
                if ended.is_some_and(|again| again.seed == seed) {
                    return Ok::<bool, Failure>(true);
                }
            }
            Ok(false)
        };
        let before = seed - first + 1;
        let (first, runs, repeats) = match same(seed, 1)? {
            true => (seed, 1, true),
            false => (first, before, before > 1 && same(first, before)?),
        };
        Ok(Found { seed, fault, text, first, runs, repeats })
    }
}
