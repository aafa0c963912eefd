//! What measurements tell of a difference.

use crate::batches::student;
use crate::{grouped_median_interval, mann_whitney, median, ratio_interval};
use serde::{Deserialize, Serialize};

/// A difference in one metric, as it was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Median of the rounds.
    pub before: f64,
    pub after: f64,
    /// After over before: where rounds came in pairs, the median of the pairs' ratios.
    pub ratio: f64,
    /// 95%: of rounds by bootstrap, of figures that have intervals by those.
    pub interval: Option<[f64; 2]>,
    /// Two-sided: of rounds by Mann–Whitney, of figures that have intervals by those.
    pub p: Option<f64>,
    /// Of the side that has fewer.
    pub rounds: u64,
    /// Processes on each side.
    pub launches: u64,
    /// The median of each of them, of both sides: the same code in different processes, where a thing is held against itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<[f64; 2]>,
}

/// Of rounds that came in pairs, in several launches. `None` without a pair.
pub fn of_pairs(launches: &[Vec<[f64; 2]>], seed: u64) -> Option<Evidence> {
    let side = |side: usize| -> Vec<f64> { launches.iter().flatten().map(|pair| pair[side]).collect() };
    let logs: Vec<Vec<f64>> =
        launches.iter().map(|pairs| pairs.iter().map(|[before, after]| (after / before).ln()).collect()).collect();
    let all: Vec<f64> = logs.iter().flatten().copied().collect();
    let several = all.len() > 1;
    let middle = median(&all)?;
    let around = |[low, high]: [f64; 2]| [low.min(middle).exp(), high.max(middle).exp()];
    let interval = grouped_median_interval(&logs, seed).filter(|_| several).map(around);
    // What a machine does from launch to launch, it does to both: each launch counts against its own middle.
    let centred = |side: usize| -> Vec<f64> {
        let of_launch = |pairs: &Vec<[f64; 2]>| {
            let middle = median(pairs.as_flattened()).unwrap_or(1.0);
            pairs.iter().map(|pair| pair[side] / middle).collect::<Vec<f64>>()
        };
        launches.iter().flat_map(of_launch).collect()
    };
    let level = |pairs: &Vec<[f64; 2]>| {
        let of_side = |side: usize| median(&pairs.iter().map(|pair| pair[side]).collect::<Vec<f64>>());
        Some([of_side(0)?, of_side(1)?])
    };
    Some(Evidence {
        before: median(&side(0))?,
        after: median(&side(1))?,
        ratio: middle.exp(),
        interval,
        p: mann_whitney(&centred(0), &centred(1)).filter(|_| several).map(|test| test.p),
        rounds: all.len() as u64,
        launches: launches.len() as u64,
        levels: launches.iter().filter_map(level).collect(),
    })
}

/// Of rounds that were measured apart, one process each. `None` where a side has none, or a median that is no positive number.
pub fn of_apart(before: &[f64], after: &[f64], seed: u64) -> Option<Evidence> {
    let (first, second) = (median(before)?, median(after)?);
    let several = before.len() > 1 && after.len() > 1;
    (first > 0.0 && second > 0.0).then(|| Evidence {
        before: first,
        after: second,
        ratio: second / first,
        interval: if several { ratio_interval(before, after, seed) } else { None },
        p: if several { mann_whitney(before, after).map(|test| test.p) } else { None },
        rounds: before.len().min(after.len()) as u64,
        launches: 1,
        levels: vec![],
    })
}

/// A figure that has an interval of its own, such as the capacity that one search found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub value: f64,
    pub ci95: [f64; 2],
    /// What it was made of: sessions of a search.
    pub rounds: u64,
}

