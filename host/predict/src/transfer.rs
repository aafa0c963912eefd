//! Predicts hardware of which little or nothing is measured from the same backend on other machines: their law is a share of the peaks
//! that were measured there, and the peaks of this hardware make times of it again. Whatever few models are measured here move all
//! predictions by their median error.
//!
//! Machines are what is drawn at random: each is held out, predicted from the others in the same way, and the interval is as wide as those
//! errors (see `intervals`). Too few machines give no interval, and no prediction.

use crate::fitted::{Fitted, Scheme, models};
use crate::intervals::{HeldOut, least_models};
use crate::linear::weighted_quantile;
use crate::predictor::{Basis, NotEnough, Prediction, within};
use crate::rule::{Rule, rule};
use crate::work::{Peaks, Quantity, Sample, Work};
use std::collections::BTreeSet;

/// What was measured of one backend at one precision on one machine, at one number of threads.
#[derive(Clone, Debug, Default)]
pub struct Source {
    pub machine: String,
    pub peaks: Peaks,
    pub samples: Vec<Sample>,
}

/// One quantity of one backend at one precision, over machines.
pub struct Transfer {
    scheme: Scheme,
    sources: Vec<Source>,
    whole: Option<Fitted>,
    /// Each machine, and what is fitted to all others.
    apart: Vec<(String, Option<Fitted>)>,
}

impl Transfer {
    /// Learns from machines whose peaks are known; memory needs none.
    pub fn train(sources: Vec<Source>, quantity: Quantity) -> Transfer {
        Transfer::by(sources, quantity, rule().clone())
    }

    pub(crate) fn by(sources: Vec<Source>, quantity: Quantity, rule: Rule) -> Transfer {
        let scheme = Scheme { quantity, peaks: Peaks::default(), with_residual: true, rule };
        let mut sources = sources;
        sources.iter_mut().for_each(|source| source.samples.retain(Sample::is_usable));
        sources.retain(|source| !source.samples.is_empty() && is_known(quantity, &source.peaks));
        let machines: BTreeSet<&str> = sources.iter().map(|source| source.machine.as_str()).collect();
        let enough = machines.len() >= least_models(scheme.rule.machines.level);
        let fit = |without: Option<&str>| {
            // Too few machines predict nothing, so that nothing need be fitted.
            if !enough {
                return None;
            }
            let kept = sources.iter().filter(|source| without != Some(source.machine.as_str()));
            scheme.fit_of(kept.flat_map(|source| source.samples.iter().map(|sample| (sample, &source.peaks))))
        };
        let apart = machines.into_iter().map(|machine| (machine.to_string(), fit(Some(machine)))).collect();
        Transfer { whole: fit(None), apart, scheme, sources }
    }

    pub fn machines(&self) -> usize {
        self.apart.len()
    }

    /// Predicts work on `here`, with whatever is measured there.
    ///
    /// # Errors
    /// Why there is not enough data.
    pub fn predict(&self, here: &Source, work: &Work) -> Result<Prediction, NotEnough> {
        let rule = &self.scheme.rule;
        let level = rule.machines.level;
        let least = least_models(level);
        let machines = self.apart.iter().filter(|(machine, _)| *machine != here.machine).count();
        if machines < least {
            return Err(NotEnough::Machines { machines, least });
        }
        if !is_known(self.scheme.quantity, &here.peaks) {
            return Err(NotEnough::Peaks);
        }
        let own_fit =
            self.apart.iter().find(|(machine, _)| *machine == here.machine).map(|(_, fitted)| fitted.as_ref());
        let fitted = own_fit.unwrap_or(self.whole.as_ref()).ok_or(NotEnough::Unfit)?;
        let elsewhere = self.sources.iter().filter(|source| source.machine != here.machine);
        within(elsewhere.flat_map(|source| &source.samples).map(|sample| &sample.work), work, rule.beyond)?;
        let known = here.samples.iter().filter(|sample| sample.work.model != work.model);
        let known: Vec<&Sample> = known.collect();
        let count = known.iter().map(|sample| sample.work.model.as_str()).collect::<BTreeSet<_>>().len();
        let ln = self.ln(fitted, work, &here.peaks) + self.moved(fitted, &known, &here.peaks);
        let errors = self.errors(&here.machine, count);
        let error = errors.error_at(level, "").ok_or(NotEnough::Unfit)?;
        let factor = error.exp();
        if factor > rule.widest {
            return Err(NotEnough::Wide { factor, widest: rule.widest });
        }
        let of = |ln: f64| self.scheme.quantity.turned(ln.exp(), work);
        let (one, other) = (of(ln - error), of(ln + error));
        Ok(Prediction {
            value: of(ln),
            low: one.min(other),
            high: one.max(other),
            level,
            models: machines,
            basis: Basis::OtherMachines,
            learned: fitted.learned(),
        })
    }

    /// How far each machine is off that was held out, with as many models known of it as are known here.
    fn errors(&self, here: &str, count: usize) -> HeldOut {
        let mut errors = HeldOut::default();
        for source in self.sources.iter().filter(|source| source.machine != here) {
            let apart = self.apart.iter().find(|(machine, _)| *machine == source.machine);
            let Some(fitted) = apart.and_then(|(_, fitted)| fitted.as_ref()) else { continue };
            let names: Vec<&str> = models(&source.samples).into_iter().collect();
            for sample in &source.samples {
                // Evenly out of the others, the same each time.
                let others: Vec<&str> = names.iter().copied().filter(|name| *name != sample.work.model).collect();
                let step = others.len().div_ceil(count.max(1)).max(1);
                let shown: BTreeSet<&str> = others.into_iter().step_by(step).take(count).collect();
                let known: Vec<&Sample> =
                    source.samples.iter().filter(|sample| shown.contains(sample.work.model.as_str())).collect();
                let ln = self.ln(fitted, &sample.work, &source.peaks) + self.moved(fitted, &known, &source.peaks);
                errors.0.entry(source.machine.clone()).or_default().push((self.scheme.ln_of(sample) - ln).abs());
            }
        }
        errors
    }

    fn ln(&self, fitted: &Fitted, work: &Work, peaks: &Peaks) -> f64 {
        self.scheme.predicted_ln_at(fitted, work, peaks)
    }

    /// The median of how far what is known lies from its prediction; of nothing, nothing.
    fn moved(&self, fitted: &Fitted, known: &[&Sample], peaks: &Peaks) -> f64 {
        let miss = |sample: &&Sample| (self.scheme.ln_of(sample) - self.ln(fitted, &sample.work, peaks), 1.0);
        weighted_quantile(known.iter().map(miss).collect(), 0.5).unwrap_or(0.0)
    }
}

fn is_known(quantity: Quantity, peaks: &Peaks) -> bool {
    let positive = |peak: Option<f64>| peak.is_some_and(|peak| peak.is_finite() && peak > 0.0);
    quantity == Quantity::Memory || (positive(peaks.flops_per_s) && positive(peaks.bytes_per_s))
}
