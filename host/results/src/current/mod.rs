//! Which measurements still hold: of which cells there are figures, and whether what they were made with is what is here now.
//!
//! - `read`: the measurements of a machine, out of the database.
//! - `made_with`: what a measurement stood on, and what changed of it.
//!
//! Not here: what is here now (the engine looks), and measuring again.

mod made_with;
mod read;

pub use made_with::MadeWith;
pub use read::{Machine, of_machine};

use skillbench_engine::registry::PluginOptions;
use skillbench_engine::run::{CellName, RunRequest};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A measurement, as the database has it.
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
    /// Others ran at the same time.
    pub beside: bool,
    /// Its outputs were held against nothing because nobody wanted it.
    pub unverified: bool,
    pub made_with: MadeWith,
    /// `None`: nobody recorded it.
    pub request: Option<Arc<RunRequest>>,
}

/// A cell that is to be measured.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// On the device that it would run on.
    pub name: CellName,
    pub precision: Option<String>,
    pub threads: Option<u64>,
    /// Others may run at the same time.
    pub beside: bool,
    /// Its outputs need no check.
    pub unverified: bool,
    /// The options of its plugin that were asked for.
    pub options: PluginOptions,
    /// Of a benchmark that takes a number of them.
    pub workers: Option<u64>,
    pub made_with: MadeWith,
}

impl Wanted {
    /// Whether a measurement is one of this cell, whatever became of the plugins since. `own` tells a request's options for the plugin,
    /// `workers` its number of them. What nobody recorded is taken as not asked for.
    pub fn is(
        &self,
        known: &Measured,
        own: impl Fn(&RunRequest) -> PluginOptions,
        workers: impl Fn(&RunRequest) -> u64,
    ) -> bool {
        let asked = known.request.as_deref();
        self.name == known.name
            && self.precision == known.precision
            && self.threads == known.threads
            && (self.beside || !known.beside)
            && (self.unverified || !known.unverified)
            && self.options == asked.map(own).unwrap_or_default()
            && self.workers.is_none_or(|wanted| asked.is_none_or(|request| workers(request) == wanted))
    }
}

/// Of the measurements of one cell the newest, in the order of `all`, which has the newest first.
pub fn newest(all: Vec<Measured>, own: impl Fn(&Measured) -> PluginOptions) -> Vec<Measured> {
    let mut seen = BTreeSet::new();
    let mut newest = vec![];
    for measured in all {
        let workers = measured.request.as_ref().and_then(|request| request.concurrent_workers);
        let (name, precision) = (measured.name.clone(), measured.precision.clone());
        let flags = (measured.beside, measured.unverified);
        if seen.insert((name, precision, measured.threads, flags, own(&measured), workers)) {
            newest.push(measured);
        }
    }
    newest
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
