//! Who goes before whom. What is measured stands by its figure. What is predicted goes behind all that is measured, unless the
//! whole of its interval is better. What is emulated, unverified or remote, or breaks a limit, or may break it, has no rank.
//!
//! Models, points and precisions are ranked each for themselves.

use super::price::Per;
use super::within::Within;
use super::{Answer, Candidate, Evidence, Figure, by_hardware};
use skillbench_predict::Quantity;
use skillbench_record::shown::number;
use skillbench_results::questions::Goal;

/// What is the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    LeastFigure,
    MostFigure,
    /// The least cost of a million requests.
    Cost,
}

impl From<Goal> for By {
    fn from(goal: Goal) -> By {
        match goal {
            Goal::Latency | Goal::Energy | Goal::Memory => By::LeastFigure,
            Goal::Throughput => By::MostFigure,
        }
    }
}

impl By {
    fn value(self, of: &Candidate) -> Option<f64> {
        match self {
            By::LeastFigure | By::MostFigure => of.value,
            By::Cost => of.cost(Per::Requests).map(|cost| cost.value),
        }
    }

    fn interval(self, of: &Candidate) -> Option<(f64, f64)> {
        match self {
            By::LeastFigure | By::MostFigure => of.interval,
            // Without an upper end it may be anything.
            By::Cost => of.cost(Per::Requests).and_then(|cost| Some((cost.low?, cost.high.unwrap_or(f64::INFINITY)))),
        }
    }

    pub(super) fn better_first(self, one: &Candidate, two: &Candidate) -> std::cmp::Ordering {
        let value = |of: &Candidate| self.value(of).unwrap_or(f64::NAN);
        let order = value(one).total_cmp(&value(two));
        if self == By::MostFigure { order.reverse() } else { order }
    }

    /// Whether the whole of one interval is better than the whole of another. Without an interval nothing is clear.
    fn is_clearly_better(self, one: &Candidate, other: &Candidate) -> bool {
        let (Some(one), Some(other)) = (self.interval(one), self.interval(other)) else { return false };
        if self == By::MostFigure { one.0 > other.1 } else { one.1 < other.0 }
    }

    fn ranks(self, one: &Candidate) -> bool {
        self.value(one).is_some() && one.within.as_deref().is_none_or(|within| within == KEPT)
    }
}

