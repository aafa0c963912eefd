//! How good predictions are, tried on what was measured: each model is held out, everything is learned anew from the others, its
//! intervals included, and predictions are compared with measurements.

use crate::fitted::{Scheme, models};
use crate::intervals::least_models;
use crate::predictor::{Basis, NotEnough, Predictor};
use crate::rule::{Rule, rule};
use crate::work::{Peaks, Quantity, Sample};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The roofline alone.
    Law,
    /// With what is learned of what it misses.
    Residual,
    /// The same, for a point of a model of which other points are measured: only that point is held out.
    OtherPoint,
}

impl Method {
    pub const ALL: [Method; 3] = [Method::Law, Method::Residual, Method::OtherPoint];

    pub fn name(self) -> &'static str {
        match self {
            Method::Law => "roofline only",
            Method::Residual => "roofline and residual",
            Method::OtherPoint => "another size of a measured model",
        }
    }
}

/// Errors are of predictions over measurements, in percent of the measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    pub method: Method,
    /// Held out one after the other.
    pub models: usize,
    /// Of their points, those that were answered.
    pub answered: usize,
    /// And those outside of what the others cover.
    pub refused: usize,
    pub median_error_percent: f64,
    pub p90_error_percent: f64,
    /// The share of measurements inside of their interval; each model weighs the same.
    pub coverage: f64,
    /// The median of how many times up and down the intervals reach.
    pub factor: f64,
}

struct Held {
    error_percent: f64,
    covered: bool,
    factor: f64,
}

/// `None`: too few models. Intervals are taken as they are, however wide.
pub fn evaluate(samples: &[Sample], quantity: Quantity, peaks: Peaks, method: Method) -> Option<Evaluation> {
    let rule = Rule { widest: f64::INFINITY, ..rule().clone() };
    // One more than an interval needs: it is the one that is held out.
    if models(samples).len() <= least_models(rule.level) {
        return None;
    }
    let scheme = Scheme { quantity, peaks, with_residual: method != Method::Law, rule };
    let mut held: Vec<(&str, Vec<Held>)> = vec![];
    let mut refused = 0;
    let names = models(samples);
    let step = names.len().div_ceil(scheme.rule.evaluation.models.max(1)).max(1);
    for model in names.into_iter().step_by(step) {
        let own: Vec<&Sample> = samples.iter().filter(|sample| sample.work.model == model).collect();
        let without = |left_out: &dyn Fn(&Sample) -> bool| {
            Predictor::of(samples.iter().filter(|sample| !left_out(sample)).cloned().collect(), scheme.clone())
        };
        let answers: Vec<(&Sample, Result<_, NotEnough>)> = match method {
            Method::Law | Method::Residual => {
                let predictor = without(&|sample| sample.work.model == model);
                own.iter().map(|sample| (*sample, predictor.predict(&sample.work))).collect()
            }
            Method::OtherPoint if own.len() < 2 => continue,
            Method::OtherPoint => {
                let held_out = own.iter().map(|sample| {
                    let sample: &Sample = sample;
                    (sample, without(&|other| other == sample).predict(&sample.work))
                });
                held_out.filter(|(_, told)| of_other_points(told)).collect()
            }
        };
        let mut of_model = vec![];
        for (sample, told) in answers {
            match told {
                Err(_) => refused += 1,
                Ok(told) => of_model.push(Held {
                    error_percent: 100.0 * (told.value / sample.value - 1.0).abs(),
                    covered: (told.low..=told.high).contains(&sample.value),
                    factor: (told.high / told.low).sqrt(),
                }),
            }
        }
        if !of_model.is_empty() {
            held.push((model, of_model));
        }
    }
    let all = || held.iter().flat_map(|(_, of_model)| of_model);
    let quantile = |of: fn(&Held) -> f64, share: f64| {
        let mut values: Vec<f64> = all().map(of).collect();
        values.sort_by(f64::total_cmp);
        values.get(((share * values.len() as f64).ceil() as usize).max(1) - 1).copied()
    };
    let covered =
        |of_model: &Vec<Held>| of_model.iter().filter(|held| held.covered).count() as f64 / of_model.len() as f64;
    Some(Evaluation {
        method,
        models: held.len(),
        answered: all().count(),
        refused,
        median_error_percent: quantile(|held| held.error_percent, 0.5)?,
        p90_error_percent: quantile(|held| held.error_percent, 0.9)?,
        coverage: held.iter().map(|(_, of_model)| covered(of_model)).sum::<f64>() / held.len() as f64,
        factor: quantile(|held| held.factor, 0.5)?,
    })
}

/// What fell back on other models is another method's.
fn of_other_points(told: &Result<crate::Prediction, NotEnough>) -> bool {
    told.as_ref().map_or(true, |told| told.basis == Basis::OtherPoints)
}
