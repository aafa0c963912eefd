//! Who measures the cells of a lot.

use crate::courier::CourierError;
use skillbench_record::{Run, RunRequest};
use std::path::Path;

/// What whoever measures tells.
pub enum Step<'s> {
    /// The run has begun. What it was begun with.
    Head(&'s Run),
    /// The cell at this place of the request's `exactly` is next; or, behind those, one that is tried in place of another.
    Begin(usize),
    /// The line of a cell in the run's journal.
    Ended(&'s str),
}

/// What is answered to a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Go,
    Stop,
}

/// How measuring ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finished {
    All,
    Stopped,
    /// Whoever measured is gone, for this reason.
    Died(String),
    /// The folder takes nothing.
    NoRoom(String),
}

pub trait Measure: Send + Sync {
    /// Measures the cells that a request names exactly, in a folder of its own. `on` hears each step before the next is taken.
    ///
    /// # Errors
    /// Those of `on`.
    fn measure(
        &self,
        request: &RunRequest,
        folder: &Path,
        on: &mut dyn FnMut(Step<'_>) -> Result<Answer, CourierError>,
    ) -> Result<Finished, CourierError>;
}
