//! Change points of histories: E-divisive (Matteson and James 2014) with permutation tests.
//!
//! A history is split where the energy distance of what lies before and what follows is largest; the split counts where hardly any
//! shuffle of the same values can be split as well; then both sides are split on. Nothing is assumed of how values are spread, and one outlier is no change.
//!
//! - `energy`: the distance, and the best split. `test`: how often shuffles do as well. `family`: many histories at once, so
//!   that many of them do not mean many false alarms.
//!
//! Values are compared by their logarithms: a change is a ratio, also in what is compared.

mod energy;
mod family;
mod test;

pub use family::change_points;

use super::median;
use serde::{Deserialize, Serialize};

/// By what a change is told from noise: `[trend]` of `data/rules.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rules {
    /// The share of false ones among the changes that are found; where nothing changed, how likely it is that any is found.
    pub significance: f64,
    /// Shuffles of each history, at least; more where many histories ask for a smaller p.
    pub permutations: u32,
    /// Shuffles of a history, at most.
    pub most_permutations: u32,
    /// Runs on each side of a change, at least.
    pub least_segment: usize,
    /// Runs of a history, at least.
    pub least_runs: usize,
    /// Medians that differ by a smaller share are no change, however sure.
    pub least_change: f64,
}

/// A place where a history changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// The first value after it.
    pub at: usize,
    /// Of so many shuffles this share can be split as well.
    pub p: f64,
}

/// The ratio of the medians of what follows and what goes before.
pub fn ratio(before: &[f64], after: &[f64]) -> Option<f64> {
    Some(median(after)? / median(before)?).filter(|ratio| ratio.is_finite())
}

/// Leaves out changes that are too small to matter, the smallest first: each time the neighbours grow together.
fn large_enough(values: &[f64], mut points: Vec<ChangePoint>, least: f64) -> Vec<ChangePoint> {
    points.sort_by_key(|point| point.at);
    loop {
        let bounds: Vec<usize> =
            std::iter::once(0).chain(points.iter().map(|point| point.at)).chain([values.len()]).collect();
        let size = |place: usize| {
            let [from, at, to] = [bounds[place], bounds[place + 1], bounds[place + 2]];
            ratio(&values[from..at], &values[at..to]).map_or(0.0, |ratio| ratio.ln().abs())
        };
        let smallest = (0..points.len()).min_by(|one, other| size(*one).total_cmp(&size(*other)));
        match smallest {
            Some(place) if size(place) < least.ln_1p() => drop(points.remove(place)),
            _ => return points,
        }
    }
}

#[cfg(test)]
mod noise;
#[cfg(test)]
mod rates;
#[cfg(test)]
mod tests;
