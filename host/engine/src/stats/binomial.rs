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

/// P(X <= k) for X ~ Binomial(n, p).
pub(super) fn cdf(k: u64, n: u64, p: f64) -> f64 {
    if k >= n {
        return 1.0;
    }
    let (ln_p, ln_q, ln_n) = (p.ln(), (1.0 - p).ln(), ln_factorial(n));
    let term = |i: u64| (ln_n - ln_factorial(i) - ln_factorial(n - i) + i as f64 * ln_p + (n - i) as f64 * ln_q).exp();
    (0..=k).map(term).sum::<f64>().min(1.0)
}
