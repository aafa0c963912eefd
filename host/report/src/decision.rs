//! Which hardware is best at a point, by how much, and how sure that is. One rule, for pages and terminals. Figures are times: less is better.
//!
//! Not here: which cells may be compared. Who calls this gives cells of one machine, precision and number of threads.

use std::collections::BTreeMap;

/// What was measured of one hardware at a point.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    pub hardware: &'a str,
    /// The median.
    pub value: f64,
    /// Its 95% interval.
    pub interval: Option<(f64, f64)>,
    /// Whether the series settled.
    pub stable: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// The intervals of the best and the next lie apart.
    Clear,
    /// They overlap.
    Tie,
    /// They lie apart, and one of the two did not settle or has no interval.
    Noisy,
}

/// The best of several at one point.
#[derive(Clone, Debug)]
pub struct Decision<'a> {
    pub model: &'a str,
    pub best: &'a str,
    pub next: &'a str,
    /// How many times as long the next takes, with its interval, where both have one.
    pub ratio: f64,
    pub interval: Option<(f64, f64)>,
    pub certainty: Certainty,
    /// How many times as long as the best each other takes.
    pub costs: BTreeMap<&'a str, f64>,
}

impl<'a> Decision<'a> {
    /// `None`: fewer than two were measured.
    pub fn of(model: &'a str, mut entries: Vec<Entry<'a>>) -> Option<Decision<'a>> {
        entries.retain(|entry| entry.value.is_finite() && entry.value > 0.0);
        entries.sort_by(|one, other| one.value.total_cmp(&other.value).then(one.hardware.cmp(other.hardware)));
        let [best, next, ..] = &entries[..] else { return None };
        let interval = best.interval.zip(next.interval).map(|(best, next)| (next.0 / best.1, next.1 / best.0));
        let certainty = match interval {
            Some((low, _)) if low <= 1.0 => Certainty::Tie,
            None if next.value <= best.value => Certainty::Tie,
            Some(_) if best.stable && next.stable => Certainty::Clear,
            _ => Certainty::Noisy,
        };
        let costs = entries.iter().map(|entry| (entry.hardware, entry.value / best.value)).collect();
        Some(Decision {
            model,
            best: best.hardware,
            next: next.hardware,
            ratio: next.value / best.value,
            interval,
            certainty,
            costs,
        })
    }
}

