//! Which of some values are not like the others.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// So many values make the published limits hold.
const ENOUGH: usize = 25;

/// The values that stand apart from the rest of a normal sample, the farthest first, by their places: Rosner's generalized test of extreme
/// Studentized deviates (Technometrics 25, 1983), which finds several that would hide one another. `significance` is the chance at most to find
/// any where there is none. Up to a third of the values can be found, and among fewer than three none.
pub fn outliers(values: &[f64], significance: f64) -> Vec<usize> {
    let n = values.len();
    let mut left: Vec<usize> = (0..n).filter(|place| values[*place].is_finite()).collect();
    let most = (left.len() / 3).max(usize::from(left.len() >= 3));
    // The published limits hold from 25 values on. With fewer, each look takes a share of the chance.
    let looks = if left.len() < ENOUGH { most.max(1) } else { 1 };
    let significance = significance / looks as f64;
    let (mut removed, mut found) = (vec![], 0);
    for _ in 0..most {
        let of_left: Vec<f64> = left.iter().map(|place| values[*place]).collect();
        let Some((at, deviate)) = farthest(&of_left) else { break };
        let limit = critical(of_left.len(), significance);
        removed.push(left.remove(at));
        // All up to the last one beyond its limit stand apart: those before it hid one another.
        if deviate > limit {
            found = removed.len();
        }
    }
    removed.truncate(found);
    removed
}

/// The place of the value farthest from the mean, and how many standard deviations that is. `None`: all are the same, or too few.
fn farthest(values: &[f64]) -> Option<(usize, f64)> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    if values.len() < 3 || deviation <= 0.0 {
        return None;
    }
    let far = values.iter().map(|value| (value - mean).abs() / deviation);
    far.enumerate().max_by(|(_, one), (_, other)| one.total_cmp(other))
}

/// The deviate that the farthest of so many values exceeds by chance alone that rarely.
fn critical(n: usize, significance: f64) -> f64 {
    let (n, freedom) = (n as f64, n as f64 - 2.0);
    let Ok(student) = StudentsT::new(0.0, 1.0, freedom) else { return f64::INFINITY };
    let t = student.inverse_cdf(1.0 - significance / (2.0 * n));
    (n - 1.0) * t / ((freedom + t * t) * n).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    /// Rosner's own example, which the NIST handbook works through: 3 of 54 stand apart at 5%.
    const ROSNER: [f64; 54] = [
        -0.25, 0.68, 0.94, 1.15, 1.20, 1.26, 1.26, 1.34, 1.38, 1.43, 1.49, 1.49, 1.55, 1.56, 1.58, 1.65, 1.69, 1.70,
        1.76, 1.77, 1.81, 1.91, 1.94, 1.96, 1.99, 2.06, 2.09, 2.10, 2.14, 2.15, 2.23, 2.24, 2.26, 2.35, 2.37, 2.40,
        2.47, 2.54, 2.62, 2.64, 2.90, 2.92, 2.92, 2.93, 3.21, 3.26, 3.30, 3.59, 3.68, 4.30, 4.64, 5.34, 5.42, 6.01,
    ];

    #[test]
    fn the_published_example_has_its_three() {
        let mut found: Vec<f64> = outliers(&ROSNER, 0.05).into_iter().map(|place| ROSNER[place]).collect();
        found.sort_by(f64::total_cmp);
        assert_eq!(found, [5.34, 5.42, 6.01]);
        // Its critical values, as published.
        for (n, published) in [(54, 3.159), (53, 3.151), (52, 3.144), (45, 3.085)] {
            assert!((critical(n, 0.05) - published).abs() < 0.002, "{n}: {}", critical(n, 0.05));
        }
    }

    #[test]
    fn two_values_and_equal_ones_say_nothing() {
        assert!(outliers(&[], 0.01).is_empty() && outliers(&[1.0, 9.0], 0.01).is_empty());
        assert!(outliers(&[1.0; 8], 0.01).is_empty());
        assert_eq!(outliers(&[1.0, 1.0, 1.0, 1.0, 1.0, 9.0, f64::NAN], 0.01), [5]);
    }

    fn normal(rng: &mut Rng) -> f64 {
        (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0
    }

    /// The values that are found of so many that are 2% apart, of which the first ones are so many times as large.
    fn found(rng: &mut Rng, n: usize, factors: &[f64]) -> Vec<usize> {
        let mut values: Vec<f64> = (0..n).map(|_| 0.02 * normal(rng)).collect();
        values.iter_mut().zip(factors).for_each(|(value, factor)| *value += factor.ln());
        // As it is used: each of two figures is looked at with half of the chance.
        let mut found = outliers(&values, crate::rules().peers.significance / 2.0);
        found.sort_unstable();
        found
    }

    #[test]
    fn none_is_found_where_there_is_none_more_often_than_is_said() {
        let mut rng = Rng::with_seed(7);
        for n in [3, 4, 6, 9, 15, 24, 25, 40] {
            let wrong = (0..4000).filter(|_| !found(&mut rng, n, &[]).is_empty()).count();
            // 2.5% of 4000 are 100, and three deviations of that 30.
            assert!(wrong <= 130, "{n} values: {wrong} of 4000 had some");
        }
    }

    #[test]
    fn two_do_not_hide_each_other() {
        let mut rng = Rng::with_seed(8);
        let both = (0..500).filter(|_| found(&mut rng, 10, &[1.3, 1.3]) == [0, 1]).count();
        assert!(both >= 430, "{both} of 500");
    }

    /// What docs/fleet.md says of `host fleet outliers`: of so many machines that are 2% apart one is found nine times in ten that is so much
    /// slower.
    #[test]
    fn the_more_there_are_the_less_has_to_be_between_them() {
        let mut rng = Rng::with_seed(11);
        for (n, factor) in POWER {
            let found = (0..1000).filter(|_| found(&mut rng, n, &[factor]).contains(&0)).count();
            assert!((870..985).contains(&found), "{n} machines, {factor} times as slow: {found} of 1000");
        }
    }

    const POWER: [(usize, f64); 5] = [(4, 1.57), (6, 1.25), (8, 1.18), (16, 1.14), (32, 1.12)];
}
