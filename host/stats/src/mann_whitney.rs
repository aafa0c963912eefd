//! The Mann–Whitney U test: whether one set of samples tends to lie above another, whatever their distributions.
//!
//! Mann and Whitney, "On a test of whether one of two random variables is stochastically larger than the other", 1947.

/// Up to so many samples on each side the distribution of U is counted out; above, it is near enough to a normal one.
const COUNTED: usize = 20;

/// U of the first samples, and the two-sided p value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MannWhitney {
    /// Pairs in which the first is the larger; equal ones count half.
    pub u: f64,
    pub p: f64,
}

/// Tests two independent sets of samples. `None` where one of them is empty. Where all samples are equal, p is 1.
///
/// Exact for small sets without equal samples; else the normal approximation with corrections for ties and for continuity.
pub fn mann_whitney(first: &[f64], second: &[f64]) -> Option<MannWhitney> {
    let (m, n) = (first.len(), second.len());
    if m == 0 || n == 0 {
        return None;
    }
    let (rank_sum, ties) = ranks(first, second);
    let u = rank_sum - (m * (m + 1)) as f64 / 2.0;
    let larger = u.max((m * n) as f64 - u);
    let p = match ties == 0.0 && m <= COUNTED && n <= COUNTED {
        true => counted(larger as usize, m, n),
        false => approximated(larger, m, n, ties),
    };
    Some(MannWhitney { u, p })
}

/// The sum of the ranks of `first` in both sets together, and the sum of t³ - t over groups of t equal samples.
fn ranks(first: &[f64], second: &[f64]) -> (f64, f64) {
    let tagged = first.iter().map(|value| (*value, true)).chain(second.iter().map(|value| (*value, false)));
    let mut all: Vec<(f64, bool)> = tagged.collect();
    all.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (mut sum, mut ties, mut below) = (0.0, 0.0, 0);
    for group in all.chunk_by(|one, other| one.0 == other.0) {
        let t = group.len();
        let rank = below as f64 + (t + 1) as f64 / 2.0;
        sum += rank * group.iter().filter(|(_, is_first)| *is_first).count() as f64;
        ties += (t.pow(3) - t) as f64;
        below += t;
    }
    (sum, ties)
}

/// Two-sided p of U at least as large, over all orders of m + n different samples.
fn counted(u: usize, m: usize, n: usize) -> f64 {
    // ways[j][k]: orders of i first and j second samples in which U is k; i grows from 0 to m.
    let mut ways = vec![vec![0.0_f64; m * n + 1]; n + 1];
    ways.iter_mut().for_each(|row| row[0] = 1.0);
    for i in 1..=m {
        let mut next = vec![vec![0.0; m * n + 1]; n + 1];
        next[0][0] = 1.0;
        for j in 1..=n {
            for k in 0..=i * j {
                // The largest is a first sample, above all j second ones; or a second one, which adds nothing.
                let from_first = if k >= j { ways[j][k - j] } else { 0.0 };
                next[j][k] = from_first + next[j - 1][k];
            }
        }
        ways = next;
    }
    let all: f64 = ways[n].iter().sum();
    let tail: f64 = ways[n][u..].iter().sum();
    (2.0 * tail / all).min(1.0)
}

fn approximated(u: f64, m: usize, n: usize, ties: f64) -> f64 {
    let (m, n) = (m as f64, n as f64);
    let all = m + n;
    let variance = m * n / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let z = (u - m * n / 2.0 - 0.5) / variance.sqrt();
    libm::erfc(z / std::f64::consts::SQRT_2).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ages at diagnosis, the example of SciPy's documentation, with its results.
    #[test]
    fn the_published_example_has_the_published_result() {
        let (males, females) = ([19.0, 22.0, 16.0, 29.0, 24.0], [20.0, 11.0, 17.0, 12.0]);
        let found = mann_whitney(&males, &females).unwrap();
        assert_eq!(found.u, 17.0);
        assert!((found.p - 0.111_111_111_111_111_1).abs() < 1e-12, "{}", found.p);
        let asymptotic = approximated(17.0, 5, 4, 0.0);
        assert!((asymptotic - 0.111_346_886_533_140_41).abs() < 1e-9, "{asymptotic}");
    }

    #[test]
    fn three_against_three_that_are_apart_have_p_of_a_tenth() {
        assert_eq!(mann_whitney(&[4.0, 5.0, 6.0], &[1.0, 2.0, 3.0]), Some(MannWhitney { u: 9.0, p: 0.1 }));
        assert_eq!(mann_whitney(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]).unwrap().u, 0.0);
    }

    #[test]
    fn counting_and_approximating_agree_where_both_can() {
        for u in [200, 230, 260, 300] {
            let (exact, near) = (counted(u, 20, 20), approximated(u as f64, 20, 20, 0.0));
            assert!((exact - near).abs() < 0.006, "U {u}: {exact} and {near}");
        }
    }

    #[test]
    fn identical_samples_tell_nothing() {
        assert_eq!(mann_whitney(&[2.0; 8], &[2.0; 8]).unwrap().p, 1.0);
        assert_eq!(mann_whitney(&[1.0], &[2.0]).unwrap().p, 1.0);
        assert_eq!(mann_whitney(&[], &[2.0]), None);
    }

    #[test]
    fn ties_are_corrected_for() {
        // By hand: ranks 1.5 1.5 4 4 4 6, first = {1, 2, 2}: rank sum 9.5, U 3.5, ties 6 + 24 = 30,
        // variance 9/12 (7 - 30/30) = 4.5, z = (5.5 - 4.5 - 0.5) / sqrt(4.5) = 0.2357, p = 0.8137.
        let found = mann_whitney(&[1.0, 2.0, 2.0], &[1.0, 2.0, 3.0]).unwrap();
        assert_eq!(found.u, 3.5);
        assert!((found.p - 0.8137).abs() < 1e-4, "{}", found.p);
    }
}
