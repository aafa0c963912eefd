//! What was decided, in words: those of `words.toml`. No hardware is called the fastest where an interval holds 1.

use super::{Better, Certainty, Decision, METRICS, Metric, Point, facets, points};
use crate::sections::Rows;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A cost that is told: less is no cost.
pub const COST: f64 = 1.005;

/// The sentences, by name. `{name}` is filled in.
pub static WORDS: LazyLock<BTreeMap<String, String>> =
    LazyLock::new(|| toml::from_str(include_str!("words.toml")).expect("a test reads it"));

fn say(name: &str, values: &[(&str, &str)]) -> String {
    let text = WORDS.get(name).map_or("", String::as_str);
    values.iter().fold(text.to_string(), |text, (key, value)| text.replace(&format!("{{{key}}}"), value))
}

/// Which hardware is ahead by the first metric that can tell. `rows` are cells that count now.
pub fn headline(rows: &Rows<'_>) -> Option<String> {
    METRICS.iter().take(2).find_map(|metric| of_points(points(rows, metric), metric))
}

/// Which hardware is ahead over all points at which several were measured; of several machines, precisions and numbers of threads those
/// with the most such points, which are named.
pub fn of_points(points: Vec<Point>, metric: &Metric) -> Option<String> {
    let decided = facets(points, metric).into_iter().filter_map(|(facet, decisions)| {
        let several = decisions.iter().filter(|decision| decision.certainty != Certainty::Alone).count();
        Some((several, facet, sentence(&decisions, metric)?))
    });
    let most = decided.max_by(|one, other| one.0.cmp(&other.0).then(other.1.cmp(&one.1)));
    most.map(|(_, facet, sentence)| say("within", &[("sentence", &sentence), ("facet", &facet.name())]))
}

/// "1.50 times (1.38 to 1.63)".
pub fn times(ratio: f64, interval: Option<(f64, f64)>) -> String {
    let two = |value: f64| format!("{value:.2}");
    match interval {
        Some((low, high)) => say("ratio_interval", &[("ratio", &two(ratio)), ("low", &two(low)), ("high", &two(high))]),
        None => say("ratio", &[("ratio", &two(ratio))]),
    }
}

/// One sentence over all points; `None`: nothing is compared.
pub fn sentence(decisions: &[Decision], metric: &Metric) -> Option<String> {
    let compared: Vec<&Decision> = decisions.iter().filter(|decision| decision.certainty != Certainty::Alone).collect();
    if let [one] = compared[..] {
        return of_one(one, metric);
    }
    let all = compared.len().to_string();
    let mut wins: BTreeMap<&str, usize> = BTreeMap::new();
    let decided = || compared.iter().filter(|decision| decision.certainty.wins());
    decided().filter_map(|decision| decision.best()).for_each(|entry| *wins.entry(&entry.hardware).or_default() += 1);
    let ties = compared.len() - decided().count();
    let mut wins: Vec<(&str, usize)> = wins.into_iter().collect();
    wins.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    let [(first, most), rest @ ..] = &wins[..] else {
        return (!compared.is_empty()).then(|| say("no_winner", &[("all", &all)]));
    };
    let best = [("best", *first), ("most", metric.best.as_str()), ("all", all.as_str())];
    if *most == compared.len() {
        return Some(say("at_all", &best));
    }
    let others = rest.iter().map(|(name, count)| say("other", &[("name", name), ("wins", &count.to_string())]));
    let tied = (ties > 0).then(|| say("tied", &[("ties", &ties.to_string())]));
    let others = others.chain(tied).collect::<Vec<_>>().join(", ");
    let mut text = say(
        if rest.is_empty() { "some" } else { "split" },
        &[best[0], best[1], best[2], ("wins", &most.to_string()), ("others", &others)],
    );
    if let Some((cost, model)) = dearest(&compared, first, metric.better) {
        text = format!("{text} {}", say("cost", &[("best", first), ("cost", &format!("{cost:.2}")), ("model", model)]));
    }
    Some(text)
}

fn of_one(decision: &Decision, metric: &Metric) -> Option<String> {
    let (best, next) = (&decision.best()?.hardware, decision.next.as_ref()?);
    let name = match decision.certainty {
        Certainty::Clear => "one_clear",
        Certainty::Noisy => "one_noisy",
        Certainty::Tie => "one_tie",
        Certainty::Alone => return None,
    };
    let times = times(next.ratio, next.interval);
    let values = [("best", best.as_str()), ("next", &next.hardware), ("times", &times), ("as", &metric.times)];
    Some(say(name, &[&values[..], &[("model", &decision.point.model)]].concat()))
}

/// The most that one hardware takes of what the best takes, and where.
pub fn dearest<'a>(decisions: &[&'a Decision], hardware: &str, better: Better) -> Option<(f64, &'a str)> {
    let costs = decisions.iter().filter_map(|decision| {
        let (_, cost) = decision.costs(better).find(|(name, _)| *name == hardware)?;
        Some((cost, decision.point.model.as_str()))
    });
    costs.filter(|(cost, _)| *cost > COST).max_by(|one, other| one.0.total_cmp(&other.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::Entry;

    fn of(model: &str, values: &[(&str, f64)]) -> Decision {
        let entry = |(hardware, value): &(&str, f64)| Entry {
            hardware: (*hardware).into(),
            value: *value,
            interval: Some((value - 0.01, value + 0.01)),
            stable: true,
            course: None,
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
