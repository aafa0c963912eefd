//! What measurements tell of a difference.

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
    /// 95%, by bootstrap.
    pub interval: Option<[f64; 2]>,
    /// Mann–Whitney, two-sided.
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

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

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
