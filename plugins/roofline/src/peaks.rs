//! The best rates seen, by the precision that ran.

use std::collections::BTreeMap;

/// The median of the samples; `None` without one.
pub fn median(samples: &[f64]) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    Some(if sorted.len() % 2 == 1 { upper } else { (sorted[middle - 1] + upper) / 2.0 })
}

/// Per second, of so many items in a median of nanoseconds.
pub fn rate(items: u64, samples: &[f64]) -> Option<f64> {
    median(samples).filter(|median| *median > 0.0).map(|median| items as f64 / median * 1e9)
}

/// The highest rate of each name.
#[derive(Default)]
pub struct Peaks(BTreeMap<String, f64>);

impl Peaks {
    pub fn take(&mut self, name: &str, rate: f64) {
        let best = self.0.entry(name.into()).or_insert(rate);
        *best = best.max(rate);
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(name, rate)| (name.as_str(), *rate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_items_over_the_median_time() {
        assert_eq!(rate(10, &[4.0, 1.0, 2.0]), Some(10.0 / 2.0 * 1e9));
        assert_eq!(rate(10, &[1.0, 3.0]), Some(5e9));
        assert_eq!(rate(10, &[]), None);
    }

    #[test]
    fn the_highest_rate_is_the_peak() {
        let mut peaks = Peaks::default();
        [("a", 2.0), ("a", 3.0), ("b", 1.0), ("a", 1.0)].iter().for_each(|(name, rate)| peaks.take(name, *rate));
        assert_eq!(peaks.iter().collect::<Vec<_>>(), [("a", 3.0), ("b", 1.0)]);
    }
}