/// Of figures with intervals of their own, one for each launch. The interval of the ratio is made of the distances to the ends of both, on a scale of
/// logarithms (MOVER, after Zou and Donner 2008). Launches that are further apart than their intervals allow make it wider: by Birge's ratio, and as
/// Student's t is wider than the normal distribution, since so few say how far apart they are. `None` where a side has none, or what is no positive number.
pub fn of_estimates(before: &[Estimate], after: &[Estimate]) -> Option<Evidence> {
    let (first, second) = (Pooled::of(before)?, Pooled::of(after)?);
    let difference = second.middle - first.middle;
    let low = difference - second.below.hypot(first.above);
    let high = difference + second.above.hypot(first.below);
    // How far it is to no difference, in standard deviations.
    let half = if difference > 0.0 { difference - low } else { high - difference };
    let z = if half > 0.0 { NORMAL_95 * difference.abs() / half } else { f64::INFINITY };
    let p = if difference == 0.0 { 1.0 } else { libm::erfc(z / std::f64::consts::SQRT_2) };
    let rounds = |side: &[Estimate]| side.iter().map(|one| one.rounds).sum::<u64>();
    Some(Evidence {
        before: first.middle.exp(),
        after: second.middle.exp(),
        ratio: difference.exp(),
        interval: Some([low.exp(), high.exp()]),
        p: Some(p),
        rounds: rounds(before).min(rounds(after)),
        launches: before.len().min(after.len()) as u64,
        levels: before.iter().zip(after).map(|(before, after)| [before.value, after.value]).collect(),
    })
}

/// So many standard deviations from the middle of a normal distribution to the ends of its 95% interval.
const NORMAL_95: f64 = 1.959_963_984_540_054;

/// An interval is never narrower than so many standard deviations of a logarithm, for what is divided by it.
const LEAST_DEVIATION: f64 = 1e-9;

/// The logarithm of a side's figures: their mean, and how far the ends of its 95% interval are.
struct Pooled {
    middle: f64,
    below: f64,
    above: f64,
}

