//! Each hardware over all points of a facet: how often it wins, how far it is from the best on average, and its worst case.

use super::{Better, Certainty, Decision, dearest};
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    pub hardware: String,
    pub wins: usize,
    /// Points at which it is one of the best two, and their intervals overlap.
    pub ties: usize,
    /// Points at which it was compared.
    pub points: usize,
    /// The geometric mean of its cost in times of the best, with what the ends of its intervals make of it.
    pub mean: f64,
    pub interval: Option<(f64, f64)>,
    /// Its greatest cost in times of the best, and on which model; `None`: it costs nothing anywhere.
    pub worst: Option<(f64, String)>,
}

/// The hardware of one facet, who wins most first. Points at which nothing else was measured count for nothing.
pub fn standings(decisions: &[Decision], better: Better) -> Vec<Standing> {
    let compared: Vec<&Decision> = decisions.iter().filter(|decision| decision.certainty != Certainty::Alone).collect();
    let mut logs: BTreeMap<&str, Vec<[f64; 3]>> = BTreeMap::new();
    for decision in &compared {
        let best = decision.best().map_or(f64::NAN, |entry| better.cost(entry.value));
        for entry in &decision.point.entries {
            let cost = better.cost(entry.value);
            let (low, high) = entry.interval.map_or((f64::NAN, f64::NAN), |interval| better.costs(interval));
            logs.entry(&entry.hardware).or_default().push([cost, low, high].map(|cost| (cost / best).ln()));
        }
    }
    let of = |(hardware, logs): (&str, Vec<[f64; 3]>)| {
        let mean = |place: usize| (logs.iter().map(|log| log[place]).sum::<f64>() / logs.len() as f64).exp();
        let (low, high) = (mean(1), mean(2));
        let wins = compared.iter().filter(|decision| {
            decision.certainty.wins() && decision.best().is_some_and(|best| best.hardware == hardware)
        });
        let ties = compared.iter().filter(|decision| {
            let first_two = decision.point.entries.iter().take(2).any(|entry| entry.hardware == hardware);
            decision.certainty == Certainty::Tie && first_two
        });
        Standing {
            hardware: hardware.into(),
            wins: wins.count(),
            ties: ties.count(),
            points: logs.len(),
            mean: mean(0),
            interval: (low.is_finite() && high.is_finite()).then_some((low, high)),
            worst: dearest(&compared, hardware, better).map(|(cost, model)| (cost, model.to_string())),
        }
    };
    let mut standings: Vec<Standing> = logs.into_iter().map(of).collect();
    standings.sort_by(|one, other| {
        other.wins.cmp(&one.wins).then(one.mean.total_cmp(&other.mean)).then_with(|| one.hardware.cmp(&other.hardware))
    });
    standings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::{Entry, Point};

    #[test]
    fn wins_ties_mean_and_worst_case_are_over_the_points_that_were_compared() {
        let of = |model: &str, values: &[(&str, f64)]| {
            let entry = |(hardware, value): &(&str, f64)| Entry {
                hardware: (*hardware).into(),
                value: *value,
                interval: Some((value * 0.99, value * 1.01)),
                stable: true,
                course: None,
            };
            let entries = values.iter().map(entry).collect();
            Decision::of(Point { model: model.into(), entries, ..Point::default() }, Better::Less).unwrap()
        };
        let decisions = [
            of("a", &[("cpu", 1.0), ("rten", 4.0)]),
            of("b", &[("cpu", 2.0), ("rten", 1.0)]),
            of("c", &[("cpu", 1.0), ("rten", 1.001)]),
            of("d", &[("cpu", 1.0)]),
        ];
        let standings = standings(&decisions, Better::Less);
        let [cpu, rten] = &standings[..] else { panic!("{standings:?}") };
        assert_eq!((cpu.hardware.as_str(), cpu.wins, cpu.ties, cpu.points), ("cpu", 1, 1, 3));
        assert!((cpu.mean - 2f64.powf(1.0 / 3.0)).abs() < 1e-9);
        assert_eq!(cpu.worst, Some((2.0, "b".into())));
        assert_eq!(rten.worst.as_ref().map(|(cost, _)| *cost), Some(4.0));
        let (low, high) = cpu.interval.unwrap();
        assert!(low < cpu.mean && cpu.mean < high);
    }
}
