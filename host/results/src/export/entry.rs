//! How a cell ended, and its figures as other tools have them: times in seconds.

use serde_json::{Map, Value, json};
use skillbench_record::{Cell, Metrics, Outcome, SeriesMetrics, Stats, Verification};

pub(super) type Object = Map<String, Value>;

/// "success", or what happened.
pub(super) fn status(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Measured(_) => "success",
        other => other.name(),
    }
}

/// Neither measured nor left out by a stated rule.
pub(super) fn has_failed(cell: &Cell) -> bool {
    !matches!(cell.outcome, Outcome::Measured(_) | Outcome::Skipped(_))
}

/// Of several cells that stand for one thing: "success" where all that were tried are measured, "partial" where some are; and the first
/// reason why one is not.
pub(super) fn together(cells: &[&Cell]) -> (&'static str, Option<String>) {
    let measured = cells.iter().any(|cell| cell.outcome.metrics().is_some());
    let failed = cells.iter().find(|cell| has_failed(cell));
    let reason = |cell: &&Cell| cell.outcome.reason().map(|reason| reason.message.clone());
    match (measured, failed) {
        (true, None) => ("success", None),
        (true, Some(cell)) => ("partial", reason(cell)),
        (false, Some(cell)) => (status(&cell.outcome), reason(cell)),
        (false, None) => ("skipped", cells.first().and_then(reason)),
    }
}

/// Whether the outputs agreed with a reference; `None`: it did not come to that.
pub(super) fn verified(cell: &Cell) -> Option<bool> {
    cell.verification.as_ref().map(|verification| matches!(verification, Verification::Passed { .. }))
}

pub(super) fn precision(cell: &Cell) -> Option<&str> {
    cell.placement.as_ref()?.precision.as_deref()
}

/// A cell's entry: how it ended, with `figures` where it is measured, and what they are worth.
pub(super) fn entry(cell: &Cell, figures: impl FnOnce(&Metrics) -> Object) -> Object {
    let mut entry = Object::new();
    entry.insert("status".into(), json!(status(&cell.outcome)));
    match (&cell.outcome, cell.outcome.reason()) {
        (Outcome::Measured(metrics), _) => entry.extend(figures(metrics)),
        (_, reason) => drop(entry.insert("error".into(), json!(reason.map(|reason| &reason.message)))),
    }
    entry.insert("emulated".into(), json!(cell.emulated));
    if cell.remote {
        entry.insert("remote".into(), json!(true));
    }
    entry.insert("verified".into(), json!(verified(cell)));
    entry.insert("precision".into(), json!(precision(cell)));
    if cell.outcome.metrics().is_some() {
        entry.insert("stable".into(), json!(cell.stable));
    }
    entry.insert("axes".into(), json!(cell.axes));
    entry
}

pub(super) fn seconds(ms: f64) -> f64 {
    ms / 1000.0
}

/// The series a cell is known by: latency, what it did at once, or whole sequences of tokens; in milliseconds.
pub(super) fn main_ms(metrics: &Metrics, pick: fn(&Stats) -> f64) -> Option<f64> {
    let latency = metrics.latency_ms.as_ref();
    let tokens = || metrics.generation.as_ref()?.end_to_end_ms.as_ref();
    let at_once = || metrics.series.get("concurrent").and_then(|series| milliseconds(series, pick));
    latency.map(pick).or_else(at_once).or_else(|| tokens().map(pick))
}

/// A figure of a series of durations in milliseconds; `None` for anything else.
pub(super) fn milliseconds(series: &SeriesMetrics, pick: fn(&Stats) -> f64) -> Option<f64> {
    let scale = match series.unit.as_str() {
        "ns" => 1e6,
        "us" => 1e3,
        "ms" => 1.0,
        "s" => 1e-3,
        _ => return None,
    };
    Some(pick(&series.stats) / scale)
}

/// All samples of several sets: how many, their mean and their standard deviation, which one sample alone does not have. `None` of none.
pub(super) fn pooled<'a>(sets: impl IntoIterator<Item = &'a Stats>) -> Option<(f64, Option<f64>)> {
    let sets: Vec<&Stats> = sets.into_iter().collect();
    let n: u64 = sets.iter().map(|set| set.n).sum();
    if n == 0 {
        return None;
    }
    let mean = sets.iter().map(|set| set.mean * set.n as f64).sum::<f64>() / n as f64;
    let around =
        |set: &&Stats| set.std.unwrap_or(0.0).powi(2) * (set.n as f64 - 1.0) + set.n as f64 * (set.mean - mean).powi(2);
    let squares: f64 = sets.iter().map(around).sum();
    Some((mean, (n > 1).then(|| (squares / (n as f64 - 1.0)).sqrt())))
}

/// Puts a value in under a name that no other has: a later cell of the same name is told apart by its place in the plan.
pub(super) fn insert(into: &mut Object, name: String, cell: &Cell, value: Value) {
    let name = if into.contains_key(&name) { format!("{name}_cell_{}", cell.index) } else { name };
    into.insert(name, value);
}
