//! When a suite is run again, as the scheduler of a machine takes it.
//!
//! - `when`: the times that can be named. `job`: what is run, and where.
//! - `cron`: a line of a crontab, and the block that holds it there. `systemd`: a service and its timer.
//!
//! Texts alone: nothing is installed here, and no scheduler asked.

pub mod cron;
mod job;
pub mod systemd;
mod when;

use crate::quoted::Unquotable;
pub use job::{Job, name_of};
pub use when::{Day, Frequency, Time, When};

/// What cannot be scheduled, and what to do instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ScheduleError(pub String);

impl From<Unquotable> for ScheduleError {
    fn from(error: Unquotable) -> ScheduleError {
        match error {
            Unquotable::Program(_) => ScheduleError(format!("{error}; --cron takes it as it is")),
            error => ScheduleError(error.to_string()),
        }
    }
}
