//! The energy distance of two parts of a sequence, and the split of a sequence where it is largest.

/// Where to split, and how far apart both sides are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    pub at: usize,
    pub distance: f64,
}

/// What a look for the best split writes on, kept from one shuffle to the next.
#[derive(Default)]
pub struct Scratch {
    /// The sum of the differences of all pairs from here to the last value so far.
    from: Vec<f64>,
    /// The same of all pairs before here.
    before: Vec<f64>,
}

/// The split with the largest distance, the first of equals: what comes before it against what follows, up to any later place, so
/// that what went and came back is found too. `None`: too short for two segments.
///
/// The distance is mn/(m+n) times (twice the mean difference between the sides, less the mean difference within each).
pub fn best_split(values: &[f64], least_segment: usize, scratch: &mut Scratch) -> Option<Split> {
    let least = least_segment.max(2);
    let Scratch { from, before } = scratch;
    from.clear();
    from.resize(values.len(), 0.0);
    before.clear();
    before.push(0.0);
    let mut best: Option<Split> = None;
    for (last, value) in values.iter().enumerate() {
        let mut sum = 0.0;
        for (pairs, other) in from[..last].iter_mut().zip(&values[..last]).rev() {
            sum += (value - other).abs();
            *pairs += sum;
        }
        let (n, all) = ((last + 1) as f64, from[0]);
        before.push(all);
        for at in least..(last + 2).saturating_sub(least) {
            let (left, right) = (at as f64, n - at as f64);
            let (first, second) = (before[at], from[at]);
            let between = 2.0 * (all - first - second);
            let within = 2.0 * (first * right / (left - 1.0) + second * left / (right - 1.0));
            let distance = (between - within) / n;
            if best.is_none_or(|best| distance > best.distance) {
                best = Some(Split { at, distance });
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(values: &[f64], least: usize) -> Option<Split> {
        best_split(values, least, &mut Scratch::default())
    }

    /// By its definition, pair by pair.
    fn distance(left: &[f64], right: &[f64]) -> f64 {
        let sum = |one: &[f64], other: &[f64]| -> f64 {
            one.iter().flat_map(|x| other.iter().map(move |y| (x - y).abs())).sum()
        };
        let (m, n) = (left.len() as f64, right.len() as f64);
        let inside = |of: &[f64], n: f64| sum(of, of) / (n * (n - 1.0));
        m * n / (m + n) * (2.0 * sum(left, right) / (m * n) - inside(left, m) - inside(right, n))
    }

    #[test]
    fn distances_are_those_worked_out_by_hand() {
        // 1 2 | 5 6: between 4, within 1 and 1, times 1.
        assert_eq!(split(&[1.0, 2.0, 5.0, 6.0], 2), Some(Split { at: 2, distance: 6.0 }));
        assert_eq!(split(&[1.0, 2.0, 5.0], 2), None);
    }

    #[test]
    fn distances_are_the_published_ones() {
        // The vectors that the tests of MongoDB's signal-processing-algorithms publish.
        let mut once = vec![50.0; 30];
        once[2] = 100.0;
        once[15..].fill(100.0);
        let mut twice = vec![50.0; 45];
        twice[2] = 100.0;
        twice[15..30].fill(100.0);
        twice[30..].fill(150.0);
        let uneven: [u8; 60] = [
            41, 18, 23, 3, 32, 11, 40, 13, 29, 48, 47, 35, 18, 21, 6, 2, 23, 3, 4, 7, 120, 103, 102, 81, 71, 62, 115,
            61, 108, 63, 70, 98, 65, 96, 64, 74, 70, 113, 90, 114, 208, 196, 153, 150, 225, 179, 206, 165, 177, 151,
            218, 217, 244, 245, 229, 195, 225, 229, 176, 250,
        ];
        let uneven = uneven.map(f64::from);
        for (values, at, published) in [
            (&once[..], 15, 650.0),
            (&twice, 30, 1_209.195_402_298_850_5),
            (&uneven, 40, 2_848.116_959_064_327_6),
            (&uneven[..40], 20, 893.578_947_368_421),
        ] {
            let found = split(values, 2).unwrap();
            assert_eq!(found.at, at);
            assert!((found.distance - published).abs() < 1e-9, "{found:?}");
        }
    }

    #[test]
    fn the_best_split_is_the_best_by_the_definition_whatever_the_values() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..200 {
            let (n, least) = (random.usize(6..30), random.usize(2..4));
            let levels = random.f64() * 20.0 + 1.0;
            let values: Vec<f64> = (0..n).map(|_| (random.f64() * levels).floor() / levels * 3.0 + 7.0).collect();
            let found = split(&values, least).unwrap();
            let best_of = |at: usize| {
                let ends = at + least..=n;
                ends.map(|end| distance(&values[..at], &values[at..end])).fold(f64::NEG_INFINITY, f64::max)
            };
            let by_hand = (least..=n - least).map(best_of).fold(f64::NEG_INFINITY, f64::max);
            assert!((found.distance - by_hand).abs() < 1e-9, "{values:?}: {found:?} and {by_hand}");
            assert!((best_of(found.at) - by_hand).abs() < 1e-9);
        }
    }
}
