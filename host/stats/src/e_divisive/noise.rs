//! Made histories, for tests.

/// How the figures of runs are spread around what they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// By 2%.
    Normal,
    /// One run of twelve is slow besides, some by far.
    Outliers,
    /// Two of five runs are 5% slower.
    TwoModes,
    /// A run is like the one before it: what was slow stays so for a while, which no shuffle does.
    Correlated,
}

/// A number of the standard normal distribution.
fn normal(random: &mut fastrand::Rng) -> f64 {
    (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (random.f64() * std::f64::consts::TAU).cos()
}

/// Sixty runs; of these the ones in the range are slower by `step`.
pub fn history(noise: Noise, step: f64, slower: std::ops::Range<usize>, random: &mut fastrand::Rng) -> Vec<f64> {
    let mut last = 0.0;
    let run = |run: usize| {
        let mut log = 0.02 * normal(random);
        match noise {
            Noise::Outliers if random.f64() < 0.08 => log += -0.15 * (1.0 - random.f64()).ln(),
            Noise::TwoModes if random.f64() < 0.4 => log += 0.05,
            Noise::Correlated => {
                last = 0.5 * last + 0.75_f64.sqrt() * log;
                log = last;
            }
            Noise::Normal | Noise::Outliers | Noise::TwoModes => {}
        }
        let factor = if slower.contains(&run) { 1.0 + step } else { 1.0 };
        7.0 * factor * log.exp()
    };
    (0..60).map(run).collect()
}
