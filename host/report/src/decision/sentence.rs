//! What was decided, in words. No hardware is called the fastest where an interval holds 1.

use super::{Better, Certainty, Decision, METRICS, Metric, facets, points};
use crate::sections::Rows;
use std::collections::BTreeMap;

/// A cost that is told: less is no cost.
const COST: f64 = 1.005;

/// Which hardware is ahead by the first metric that can tell, over all points at which several were measured; of several machines,
/// precisions and numbers of threads those with the most such points, which are named. `rows` are cells that count now.
pub fn headline(rows: &Rows<'_>) -> Option<String> {
    METRICS.iter().take(2).find_map(|metric| {
        let decided = facets(points(rows, metric), metric).into_iter().filter_map(|(facet, decisions)| {
            let several = decisions.iter().filter(|decision| decision.certainty != Certainty::Alone).count();
            Some((several, facet, sentence(&decisions, metric)?))
        });
        let most = decided.max_by(|one, other| one.0.cmp(&other.0).then(other.1.cmp(&one.1)));
        most.map(|(_, facet, sentence)| format!("{sentence} ({})", facet.name()))
    })
}

/// One sentence over all points; `None`: nothing is compared.
pub fn sentence(decisions: &[Decision], metric: &Metric) -> Option<String> {
    let compared: Vec<&Decision> =
        decisions.iter().filter(|decision| decision.certainty != Certainty::Alone).collect();
    if let [one] = compared[..] {
        return of_one(one);
    }
    let all = compared.len();
    let best = &metric.best;
    let mut wins: BTreeMap<&str, usize> = BTreeMap::new();
    let decided = || compared.iter().filter(|decision| decision.certainty.wins());
    decided().filter_map(|decision| decision.best()).for_each(|entry| *wins.entry(&entry.hardware).or_default() += 1);
    let ties = all - decided().count();
    let mut wins: Vec<(&str, usize)> = wins.into_iter().collect();
    wins.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    let [(first, most), rest @ ..] = &wins[..] else {
        return (all > 0).then(|| format!("No winner: at all {all} points the intervals of the best two overlap."));
    };
    if *most == all {
        return Some(format!("{first} is {best} at all {all} points."));
    }
    let others = rest.iter().map(|(name, count)| format!("{name} at {count}"));
    let tied = (ties > 0).then(|| format!("at {ties} the intervals overlap"));
    let others: Vec<String> = others.chain(tied).collect();
    let head = if rest.is_empty() { "" } else { "No single winner: " };
    let cost = dearest(&compared, first, metric.better).map_or_else(String::new, |(cost, model)| {
        format!(" Choosing {first} everywhere costs up to {cost:.2} times ({model}).")
    });
    Some(format!("{head}{first} is {best} at {most} of {all} points, {}.{cost}", others.join(", ")))
}

fn of_one(decision: &Decision) -> Option<String> {
    let (best, next) = (&decision.best()?.hardware, decision.next.as_ref()?);
    let (model, other, ratio) = (&decision.point.model, &next.hardware, next.ratio);
    let times = match next.interval {
        Some((low, high)) => format!("{ratio:.2} times ({low:.2} to {high:.2})"),
        None => format!("{ratio:.2} times"),
    };
    match decision.certainty {
        Certainty::Clear => Some(format!("{best} is {times} as fast as {other} on {model}.")),
        Certainty::Noisy => {
            Some(format!("{best} is {times} as fast as {other} on {model}, as far as figures say that did not settle."))
        }
        Certainty::Tie => Some(format!("No winner on {model}: the intervals of {best} and {other} overlap.")),
        Certainty::Alone => None,
    }
}

/// The most that one hardware takes of what the best takes, and where.
fn dearest<'a>(decisions: &[&'a Decision], hardware: &str, better: Better) -> Option<(f64, &'a str)> {
    let costs = decisions.iter().filter_map(|decision| {
        let (_, cost) = decision.costs(better).find(|(name, _)| *name == hardware)?;
        Some((cost, decision.point.model.as_str()))
    });
    costs.filter(|(cost, _)| *cost > COST).max_by(|one, other| one.0.total_cmp(&other.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::{Entry, Point};

    fn of(model: &str, values: &[(&str, f64)]) -> Decision {
        let entry = |(hardware, value): &(&str, f64)| Entry {
            hardware: (*hardware).into(),
            value: *value,
            interval: Some((value - 0.01, value + 0.01)),
            stable: true,
        };
        let entries = values.iter().map(entry).collect();
        Decision::of(Point { model: model.into(), entries, ..Point::default() }, Better::Less).unwrap()
    }

    fn said(decisions: &[Decision]) -> Option<String> {
        sentence(decisions, &METRICS[0])
    }

    #[test]
    fn one_point_is_told_with_its_interval() {
        let clear = of("vit", &[("cpu", 3.0), ("openvino", 2.0)]);
        assert_eq!(said(&[clear]).unwrap(), "openvino is 1.50 times (1.49 to 1.51) as fast as cpu on vit.");
        let tie = of("vit", &[("cpu", 2.003), ("openvino", 2.0)]);
        assert_eq!(said(&[tie]).unwrap(), "No winner on vit: the intervals of openvino and cpu overlap.");
    }

    #[test]
    fn over_several_points_wins_are_counted_and_the_cost_of_the_wrong_choice_is_told() {
        let both = |model, cpu, openvino| of(model, &[("cpu", cpu), ("openvino", openvino)]);
        let decisions = [both("a", 2.0, 1.0), both("b", 2.0, 1.0), both("c", 1.0, 2.46), both("d", 1.0, 1.001)];
        assert_eq!(
            said(&decisions).unwrap(),
            "No single winner: openvino is fastest at 2 of 4 points, cpu at 1, at 1 the intervals overlap. Choosing openvino everywhere costs up to 2.46 times (c)."
        );
        assert_eq!(said(&decisions[..2]).unwrap(), "openvino is fastest at all 2 points.");
        assert_eq!(said(&[]), None);
        assert_eq!(said(&[of("a", &[("cpu", 1.0)])]), None, "who is alone wins nothing");
    }
}
