//! What both sides of a live comparison measured, pair by pair.

use crate::run::Launch;
use skillbench_stats::compare::Metric;
use skillbench_stats::median;
use skillbench_worker::{RoundRecord, SeriesRecord};

/// The metric's value of a round.
fn of_round(metric: &Metric, series: &SeriesRecord, round: &RoundRecord) -> Option<f64> {
    let middle = median(&round.values)?;
    let value = match (series.kind == "duration", metric.higher_is_better) {
        (false, _) => middle,
        (true, false) => middle * 1e-6,
        (true, true) => {
            let iterations = (round.values.len() as u64 + round.settled) as f64;
            let ns = if series.concurrent { round.wall_ns as f64 / iterations } else { middle };
            series.items_per_sample / (ns * 1e-9)
        }
    };
    (value.is_finite() && value > 0.0).then_some(value)
}

/// A metric in every launch: what both sides had in each pair of rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Paired {
    pub metric: Metric,
    pub launches: Vec<Vec<[f64; 2]>>,
}

/// CPU time in each pair of rounds.
fn cpu_pairs(before: &SeriesRecord, after: &SeriesRecord) -> Vec<[f64; 2]> {
    let values = |series: &SeriesRecord| -> Vec<f64> {
        crate::run::cpu_per_iteration(series).into_iter().map(|ns| ns * 1e-6).collect()
    };
    let rounds = |series: &SeriesRecord| series.rounds.iter().filter(|round| round.measured).count();
    let (a, b) = (values(before), values(after));
    // Without the CPU time of one round, those after it would be paired wrongly.
    if a.len() < rounds(before) || b.len() < rounds(after) {
        return vec![];
    }
    a.into_iter().zip(b).map(|(a, b)| [a, b]).filter(|pair| pair.iter().all(|value| *value > 0.0)).collect()
}

/// Everything that both sides measured in every launch.
pub fn paired(launches: &[Launch]) -> Vec<Paired> {
    let mut all: Vec<Paired> = vec![];
    let mut add = |metric: Metric, pairs: Vec<[f64; 2]>| match all.iter_mut().find(|known| known.metric == metric) {
        _ if pairs.is_empty() => {}
        Some(known) => known.launches.push(pairs),
        None => all.push(Paired { metric, launches: vec![pairs] }),
    };
    for launch in launches {
        let [before, after] = &launch.reports;
        for series in &before.series {
            let Some(other) = after.series.iter().find(|other| other.name == series.name) else { continue };
            let metric = Metric::of_series(&series.name, &series.unit, &series.kind, series.higher_is_better);
            if let Some(metric) = metric {
                let values = |series: &SeriesRecord| -> Vec<Option<f64>> {
                    let rounds = series.rounds.iter().filter(|round| round.measured);
                    rounds.map(|round| of_round(&metric, series, round)).collect()
                };
                // A side that caught up did so at the beginning.
                let pairs = values(series).into_iter().rev().zip(values(other).into_iter().rev());
                let mut pairs: Vec<[f64; 2]> = pairs.filter_map(|(a, b)| Some([a?, b?])).collect();
                pairs.reverse();
                if matches!(series.name.as_str(), "latency" | "end_to_end") {
                    add(Metric::cpu(), cpu_pairs(series, other));
                }
                add(metric, pairs);
            }
        }
        if let (Some(before), Some(after)) = (before.memory_peak, after.memory_peak) {
            add(Metric::memory(), vec![[before as f64 / 1048576.0, after as f64 / 1048576.0]]);
        }
    }
    all
}
