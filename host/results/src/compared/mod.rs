//! Stored runs held against each other, cell by cell. They were measured one after the other, so that only what is beyond the noise
//! of two such moments is a difference; `run::Interleave` of the engine alternates rounds.
//!
//! - `sides`: cells and their rounds, out of frames. Here: which cells belong together, and why others are not compared.

mod sides;

use crate::Stored;
use polars::prelude::PolarsResult;
use sides::{SideCell, cells};
use skillbench_record::catalog::{self, column};
use skillbench_record::load::{Load, of_requests};
use skillbench_record::{Reason, Trust, options_text};
use skillbench_stats::compare::{
    Bar, ComparedCell, ComparedMetric, Evidence, Metric, Noise, Subject, judge, of_apart, of_estimates,
};

/// What is compared although it is not the same, because that was asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Across {
    pub machine: bool,
    pub model: bool,
    pub precision: bool,
    /// Backends, devices and numbers of threads.
    pub plugin: bool,
    /// Options of a backend, and how many requests are at once.
    pub options: bool,
}

/// What is asked of a difference.
pub struct Question<'a> {
    pub across: Across,
    pub noise: &'a Noise,
    /// No smaller difference is told: 0.05 for 5%.
    pub effect: f64,
    /// Metrics of the catalogue that are compared too, by one figure of each cell.
    pub metrics: &'a [&'static catalog::Metric],
    pub seed: u64,
}

/// The machines of some results.
///
/// # Errors
/// Polars' own.
pub fn machines(stored: &Stored) -> PolarsResult<Vec<String>> {
    let mut machines: Vec<String> = cells(stored, &[])?.into_iter().map(|cell| cell.machine).collect();
    machines.sort();
    machines.dedup();
    Ok(machines)
}

/// Every cell of both sides: compared, or with the reason why not.
///
/// # Errors
/// Polars' own.
pub fn compare(before: &Stored, after: &Stored, question: &Question<'_>) -> PolarsResult<Vec<ComparedCell>> {
    let (before, after) = (cells(before, question.metrics)?, cells(after, question.metrics)?);
    let mut used = vec![false; before.len()];
    let mut compared = vec![];
    for new in &after {
        match partner(&before, new, question.across) {
            Partner::None => compared.push(refused(new, new, "only-after", "there is no such cell before".into())),
            Partner::Several => compared.push(refused(
                new,
                new,
                "several",
                "several cells before are as near to it as one another; name less, or compare fewer things across"
                    .into(),
            )),
            Partner::Refused(index, code, why) => {
                used[index] = true;
                compared.push(refused(&before[index], new, code, why));
            }
            Partner::One(index) => {
                used[index] = true;
                compared.push(of_cells(&before[index], new, question));
            }
        }
    }
    for (old, _) in before.iter().zip(used).filter(|(_, used)| !used) {
        compared.push(refused(old, old, "only-before", "there is no such cell after".into()));
    }
    Ok(compared)
}