/// One sentence over all points; `None`: nothing is compared. No hardware is called the fastest where an interval holds 1.
pub fn sentence(decisions: &[Decision<'_>]) -> Option<String> {
    if let [one] = decisions {
        return Some(of_one(one));
    }
    let all = decisions.len();
    let mut wins: BTreeMap<&str, usize> = BTreeMap::new();
    let decided = || decisions.iter().filter(|decision| decision.certainty != Certainty::Tie);
    decided().for_each(|decision| *wins.entry(decision.best).or_default() += 1);
    let ties = all - decided().count();
    let mut wins: Vec<(&str, usize)> = wins.into_iter().collect();
    wins.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    let [(first, most), rest @ ..] = &wins[..] else {
        return (all > 0).then(|| format!("No winner: at all {all} points the intervals of the best two overlap."));
    };
    if *most == all {
        return Some(format!("{first} is fastest at all {all} points."));
    }
    let others = rest.iter().map(|(name, count)| format!("{name} at {count}"));
    let tied = (ties > 0).then(|| format!("at {ties} the intervals overlap"));
    let others: Vec<String> = others.chain(tied).collect();
    let head = if rest.is_empty() { "" } else { "No single winner: " };
    let cost = worst(decisions, first).map_or_else(String::new, |(cost, model)| {
        format!(" Choosing {first} everywhere costs up to {cost:.2} times ({model}).")
    });
    Some(format!("{head}{first} is fastest at {most} of {all} points, {}.{cost}", others.join(", ")))
}

fn of_one(decision: &Decision<'_>) -> String {
    let Decision { model, best, next, ratio, .. } = decision;
    let times = match decision.interval {
        Some((low, high)) => format!("{ratio:.2} times ({low:.2} to {high:.2})"),
        None => format!("{ratio:.2} times"),
    };
    match decision.certainty {
        Certainty::Clear => format!("{best} is {times} as fast as {next} on {model}."),
        Certainty::Noisy => {
            format!("{best} is {times} as fast as {next} on {model}, as far as figures tell that did not settle.")
        }
        Certainty::Tie => format!("No winner on {model}: the intervals of {best} and {next} overlap."),
    }
}

/// The most that one hardware takes of what the best takes, and where.
fn worst<'a>(decisions: &[Decision<'a>], hardware: &str) -> Option<(f64, &'a str)> {
    let costs = decisions.iter().filter_map(|decision| Some((*decision.costs.get(hardware)?, decision.model)));
    costs.filter(|(cost, _)| *cost > 1.005).max_by(|one, other| one.0.total_cmp(&other.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(hardware: &str, value: f64, spread: f64) -> Entry<'_> {
        Entry { hardware, value, interval: Some((value - spread, value + spread)), stable: true }
    }

    fn decision<'a>(model: &'a str, entries: &[Entry<'a>]) -> Decision<'a> {
        Decision::of(model, entries.to_vec()).unwrap()
    }

    #[test]
    fn intervals_apart_are_clear_and_intervals_that_overlap_are_no_win() {
        let clear = decision("vit", &[entry("cpu", 3.0, 0.1), entry("openvino", 2.0, 0.1)]);
        assert_eq!((clear.best, clear.next, clear.certainty), ("openvino", "cpu", Certainty::Clear));
        assert_eq!(sentence(&[clear]).unwrap(), "openvino is 1.50 times (1.38 to 1.63) as fast as cpu on vit.");
        let tie = decision("vit", &[entry("cpu", 2.003, 0.1), entry("openvino", 2.0, 0.1)]);
        assert_eq!(tie.certainty, Certainty::Tie);
        assert!(sentence(&[tie]).unwrap().starts_with("No winner on vit"));
    }

    #[test]
    fn what_did_not_settle_is_no_clear_win() {
        let unsettled = Entry { stable: false, ..entry("cpu", 3.0, 0.1) };
        assert_eq!(decision("vit", &[unsettled, entry("rten", 1.0, 0.1)]).certainty, Certainty::Noisy);
        let bare = |hardware, value| Entry { hardware, value, interval: None, stable: true };
        assert_eq!(decision("vit", &[bare("cpu", 2.0), bare("rten", 1.0)]).certainty, Certainty::Noisy);
        assert_eq!(decision("vit", &[bare("cpu", 2.0), bare("rten", 2.0)]).certainty, Certainty::Tie);
    }

    #[test]
    fn over_several_points_wins_are_counted_and_the_cost_of_the_wrong_choice_is_told() {
        let of = |model, cpu, openvino| decision(model, &[entry("cpu", cpu, 0.01), entry("openvino", openvino, 0.01)]);
        let decisions = [of("a", 2.0, 1.0), of("b", 2.0, 1.0), of("c", 1.0, 2.46), of("d", 1.0, 1.001)];
        assert_eq!(
            sentence(&decisions).unwrap(),
            "No single winner: openvino is fastest at 2 of 4 points, cpu at 1, at 1 the intervals overlap. Choosing openvino everywhere costs up to 2.46 times (c)."
        );
        assert_eq!(sentence(&decisions[..2]).unwrap(), "openvino is fastest at all 2 points.");
        assert_eq!(sentence(&decisions[3..]).unwrap(), "No winner on d: the intervals of cpu and openvino overlap.");
        assert_eq!(sentence(&[]), None);
        assert!(Decision::of("a", vec![entry("cpu", 1.0, 0.1)]).is_none());
    }
}
