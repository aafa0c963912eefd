//! A submission's outcomes become runs: one of each machine, kept here as cells end there. Collecting can stop anywhere and go on later, here
//! or elsewhere: what is stored is read again from its beginning, and what is kept is known by its key.
//!
//! `keeping`: the runs, as far as they came. `outage`: times without the server. `silence`: machines that give no sign of life.

mod keeping;
mod outage;
mod silence;

use crate::courier::{Courier, CourierError, Follow, Message, Table};
use crate::failover::Failover;
use crate::files::FileError;
use crate::form::{self, Beat, Doing, Outcome, Submission};
use crate::keys::{Pass, Role};
use crate::names;
use crate::own::{self, Sources};
use crate::seal::{Signer, Trust, When};
use crate::submit::{self, SubmitError};
pub(crate) use keeping::FAILED_OVER;
use keeping::Keeping;
pub use keeping::{is_kept, is_moved_whole};
use outage::Outage;
use silence::Silence;
use skillbench_record::Reason;
use skillbench_session::{Event, Listener, MeasureError, Measured};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// So long one look for news takes.
const LOOK: Duration = Duration::from_millis(500);
/// Between two looks at what the agents do.
const REVIEW: Duration = Duration::from_secs(5);

#[derive(Debug, thiserror::Error)]
pub enum CollectError {
    #[error(transparent)]
    Submission(#[from] SubmitError),
    #[error(transparent)]
    Courier(#[from] CourierError),
    #[error(transparent)]
    Measure(#[from] MeasureError),
    #[error("{machine}: the run cannot be kept: {error}")]
    Keep { machine: String, error: io::Error },
}

/// How collecting ended.
pub enum Collected {
    /// All there is of each machine's run, and the submissions that have what machines left undone that are gone.
    All { runs: Vec<Measured>, moved: Vec<String> },
    /// The user stopped it. The machines go on.
    Stopped,
}

/// The journal of each run is open until all have ended, and a process may have 1,024 open files on most systems until it asks for more.
#[cfg(unix)]
fn allow_open_files(runs: usize) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    const OTHERS: u64 = 512;
    let limit = getrlimit(Resource::Nofile);
    let needed = runs as u64 + OTHERS;
    if limit.current.is_some_and(|current| current < needed) {
        let current = limit.maximum.map_or(needed, |most| most.min(needed));
        // Where the system allows no more, the first file that cannot be opened says so.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(current), maximum: limit.maximum });
    }
}

#[cfg(not(unix))]
fn allow_open_files(_runs: usize) {}

/// Whoever collects.
pub struct Collector<'c> {
    pub courier: &'c dyn Courier,
    pub trust: Trust,
    /// `None`: a viewer, who cannot put back what is missing.
    pub signer: Option<Signer>,
    /// `None`: a machine that is gone is waited for.
    pub failover: Option<Failover<'c>>,
    /// Where own models and files of the submission are here, for a server that lost them.
    pub sources: Sources,
}

impl<'c> Collector<'c> {
    /// Collects as whoever the pass is of.
    ///
    /// # Errors
    /// The pass cannot sign.
    pub fn of(courier: &'c dyn Courier, pass: &Pass) -> Result<Collector<'c>, SubmitError> {
        let signer = (pass.role == Role::Submitter).then(|| Signer::of(pass)).transpose()?;
        Ok(Collector { courier, trust: Trust::of(pass), signer, failover: None, sources: Sources::new() })
    }

    /// Collects a submission into a folder of runs until all of it has ended, or `stop` says so.
    ///
    /// # Errors
    /// Nothing can be kept there, or the server refuses. A server that is away for a while is waited for.
    pub fn collect(
        &self,
        submission: &Submission,
        fleet: &str,
        output: &Path,
        stop: &dyn Fn() -> bool,
        on: &mut Listener<'_>,
    ) -> Result<Collected, CollectError> {
        allow_open_files(submission.runs.len());
        let mut keeping = Keeping::begin(submission, fleet, output)?;
        on(Event::RunBegun { names: &keeping.titles() });
        keeping.tell_kept(on);
        let mut follow = self.courier.follow(&names::all_of(&submission.id))?;
        let mut outage = Outage::default();
        let mut review = Review {
            at: Instant::now(),
            silence: Silence::default(),
            is_first: true,
            is_quiet: false,
            has_lost: false,
        };
        loop {
            let was_away = outage.is_on();
            let news = self.news(&mut *follow, &mut outage, on)?;
            if (was_away && !outage.is_on()) || std::mem::take(&mut review.has_lost) {
                // The server may have lost its disk: all is read again from the beginning, and sent again where it is missing.
                follow = self.courier.follow(&names::all_of(&submission.id))?;
                match self.signer.as_ref().map(|signer| self.send_again(signer, submission, on)) {
                    Some(Err(SubmitError::Courier(error))) if error.is_passing() => outage.tell(&error, on),
                    Some(Err(error)) => return Err(error.into()),
                    _ => {}
                }
                keeping.ended.clear();
                // Nobody could give a sign of life.
                review.silence = Silence::default();
                review.is_first = true;
                continue;
            }
            if let Some(message) = &news {
                keeping.take(self.courier, &self.trust, message, stop, on)?;
            }
            if keeping.is_whole() {
                return all(keeping, None, on);
            }
            if stop() {
                return Ok(Collected::Stopped);
            }
            // What is stored was read: what has not ended by now is waited for, and put back where it is missing.
            if news.is_none() && !outage.is_on() && review.is_due() {
                match self.review(&mut keeping, &mut review, on) {
                    Ok(Next::Wait) => {}
                    Ok(Next::Cancelled) => return all(keeping, Some(cancelled()), on),
                    Err(SubmitError::Courier(error)) if error.is_passing() => outage.tell(&error, on),
                    Err(error) => return Err(error.into()),
                }
            }
        }
    }

    /// Stores what a server lost: files first, then the head.
    fn send_again(&self, signer: &Signer, submission: &Submission, on: &mut Listener<'_>) -> Result<(), SubmitError> {
        match own::send(self.courier, &submission.own, &self.sources, &mut |_| {}) {
            Err(FileError::Courier(error)) => return Err(error.into()),
            Err(error) => on(Event::Warning(&format!("a file is not sent again: {error}"))),
            Ok(()) => {}
        }
        submit::send_head(self.courier, signer, submission)
    }

    fn news(
        &self,
        follow: &mut dyn Follow,
        outage: &mut Outage,
        on: &mut Listener<'_>,
    ) -> Result<Option<Message>, CollectError> {
        match follow.next(LOOK) {
            Ok(found) => {
                outage.over(on);
                Ok(found)
            }
            Err(error) if error.is_passing() => {
                outage.tell(&error, on);
                std::thread::sleep(LOOK);
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Looks at the agents, and puts back jobs that are in no queue though their lots have not ended: the submitter was killed while it sent
    /// them, or the server lost its disk.
    fn review(
        &self,
        keeping: &mut Keeping<'_>,
        review: &mut Review,
        on: &mut Listener<'_>,
    ) -> Result<Next, SubmitError> {
        review.at = Instant::now();
        let submission = keeping.submission;
        let beats = self.beats()?;
        if review.is_first {
            keeping.moved = submit::moved(self.courier, submission)?;
            keeping.moved.values().try_for_each(|to| self.send_moved(to))?;
        }
        if submit::is_cancelled(self.courier, &submission.id)? {
            let is_at_it =
                |beat: &Beat| matches!(&beat.doing, Doing::Measuring { submission: of, .. } if *of == submission.id);
            // What an agent stored before it was seen at nothing is read until the next look.
            let is_quiet = !beats.values().any(is_at_it);
            let was_quiet = std::mem::replace(&mut review.is_quiet, is_quiet);
            review.is_first = false;
            return Ok(if was_quiet && is_quiet { Next::Cancelled } else { Next::Wait });
        }
        if self.signer.is_some() && self.courier.stored(&names::head(&submission.id))?.is_none() {
            review.has_lost = true;
            return Ok(Next::Wait);
        }
        if review.is_first {
            review.is_first = false;
            if let Some(signer) = &self.signer {
                for lot in keeping.open_lots() {
                    submit::send_lot(self.courier, signer, submission, lot)?;
                }
            }
        }
        self.look_for_gone(keeping, &beats, &mut review.silence, on)?;
        Ok(Next::Wait)
    }

    fn beats(&self) -> Result<BTreeMap<String, Beat>, CourierError> {
        let mut beats = BTreeMap::new();
        for name in self.courier.keys(Table::Agents)? {
            let entry = self.courier.read(Table::Agents, &name)?;
            if let Some(beat) = entry.and_then(|entry| serde_json::from_slice(&entry.body).ok()) {
                beats.insert(name, beat);
            }
        }
        Ok(beats)
    }
}

fn all(keeping: Keeping<'_>, without: Option<Reason>, on: &mut Listener<'_>) -> Result<Collected, CollectError> {
    let moved = keeping.moved.values().cloned().collect();
    Ok(Collected::All { runs: keeping.end(without, on)?, moved })
}

enum Next {
    Wait,
    Cancelled,
}

fn cancelled() -> Reason {
    Reason::new(keeping::CANCELLED, "the submission was taken back before this cell was measured")
}

/// When the agents were looked at, and what was seen.
struct Review {
    at: Instant,
    silence: Silence,
    is_first: bool,
    /// Nobody was at a cancelled submission when the agents were looked at last.
    is_quiet: bool,
    /// The server knows nothing of the submission any more.
    has_lost: bool,
}

impl Review {
    fn is_due(&self) -> bool {
        self.is_first || self.at.elapsed() >= REVIEW
    }
}

/// An outcome that its own machine signed.
///
/// # Errors
/// Why it is not believed.
pub(crate) fn believed(
    trust: &Trust,
    message: &Message,
    submission: &str,
    machine: &str,
    key: &str,
) -> Result<Outcome, String> {
    let opened = trust.open(&message.body, &[Role::Agent, Role::Site], When::At(message.at));
    let opened = opened.map_err(|error| error.to_string())?;
    let outcome: Outcome = form::read(form::OUTCOME, &opened.body).map_err(|error| error.to_string())?;
    if opened.by.role != Role::Site && opened.by.name != machine {
        return Err(format!("'{}' wrote it in the name of {machine}", opened.by.name));
    }
    match outcome.submission == submission && outcome.machine == machine && outcome.key == key {
        true => Ok(outcome),
        false => Err("it says that it is another".into()),
    }
}
