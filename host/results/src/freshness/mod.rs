//! Which measurements still hold: of which cells there are figures, and whether what they were made with is what is here now.
//!
//! - `read`: the measurements of a machine, out of the database.
//! - `made_with`: what a measurement stood on, and what changed of it.
//!
//! Not here: what is here now (the engine looks), and measuring again.

mod made_with;
mod read;

pub use made_with::MadeWith;
pub use read::of_machine;

use skillbench_record::{CellName, OutcomeKind, RunRequest};
use std::sync::Arc;

/// A measurement that counts now, as the database has it.
#[derive(Clone, Debug)]
pub struct Measured {
    pub run: String,
    /// When its run began, in microseconds since 1970-01-01.
    pub began: Option<i64>,
    /// On the device that it ran on.
    pub name: CellName,
    /// What was asked for.
    pub precision: Option<String>,
    pub threads: Option<u64>,
    pub workers: Option<u64>,
    /// Those that differ from the plugin's defaults, as one text.
    pub options: Option<String>,
    /// Others ran at the same time.
    pub beside: bool,
    /// Its outputs were held against nothing because nobody wanted it.
    pub unverified: bool,
    pub made_with: MadeWith,
    /// `None`: nobody recorded it.
    pub request: Option<Arc<RunRequest>>,
    /// What became of a newer try.
    pub newer: Option<Newer>,
}

/// A newer try of a measured cell, which failed, or is believed less.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Newer {
    pub run: String,
    pub outcome: OutcomeKind,
    pub reason: Option<String>,
}

impl Newer {
    /// "timed-out in 20260101-120000-1a2b3c4d".
    pub fn short(&self) -> String {
        format!("{} in {}", self.word(), self.run)
    }

    fn word(&self) -> &'static str {
        match self.outcome {
            OutcomeKind::Measured => "measured with less trust",
            other => other.name(),
        }
    }
}

impl std::fmt::Display for Newer {
    /// "timed-out when it was tried again (run 20260101-120000-00001): the worker did not answer".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} when it was tried again (run {})", self.word(), self.run)?;
        self.reason.iter().try_for_each(|reason| write!(f, ": {reason}"))
    }
}

/// A cell that is to be measured.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// On the device that it would run on.
    pub name: CellName,
    pub precision: Option<String>,
    pub threads: Option<u64>,
    /// Of a benchmark that takes a number of them.
    pub workers: Option<u64>,
    /// As [`Measured::options`].
    pub options: Option<String>,
    /// Others may run at the same time.
    pub beside: bool,
    /// Its outputs need no check.
    pub unverified: bool,
    pub made_with: MadeWith,
}

impl Wanted {
    /// Whether a measurement is one of this cell, whatever became of the plugins since. A number of requests at once that nobody
    /// recorded is taken as the one that is wanted.
    pub fn is(&self, known: &Measured) -> bool {
        self.name == known.name
            && self.precision == known.precision
            && self.threads == known.threads
            && (self.beside || !known.beside)
            && (self.unverified || !known.unverified)
            && self.options == known.options
            && (self.workers.is_none() || known.workers.is_none() || self.workers == known.workers)
    }
}

/// How old a measurement may be, and when it is now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Age {
    /// In microseconds since 1970-01-01.
    pub now: i64,
    /// In days; 0: whatever was measured is too old.
    pub most_days: f64,
}

const DAY_US: f64 = 86_400e6;

impl Age {
    /// `None`: nobody knows, or it is from a time that has not come yet.
    pub fn days(&self, measured: &Measured) -> Option<f64> {
        measured.began.map(|began| (self.now - began) as f64 / DAY_US).filter(|days| *days >= 0.0)
    }

    pub fn is_of_the_future(&self, measured: &Measured) -> bool {
        measured.began.is_some_and(|began| began > self.now)
    }

    /// Why a measurement is too old; `None`: it is not, or nobody can tell.
    pub fn too_old(&self, measured: &Measured) -> Option<String> {
        match self.days(measured) {
            _ if self.most_days == 0.0 => Some("all are to be measured again".into()),
            Some(days) if days > self.most_days => {
                Some(format!("it is {} old, and {} is the most", span(days), span(self.most_days)))
            }
            _ => None,
        }
    }
}

/// "41.5 d", "3.2 h".
fn span(days: f64) -> String {
    match days < 1.0 {
        true => format!("{:.1} h", days * 24.0),
        false => format!("{days:.1} d"),
    }
}
