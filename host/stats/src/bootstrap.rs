//! Intervals of what was measured in groups, or apart: what a figure could as well have been, had other rounds been measured.
//!
//! Rounds of one process resemble each other, so that each process counts as one. Apart, percentile intervals after Efron by
//! resampling; seeded: the same data have the same interval.

use super::{median, student};
use fastrand::Rng;

const DRAWS: usize = 2_000;

/// The middle 95% of what `figure` is over many draws. `None` where a draw has no figure.
fn interval(rng: &mut Rng, mut figure: impl FnMut(&mut Rng) -> Option<f64>) -> Option<[f64; 2]> {
    let mut figures = (0..DRAWS).map(|_| figure(rng)).collect::<Option<Vec<f64>>>()?;
    figures.sort_by(f64::total_cmp);
    let at = |share: f64| figures[((DRAWS - 1) as f64 * share).round() as usize];
    Some([at(0.025), at(0.975)])
}

fn draw<T: Copy>(rng: &mut Rng, from: &[T], into: &mut Vec<T>) {
    into.extend((0..from.len()).map(|_| from[rng.usize(..from.len())]));
}

/// 95% interval of the median of values in groups, such as the rounds of launches: Student's t of the groups' medians, which is what so
/// few of them allow to say; of one group alone by resampling, which says nothing of others. `None` without values.
pub fn grouped_median_interval(groups: &[Vec<f64>], seed: u64) -> Option<[f64; 2]> {
    let medians: Vec<f64> = groups.iter().filter_map(|group| median(group)).collect();
    if let [_, _, ..] = medians[..] {
        let k = medians.len() as f64;
        let middle = medians.iter().sum::<f64>() / k;
        let squares: f64 = medians.iter().map(|median| (median - middle).powi(2)).sum();
        let half = student(medians.len() as u64 - 1) * (squares / (k - 1.0) / k).sqrt();
        return Some([middle - half, middle + half]);
    }
    let group = groups.iter().find(|group| !group.is_empty())?;
    let (mut rng, mut values) = (Rng::with_seed(seed), vec![]);
    interval(&mut rng, |rng| {
        values.clear();
        draw(rng, group, &mut values);
        median(&values)
    })
}

/// 95% interval of the ratio of two medians, the second over the first, of values that were measured apart. `None` where one side
/// has no values, or a median of the first is no positive number.
pub fn ratio_interval(first: &[f64], second: &[f64], seed: u64) -> Option<[f64; 2]> {
    if first.is_empty() || second.is_empty() {
        return None;
    }
    let (mut rng, mut a, mut b) = (Rng::with_seed(seed), vec![], vec![]);
    interval(&mut rng, |rng| {
        a.clear();
        b.clear();
        draw(rng, first, &mut a);
        draw(rng, second, &mut b);
        Some(median(&b)? / median(&a).filter(|median| *median > 0.0)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values around `middle`, some far above, as times are.
    fn times(rng: &mut Rng, middle: f64, n: usize) -> Vec<f64> {
        (0..n).map(|_| middle * (1.0 + 0.05 * rng.f64() + if rng.f64() < 0.1 { rng.f64() } else { 0.0 })).collect()
    }

    #[test]
    fn the_interval_of_a_ratio_holds_the_truth_about_as_often_as_it_says() {
        let mut rng = Rng::with_seed(7);
        let (mut held, tries) = (0, 200);
        for seed in 0..tries {
            let (a, b) = (times(&mut rng, 1.0, 40), times(&mut rng, 1.2, 40));
            let [low, high] = ratio_interval(&a, &b, seed).unwrap();
            held += u64::from(low <= 1.2 && 1.2 <= high);
        }
        let share = held as f64 / tries as f64;
        assert!((0.90..=0.995).contains(&share), "{share}");
    }

    #[test]
    fn launches_that_differ_by_little_or_much_are_covered_as_it_says() {
        let mut rng = Rng::with_seed(5);
        let mut normal = move || (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0;
        for (launches, deviation) in [(5, 0.01), (5, 0.03), (15, 0.01), (15, 0.03)] {
            let (mut held, tries) = (0, 400);
            for seed in 0..tries {
                let groups: Vec<Vec<f64>> = (0..launches)
                    .map(|_| {
                        let level = deviation * normal();
                        (0..12).map(|_| level + 0.02 * normal()).collect()
                    })
                    .collect();
                let [low, high] = grouped_median_interval(&groups, seed).unwrap();
                held += u64::from(low <= 0.0 && 0.0 <= high);
            }
            let share = held as f64 / tries as f64;
            assert!((0.93..=0.985).contains(&share), "{launches} launches, {deviation}: {share}");
        }
    }

    #[test]
    fn processes_that_differ_widen_the_interval() {
        let alike: Vec<Vec<f64>> = vec![vec![0.99, 1.0, 1.01, 1.0]; 5];
        let apart: Vec<Vec<f64>> = [0.9, 0.95, 1.0, 1.05, 1.1].map(|middle| vec![middle; 4]).into();
        let width = |groups: &[Vec<f64>]| grouped_median_interval(groups, 1).map(|[low, high]| high - low).unwrap();
        assert!(width(&apart) > 3.0 * width(&alike), "{} and {}", width(&apart), width(&alike));
    }

    #[test]
    fn identical_values_have_an_interval_of_one_point() {
        assert_eq!(ratio_interval(&[2.0; 9], &[2.0; 9], 0), Some([1.0, 1.0]));
        assert_eq!(grouped_median_interval(&[vec![3.0; 4], vec![]], 0), Some([3.0, 3.0]));
    }

    #[test]
    fn without_values_there_is_no_interval() {
        assert_eq!(ratio_interval(&[], &[1.0], 0), None);
        assert_eq!(ratio_interval(&[0.0, 0.0], &[1.0], 0), None);
        assert_eq!(grouped_median_interval(&[vec![]], 0), None);
    }

    #[test]
    fn the_same_seed_gives_the_same_interval() {
        let mut rng = Rng::with_seed(3);
        let (a, b) = (times(&mut rng, 1.0, 30), times(&mut rng, 1.1, 30));
        assert_eq!(ratio_interval(&a, &b, 5), ratio_interval(&a, &b, 5));
    }
}
