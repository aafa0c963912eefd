//! A comparison that is measured: in turns, judged, and where it shows a difference, measured once more before that is told.

use super::{Paired, paired};
use crate::run::{Interleave, Launch, LaunchRules, Observer, Pair, PlannedCell};
use skillbench_record::{Cell, Reason, Trust, options_text};
use skillbench_stats::compare::{
    Bar, ComparedCell, ComparedMetric, Evidence, Metric, Noise, Subject, Verdict, judge, of_pairs,
};
use skillbench_stats::rules;
use skillbench_worker::{Failure, FailureKind};
use std::time::Duration;

/// How a comparison is measured and judged.
pub struct Live<'a> {
    pub noise: &'a Noise,
    /// No smaller difference is told: 0.05 for 5%.
    pub effect: f64,
    /// Fresh processes on each side, at least; more where the interval stays wide.
    pub launches: u64,
    pub pairs: u64,
    pub seed: u64,
}

/// The user's wish to end it.
#[derive(Debug)]
pub struct Stopped;

impl Live<'_> {
    /// Compares two cells.
    ///
    /// # Errors
    /// The comparison was stopped.
    pub fn compare(
        &self,
        interleave: &mut Interleave<'_>,
        cells: [&PlannedCell; 2],
        observer: &mut dyn Observer,
    ) -> Result<ComparedCell, Stopped> {
        let pair = interleave.verify(cells, observer);
        let blank = blank(&pair.cells);
        if let Some(reason) = refused(&pair) {
            return if reason.code == "stopped" {
                Err(Stopped)
            } else {
                Ok(ComparedCell { reason: Some(reason), ..blank })
            };
        }
        if let Some(reason) = apart(&pair.cells, &blank) {
            return Ok(ComparedCell { reason: Some(reason), ..blank });
        }
        let first = match self.launches(interleave, &pair, 0, observer)? {
            Ok(launches) => launches,
            Err(reason) => return Ok(ComparedCell { reason: Some(reason), ..blank }),
        };
        let plugins = [blank.before.plugin.clone(), blank.after.plugin.clone()];
        let mut metrics: Vec<ComparedMetric> =
            paired(&first).into_iter().filter_map(|paired| self.judged(paired, &plugins)).collect();
        let mut all = first;
        if metrics.iter().any(|metric| metric.verdict.is_difference()) {
            observer.note("it differs, and is measured once more");
            match self.launches(interleave, &pair, 1 << 32, observer)? {
                Err(reason) => metrics.iter_mut().filter(|metric| metric.verdict.is_difference()).for_each(|metric| {
                    metric.verdict = Verdict::Unclear;
                    metric.reason = format!("a difference could not be measured once more: {}", reason.message);
                }),
                Ok(again) => {
                    let second: Vec<ComparedMetric> =
                        paired(&again).into_iter().filter_map(|paired| self.judged(paired, &plugins)).collect();
                    metrics = metrics.into_iter().map(|metric| confirmed(metric, &second)).collect();
                    all.extend(again);
                }
            }
        }
        if metrics.is_empty() {
            let reason = Reason::new("no-rounds", "the benchmark has no series that is measured in rounds");
            return Ok(ComparedCell { reason: Some(reason), ..blank });
        }
        Ok(ComparedCell { metrics, cells: Some(pair.measured(&all)), ..blank })
    }

    /// What the same rounds show of two cells, without a verdict: for the noise of a machine.
    ///
    /// # Errors
    /// The comparison was stopped. Within: why a side could not be measured.
    pub fn evidence(
        &self,
        interleave: &mut Interleave<'_>,
        cells: [&PlannedCell; 2],
        observer: &mut dyn Observer,
    ) -> Result<Result<Vec<(Metric, Evidence)>, Reason>, Stopped> {
        let pair = interleave.verify(cells, observer);
        if let Some(reason) = refused(&pair) {
            return if reason.code == "stopped" { Err(Stopped) } else { Ok(Err(reason)) };
        }
        let launches = match self.launches(interleave, &pair, 0, observer)? {
            Ok(launches) => launches,
            Err(reason) => return Ok(Err(reason)),
        };
        let all = paired(&launches).into_iter();
        Ok(Ok(all.filter_map(|paired| Some((paired.metric, of_pairs(&paired.launches, self.seed)?))).collect()))
    }

    fn launches(
        &self,
        interleave: &Interleave<'_>,
        pair: &Pair,
        before: u64,
        observer: &mut dyn Observer,
    ) -> Result<Result<Vec<Launch>, Reason>, Stopped> {
        let defaults = &rules().compare;
        let (budget, round) =
            (Duration::from_secs_f64(defaults.budget_s), Duration::from_secs_f64(defaults.round_ms * 1e-3));
        let most = defaults.most_launches.max(self.launches);
        let mut launches = vec![];
        for number in 0..most {
            // The width of the interval ends it, never what it says.
            if number >= self.launches && self.is_tight(&launches) {
                break;
            }
            observer.step(&format!("launch {}", number + 1));
            let seed = self.seed.wrapping_add(before + number);
            let rules = LaunchRules { pairs: self.pairs, budget, round, seed };
            match interleave.launch(pair, &rules) {
                Ok(launch) => launches.push(launch),
                Err((_, failure)) if failure.kind == FailureKind::Stopped => return Err(Stopped),
                Err((side, failure)) => return Ok(Err(describe(side, failure))),
            }
        }
        let cannot_be = SIDES.iter().enumerate().find_map(|(side, name)| {
            let why = Pair::implausible(&launches, side).into_iter().next()?;
            Some(Reason::new("implausible", format!("{name}: {why}")))
        });
        Ok(cannot_be.map_or(Ok(launches), Err))
    }

    /// Whether the intervals of all times are as tight as they should be.
    fn is_tight(&self, launches: &[Launch]) -> bool {
        let times = paired(launches).into_iter().filter(|paired| paired.metric != Metric::memory());
        let mut widths = times.filter_map(|paired| {
            let [low, high] = of_pairs(&paired.launches, self.seed)?.interval?;
            Some((high / low).sqrt() - 1.0)
        });
        widths.all(|width| width <= rules().compare.interval)
    }

    fn judged(&self, paired: Paired, plugins: &[String; 2]) -> Option<ComparedMetric> {
        let Paired { metric, launches } = paired;
        let evidence = of_pairs(&launches, self.seed)?;
        let plugins = plugins.each_ref().map(String::as_str);
        let (floor, floor_from) = self.noise.floor(&plugins, &metric, true);
        let bar = Bar { floor, floor_from, effect: self.effect };
        let (verdict, reason) = judge(&metric, &evidence, &bar);
        Some(ComparedMetric { metric, evidence, bar, verdict, reason, run: None, first: None, pairs: launches })
    }
}

