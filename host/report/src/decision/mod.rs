//! Which hardware is best at a point, by how much, and how sure that is: one rule for pages, terminals and Markdown.
//!
//! `metric`: what hardware is judged by. `points`: which measurements may be compared. Here: the rule. `sentence`: what it
//! says in words. `standing`: each hardware over all points.

mod metric;
mod points;
mod sentence;
mod standing;

pub use metric::{Better, METRICS, Metric};
pub use points::{Facet, Point, facets, points};
pub use sentence::{COST, WORDS, dearest, headline, of_points, times};
pub use standing::{Standing, standings};

use serde::Serialize;

/// What was measured of one hardware at a point.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Entry {
    pub hardware: String,
    /// The median, in the unit of its metric.
    pub value: f64,
    /// Its 95% interval.
    pub interval: Option<(f64, f64)>,
    /// Whether the series settled.
    pub stable: bool,
    /// The same figure in the runs so far; `None` with one run.
    pub course: Option<Course>,
}

/// A figure over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Course {
    /// A bar for each run, oldest first.
    pub line: String,
    /// "5 runs, from 1.21 to 1.34".
    pub summary: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certainty {
    /// The intervals of the best and the next lie apart.
    Clear,
    /// They lie apart, and one of the two did not settle or has no interval.
    Noisy,
    /// They overlap.
    Tie,
    /// Nothing else was measured at the point.
    Alone,
}

impl Certainty {
    pub fn name(self) -> &'static str {
        match self {
            Certainty::Clear => "clear",
            Certainty::Noisy => "noisy",
            Certainty::Tie => "tie",
            Certainty::Alone => "alone",
        }
    }

    /// Whether the best is called a winner.
    pub fn wins(self) -> bool {
        matches!(self, Certainty::Clear | Certainty::Noisy)
    }
}

/// The one after the best.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Next {
    pub hardware: String,
    /// How many times as good the best is, with its interval, where both have one.
    pub ratio: f64,
    pub interval: Option<(f64, f64)>,
}

/// The best at one point. The entries stand by their cost, the best first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Decision {
    pub point: Point,
    pub next: Option<Next>,
    pub certainty: Certainty,
}

impl Decision {
    /// `None`: nothing was measured.
    pub fn of(mut point: Point, better: Better) -> Option<Decision> {
        point.entries.retain(|entry| entry.value.is_finite() && entry.value > 0.0);
        let cost = |entry: &Entry| better.cost(entry.value);
        point
            .entries
            .sort_by(|one, other| cost(one).total_cmp(&cost(other)).then_with(|| one.hardware.cmp(&other.hardware)));
        let best = point.entries.first()?;
        let Some(next) = point.entries.get(1) else {
            return Some(Decision { point, next: None, certainty: Certainty::Alone });
        };
        let costs = |entry: &Entry| entry.interval.map(|interval| better.costs(interval));
        let interval = costs(best).zip(costs(next)).map(|(best, next)| (next.0 / best.1, next.1 / best.0));
        let certainty = match interval {
            Some((low, _)) if low <= 1.0 => Certainty::Tie,
            None if cost(next) <= cost(best) => Certainty::Tie,
            Some(_) if best.stable && next.stable => Certainty::Clear,
            _ => Certainty::Noisy,
        };
        let next = Next { hardware: next.hardware.clone(), ratio: cost(next) / cost(best), interval };
        Some(Decision { point, next: Some(next), certainty })
    }

    pub fn best(&self) -> Option<&Entry> {
        self.point.entries.first()
    }

    /// How many times as much as the best each hardware takes.
    pub fn costs(&self, better: Better) -> impl Iterator<Item = (&str, f64)> {
        let best = self.best().map_or(f64::NAN, |entry| better.cost(entry.value));
        self.point.entries.iter().map(move |entry| (entry.hardware.as_str(), better.cost(entry.value) / best))
    }

    /// What the worst choice among those that were measured costs, in times of the best.
    pub fn worst(&self, better: Better) -> f64 {
        self.costs(better).map(|(_, cost)| cost).fold(1.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(hardware: &str, value: f64, spread: f64) -> Entry {
        let interval = Some((value - spread, value + spread));
        Entry { hardware: hardware.into(), value, interval, stable: true, course: None }
    }

    fn decided(entries: Vec<Entry>, better: Better) -> Decision {
        Decision::of(Point { model: "vit".into(), entries, ..Point::default() }, better).unwrap()
    }

    #[test]
    fn intervals_apart_are_clear_and_intervals_that_overlap_are_no_win() {
        let clear = decided(vec![entry("cpu", 3.0, 0.1), entry("openvino", 2.0, 0.1)], Better::Less);
        assert_eq!((clear.best().unwrap().hardware.as_str(), clear.certainty), ("openvino", Certainty::Clear));
        let next = clear.next.as_ref().unwrap();
        assert_eq!((next.hardware.as_str(), next.ratio), ("cpu", 1.5));
        let tie = decided(vec![entry("cpu", 2.003, 0.1), entry("openvino", 2.0, 0.1)], Better::Less);
        assert_eq!(tie.certainty, Certainty::Tie);
        assert_eq!(decided(vec![entry("cpu", 1.0, 0.1)], Better::Less).certainty, Certainty::Alone);
    }

    #[test]
    fn of_rates_the_highest_is_best() {
        let most = decided(vec![entry("cpu", 100.0, 1.0), entry("rten", 200.0, 1.0)], Better::More);
        assert_eq!((most.best().unwrap().hardware.as_str(), most.certainty), ("rten", Certainty::Clear));
        let (low, high) = most.next.as_ref().unwrap().interval.unwrap();
        assert!(low < 2.0 && high > 2.0);
        assert_eq!(most.costs(Better::More).collect::<Vec<_>>(), [("rten", 1.0), ("cpu", 2.0)]);
    }

    #[test]
    fn what_did_not_settle_is_no_clear_win() {
        let unsettled = Entry { stable: false, ..entry("cpu", 3.0, 0.1) };
        assert_eq!(decided(vec![unsettled, entry("rten", 1.0, 0.1)], Better::Less).certainty, Certainty::Noisy);
        let bare = |hardware: &str, value| Entry { interval: None, ..entry(hardware, value, 0.0) };
        assert_eq!(decided(vec![bare("cpu", 2.0), bare("rten", 1.0)], Better::Less).certainty, Certainty::Noisy);
        assert_eq!(decided(vec![bare("cpu", 2.0), bare("rten", 2.0)], Better::Less).certainty, Certainty::Tie);
    }

    #[test]
    fn no_value_that_is_none_decides() {
        assert!(
            Decision::of(Point { entries: vec![entry("cpu", 0.0, 0.0)], ..Point::default() }, Better::Less).is_none()
        );
        let one = decided(vec![entry("cpu", f64::NAN, 0.1), entry("rten", 1.0, 0.1)], Better::Less);
        assert_eq!(one.certainty, Certainty::Alone);
    }
}
