//! What is known of one hardware, ready to answer; or to say why it cannot.

use crate::fitted::{Fitted, Scheme, models};
use crate::intervals::{HeldOut, least_models};
use crate::rule::rule;
use crate::work::{Efficiency, Peaks, Quantity, Sample, Work};
use std::collections::BTreeMap;

/// One quantity on one hardware.
pub struct Predictor {
    pub(crate) scheme: Scheme,
    samples: Vec<Sample>,
    whole: Option<Fitted>,
    /// Each model, and what is fitted to all others.
    apart: BTreeMap<String, Fitted>,
    /// Errors for models of which nothing was measured here.
    new: HeldOut,
    /// Errors at points of models of which another point was measured here.
    kin: HeldOut,
}

/// What a prediction stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Other models on this hardware.
    OtherModels,
    /// The same model on this hardware at another point of its grid, and what other models tell of the way from there.
    OtherPoints,
    /// The same backend on other machines, by the peaks of this one.
    OtherMachines,
}

/// Not a measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    pub value: f64,
    /// The interval, calibrated on models that were held out.
    pub low: f64,
    pub high: f64,
    pub level: f64,
    /// On how many models it was calibrated; with [`Basis::OtherMachines`] on how many machines.
    pub models: usize,
    pub basis: Basis,
    /// A residual was learned; otherwise it is the law alone.
    pub learned: bool,
}

/// Why there is no prediction.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NotEnough {
    #[error("{models} other models are measured on it, and an interval needs {least}")]
    Models { models: usize, least: usize },
    #[error("no model of the family {family} is measured on it")]
    Family { family: String },
    #[error("{what} {value} lies outside of what is measured on it ({low} to {high})")]
    Outside { what: &'static str, value: String, low: String, high: String },
    #[error(
        "the interval would reach from 1/{factor:.1} to {factor:.1} times the figure, and beyond {widest} times says little"
    )]
    Wide { factor: f64, widest: f64 },
    #[error("of other machines {machines} are known, and an interval over machines needs {least}")]
    Machines { machines: usize, least: usize },
    #[error("its peaks are not measured here: host run --bench roofline")]
    Peaks,
    #[error("no law fits what is measured on it")]
    Unfit,
    /// Neither what is measured on it nor other machines tell.
    #[error("{0}; from other machines: {1}")]
    Both(Box<NotEnough>, Box<NotEnough>),
}

impl Predictor {
    /// Learns from samples of one hardware, precision, number of threads and machine.
    pub fn train(samples: Vec<Sample>, quantity: Quantity, peaks: Peaks) -> Predictor {
        Predictor::of(samples, Scheme { quantity, peaks, with_residual: true, rule: rule().clone() })
    }

    pub(crate) fn of(samples: Vec<Sample>, scheme: Scheme) -> Predictor {
        let samples: Vec<Sample> = samples.into_iter().filter(Sample::is_usable).collect();
        let names: Vec<String> = models(&samples).into_iter().map(String::from).collect();
        let mut predictor = Predictor {
            whole: scheme.fit(samples.iter()),
            scheme,
            samples,
            apart: BTreeMap::new(),
            new: HeldOut::default(),
            kin: HeldOut::default(),
        };
        if names.len() < 2 {
            return predictor;
        }
        for name in names {
            let others = predictor.samples.iter().filter(|sample| sample.work.model != name);
            let Some(fitted) = predictor.scheme.fit(others) else { continue };
            let own: Vec<&Sample> = predictor.samples.iter().filter(|sample| sample.work.model == name).collect();
            let new = own.iter().map(|sample| predictor.miss(&fitted, sample).abs()).collect();
            let kin = own.iter().filter_map(|sample| {
                let anchor = predictor.anchor(&fitted, &sample.work)?;
                Some((predictor.miss(&fitted, sample) - anchor).abs())
            });
            let kin = kin.collect();
            predictor.new.0.insert(name.clone(), new);
            predictor.kin.0.insert(name.clone(), kin);
            predictor.apart.insert(name, fitted);
        }
        predictor
    }

    pub fn models(&self) -> usize {
        models(&self.samples).len()
    }

    pub fn points(&self) -> usize {
        self.samples.len()
    }

    /// The rates and overheads that the law found; `None` of memory, and where nothing could be fitted.
    pub fn efficiency(&self) -> Option<Efficiency> {
        self.scheme.efficiency(self.whole.as_ref()?)
    }

