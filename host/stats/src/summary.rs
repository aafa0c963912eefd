//! The figures of one set of samples.

use super::binomial::cdf;
use super::{HalfWidths, Launches, fences, half_widths, percentile};
use skillbench_record::Stats;

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

/// The sample median.
pub fn median(values: &[f64]) -> Option<f64> {
    median_of_sorted(&sorted(values))
}

/// 95% confidence interval of the median from order statistics, free of any assumption on the distribution.
/// `None` below 6 samples, where no two of them enclose it with that confidence.
pub fn median_interval(sorted: &[f64]) -> Option<[f64; 2]> {
    let n = sorted.len() as u64;
    let inside = |k: u64| cdf(k, n, 0.5) <= 0.025;
    if n == 0 || !inside(0) {
        return None;
    }
    // The largest k with P(X <= k) <= 2.5%: samples k+1 and n-k (counted from 1) enclose the median. Near the normal
    // approximation, so the search starts there.
    let guess = (n as f64 / 2.0 - 0.98 * (n as f64).sqrt() - 2.0).max(0.0) as u64;
    let mut k = if inside(guess) { guess } else { 0 };
    while inside(k + 1) {
        k += 1;
    }
    let k = k as usize;
    Some([sorted[k], sorted[sorted.len() - 1 - k]])
}

/// All figures of some samples, each multiplied by `scale` first. `None` without samples, and for samples so large that a figure
/// of them would not be finite.
pub fn summarize(values: &[f64], scale: f64) -> Option<Stats> {
    let mut values = sorted(values);
    values.iter_mut().for_each(|value| *value *= scale);
    let (&min, &max) = (values.first()?, values.last()?);
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let median = median_of_sorted(&values)?;
    let square = |value: &f64| (value - mean).powi(2);
    let deviations: Vec<f64> = values.iter().map(|value| (value - median).abs()).collect();
    let [low, high] = fences(&values)?;
    let square_sum: f64 = values.iter().map(square).sum();
    if !(square_sum.is_finite() && mean.is_finite() && low.is_finite() && high.is_finite()) {
        return None;
    }
    Some(Stats {
        n: values.len() as u64,
        min,
        mean,
        median,
        p90: percentile(&values, 0.90),
        p95: percentile(&values, 0.95),
        p99: percentile(&values, 0.99),
        max,
        std: (values.len() > 1).then(|| (square_sum / (n - 1.0)).sqrt()),
        mad: self::median(&deviations)?,
        ci95: median_interval(&values),
        outliers: values.iter().filter(|value| **value < low || **value > high).count() as u64,
    })
}

/// As [`summarize`], of samples that came one after the other in one process: its interval holds where neighbours resemble each
/// other, and, where it is known how far launches are apart, for other launches too.
pub fn summarize_rounds(values: &[f64], scale: f64, launches: Option<Launches>) -> Option<Stats> {
    let stats = summarize(values, scale)?;
    let around = |half: HalfWidths| {
        let half = half.median * stats.median;
        [(stats.median - half).max(stats.min), stats.median + half]
    };
    let ci95 = half_widths(values, launches).map(around).or(stats.ci95);
    Some(Stats { ci95, ..stats })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_a_small_set_are_those_computed_by_hand() {
        let stats = summarize(&[4.0, 2.0, 8.0, 6.0, 100.0], 0.5).unwrap();
        assert_eq!((stats.n, stats.min, stats.max, stats.median), (5, 1.0, 50.0, 3.0));
        assert_eq!(stats.mean, 12.0);
        // deviations from 3: 2 1 0 1 47
        assert_eq!(stats.mad, 1.0);
        assert!((stats.std.unwrap() - 452.5_f64.sqrt()).abs() < 1e-12);
        assert_eq!((stats.outliers, stats.p90, stats.ci95), (1, None, None));
    }

    #[test]
    fn one_sample_has_no_spread() {
        let stats = summarize(&[3.0], 1.0).unwrap();
        assert_eq!((stats.n, stats.std, stats.mad), (1, None, 0.0));
        assert_eq!(summarize(&[], 1.0), None);
        assert_eq!(summarize(&[1e300, -1e300], 1.0), None);
    }

    #[test]
    fn the_interval_of_the_median_is_the_tabulated_one() {
        let samples: Vec<f64> = (1..=20).map(f64::from).collect();
        // Binomial tables: for n = 20 the 6th and the 15th sample, for n = 6 the first and the last.
        assert_eq!(median_interval(&samples), Some([6.0, 15.0]));
        assert_eq!(median_interval(&samples[..6]), Some([1.0, 6.0]));
        assert_eq!(median_interval(&samples[..5]), None);
        let many: Vec<f64> = (1..=1000).map(f64::from).collect();
        assert_eq!(median_interval(&many), Some([469.0, 532.0]));
    }
}
