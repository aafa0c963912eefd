//! Values over time in a few letters, for a cell of a table.

/// From the lowest to the highest.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Values that are all within such a ratio of each other do not fill the height: noise is to look like noise.
const LEAST_RANGE: f64 = 1.5;
/// The newest are shown.
const MOST: usize = 16;

/// A bar for each value, oldest first, by equal ratios. Empty for fewer than two values.
pub fn line(values: &[f64]) -> String {
    let known: Vec<f64> = values.iter().copied().filter(|value| value.is_finite() && *value > 0.0).collect();
    let newest = &known[known.len().saturating_sub(MOST)..];
    if newest.len() < 2 {
        return String::new();
    }
    let logs = newest.iter().map(|value| value.ln());
    let (low, high) =
        logs.clone().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), log| (low.min(log), high.max(log)));
    let range = (high - low).max(LEAST_RANGE.ln());
    let floor = (low + high - range) / 2.0;
    let top = (BARS.len() - 1) as f64;
    logs.map(|log| BARS[((log - floor) / range * top).round().clamp(0.0, top) as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn what_doubled_goes_from_the_bottom_to_the_top_and_noise_stays_in_the_middle() {
        assert_eq!(line(&[1.0, 1.0, 2.0]), "▁▁█");
        assert_eq!(line(&[1.0, 1.01, 0.99]), "▅▅▄");
        assert_eq!(line(&[4.0, 2.0, 1.0]), "█▅▁");
    }

    #[test]
    fn one_value_has_no_course_and_what_is_no_value_is_left_out() {
        assert_eq!(line(&[1.0]), "");
        assert_eq!(line(&[f64::NAN, 1.0, 0.0]), "");
        assert_eq!(line(&[1.0; 40]).chars().count(), 16);
    }
}
