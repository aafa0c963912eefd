//! Hardware that could be taken, with what is known of it.

use super::price::{Cost, Per};
use skillbench_record::Trust;
use skillbench_record::shown::number;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    Measured,
    Predicted,
    Emulated,
    Unverified,
    Remote,
    Implausible,
    #[default]
    None,
}

impl Evidence {
    pub fn name(self) -> &'static str {
        match self {
            Evidence::Measured => "measured",
            Evidence::Predicted => "predicted",
            Evidence::Emulated => Trust::Emulated.name(),
            Evidence::Unverified => Trust::Unverified.name(),
            Evidence::Remote => Trust::Remote.name(),
            Evidence::Implausible => Trust::Implausible.name(),
            Evidence::None => "none",
        }
    }

    /// Whether its figure is one of hardware that somebody could pay for.
    pub(super) fn can_be_priced(self) -> bool {
        !matches!(self, Evidence::Emulated | Evidence::Implausible | Evidence::None)
    }
}

impl From<Trust> for Evidence {
    /// Of a figure that was measured.
    fn from(trust: Trust) -> Evidence {
        match trust {
            Trust::Hardware => Evidence::Measured,
            Trust::Emulated => Evidence::Emulated,
            Trust::Unverified => Evidence::Unverified,
            Trust::Remote => Evidence::Remote,
            Trust::Implausible => Evidence::Implausible,
        }
    }
}

/// Hardware for a model at a point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Candidate {
    pub model: String,
    pub axes: String,
    pub precision: Option<String>,
    /// As tables show it.
    pub hardware: String,
    /// The device's id; empty: none was reached.
    pub device: String,
    pub threads: Option<u64>,
    /// Requests that were served at once, of a capacity.
    pub workers: Option<u64>,
    /// The limits that a capacity keeps, and how its requests come where that is not as usual.
    pub limits: Option<String>,
    pub evidence: Evidence,
    pub value: Option<f64>,
    pub unit: &'static str,
    pub interval: Option<(f64, f64)>,
    /// What a price makes a cost of, and how many of it are in one of the figure: a request, and the tokens that it makes.
    pub counts: Vec<(Per, f64)>,
    /// What an hour costs.
    pub price: Option<f64>,
    /// What its figure costs at that price.
    pub costs: Vec<Cost>,
    pub run: Option<String>,
    pub date: Option<String>,
    /// Whether the limits are kept, in words.
    pub within: Option<String>,
    pub breaks: bool,
    pub rank: Option<usize>,
    /// What became of a newer try.
    pub newer: Option<String>,
    pub note: String,
}

impl Candidate {
    pub fn cost(&self, per: Per) -> Option<&Cost> {
        self.costs.iter().find(|cost| cost.per == per)
    }

    /// The best in a sentence.
    pub fn describe(&self) -> String {
        let figure = self.value.map(|value| format!("{} {}", number(value), self.unit)).unwrap_or_default();
        let limits = self.limits.as_ref().map(|limits| format!(" within {limits}")).unwrap_or_default();
        let costs: String = self.costs.iter().map(|cost| format!(", {}", cost.describe())).collect();
        let from = match (self.evidence, &self.run) {
            (Evidence::Measured, Some(run)) => format!("measured in {run}"),
            (evidence, _) => evidence.name().to_string(),
        };
        let newer = self.newer.as_ref().map(|newer| format!("since then {newer}"));
        let notes = newer.into_iter().chain(Some(self.note.clone()).filter(|note| !note.is_empty()));
        let note: String = notes.map(|note| format!("; {note}")).collect();
        format!("{} {}: {}, {figure}{limits}{costs} ({from}){note}", self.model, self.axes, self.hardware)
    }
}
