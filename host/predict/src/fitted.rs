//! The law and its residual, fitted to samples of one quantity on one hardware.

use crate::law::{Law, Row};
use crate::residual::{Missed, Residual};
use crate::rule::Rule;
use crate::work::{Efficiency, Peaks, Quantity, Sample, Work};
use std::collections::{BTreeMap, BTreeSet};

/// What is fitted, and how.
#[derive(Clone, Debug)]
pub(crate) struct Scheme {
    pub quantity: Quantity,
    pub peaks: Peaks,
    /// Without it, the law alone.
    pub with_residual: bool,
    pub rule: Rule,
}

#[derive(Clone, Debug)]
pub(crate) struct Fitted {
    law: Law,
    residual: Option<Residual>,
}

impl Scheme {
    /// The logarithm of what is fitted.
    pub fn ln_of(&self, sample: &Sample) -> f64 {
        self.quantity.turned(sample.value, &sample.work).ln()
    }

    pub fn fit<'a>(&self, samples: impl Iterator<Item = &'a Sample>) -> Option<Fitted> {
        self.fit_of(samples.map(|sample| (sample, &self.peaks)))
    }

    /// Of samples of several machines, each with the peaks of its own.
    pub fn fit_of<'a>(&self, samples: impl Iterator<Item = (&'a Sample, &'a Peaks)>) -> Option<Fitted> {
        let samples: Vec<(&Sample, &Peaks)> = samples.collect();
        let mut points: BTreeMap<&str, f64> = BTreeMap::new();
        samples.iter().for_each(|(sample, _)| *points.entry(&sample.work.model).or_default() += 1.0);
        let row = |(sample, peaks): &(&Sample, &Peaks)| Row {
            terms: self.quantity.terms(&sample.work, peaks),
            ln: self.ln_of(sample),
            weight: 1.0 / points[sample.work.model.as_str()],
        };
        let rows: Vec<Row> = samples.iter().map(row).collect();
        let peaks = samples.first().map(|(_, peaks)| **peaks).unwrap_or_default();
        let law = Law::fit(&rows, &self.quantity.known(&peaks), &self.rule.law)?;
        let learns = self.with_residual && self.quantity.has_residual() && points.len() >= self.rule.residual.models;
        let residual = match learns {
            false => None,
            true => {
                let missed: Vec<Missed> = samples
                    .iter()
                    .zip(&rows)
                    .map(|((sample, _), row)| Missed {
                        work: &sample.work,
                        ln: row.ln - law.ln(&row.terms),
                        weight: row.weight,
                    })
                    .collect();
                Some(Residual::fit(&missed, self.rule.residual.ridge)?)
            }
        };
        Some(Fitted { law, residual })
    }

    /// The logarithm of what a fit predicts.
    pub fn predicted_ln(&self, fitted: &Fitted, work: &Work) -> f64 {
        self.predicted_ln_at(fitted, work, &self.peaks)
    }

    /// The same on hardware with other peaks.
    pub fn predicted_ln_at(&self, fitted: &Fitted, work: &Work, peaks: &Peaks) -> f64 {
        let law = fitted.law.ln(&self.quantity.terms(work, peaks));
        law + fitted.residual.as_ref().map_or(0.0, |residual| residual.ln(work))
    }

    pub fn efficiency(&self, fitted: &Fitted) -> Option<Efficiency> {
        Efficiency::of(&fitted.law.factors(), &self.peaks).filter(|_| self.quantity != Quantity::Memory)
    }
}

impl Fitted {
    pub fn learned(&self) -> bool {
        self.residual.is_some()
    }
}

pub(crate) fn models(samples: &[Sample]) -> BTreeSet<&str> {
    samples.iter().map(|sample| sample.work.model.as_str()).collect()
}