impl Pooled {
    fn of(estimates: &[Estimate]) -> Option<Pooled> {
        let logs: Vec<[f64; 3]> =
            estimates.iter().map(|one| [one.ci95[0], one.value, one.ci95[1]].map(f64::ln)).collect();
        if logs.is_empty() || logs.as_flattened().iter().any(|log| !log.is_finite()) {
            return None;
        }
        let n = logs.len() as f64;
        let middle = logs.iter().map(|[_, log, _]| log).sum::<f64>() / n;
        let of_mean = |distance: fn(&[f64; 3]) -> f64| {
            logs.iter().map(|one| distance(one).max(0.0).powi(2)).sum::<f64>().sqrt() / n
        };
        let off =
            |[low, log, high]: &[f64; 3]| (log - middle) / ((high - low) / (2.0 * NORMAL_95)).max(LEAST_DEVIATION);
        let birge = match logs.len() {
            1 => 1.0,
            _ => (logs.iter().map(|one| off(one).powi(2)).sum::<f64>() / (n - 1.0)).sqrt(),
        };
        let wider = if birge > 1.0 { birge * student(logs.len() as u64 - 1) / NORMAL_95 } else { 1.0 };
        let [below, above] = [of_mean(|[low, log, _]| log - low), of_mean(|[_, log, high]| high - log)];
        Some(Pooled { middle, below: below * wider, above: above * wider })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    fn estimate(value: f64, share: f64) -> Estimate {
        Estimate { value, ci95: [value / (1.0 + share), value * (1.0 + share)], rounds: 40 }
    }

    #[test]
    fn figures_with_intervals_of_their_own_give_a_ratio_with_one() {
        let found = of_estimates(&[estimate(200.0, 0.05)], &[estimate(300.0, 0.05)]).unwrap();
        let [low, high] = found.interval.unwrap();
        let wanted = 1.05_f64.ln() * std::f64::consts::SQRT_2;
        assert!((low - 1.5 * (-wanted).exp()).abs() < 1e-9 && (high - 1.5 * wanted.exp()).abs() < 1e-9, "{found:?}");
        assert!(found.p.unwrap() < 1e-6 && (found.rounds, found.launches) == (40, 1));
        let near = of_estimates(&[estimate(200.0, 0.05)], &[estimate(204.0, 0.05)]).unwrap();
        assert!(near.interval.unwrap()[0] < 1.0 && near.p.unwrap() > 0.5, "{near:?}");
    }

    #[test]
    fn an_interval_that_reaches_further_on_one_side_does_so_in_the_ratio() {
        let lopsided = Estimate { value: 100.0, ci95: [70.0, 101.0], rounds: 40 };
        let exact = Estimate { value: 100.0, ci95: [100.0, 100.0], rounds: 40 };
        let [low, high] = of_estimates(&[exact], &[lopsided]).unwrap().interval.unwrap();
        assert!((low - 0.7).abs() < 1e-9 && (high - 1.01).abs() < 1e-9);
        let [low, high] = of_estimates(&[lopsided], &[exact]).unwrap().interval.unwrap();
        assert!((low - 1.0 / 1.01).abs() < 1e-9 && (high - 1.0 / 0.7).abs() < 1e-9);
    }

    #[test]
    fn several_searches_narrow_the_interval_and_those_that_contradict_each_other_widen_it() {
        let width = |before: &[f64]| {
            let side: Vec<Estimate> = before.iter().map(|value| estimate(*value, 0.05)).collect();
            let [low, high] = of_estimates(&side, &[estimate(100.0, 0.0)]).unwrap().interval.unwrap();
            high / low
        };
        assert!(width(&[100.0, 101.0]) < width(&[100.0]));
        assert!(width(&[80.0, 125.0]) > width(&[100.0]));
    }

    /// Searches of one side that differ by more than their own intervals say, or not: the ratio's interval holds the truth in about 95% of comparisons, or more.
    #[test]
    fn the_interval_holds_the_truth_however_far_searches_are_apart() {
        let mut rng = Rng::with_seed(3);
        let mut normal = move || (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0;
        for (searches, between) in [(1, 0.0), (2, 0.0), (2, 0.05), (3, 0.0), (3, 0.02), (3, 0.1), (5, 0.05)] {
            let mut side = || -> Vec<Estimate> {
                let one = |_| {
                    let value = (0.03 * normal() + between * normal()).exp();
                    let share = (0.03 * NORMAL_95).exp();
                    Estimate { value, ci95: [value / share, value * share], rounds: 40 }
                };
                (0..searches).map(one).collect()
            };
            let holds = (0..2_000).filter(|_| {
                let [low, high] = of_estimates(&side(), &side()).unwrap().interval.unwrap();
                low <= 1.0 && 1.0 <= high
            });
            let share = holds.count() as f64 / 2_000.0;
            assert!(share > 0.93, "{searches} searches that differ by {between}: {share}");
        }
    }

    #[test]
    fn what_is_no_positive_number_compares_with_nothing() {
        let nothing = Estimate { value: 1.0, ci95: [0.0, 2.0], rounds: 40 };
        assert_eq!(of_estimates(&[nothing], &[estimate(1.0, 0.1)]), None);
        assert_eq!(of_estimates(&[], &[estimate(1.0, 0.1)]), None);
    }

    /// Launches in which the machine itself changes its speed, and `after` costs `factor` of `before`.
    fn launches(factor: f64, seed: u64) -> Vec<Vec<[f64; 2]>> {
        let mut rng = Rng::with_seed(seed);
        let launch = |level: f64, rng: &mut Rng| {
            let round = |cost: f64, rng: &mut Rng| level * cost * (1.0 + 0.02 * rng.f64());
            (0..12).map(|_| [round(1.0, rng), round(factor, rng)]).collect()
        };
        [1.0, 1.3, 0.9, 2.0, 1.1].map(|level| launch(level, &mut rng)).into()
    }

    #[test]
    fn a_machine_that_changes_its_speed_does_not_hide_a_difference() {
        let found = of_pairs(&launches(1.05, 3), 1).unwrap();
        let [low, high] = found.interval.unwrap();
        assert!(low > 1.03 && high < 1.07 && low < found.ratio && found.ratio < high, "{found:?}");
        assert!(found.p.unwrap() < 0.001);
        assert_eq!((found.rounds, found.launches), (60, 5));
    }

    #[test]
    fn the_same_against_itself_shows_nothing() {
        let found = of_pairs(&launches(1.0, 4), 1).unwrap();
        let [low, high] = found.interval.unwrap();
        assert!(low <= 1.0 && 1.0 <= high && found.p.unwrap() > 0.01, "{found:?}");
    }

    #[test]
    fn one_sample_has_a_ratio_and_no_interval() {
        let found = of_apart(&[2.0], &[3.0, 3.0], 0).unwrap();
        assert_eq!((found.ratio, found.interval, found.p, found.rounds), (1.5, None, None, 1));
        assert_eq!(of_apart(&[], &[3.0], 0), None);
        assert_eq!(of_apart(&[0.0], &[3.0], 0), None);
        assert_eq!(of_pairs(&[vec![]], 0), None);
        assert_eq!(of_pairs(&[vec![[1.0, 2.0]]], 0).unwrap().interval, None);
    }

    #[test]
    fn identical_samples_are_the_same_without_doubt() {
        let found = of_apart(&[2.0; 10], &[2.0; 10], 0).unwrap();
        assert_eq!((found.ratio, found.interval, found.p), (1.0, Some([1.0, 1.0]), Some(1.0)));
    }
}