    /// # Errors
    /// Why there is not enough data. Nothing that was measured of this very work goes into the figure; fits of which the interval's errors
    /// come may know it.
    pub fn predict(&self, work: &Work) -> Result<Prediction, NotEnough> {
        let rule = &self.scheme.rule;
        let least = least_models(rule.level);
        // Of the model that is asked about, only other points than the one that is asked about count.
        let others = models(&self.samples).into_iter().filter(|model| *model != work.model).count();
        if others < least {
            return Err(NotEnough::Models { models: others, least });
        }
        within(self.samples.iter().map(|sample| &sample.work).filter(|other| *other != work), work, rule.beyond)?;
        let fitted = self.apart.get(&work.model).or(self.whole.as_ref()).ok_or(NotEnough::Unfit)?;
        let ln = self.scheme.predicted_ln(fitted, work);
        let anchored = self.anchor(fitted, work).zip(self.kin.error_at(rule.level, &work.model));
        let (ln, error, basis, models) = match anchored {
            Some((anchor, error)) => (ln + anchor, error, Basis::OtherPoints, self.kin.models(&work.model)),
            None => {
                let error = self.new.error_at(rule.level, &work.model).ok_or(NotEnough::Unfit)?;
                (ln, error, Basis::OtherModels, self.new.models(&work.model))
            }
        };
        let factor = error.exp();
        if factor > rule.widest {
            return Err(NotEnough::Wide { factor, widest: rule.widest });
        }
        let of = |ln: f64| self.scheme.quantity.turned(ln.exp(), work);
        let (one, other) = (of(ln - error), of(ln + error));
        let learned = fitted.learned();
        Ok(Prediction {
            value: of(ln),
            low: one.min(other),
            high: one.max(other),
            level: rule.level,
            models,
            basis,
            learned,
        })
    }

    /// How far a sample lies above what a fit foretells, in logarithms.
    fn miss(&self, fitted: &Fitted, sample: &Sample) -> f64 {
        self.scheme.ln_of(sample) - self.scheme.predicted_ln(fitted, &sample.work)
    }

    /// The same at the nearest other points of the model, in operations; `None`: there is no other.
    fn anchor(&self, fitted: &Fitted, work: &Work) -> Option<f64> {
        let others = self.samples.iter().filter(|sample| sample.work.model == work.model && sample.work != *work);
        let distance = |sample: &Sample| (sample.work.flops / work.flops).ln().abs();
        let nearest = others.clone().map(distance).min_by(f64::total_cmp)?;
        let misses: Vec<f64> =
            others.filter(|sample| distance(sample) < nearest + 1e-6).map(|sample| self.miss(fitted, sample)).collect();
        Some(misses.iter().sum::<f64>() / misses.len() as f64)
    }
}

/// Whether what is asked lies within what was measured elsewhere.
pub(crate) fn within<'a>(measured: impl Iterator<Item = &'a Work>, work: &Work, beyond: f64) -> Result<(), NotEnough> {
    let others: Vec<&Work> = measured.collect();
    if !others.iter().any(|other| other.family == work.family) {
        return Err(NotEnough::Family { family: work.family.clone() });
    }
    type Of = fn(&Work) -> f64;
    let sides: [(&str, Of, f64); 5] = [
        ("the batch", |work| work.batch, 1.0),
        ("the number of operations", |work| work.flops, beyond),
        ("the size of the weights, in bytes,", |work| work.parameter_bytes, beyond),
        ("what is read and written besides, in bytes,", |work| work.activation_bytes, beyond),
        ("the number of kernels", |work| work.kernels, beyond),
    ];
    for (what, of, beyond) in sides {
        let low = others.iter().map(|other| of(other)).fold(f64::INFINITY, f64::min);
        let high = others.iter().map(|other| of(other)).fold(0.0, f64::max);
        let value = of(work);
        // What is not known is outside of everything.
        let inside = value >= low / beyond * (1.0 - 1e-9) && value <= high * beyond * (1.0 + 1e-9);
        if !inside {
            let [value, low, high] = [value, low, high].map(short);
            return Err(NotEnough::Outside { what, value, low, high });
        }
    }
    Ok(())
}

/// A size for people: "12", "3.4e9".
fn short(value: f64) -> String {
    if value < 1e5 && value == value.round() { format!("{value}") } else { format!("{value:.1e}") }
}