/// What the two are called.
pub const SIDES: [&str; 2] = ["before", "after"];

fn describe(side: usize, failure: Failure) -> Reason {
    Reason::new(&failure.reason.code, format!("{}: {failure}", SIDES[side]))
}

/// Why one of both was not verified.
fn refused(pair: &Pair) -> Option<Reason> {
    if pair.ready() {
        return None;
    }
    let reasons = pair.cells.iter().zip(SIDES).filter_map(|(cell, side)| {
        let reason = cell.outcome.reason().filter(|reason| reason.code != "planned")?;
        Some(Reason::new(&reason.code, format!("{side}: {}: {}", cell.outcome.name(), reason.message)))
    });
    reasons.into_iter().next().or_else(|| Some(Reason::new("not-verified", "a side could not be verified")))
}

/// Why two cells that could be measured are not held against each other.
pub fn apart(cells: &[Cell; 2], blank: &ComparedCell) -> Option<Reason> {
    let (a, b) = (blank.before.trust, blank.after.trust);
    // A service is held against what is here where somebody asks for it; the pair is labelled as remote.
    let verified = |trust: Option<Trust>| trust.is_some_and(Trust::is_verified);
    if a != b && !(verified(a) && verified(b)) {
        let shown = |trust: Option<Trust>| trust.map_or("unknown", Trust::name);
        let text = format!("{} and {} are not held against each other", shown(a), shown(b));
        return Some(Reason::new("trust", text));
    }
    // Under a precision that was asked for, nothing else is compared.
    let other = |(cell, side): (&Cell, &str)| {
        let fix = cell.fixes.iter().find(|fix| fix.what == "precision")?;
        Some(Reason::new("precision", format!("{side}: {}: {}", fix.describe(), fix.why)))
    };
    cells.iter().zip(SIDES).find_map(other)
}

fn subject(cell: &Cell) -> Subject {
    let trust = cell.verification.as_ref().map(|verification| match cell.implausible.is_empty() {
        true => Trust::of(cell.nature(), Some(verification)),
        false => Trust::Implausible,
    });
    Subject {
        plugin: cell.plugin.clone(),
        plugin_version: cell.plugin_version.clone(),
        device: Some(cell.device.clone()).filter(|device| !device.is_empty()),
        model: cell.skill.clone(),
        precision: cell.placement.as_ref().and_then(|placement| placement.precision.clone()),
        threads: cell.threads,
        engine: cell.placement.as_ref().map(|placement| placement.engine.clone()),
        trust,
        options: options_text(&cell.options),
        workers: cell.workers,
    }
}

/// Two cells held against each other, of which nothing is known yet.
pub fn blank(cells: &[Cell; 2]) -> ComparedCell {
    let [before, after] = cells.each_ref().map(subject);
    let mut labels: Vec<String> = vec![];
    for trust in Trust::ALL.into_iter().filter(|trust| !trust.is_comparable()) {
        if [&before, &after].iter().any(|subject| subject.trust == Some(trust)) {
            labels.push(trust.name().into());
        }
    }
    if let (Some(one), Some(other)) = (&before.precision, &after.precision)
        && one != other
    {
        labels.push(format!("precision {one} against {other}"));
    }
    for (cell, side) in cells.iter().zip(SIDES) {
        labels.extend(cell.fixes.iter().map(|fix| format!("{side}: {}", fix.describe())));
    }
    let cell = &cells[0];
    ComparedCell {
        model: cell.skill.clone(),
        benchmark: cell.benchmark.clone(),
        axes: cell.axes.clone(),
        before,
        after,
        side: None,
        reason: None,
        labels,
        metrics: vec![],
        cells: None,
    }
}

/// A difference that a second measurement shows as well; else it is unclear. The figures are the second's: the first was picked for
/// what it showed.
fn confirmed(first: ComparedMetric, second: &[ComparedMetric]) -> ComparedMetric {
    if !first.verdict.is_difference() {
        return first;
    }
    let Some(again) = second.iter().find(|again| again.metric == first.metric) else {
        let reason = "measured once more, it had no rounds".into();
        return ComparedMetric { verdict: Verdict::Unclear, reason, ..first };
    };
    let mut told = again.clone();
    told.first = Some(first.evidence);
    told.pairs = first.pairs.into_iter().chain(again.pairs.iter().cloned()).collect();
    match again.verdict == first.verdict {
        true => told.reason = format!("twice, {}", again.reason),
        false => {
            told.verdict = Verdict::Unclear;
            told.reason =
                format!("{} at first, {} when measured once more", first.verdict.name(), again.verdict.name());
        }
    }
    told
}
