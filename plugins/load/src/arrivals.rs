//! When requests are due.

use crate::over_time::OverTime;
use fastrand::Rng;
use skillbench_plugin_api::{Error, Result};

/// How far apart requests are. All have the same mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrivals {
    /// Always as far.
    Constant,
    /// As independent users send them: gaps are exponential.
    Poisson,
    /// Gaps of a gamma distribution of this shape: in bursts below 1, as Poisson at 1, more regular above.
    Gamma(f64),
}

/// Shapes beyond these are bursts of a whole session, or constant.
const SHAPES: std::ops::RangeInclusive<f64> = 0.01..=1_000.0;

impl Arrivals {
    /// # Errors
    /// `InvalidArgument` for a text that is none of "constant", "poisson" and "gamma:SHAPE".
    pub fn parse(text: &str) -> Result<Arrivals> {
        let wrong = || {
            Error::invalid(format!(
                "option arrivals: '{text}' is none of constant, poisson and gamma:SHAPE, with a shape of 0.01 to 1000"
            ))
        };
        match text.split_once(':') {
            None if text == "constant" => Ok(Arrivals::Constant),
            None if text == "poisson" => Ok(Arrivals::Poisson),
            Some(("gamma", shape)) => {
                shape.parse().ok().filter(|shape| SHAPES.contains(shape)).map(Arrivals::Gamma).ok_or_else(wrong)
            }
            _ => Err(wrong()),
        }
    }

    /// Nanoseconds from the start of a session at which `count` requests are due, in order. They fill `count / per_s` seconds: how far
    /// they are apart is left to chance, how many they are is not, so that the mean rate is the one that was asked for.
    pub fn due_over(self, over_time: &OverTime, per_s: f64, count: usize, seed: u64) -> Vec<u64> {
        let (mut rng, mut at) = (Rng::with_seed(seed), 0.0);
        let mut next = |_| {
            at += self.draw(&mut rng);
            at
        };
        // Of one request more, whose place is the end of the session: then the others of a Poisson process lie anywhere before it.
        let places: Vec<f64> = (0..=count).map(&mut next).collect();
        let end = match self {
            Arrivals::Constant => count as f64,
            Arrivals::Poisson | Arrivals::Gamma(_) => places.last().copied().unwrap_or(1.0),
        };
        let length = count as f64 * 1e9 / per_s;
        places.iter().take(count).map(|place| (over_time.when(place / end) * length) as u64).collect()
    }

    /// So many gaps, of mean 1.
    pub fn gaps(self, count: usize, seed: u64) -> impl Iterator<Item = f64> {
        let mut rng = Rng::with_seed(seed);
        let mean = if let Arrivals::Gamma(shape) = self { shape } else { 1.0 };
        (0..count).map(move |_| self.draw(&mut rng) / mean)
    }

    /// A gap, of mean 1, or of the shape where there is one.
    fn draw(self, rng: &mut Rng) -> f64 {
        match self {
            Arrivals::Constant => 1.0,
            Arrivals::Poisson => exponential(rng),
            Arrivals::Gamma(shape) => gamma(rng, shape),
        }
    }

    /// The same at a rate that stays.
    pub fn due(self, per_s: f64, count: usize, seed: u64) -> Vec<u64> {
        self.due_over(&OverTime::Steady, per_s, count, seed)
    }
}

/// Never 0, whose logarithm nobody has.
fn uniform(rng: &mut Rng) -> f64 {
    1.0 - rng.f64()
}

fn exponential(rng: &mut Rng) -> f64 {
    -uniform(rng).ln()
}

/// After Box and Muller.
fn normal(rng: &mut Rng) -> f64 {
    (-2.0 * uniform(rng).ln()).sqrt() * (std::f64::consts::TAU * rng.f64()).cos()
}

/// Of mean `shape`, after Marsaglia and Tsang (2000); below 1 by their way from `shape + 1`.
fn gamma(rng: &mut Rng, shape: f64) -> f64 {
    if shape < 1.0 {
        return gamma(rng, shape + 1.0) * uniform(rng).powf(1.0 / shape);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(rng);
        let v = (1.0 + c * x).powi(3);
        if v > 0.0 && uniform(rng).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and variation coefficient of the gaps.
    fn gaps(arrivals: Arrivals) -> (f64, f64) {
        let due = arrivals.due(1_000.0, 200_000, 7);
        let gaps: Vec<f64> = due.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        (mean, variance.sqrt() / mean)
    }

    #[test]
    fn all_arrivals_have_the_mean_rate_and_the_burstiness_of_their_name() {
        let close = |found: f64, wanted: f64| (found - wanted).abs() < 0.03 * wanted.max(0.1);
        let named = [("constant", 0.0), ("poisson", 1.0), ("gamma:0.25", 2.0), ("gamma:4", 0.5), ("gamma:1", 1.0)];
        for (text, wanted) in named {
            let (mean, variation) = gaps(Arrivals::parse(text).unwrap());
            assert!(close(mean, 1e6) && close(variation, wanted), "{text}: {mean} {variation}");
        }
    }

    #[test]
    fn a_session_has_the_rate_that_was_asked_for_however_few_requests_it_has() {
        for seed in 0..50 {
            let due = Arrivals::Poisson.due(10.0, 20, seed);
            assert!(due.len() == 20 && due[19] < 2_000_000_000, "{due:?}");
        }
    }

    #[test]
    fn a_rate_that_changes_has_the_mean_that_was_asked_for_and_its_share_in_each_part() {
        let due = Arrivals::Poisson.due_over(&OverTime::parse("steps:1,3").unwrap(), 1_000.0, 40_000, 7);
        let first = due.partition_point(|due| *due < 20_000_000_000);
        assert!(due.is_sorted() && due[39_999] < 40_000_000_000);
        assert!((9_500..10_500).contains(&first), "{first} of 40000 in the first half");
        let constant = Arrivals::Constant.due_over(&OverTime::parse("ramp:0-2").unwrap(), 10.0, 4, 1);
        assert_eq!(constant, [200_000_000, 282_842_712, 346_410_161, 400_000_000]);
    }

    #[test]
    fn a_seed_gives_the_same_times_again_and_another_gives_others() {
        let due = |seed| Arrivals::Poisson.due(100.0, 50, seed);
        assert_eq!(due(1), due(1));
        assert_ne!(due(1), due(2));
        assert!(due(1).is_sorted());
    }

    #[test]
    fn what_is_no_way_to_arrive_is_refused() {
        for text in ["", "uniform", "gamma", "gamma:", "gamma:0", "gamma:-1", "gamma:nan", "poisson:2", "gamma:1e9"] {
            assert!(Arrivals::parse(text).is_err(), "{text}");
        }
    }
}
