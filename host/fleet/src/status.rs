//! How far the submissions of a fleet are.

use crate::courier::{Courier, CourierError, stored_subjects};
use crate::form::Submission;
use crate::names;
use crate::seal::Trust;
use crate::submit::{self, SubmitError};
use std::collections::BTreeMap;

/// How far a submission is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    pub id: String,
    pub by: String,
    pub at: String,
    pub is_cancelled: bool,
    pub priority: i64,
    pub machines: BTreeMap<String, Share>,
    /// Machines that are gone, each with the submission that has its undone cells.
    pub moved: BTreeMap<String, String>,
}

/// What of a submission is one machine's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    pub cells: usize,
    /// So many of them have an outcome.
    pub ended: usize,
    pub lots: usize,
    pub lots_ended: usize,
}

impl Status {
    pub fn is_whole(&self) -> bool {
        self.machines.iter().all(|(machine, share)| share.lots == share.lots_ended || self.moved.contains_key(machine))
    }

    /// "running", "ended" or "cancelled".
    pub fn state(&self) -> &'static str {
        match (self.is_whole(), self.is_cancelled) {
            (true, _) => "ended",
            (false, true) => "cancelled",
            (false, false) => "running",
        }
    }
}

/// The ids of all submissions, the oldest first.
///
/// # Errors
/// The courier's.
pub fn submissions(courier: &dyn Courier) -> Result<Vec<String>, CourierError> {
    let heads = stored_subjects(courier, names::HEADS)?;
    Ok(heads.iter().filter_map(|subject| Some(subject.split('.').nth(2)?.to_string())).collect())
}

/// How far one is.
///
/// # Errors
/// There is none, or the courier's.
pub fn status(courier: &dyn Courier, trust: &Trust, id: &str) -> Result<Status, SubmitError> {
    of(courier, &submit::find(courier, trust, id)?)
}

/// How far a submission is that was found.
///
/// # Errors
/// The courier's.
pub fn of(courier: &dyn Courier, submission: &Submission) -> Result<Status, SubmitError> {
    let id = &submission.id;
    let is_cancelled = submit::is_cancelled(courier, id)?;
    let stored = stored_subjects(courier, &names::all_of(id))?;
    Ok(Status {
        id: id.clone(),
        by: submission.by.clone(),
        at: submission.at.clone(),
        is_cancelled,
        priority: submit::priority(courier, id)?,
        machines: shares(submission, &stored),
        moved: submit::moved(courier, submission)?,
    })
}

fn shares(submission: &Submission, stored: &[String]) -> BTreeMap<String, Share> {
    let mut shares: BTreeMap<String, Share> = BTreeMap::new();
    for lot in &submission.lots {
        let Some(run) = submission.runs.get(lot.run) else { continue };
        let share = shares.entry(run.machine.clone()).or_default();
        share.lots += 1;
        share.cells += lot.cells.len();
        share.lots_ended += usize::from(stored.contains(&names::end(&submission.id, &run.machine, &lot.id)));
        let keys = lot.cells.iter().filter_map(|index| run.cells.get(*index));
        let subjects = keys.map(|cell| names::outcome(&submission.id, &run.machine, &cell.key));
        share.ended += subjects.filter(|subject| stored.contains(subject)).count();
    }
    shares
}