enum Partner {
    None,
    One(usize),
    Several,
    /// The nearest, and why it is not to be compared with.
    Refused(usize, &'static str, String),
}

/// What stands between two cells, in the order in which it is told.
fn between(before: &SideCell, after: &SideCell, across: Across) -> Option<(&'static str, String)> {
    let (a, b) = (&before.subject, &after.subject);
    let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".into());
    let told =
        |what: &str, a: String, b: String| format!("{what} {a} and {b}; --across {what} compares them all the same");
    if let (Some(before), Some(after)) = (a.trust, b.trust)
        && before != after
    {
        return Some((column::TRUST, format!("{before} and {after} are not held against each other")));
    }
    if !across.machine && before.machine != after.machine {
        return Some((column::MACHINE, told(column::MACHINE, before.machine.clone(), after.machine.clone())));
    }
    if !across.plugin && (a.plugin != b.plugin || a.device != b.device || a.threads != b.threads) {
        let name = |subject: &Subject| {
            let threads = subject.threads.map_or(String::new(), |n| format!(" with {n} threads"));
            format!("{}{threads}", subject.plugin)
        };
        return Some((column::PLUGIN, told(column::PLUGIN, name(a), name(b))));
    }
    if !across.options && !across.plugin && (a.options != b.options || a.workers != b.workers) {
        return Some((column::OPTIONS, told(column::OPTIONS, set_for(a), set_for(b))));
    }
    // Another backend has other options; what was asked of it is the same all the same.
    let requests = |subject: &Subject| of_requests(subject.options.as_deref());
    if across.plugin && !across.options && requests(a) != requests(b) {
        let name = |subject: &Subject| options_text(&requests(subject)).unwrap_or_else(|| "the defaults".into());
        return Some((column::OPTIONS, told(column::OPTIONS, name(a), name(b))));
    }
    if before.beside != after.beside {
        let name = |beside: &str| if beside.is_empty() { "alone".to_string() } else { format!("beside {beside}") };
        let text = format!("{} and {} are not held against each other", name(&before.beside), name(&after.beside));
        return Some((column::BESIDE, text));
    }
    if !across.model && (a.model != b.model || before.content != after.content) {
        let content = if a.model == b.model { " (another content)" } else { "" };
        return Some(("model", told("model", a.model.clone(), format!("{}{content}", b.model))));
    }
    if !across.precision && a.precision != b.precision {
        return Some((column::PRECISION, told(column::PRECISION, shown(&a.precision), shown(&b.precision))));
    }
    None
}

/// What is set for a side: "cache=off, 8 at once", or "the defaults".
fn set_for(subject: &Subject) -> String {
    let workers = subject.workers.map(|n| format!("{n} at once"));
    let all: Vec<String> = subject.options.clone().into_iter().chain(workers).collect();
    if all.is_empty() { "the defaults".into() } else { all.join(", ") }
}

fn partner(before: &[SideCell], new: &SideCell, across: Across) -> Partner {
    let same_work = |old: &SideCell| old.benchmark == new.benchmark && old.axes == new.axes;
    let fits: Vec<usize> =
        (0..before.len()).filter(|i| same_work(&before[*i]) && between(&before[*i], new, across).is_none()).collect();
    // Of several that are allowed, the one that is the same in everything.
    let exact = fits.iter().copied().find(|i| between(&before[*i], new, Across::default()).is_none());
    match (exact, fits.as_slice()) {
        (Some(index), _) => return Partner::One(index),
        (None, [index]) => return Partner::One(*index),
        (None, []) => {}
        (None, _) => return Partner::Several,
    }
    // The nearest: the same model on the same backend, unless others are asked for, but for one thing.
    let near = |old: &SideCell| {
        old.subject.model == new.subject.model && (across.plugin || old.subject.plugin == new.subject.plugin)
    };
    let nearest = (0..before.len()).find(|i| same_work(&before[*i]) && near(&before[*i]));
    match nearest.and_then(|index| Some((index, between(&before[index], new, across)?))) {
        Some((index, (code, why))) => Partner::Refused(index, code, why),
        None => Partner::None,
    }
}

fn blank(before: &SideCell, after: &SideCell) -> ComparedCell {
    ComparedCell {
        model: after.subject.model.clone(),
        benchmark: after.benchmark.clone(),
        axes: after.axes.clone(),
        before: before.subject.clone(),
        after: after.subject.clone(),
        side: None,
        reason: None,
        labels: labels(before, after),
        metrics: vec![],
        cells: None,
    }
}

fn refused(before: &SideCell, after: &SideCell, code: &str, why: String) -> ComparedCell {
    ComparedCell { reason: Some(Reason::new(code, why)), ..blank(before, after) }
}

/// What to know before believing a comparison.
fn labels(before: &SideCell, after: &SideCell) -> Vec<String> {
    let (a, b) = (&before.subject, &after.subject);
    let mut labels: Vec<String> = vec![];
    let mut differ = |what: &str, a: &str, b: &str| {
        if a != b {
            labels.push(format!("{what} {a} against {b}"));
        }
    };
    let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".into());
    differ(column::MACHINE, &before.machine, &after.machine);
    differ("model", &a.model, &b.model);
    differ("model content", &before.content, &after.content);
    differ(column::PRECISION, &shown(&a.precision), &shown(&b.precision));
    differ(column::PLUGIN, &a.plugin, &b.plugin);
    differ(column::OPTIONS, &set_for(a), &set_for(b));
    differ("plugin version", &a.plugin_version, &b.plugin_version);
    differ(column::ENGINE, &shown(&a.engine), &shown(&b.engine));
    differ("benchmark version", &before.benchmark_version, &after.benchmark_version);
    for trust in Trust::ALL.into_iter().filter(|trust| !trust.is_comparable()) {
        if a.trust == Some(trust) || b.trust == Some(trust) {
            labels.push(trust.name().into());
        }
    }
    // What is the same on both sides and not as usual is told once.
    if a.options == b.options {
        labels.extend(a.options.clone());
    }
    labels
}

fn of_cells(before: &SideCell, after: &SideCell, question: &Question<'_>) -> ComparedCell {
    for (side, cell) in [("before", before), ("after", after)] {
        if let Some(reason) = &cell.reason {
            let text = format!("{side}: {}: {}", cell.outcome, reason.message);
            return refused(before, after, &reason.code, text);
        }
    }
    let mut metrics = vec![];
    for rounds in &after.rounds {
        let Some(old) = before.rounds.iter().find(|old| old.metric == rounds.metric) else { continue };
        let evidence = of_apart(&old.values, &rounds.values, question.seed);
        metrics.extend(evidence.map(|evidence| judged(&rounds.metric, evidence, before, after, question)));
    }
    for (metric, new) in &after.figures {
        let Some((_, old)) = before.figures.iter().find(|(old, _)| old == metric) else { continue };
        let evidence = of_apart(&[*old], &[*new], question.seed);
        metrics.extend(evidence.map(|evidence| judged(metric, evidence, before, after, question)));
    }
    if let (Some(old), Some(new)) = (before.capacity, after.capacity)
        && load(before) == load(after)
    {
        let metric = Metric::capacity();
        metrics.extend(of_estimates(&[old], &[new]).map(|evidence| judged(&metric, evidence, before, after, question)));
    }
    match metrics.is_empty() {
        true => {
            refused(before, after, "no-rounds", "there are no rounds of both sides; a run's journal has them".into())
        }
        false => ComparedCell { metrics, ..blank(before, after) },
    }
}

/// What a capacity is of: of another load it is another figure.
fn load(side: &SideCell) -> Option<Load> {
    Load::searched(&side.benchmark, &side.axes, side.subject.options.as_deref()?).map(|(load, _)| load)
}

fn judged(
    metric: &Metric,
    evidence: Evidence,
    before: &SideCell,
    after: &SideCell,
    question: &Question<'_>,
) -> ComparedMetric {
    let plugins = [before.subject.plugin.as_str(), after.subject.plugin.as_str()];
    let (floor, floor_from) = question.noise.floor(&plugins, metric, false);
    let bar = Bar { floor, floor_from, effect: question.effect };
    let (verdict, reason) = judge(metric, &evidence, &bar);
    ComparedMetric { metric: metric.clone(), evidence, bar, verdict, reason, run: None, first: None, pairs: vec![] }
}

#[cfg(test)]
mod tests;
