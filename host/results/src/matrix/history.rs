//! What every run found out about a model on hardware.

use super::rows::Row;
use super::rule::Rule;
use super::{Measurement, Status};
use skillbench_record::Trust;
use std::collections::BTreeMap;

/// Of every cell of one model on one hardware, in the order of time: for each run, and in it for each precision and trust, the means
/// over its points; of a run that measured nothing, how far it came.
pub(super) fn history(rows: &[&Row<'_>], rule: &Rule) -> Vec<Measurement> {
    let mut runs: Vec<Vec<&Row<'_>>> = vec![];
    for row in rows {
        match runs.last_mut().filter(|run| run.first().is_some_and(|first| first.run == row.run)) {
            Some(run) => run.push(row),
            None => runs.push(vec![row]),
        }
    }
    runs.iter().flat_map(|run| of_run(run, rule)).collect()
}

fn of_run(rows: &[&Row<'_>], rule: &Rule) -> Vec<Measurement> {
    let asked: Vec<&Row<'_>> = rows.iter().copied().filter(|row| row.benchmark == rule.benchmark).collect();
    let rows = if asked.is_empty() { rows } else { &asked };
    let mut kinds: BTreeMap<(Option<&str>, Option<Trust>), Vec<&Row<'_>>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.measured()) {
        kinds.entry((row.precision, row.trust)).or_default().push(row);
    }
    if kinds.is_empty() {
        let furthest = rows.iter().max_by_key(|row| Status::of_outcome(row.outcome));
        return furthest.map(|row| measurement(row, rows, false)).into_iter().collect();
    }
    // A latency of another benchmark would be another thing under the same name.
    kinds.into_values().map(|cells| measurement(cells[0], &cells, !asked.is_empty())).collect()
}

fn measurement(of: &Row<'_>, cells: &[&Row<'_>], figures: bool) -> Measurement {
    let mean = |pick: fn(&Row<'_>) -> Option<f64>| {
        let values: Vec<f64> = cells.iter().filter_map(|row| pick(row)).collect();
        (figures && !values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    Measurement {
        timestamp: of.moment(),
        run: Some(of.run.into()),
        model_name: Some(of.model.into()),
        outcome: Some(of.outcome.name().into()),
        mean_latency: mean(|row| row.mean_ms).map(|ms| ms / 1000.0),
        mean_throughput: mean(|row| row.throughput),
        precision: of.precision.map(String::from),
        cells: Some(cells.len() as u64),
        emulated: of.emulated,
        verified: of.trust.map(|trust| trust != Trust::Unverified),
    }
}
