//! How the rate of a session changes while it lasts: as it rises in the morning, or in bursts. Its mean stays the one that was asked for.

use skillbench_plugin_api::{Error, Result};

/// Rates beside each other; only how they compare counts.
#[derive(Clone, Debug, PartialEq)]
pub enum OverTime {
    /// The same all the time.
    Steady,
    /// Evenly from one to the other.
    Ramp(f64, f64),
    /// Each for an equal part of the session.
    Steps(Vec<f64>),
}

/// A step has few requests of a session that has many more steps.
const MOST_STEPS: usize = 100;
/// Beyond that one of two rates is nothing beside the other.
const MOST: f64 = 1e6;

impl OverTime {
    /// # Errors
    /// `InvalidArgument` for a text that is none of "steady", "ramp:FROM-TO" and "steps:RATE,RATE ...", and for rates without a mean.
    pub fn parse(text: &str) -> Result<OverTime> {
        let wrong = || {
            Error::invalid(format!(
                "option over_time: '{text}' is none of steady, ramp:FROM-TO and steps:RATE,RATE ..., with rates from 0 to {MOST:.0} beside each other, at most {MOST_STEPS} of them, and not all 0; the last step has some"
            ))
        };
        let rate = |text: &str| text.parse::<f64>().ok().filter(|rate| (0.0..=MOST).contains(rate)).ok_or_else(wrong);
        let over_time = match text.split_once(':') {
            None if text == "steady" => OverTime::Steady,
            Some(("ramp", ends)) => {
                let (from, to) = ends.split_once('-').ok_or_else(wrong)?;
                OverTime::Ramp(rate(from)?, rate(to)?)
            }
            Some(("steps", rates)) => OverTime::Steps(rates.split(',').map(rate).collect::<Result<_>>()?),
            _ => return Err(wrong()),
        };
        let is_some = match &over_time {
            OverTime::Steady => true,
            OverTime::Ramp(from, to) => from + to > 0.0,
            OverTime::Steps(rates) => rates.len() <= MOST_STEPS && rates.last().is_some_and(|last| *last > 0.0),
        };
        if is_some { Ok(over_time) } else { Err(wrong()) }
    }

    /// The share of the session that is over when this share of its requests has come: both from 0 to 1.
    pub fn when(&self, share: f64) -> f64 {
        match self {
            OverTime::Steady => share,
            OverTime::Ramp(from, to) => {
                // The rate at t is from + (to - from) t, and what has come the integral of it, over the mean rate. The root in this form is
                // exact where the ends are alike, too.
                let came = share * (from + to);
                let root = (from * from + (to - from) * came).max(0.0).sqrt();
                if from + root > 0.0 { came / (from + root) } else { 0.0 }
            }
            OverTime::Steps(rates) => {
                let mut left = share * rates.iter().sum::<f64>();
                for (step, rate) in rates.iter().enumerate() {
                    if left <= *rate && *rate > 0.0 {
                        return (step as f64 + left / rate) / rates.len() as f64;
                    }
                    left -= rate;
                }
                1.0
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_rate_brings_as_much_in_each_moment() {
        assert_eq!(OverTime::parse("steady").unwrap().when(0.3), 0.3);
        assert!((OverTime::parse("ramp:2-2").unwrap().when(0.3) - 0.3).abs() < 1e-12);
        assert!((OverTime::parse("steps:5,5,5").unwrap().when(0.3) - 0.3).abs() < 1e-12);
    }

    #[test]
    fn a_ramp_brings_a_quarter_in_its_first_half_if_it_begins_at_nothing() {
        assert!((OverTime::parse("ramp:0-3").unwrap().when(0.25) - 0.5).abs() < 1e-12);
        assert!((OverTime::parse("ramp:3-0").unwrap().when(0.75) - 0.5).abs() < 1e-12);
        // From 1 to 3: until the half a rate of 1.5 on average, of 2 on average in all.
        assert!((OverTime::parse("ramp:1-3").unwrap().when(0.375) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn steps_bring_their_share_each_in_as_much_time_and_none_where_they_are_nothing() {
        let steps = OverTime::parse("steps:1,0,3").unwrap();
        for (share, wanted) in [(0.0, 0.0), (0.125, 1.0 / 6.0), (0.25, 1.0 / 3.0), (0.625, 5.0 / 6.0), (1.0, 1.0)] {
            assert!((steps.when(share) - wanted).abs() < 1e-12, "{share}: {}", steps.when(share));
        }
    }

    #[test]
    fn time_never_goes_back_and_stays_within_the_session() {
        for text in ["ramp:0-1", "ramp:1-0", "ramp:0.2-1.8", "steps:1,2,4", "steps:0,1", "steps:7"] {
            let over_time = OverTime::parse(text).unwrap();
            let times: Vec<f64> = (0..=1_000).map(|share| over_time.when(f64::from(share) / 1_000.0)).collect();
            assert!(times.is_sorted() && times[0] >= 0.0 && times[1_000] <= 1.0 + 1e-12, "{text}: {times:?}");
        }
    }

    #[test]
    fn what_says_no_rates_is_refused() {
        let many = format!("steps:1{}", ",1".repeat(MOST_STEPS));
        for text in [
            "",
            "ramp",
            "ramp:1",
            "ramp:0-0",
            "ramp:-1-2",
            "steps:",
            "steps:0,0",
            "steps:1,0",
            "steps:1,,2",
            "steps:nan",
            &many,
        ] {
            assert!(OverTime::parse(text).is_err(), "{text}");
        }
    }
}
