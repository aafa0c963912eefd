//! Tukey's fences: what lies beyond them is marked and counted, never dropped.

/// Quartile by linear interpolation between sorted samples.
pub(super) fn quantile(sorted: &[f64], q: f64) -> f64 {
    let position = q * (sorted.len() - 1) as f64;
    let (low, share) = (position.floor() as usize, position.fract());
    let high = (low + 1).min(sorted.len() - 1);
    sorted[low] + share * (sorted[high] - sorted[low])
}

/// The lower and the upper fence of sorted samples: one and a half interquartile ranges beyond the quartiles. `None` without samples.
pub fn fences(sorted: &[f64]) -> Option<[f64; 2]> {
    if sorted.is_empty() {
        return None;
    }
    let (q1, q3) = (quantile(sorted, 0.25), quantile(sorted, 0.75));
    let beyond = 1.5 * (q3 - q1);
    Some([q1 - beyond, q3 + beyond])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_are_those_of_the_quartiles_worked_out_by_hand() {
        let samples: Vec<f64> = (1..=9).map(f64::from).collect();
        assert_eq!(fences(&samples), Some([-3.0, 13.0]), "quartiles 3 and 7");
        assert_eq!(fences(&[5.0]), Some([5.0, 5.0]));
        assert_eq!(fences(&[]), None);
    }
}
