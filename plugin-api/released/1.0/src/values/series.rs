//! Series and rounds of a benchmark.

use crate::raw::*;
use crate::{Error, Result};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeriesKind {
    Duration,
    Rate,
    Bytes,
    Joules,
    Count,
    Ratio,
}

impl SeriesKind {
    const ALL: [(SeriesKind, u32, &'static str); 6] = [
        (SeriesKind::Duration, SB_DURATION, "duration"),
        (SeriesKind::Rate, SB_RATE, "rate"),
        (SeriesKind::Bytes, SB_BYTES, "bytes"),
        (SeriesKind::Joules, SB_JOULES, "joules"),
        (SeriesKind::Count, SB_COUNT, "count"),
        (SeriesKind::Ratio, SB_RATIO, "ratio"),
    ];

    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|row| row.0 == self).map_or("count", |row| row.2)
    }

    /// Its number in the contract.
    pub fn to_raw(self) -> u32 {
        Self::ALL.iter().find(|row| row.0 == self).map_or(SB_COUNT, |row| row.1)
    }

    /// # Errors
    /// `InvalidArgument` for a number that is no kind.
    pub fn from_raw(raw: u32) -> Result<SeriesKind> {
        let found = Self::ALL.iter().find(|row| row.1 == raw).map(|row| row.0);
        found.ok_or_else(|| Error::invalid(format!("series kind {raw} is not one of 0 to 5")))
    }
}

/// What a series of samples is.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesInfo {
    pub name: String,
    /// "ns" for durations.
    pub unit: String,
    pub kind: SeriesKind,
    /// `None` where neither direction is better.
    pub higher_is_better: Option<bool>,
    /// Samples of one round may overlap in time.
    pub concurrent: bool,
    /// How many inferences, tokens, models ... one sample stands for.
    pub items_per_sample: f64,
}

impl SeriesInfo {
    /// Durations in nanoseconds, one after the other, lower being better.
    pub fn duration(name: &str, items_per_sample: f64) -> SeriesInfo {
        SeriesInfo {
            name: name.into(),
            unit: "ns".into(),
            kind: SeriesKind::Duration,
            higher_is_better: Some(false),
            concurrent: false,
            items_per_sample,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundKind {
    WarmUp,
    Measured,
}

/// One round that a benchmark is asked to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    pub id: u64,
    pub kind: RoundKind,
    /// Iterations to run and to report, one sample each.
    pub iterations: u64,
    /// Unreported iterations before them.
    pub settle: u64,
}
