//! The binomial distribution, exact enough for the rules built on it.

/// Natural logarithm of n!, by Stirling's series beyond the small ones.
fn ln_factorial(n: u64) -> f64 {
    if n < 32 {
        return (2..=n).map(|k| (k as f64).ln()).sum();
    }
    let x = n as f64 + 1.0;
    (x - 0.5) * x.ln() - x + 0.918_938_533_204_672_7 + 1.0 / (12.0 * x) - 1.0 / (360.0 * x.powi(3))
        + 1.0 / (1260.0 * x.powi(5))
}

/// P(X <= k) for X ~ Binomial(n, p). The tail that does not hold the mean is summed, from its largest term until nothing is added.
pub(super) fn cdf(k: u64, n: u64, p: f64) -> f64 {
    if k >= n {
        return 1.0;
    }
    let odds = p / (1.0 - p);
    let term = |i: u64| {
        let ways = ln_factorial(n) - ln_factorial(i) - ln_factorial(n - i);
        (ways + i as f64 * p.ln() + (n - i) as f64 * (1.0 - p).ln()).exp()
    };
    let below = k as f64 <= n as f64 * p;
    let (mut i, mut sum) = (if below { k } else { k + 1 }, 0.0);
    let mut at = term(i);
    while at > sum * f64::EPSILON / 16.0 {
        sum += at;
        if below {
            let Some(next) = i.checked_sub(1) else { break };
            at *= i as f64 / ((n - next) as f64 * odds);
            i = next;
        } else {
            if i == n {
                break;
            }
            at *= (n - i) as f64 * odds / (i + 1) as f64;
            i += 1;
        }
    }
    if below { sum.min(1.0) } else { (1.0 - sum).max(0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_tails_are_what_all_terms_add_up_to() {
        for (n, p) in [(1, 0.5), (12, 0.1), (64, 0.1), (300, 0.5), (1000, 0.01), (700, 0.9)] {
            let term = |i: u64| {
                let ways = ln_factorial(n) - ln_factorial(i) - ln_factorial(n - i);
                (ways + i as f64 * f64::ln(p) + (n - i) as f64 * f64::ln(1.0 - p)).exp()
            };
            let mut all = 0.0;
            for k in 0..n {
                all += term(k);
                assert!((cdf(k, n, p) - all).abs() < 1e-9, "k {k}, n {n}, p {p}: {} and {all}", cdf(k, n, p));
            }
        }
    }
}
