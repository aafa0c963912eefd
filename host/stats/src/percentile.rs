//! Percentiles that need samples: MLPerf's early-stopping bound at 99% confidence.
//!
//! Of n samples, the largest t is taken for which at most t of n lie above the true percentile with a probability of 1% or
//! less; the t-th highest sample is reported. Fewer samples than t = 1 needs: no figure.

use super::binomial::cdf;

const DOUBT: f64 = 0.01;

/// Whether a limit on the percentile `p` is kept by `n` requests of which `over` were beyond it: LoadGen's verdict on its scenario Server. The
/// estimate of [`percentile`] is the cautious one of the two, as LoadGen's own is: it may lie beyond a limit that is kept.
pub fn is_kept(over: u64, n: u64, p: f64) -> bool {
    over <= n && cdf(over, n, 1.0 - p) <= DOUBT
}

/// The largest t for `n` samples and the percentile `p` (0.9 for p90); 0 where n does not suffice.
fn highest(n: u64, p: f64) -> u64 {
    let enough = |t: u64| cdf(t, n, 1.0 - p) <= DOUBT;
    if !enough(1) {
        return 0;
    }
    let (mut low, mut high) = (1, n);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if enough(middle) { low = middle } else { high = middle }
    }
    low
}

/// The percentile `p` of sorted samples; `None` where there are too few of them.
pub fn percentile(sorted: &[f64], p: f64) -> Option<f64> {
    match highest(sorted.len() as u64, p) {
        0 => None,
        t => sorted.get(sorted.len() - t as usize).copied(),
    }
}

/// The least number of samples with which [`percentile`] gives a figure.
pub fn least_samples(p: f64) -> u64 {
    (2..).find(|n| highest(*n, p) > 0).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_numbers_of_samples_are_the_published_ones() {
        assert_eq!([0.5, 0.9, 0.95, 0.99, 0.999].map(least_samples), [11, 64, 130, 662, 6636]);
    }

    #[test]
    fn ten_thousand_samples_leave_77_above_p99() {
        assert_eq!(highest(10_000, 0.99), 77);
    }

    #[test]
    fn below_the_least_number_there_is_no_guess() {
        let samples: Vec<f64> = (0..64).map(f64::from).collect();
        assert_eq!(percentile(&samples[..63], 0.9), None);
        assert_eq!(percentile(&samples, 0.9), Some(63.0));
    }
}
