//! From the cells of all runs to the matrix.

pub use super::rows::COLUMNS;
use super::rows::{Row, rows};
use super::rule::{Rule, rule};
use super::speedup::{Baseline, rated, speedups};
use super::{Entry, Failure, Family, Matrix, Model, Rating, Status, family, history};
use crate::questions::latest::placed;
use polars::prelude::{DataFrame, PolarsResult};
use skillbench_record::Trust;
use skillbench_record::catalog::column;
use std::collections::{BTreeMap, HashMap};

/// The matrix of the cells that are in the frame, which has the columns of [`COLUMNS`]. Which of several
/// rows of a cell counts is the rule of [`crate::questions::latest`]; all of them are in the history.
///
/// # Errors
/// Polars' own: a column that is not there, or of another type.
pub fn build(cells: &DataFrame) -> PolarsResult<Matrix> {
    let rule = rule();
    let placed = placed(cells.clone())?.collect()?;
    let rows = rows(&placed)?;
    let baseline = Baseline::of(&rows, rule);
    let hardware = rule.in_order(rows.iter().map(|row| row.hardware.to_string()).collect());
    let mut families: BTreeMap<&str, BTreeMap<&str, HashMap<&str, Vec<&Row<'_>>>>> = BTreeMap::new();
    // A model is of the family that its newest cell has.
    let of_model: HashMap<&str, &str> = rows.iter().map(|row| (row.model, row.family)).collect();
    for row in &rows {
        let models = families.entry(of_model[row.model]).or_default();
        models.entry(row.model).or_default().entry(row.hardware).or_default().push(row);
    }
    let facts: HashMap<&str, &Row<'_>> = rows.iter().map(|row| (row.model, row)).collect();
    let model = |(id, cells): (&str, HashMap<&str, Vec<&Row<'_>>>)| Model {
        id: id.into(),
        parameters: facts.get(id).and_then(|row| u64::try_from(row.parameters?).ok()),
        relation: facts.get(id).and_then(|row| row.relation.map(String::from)),
        entries: hardware
            .iter()
            .map(|name| entry(name, id, cells.get(name.as_str()).map_or(&[], Vec::as_slice), &baseline, rule))
            .collect(),
    };
    let family = |(name, models): (&str, BTreeMap<&str, HashMap<&str, Vec<&Row<'_>>>>)| {
        let models: Vec<Model> = models.into_iter().map(model).collect();
        Family { name: name.into(), entries: family::entries(&hardware, &models), models }
    };
    let families = families.into_iter().map(family).collect();
    let timestamp = rows.iter().rev().find_map(Row::moment);
    Ok(Matrix { timestamp, hardware: hardware.clone(), families })
}

fn entry(hardware: &str, model: &str, rows: &[&Row<'_>], baseline: &Baseline<'_>, rule: &Rule) -> Entry {
    let now: Vec<&Row<'_>> = rows.iter().copied().filter(|row| row.is_latest).collect();
    let status = now.iter().map(|row| Status::of_outcome(row.outcome)).max().unwrap_or(Status::NotTried);
    let mut speedups = speedups(&now, baseline, rule);
    let rating = rated(&speedups).unwrap_or(match status {
        Status::Failed | Status::Unsupported => Rating::None,
        _ => Rating::Unknown,
    });
    let measured = || now.iter().filter(|row| row.measured());
    let real = measured().any(|row| row.comparable());
    let (what, reason) = why(&now, status, rating, rule);
    // A command names the backend; its device may be another one elsewhere.
    let plugin = hardware.split([':', ' ']).next().unwrap_or(hardware);
    Entry {
        hardware: hardware.into(),
        status,
        rating,
        compatible: match status {
            Status::Measured => real.then_some(true),
            Status::Failed | Status::Unsupported => Some(false),
            Status::Unavailable | Status::NotTried => None,
        },
        reason: reason.or_else(|| rule.why(what, plugin, model)),
        next: rule.next(what, plugin, model),
        emulated: !real && measured().any(|row| row.emulated),
        verified: (status == Status::Measured).then(|| measured().any(|row| row.trust != Some(Trust::Unverified))),
        others: if speedups.is_empty() { vec![] } else { speedups.split_off(1) },
        speedup: speedups.pop(),
        models: BTreeMap::new(),
        failures: failures(&now),
        history: history::history(rows, rule),
    }
}

/// What stands in the way of more, as the rule's file calls it, and the reason in the words of the cell.
fn why(now: &[&Row<'_>], status: Status, rating: Rating, rule: &Rule) -> (&'static str, Option<String>) {
    let told = || {
        let row = now.iter().rev().find(|row| Status::of_outcome(row.outcome) == status)?;
        let reason = row.reason.unwrap_or("no reason was recorded");
        // Of several words that come to the same status, which one it was.
        Some(if row.outcome.name() == status.name() { reason.into() } else { format!("{}: {reason}", row.outcome) })
    };
    let any = |test: &dyn Fn(&Row<'_>) -> bool| now.iter().any(|row| row.measured() && test(row));
    match status {
        Status::Measured if rating != Rating::Unknown => ("", None),
        Status::Measured if !any(&|row| row.trust != Some(Trust::Implausible)) => (column::IMPLAUSIBLE, None),
        Status::Measured if !any(&|row| !row.emulated) => (column::EMULATED, None),
        Status::Measured if !any(&|row| row.trust != Some(Trust::Remote)) => (Trust::Remote.name(), None),
        Status::Measured if !any(&|row| row.comparable()) => ("unverified", None),
        Status::Measured if !any(&|row| row.benchmark == rule.benchmark && row.median_ms.is_some()) => {
            ("no-latency", None)
        }
        Status::Measured if !any(&|row| row.precision.is_some()) => ("no-precision", None),
        Status::Measured => ("no-baseline", None),
        Status::Failed => ("failed", told()),
        Status::Unsupported => ("unsupported", told()),
        Status::Unavailable => ("unavailable", told()),
        Status::NotTried => ("not-tried", told()),
    }
}

fn failures(now: &[&Row<'_>]) -> Vec<Failure> {
    let mut failures: BTreeMap<(bool, &str, &str), u64> = BTreeMap::new();
    for row in now {
        // Figures stay those of the measurement; what was tried since stands beside them.
        let (since, outcome, reason) = match (row.measured(), row.newer) {
            (false, _) => (false, row.outcome, row.reason),
            (true, Some((outcome, reason))) => (true, outcome, reason),
            (true, None) => continue,
        };
        *failures.entry((since, outcome.name(), reason.unwrap_or("no reason was recorded"))).or_default() += 1;
    }
    let failure = |((since, outcome, reason), cells): ((bool, &str, &str), u64)| Failure {
        outcome: outcome.into(),
        reason: reason.into(),
        cells,
        since,
    };
    failures.into_iter().map(failure).collect()
}
