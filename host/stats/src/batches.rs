//! Intervals of samples that came one after the other. Neighbours resemble each other, so whole stretches of them (batches) count as
//! one each; and what differs from one launch of a process to the next is added where it is known.
//!
//! Source: non-overlapping batch means and quantiles, with Student's t.

use super::{median, median_interval};

/// So many stretches, where there are samples enough.
const BATCHES: usize = 10;
/// Fewer say nothing of how they differ.
const LEAST: usize = 6;

/// How far launches of the same process are apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Launches {
    /// Standard deviation over the middle: 0.02 for 2%.
    pub deviation: f64,
    /// How many were seen.
    pub count: u64,
}

/// Half widths of 95% intervals, over the figure itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfWidths {
    pub median: f64,
    pub mean: f64,
}

/// Of samples in the order in which they came. `None` with too few, or where the figure is no positive number.
pub fn half_widths(values: &[f64], launches: Option<Launches>) -> Option<HalfWidths> {
    if values.len() < LEAST {
        return None;
    }
    let count = BATCHES.min(values.len());
    let batch = |index: usize| &values[index * values.len() / count..(index + 1) * values.len() / count];
    let medians: Vec<f64> = (0..count).filter_map(|index| median(batch(index))).collect();
    let means: Vec<f64> = (0..count).map(|index| mean(batch(index))).collect();
    let (middle, average) = (median(values)?, mean(values));
    if !(middle > 0.0 && average > 0.0 && average.is_finite()) {
        return None;
    }
    // Where batches agree by chance, as of two speeds in turn, the samples themselves still say how wide the median's is.
    const BY_CHANCE: f64 = 3.0;
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let [low, high] = median_interval(&sorted)?;
    let of_samples = (high - middle).max(middle - low) / middle;
    let t = student(count as u64 - 1);
    let within = |figures: &[f64], figure: f64| t * deviation(figures) / (count as f64).sqrt() / figure;
    let between =
        launches.map_or(0.0, |launches| student(launches.count.saturating_sub(1).max(1)) * launches.deviation);
    Some(HalfWidths {
        median: match within(&medians, middle) {
            of_batches if of_batches * BY_CHANCE < of_samples => of_samples,
            of_batches => of_batches,
        }
        .hypot(between),
        mean: within(&means, average).hypot(between),
    })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Standard deviation.
fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (values.len() as f64 - 1.0).max(1.0)).sqrt()
}

/// Standard deviation of launches over their middle, pooled over groups of the same thing. `None` without a second one.
pub fn between_launches(groups: &[Vec<f64>]) -> Option<Launches> {
    let (mut squares, mut freedom, mut count) = (0.0, 0.0, 0);
    for group in groups.iter().filter(|group| group.len() > 1 && group.iter().all(|level| *level > 0.0)) {
        let logs: Vec<f64> = group.iter().map(|level| level.ln()).collect();
        squares += deviation(&logs).powi(2) * (logs.len() as f64 - 1.0);
        freedom += logs.len() as f64 - 1.0;
        count += group.len() as u64;
    }
    (freedom > 0.0).then(|| Launches { deviation: (squares / freedom).sqrt(), count })
}

/// How far the mean of launches is off that were measured themselves: less than one of them. `None` with one.
pub fn of_launches(levels: &[f64]) -> Option<Launches> {
    let one = between_launches(&[levels.to_vec()])?;
    Some(Launches { deviation: one.deviation / (levels.len() as f64).sqrt(), ..one })
}

/// The 97.5th percentile of Student's t.
pub fn student(freedom: u64) -> f64 {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
        2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
    ];
    match freedom {
        0 => f64::INFINITY,
        1..=30 => TABLE[freedom as usize - 1],
        // Fisher's expansion, to its first term.
        _ => 1.960 + 2.4 / freedom as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    fn normal(rng: &mut Rng) -> f64 {
        (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0
    }

    /// Samples of which each keeps `memory` of the one before, around 1.
    fn series(rng: &mut Rng, n: usize, memory: f64, spread: f64) -> Vec<f64> {
        let mut state = normal(rng);
        let step = (1.0 - memory * memory).sqrt();
        (0..n)
            .map(|_| {
                state = memory * state + step * normal(rng);
                1.0 + spread * state
            })
            .collect()
    }

    /// How often the intervals of median and mean hold 1.
    fn coverage(memory: f64, launch: f64, known: Option<Launches>) -> (f64, f64) {
        let mut rng = Rng::with_seed(11);
        let (mut of_median, mut of_mean) = (0, 0);
        const TRIES: u32 = 1_000;
        for _ in 0..TRIES {
            let level = 1.0 + launch * normal(&mut rng);
            let values: Vec<f64> = series(&mut rng, 400, memory, 0.02).iter().map(|value| value * level).collect();
            let half = half_widths(&values, known).unwrap();
            of_median += u32::from((median(&values).unwrap() - 1.0).abs() <= half.median * median(&values).unwrap());
            of_mean += u32::from((mean(&values) - 1.0).abs() <= half.mean * mean(&values));
        }
        (f64::from(of_median) / f64::from(TRIES), f64::from(of_mean) / f64::from(TRIES))
    }

    #[test]
    fn intervals_hold_where_neighbours_resemble_each_other() {
        for memory in [0.0, 0.5, 0.8] {
            let (of_median, of_mean) = coverage(memory, 0.0, None);
            assert!(
                (0.92..=0.975).contains(&of_median) && (0.92..=0.975).contains(&of_mean),
                "{memory}: {of_median} {of_mean}"
            );
        }
    }

    #[test]
    fn intervals_hold_between_launches_where_their_deviation_is_known() {
        for deviation in [0.01, 0.02, 0.03] {
            let known = Launches { deviation, count: 120 };
            let (of_median, of_mean) = coverage(0.5, deviation, Some(known));
            assert!(
                (0.93..=0.975).contains(&of_median) && (0.93..=0.975).contains(&of_mean),
                "{deviation}: {of_median} {of_mean}"
            );
            let (blind, _) = coverage(0.5, deviation, None);
            assert!(blind < 0.6, "one launch says nothing of others: {blind}");
        }
    }

    #[test]
    fn two_speeds_in_turn_have_a_wide_median() {
        let values: Vec<f64> = (0..200).map(|index| if index % 2 == 0 { 1.0 } else { 9.0 }).collect();
        assert!(half_widths(&values, None).unwrap().median > 0.5);
    }

    #[test]
    fn launches_are_pooled_over_models() {
        let groups = [vec![1.0, 1.02, 0.98], vec![50.0, 51.0, 49.0], vec![7.0]];
        let found = between_launches(&groups).unwrap();
        assert!((found.deviation - 0.02).abs() < 0.002 && found.count == 6, "{found:?}");
        assert_eq!(between_launches(&[vec![1.0]]), None);
    }

    #[test]
    fn few_samples_say_nothing() {
        assert_eq!(half_widths(&[1.0; 5], None), None);
        assert_eq!(half_widths(&[1.0; 6], None).unwrap(), HalfWidths { median: 0.0, mean: 0.0 });
    }
}
