//! A small symmetric system of equations, solved.

/// The solution of `a x = b` for a symmetric positive definite `a`, by Cholesky's factors; `None` where it is not.
pub(crate) fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Option<Vec<f64>> {
    let n = b.len();
    for j in 0..n {
        for i in j..n {
            let sum: f64 = (0..j).map(|k| a[i][k] * a[j][k]).sum();
            let rest = a[i][j] - sum;
            if i == j && !(rest > 0.0 && rest.is_finite()) {
                return None;
            }
            a[i][j] = if i == j { rest.sqrt() } else { rest / a[j][j] };
        }
    }
    for i in 0..n {
        let sum: f64 = (0..i).map(|k| a[i][k] * b[k]).sum();
        b[i] = (b[i] - sum) / a[i][i];
    }
    for i in (0..n).rev() {
        let sum: f64 = (i + 1..n).map(|k| a[k][i] * b[k]).sum();
        b[i] = (b[i] - sum) / a[i][i];
    }
    Some(b)
}

/// The value below which this share of the weight lies; of nothing, nothing.
pub(crate) fn weighted_quantile(mut values: Vec<(f64, f64)>, share: f64) -> Option<f64> {
    values.sort_by(|one, two| one.0.total_cmp(&two.0));
    let all: f64 = values.iter().map(|(_, weight)| weight).sum();
    let mut sum = 0.0;
    for (value, weight) in &values {
        sum += weight;
        // Sums of shares are a little beside.
        if sum >= share * all - 1e-9 {
            return Some(*value);
        }
    }
    values.last().map(|(value, _)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_worked_out_by_hand_is_solved() {
        // 4x + 2y = 10, 2x + 3y = 9: x = 1.5, y = 2.
        let solved = solve(vec![vec![4.0, 2.0], vec![2.0, 3.0]], vec![10.0, 9.0]).unwrap();
        assert!((solved[0] - 1.5).abs() < 1e-12 && (solved[1] - 2.0).abs() < 1e-12, "{solved:?}");
    }

    #[test]
    fn what_has_no_single_solution_is_not_solved() {
        assert_eq!(solve(vec![vec![1.0, 1.0], vec![1.0, 1.0]], vec![1.0, 1.0]), None);
        assert_eq!(solve(vec![vec![f64::NAN]], vec![1.0]), None);
    }

    #[test]
    fn a_quantile_goes_by_weight() {
        let values = || vec![(3.0, 1.0), (1.0, 1.0), (2.0, 2.0)];
        assert_eq!(weighted_quantile(values(), 0.25), Some(1.0));
        assert_eq!(weighted_quantile(values(), 0.5), Some(2.0));
        assert_eq!(weighted_quantile(values(), 0.8), Some(3.0));
        assert_eq!(weighted_quantile(vec![], 0.5), None);
    }
}
