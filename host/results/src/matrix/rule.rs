//! `data/matrix.toml`, typed.

use super::{Rating, Status};
use serde::Deserialize;
use skillbench_record::OutcomeKind;
use std::collections::BTreeMap;
use std::sync::LazyLock;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub baseline: String,
    pub benchmark: String,
    pub precisions: Vec<String>,
    pub hardware: Vec<String>,
    pub alias: BTreeMap<String, String>,
    /// The best first.
    #[serde(rename = "rating")]
    pub ratings: Vec<RatingRule>,
    #[serde(rename = "status")]
    pub statuses: Vec<StatusRule>,
    why: BTreeMap<String, String>,
    next: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RatingRule {
    pub name: Rating,
    /// The least speed-up over the CPU; `None` for what has none.
    pub at_least: Option<f64>,
    /// Of the field, and of the text in it.
    pub colour: String,
    pub ink: String,
    pub meaning: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatusRule {
    pub name: Status,
    pub meaning: String,
}

/// The rule that is compiled in. A test reads it, so that a slip in the file cannot ship.
pub fn rule() -> &'static Rule {
    static RULE: LazyLock<Rule> =
        LazyLock::new(|| toml::from_str(include_str!("../../data/matrix.toml")).expect("data/matrix.toml is valid"));
    &RULE
}

impl Rule {
    /// The rating of a speed-up over the CPU.
    pub fn rating(&self, speedup: f64) -> Rating {
        let reached = |rule: &&RatingRule| rule.at_least.is_some_and(|least| speedup >= least);
        self.ratings.iter().find(reached).map_or(Rating::Unknown, |rule| rule.name)
    }

    /// The name that is written for hardware.
    pub fn hardware_name<'a>(&'a self, name: &'a str) -> &'a str {
        self.alias.get(name).map_or(name, String::as_str)
    }

    /// Ids in the order in which they are shown, each once.
    pub fn in_order(&self, mut ids: Vec<String>) -> Vec<String> {
        let plugin = |id: &str| id.split([':', ' ']).next().unwrap_or(id).to_string();
        let place = |id: &String| {
            (self.hardware.iter().position(|known| *known == plugin(id)).unwrap_or(usize::MAX), id.clone())
        };
        ids.sort_by_cached_key(place);
        ids.dedup();
        ids
    }

    /// The place of a precision among those whose rating is shown.
    pub(super) fn preference(&self, precision: &str) -> usize {
        self.precisions.iter().position(|known| known == precision).unwrap_or(usize::MAX)
    }

    pub(super) fn why(&self, what: &str, hardware: &str, model: &str) -> Option<String> {
        self.why.get(what).map(|text| self.filled(text, hardware, model))
    }

    pub(super) fn next(&self, what: &str, hardware: &str, model: &str) -> Option<String> {
        self.next.get(what).map(|text| self.filled(text, hardware, model))
    }

    fn filled(&self, text: &str, hardware: &str, model: &str) -> String {
        text.replace("{hardware}", hardware)
            .replace("{model}", model)
            .replace("{baseline}", &self.baseline)
            .replace("{benchmark}", &self.benchmark)
    }
}

impl Rating {
    pub const ALL: [Rating; 6] =
        [Rating::High, Rating::MediumHigh, Rating::Medium, Rating::Low, Rating::None, Rating::Unknown];

    /// As in files.
    pub fn name(self) -> &'static str {
        match self {
            Rating::High => "high",
            Rating::MediumHigh => "medium-high",
            Rating::Medium => "medium",
            Rating::Low => "low",
            Rating::None => "n/a",
            Rating::Unknown => "unknown",
        }
    }

    pub fn from_name(name: &str) -> Option<Rating> {
        Rating::ALL.into_iter().find(|rating| rating.name() == name)
    }
}

impl Status {
    pub const ALL: [Status; 5] =
        [Status::Measured, Status::Failed, Status::Unsupported, Status::Unavailable, Status::NotTried];

    /// As in files.
    pub fn name(self) -> &'static str {
        match self {
            Status::Measured => "measured",
            Status::Failed => "failed",
            Status::Unsupported => "unsupported",
            Status::Unavailable => "unavailable",
            Status::NotTried => "not-tried",
        }
    }

    pub fn from_name(name: &str) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.name() == name)
    }

    /// That of a cell's outcome. What a rule skipped was not tried.
    pub(super) fn of_outcome(outcome: OutcomeKind) -> Status {
        match outcome {
            OutcomeKind::Measured => Status::Measured,
            OutcomeKind::Unsupported => Status::Unsupported,
            OutcomeKind::Unavailable => Status::Unavailable,
            OutcomeKind::Skipped => Status::NotTried,
            OutcomeKind::Failed | OutcomeKind::Crashed | OutcomeKind::TimedOut | OutcomeKind::Wrong => Status::Failed,
        }
    }
}