/// All candidates, the ranked ones of each model, point and precision first and in order.
pub fn rank(answers: &[Answer<'_>], goal: Goal, limits: &[Within]) -> Vec<Candidate> {
    let mut all: Vec<Candidate> =
        by_hardware(answers).into_iter().map(|group| candidate(group, goal, limits)).collect();
    // Models and points stay in the order in which they were asked for; what has no precision comes last.
    let mut points: Vec<(String, String)> = vec![];
    for one in &all {
        let point = (one.model.clone(), one.axes.clone());
        if !points.contains(&point) {
            points.push(point);
        }
    }
    let key = |one: &Candidate| {
        let place = points.iter().position(|(model, axes)| *model == one.model && *axes == one.axes);
        (place, one.precision.is_none(), one.precision.clone())
    };
    all.sort_by_key(key);
    let mut ranked = vec![];
    for group in all.chunk_by(|one, two| key(one) == key(two)) {
        ranked.extend(in_order(group, By::from(goal)));
    }
    ranked
}

/// The ranked ones of a group first and in order. What is said of the best stands behind what its note says already.
pub(super) fn in_order(group: &[Candidate], by: By) -> Vec<Candidate> {
    let sorted = |evidence: Evidence| {
        let mut some: Vec<Candidate> =
            group.iter().filter(|one| one.evidence == evidence && by.ranks(one)).cloned().collect();
        some.sort_by(|one, two| by.better_first(one, two));
        some
    };
    let mut order = sorted(Evidence::Measured);
    for one in sorted(Evidence::Predicted) {
        let before =
            order.iter().position(|other| other.evidence == Evidence::Measured && by.is_clearly_better(&one, other));
        order.insert(before.unwrap_or(order.len()), one);
    }
    for (place, one) in order.iter_mut().enumerate() {
        one.rank = Some(place + 1);
    }
    if let [best, rest @ ..] = order.as_mut_slice() {
        let unclear: Vec<String> = rest
            .iter()
            .filter(|other| other.evidence == Evidence::Measured && !by.is_clearly_better(best, other))
            .map(|other| other.hardware.clone())
            .collect();
        let likely =
            rest.iter().find(|other| other.evidence == Evidence::Predicted && by.better_first(other, best).is_lt());
        let mut notes: Vec<String> = Some(best.note.clone()).filter(|note| !note.is_empty()).into_iter().collect();
        if best.evidence == Evidence::Predicted {
            notes.push("no measurement: measure it before you take it".to_string());
        }
        if !unclear.is_empty() {
            notes.push(format!("not clearly ahead of {}", unclear.join(", ")));
        }
        if let Some(other) = likely {
            notes.push(format!("{} is predicted to be better, but not clearly: measure it", other.hardware));
        }
        best.note = notes.join("; ");
    }
    let rest =
        group.iter().filter(|one| !(matches!(one.evidence, Evidence::Measured | Evidence::Predicted) && by.ranks(one)));
    order.extend(rest.cloned());
    order
}

const KEPT: &str = "kept";

fn candidate(group: &[Answer<'_>], goal: Goal, limits: &[Within]) -> Candidate {
    let of = &group[0];
    let place = of.hardware.map(|hardware| &hardware.place);
    let mut made = Candidate {
        model: of.asked.model.clone(),
        axes: of.axes.to_string(),
        precision: place.and_then(|place| place.precision.clone()),
        hardware: of.name.clone(),
        device: place.map(|place| place.device.clone()).unwrap_or_default(),
        threads: place.and_then(|place| place.threads),
        unit: goal.unit(),
        counts: if goal == Goal::Throughput { vec![(Per::Items, 1.0)] } else { vec![] },
        ..Candidate::default()
    };
    match known(group, goal) {
        Known::Measured(figure) => {
            made.evidence = Evidence::from(figure.trust);
            made.value = Some(figure.value);
            made.interval = figure.interval;
            made.run = Some(figure.run);
            made.date = Some(figure.date);
            made.newer = figure.newer;
        }
        Known::Predicted(value, low, high) => {
            made.evidence = Evidence::Predicted;
            made.value = Some(value);
            made.interval = Some((low, high));
        }
        Known::Nothing(why) => made.note = why,
    }
    if !limits.is_empty() && made.value.is_some() {
        let told: Vec<(bool, String)> = limits.iter().filter_map(|limit| against(group, limit)).collect();
        made.breaks = told.iter().any(|(breaks, _)| *breaks);
        let words: Vec<String> = told.into_iter().map(|(_, words)| words).collect();
        made.within = Some(if words.is_empty() { KEPT.into() } else { words.join("; ") });
    }
    made
}

enum Known {
    Measured(Figure),
    Predicted(f64, f64, f64),
    Nothing(String),
}

/// What is known of a goal's metric: measured, or else predicted.
fn known(group: &[Answer<'_>], goal: Goal) -> Known {
    let of = &group[0];
    let quantity = match goal {
        Goal::Latency => Quantity::Latency,
        Goal::Throughput => Quantity::Throughput,
        Goal::Memory => Quantity::Memory,
        Goal::Energy => {
            return match of.hardware.and_then(|hardware| hardware.energy(of.asked, of.axes)) {
                Some(figure) => Known::Measured(figure),
                None => Known::Nothing("no energy was measured, and none is predicted".into()),
            };
        }
    };
    // Of hardware without a cell there is one answer, whatever is asked.
    let answer = group.iter().find(|answer| answer.quantity == quantity).unwrap_or(of);
    match (&answer.measured, &answer.predicted) {
        (Some(figure), _) => Known::Measured(figure.clone()),
        (None, Ok(told)) => Known::Predicted(told.value, told.low, told.high),
        (None, Err(why)) => Known::Nothing(why.long.clone()),
    }
}

/// Nothing where a limit is kept; or whether it is broken, and how.
fn against(group: &[Answer<'_>], limit: &Within) -> Option<(bool, String)> {
    let name = limit.limit.metric();
    match known(group, limit.goal) {
        Known::Nothing(_) => Some((false, format!("{name} is not known"))),
        Known::Measured(figure) => match limit.limit.holds_between(figure.value, figure.value) {
            Some(true) => None,
            _ => Some((true, format!("broken: {name} {}", number(figure.value)))),
        },
        Known::Predicted(_, low, high) => match limit.limit.holds_between(low, high) {
            Some(true) => None,
            Some(false) => Some((true, format!("broken: {name} {} to {}, predicted", number(low), number(high)))),
            None => Some((false, format!("unclear: {name} {} to {}, predicted", number(low), number(high)))),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(hardware: &str, evidence: Evidence, value: f64, spread: f64) -> Candidate {
        Candidate {
            model: "m".into(),
            axes: "batch=1".into(),
            precision: Some("float32".into()),
            hardware: hardware.into(),
            evidence,
            value: Some(value),
            unit: "ms",
            interval: Some((value / spread, value * spread)),
            ..Candidate::default()
        }
    }

    fn order(group: &[Candidate], by: By) -> Vec<(String, Option<usize>)> {
        in_order(group, by).into_iter().map(|one| (one.hardware, one.rank)).collect()
    }

    fn named(names: &[(&str, Option<usize>)]) -> Vec<(String, Option<usize>)> {
        names.iter().map(|(name, rank)| (name.to_string(), *rank)).collect()
    }

    #[test]
    fn what_is_measured_goes_by_its_figure_and_before_what_is_predicted() {
        let group = [
            on("slow", Evidence::Measured, 10.0, 1.01),
            on("maybe", Evidence::Predicted, 2.0, 6.0),
            on("fast", Evidence::Measured, 3.0, 1.01),
        ];
        let expected = named(&[("fast", Some(1)), ("slow", Some(2)), ("maybe", Some(3))]);
        assert_eq!(order(&group, By::LeastFigure), expected);
        let best = &in_order(&group, By::LeastFigure)[0];
        assert!(best.note.contains("maybe is predicted to be better, but not clearly"), "{}", best.note);
    }

    #[test]
    fn a_prediction_whose_whole_interval_is_better_goes_first_and_asks_to_be_measured() {
        let group = [on("cpu", Evidence::Measured, 10.0, 1.01), on("gpu", Evidence::Predicted, 2.0, 2.0)];
        assert_eq!(order(&group, By::LeastFigure), named(&[("gpu", Some(1)), ("cpu", Some(2))]));
        assert!(in_order(&group, By::LeastFigure)[0].note.contains("measure it before you take it"));
    }

    #[test]
    fn of_throughput_more_is_better() {
        let group = [on("less", Evidence::Measured, 10.0, 1.01), on("more", Evidence::Measured, 20.0, 1.01)];
        assert_eq!(order(&group, By::MostFigure), named(&[("more", Some(1)), ("less", Some(2))]));
    }

    #[test]
    fn what_is_emulated_or_unverified_or_may_break_a_limit_has_no_rank() {
        let within = |one: Candidate, words: &str| Candidate { within: Some(words.into()), ..one };
        let group = [
            on("emulated", Evidence::Emulated, 1.0, 1.01),
            on("unverified", Evidence::Unverified, 1.0, 1.01),
            within(on("unclear", Evidence::Predicted, 2.0, 2.0), "unclear: latency_ms 1 to 4, predicted"),
            within(on("broken", Evidence::Measured, 9.0, 1.01), "broken: latency_ms 9"),
            within(on("good", Evidence::Measured, 2.5, 1.01), KEPT),
        ];
        let found = order(&group, By::LeastFigure);
        assert_eq!(found[0], ("good".to_string(), Some(1)));
        assert!(found[1..].iter().all(|(_, rank)| rank.is_none()), "{found:?}");
    }

    #[test]
    fn two_whose_intervals_overlap_are_not_clearly_apart() {
        let group = [on("a", Evidence::Measured, 10.0, 1.1), on("b", Evidence::Measured, 11.0, 1.1)];
        assert_eq!(in_order(&group, By::LeastFigure)[0].note, "not clearly ahead of b");
    }
}
