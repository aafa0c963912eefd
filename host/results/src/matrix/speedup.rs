//! Cells held against the CPU.
//!
//! The CPU's cell is a verified one of the same machine, model, benchmark, axes and precision; of the same run if there is one, else the
//! newest, and then the one with the most threads. A backend that runs on the CPU itself, where both say how many threads they had, is
//! held against as many.

use super::rows::Row;
use super::rule::Rule;
use super::{Rating, Speedup};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

type Key<'a> = (&'a str, &'a str, &'a str, &'a str);

/// The CPU's cells by what others must have in common with them.
pub(super) struct Baseline<'a> {
    cells: HashMap<Key<'a>, Vec<&'a Row<'a>>>,
}

fn key<'a>(row: &'a Row<'a>) -> Option<Key<'a>> {
    Some((row.machine, row.model, row.axes, row.precision?))
}

impl<'a> Baseline<'a> {
    pub fn of(rows: &'a [Row<'a>], rule: &Rule) -> Baseline<'a> {
        let mut cells: HashMap<Key<'a>, Vec<&'a Row<'a>>> = HashMap::new();
        for row in rows.iter().filter(|row| row.plugin == rule.baseline && row.plain && row.benchmark == rule.benchmark)
        {
            if let (true, Some(key)) = (row.comparable() && row.median_ms.is_some(), key(row)) {
                cells.entry(key).or_default().push(row);
            }
        }
        Baseline { cells }
    }

    /// How many times as fast as the CPU; `None`: there is nothing to hold it against.
    fn speedup(&self, row: &Row<'_>) -> Option<f64> {
        let key = (row.machine, row.model, row.axes, row.precision?);
        let fits = |cpu: &&&Row<'_>| !row.on_cpu || row.threads.zip(cpu.threads).is_none_or(|(own, its)| own == its);
        let best = |cpu: &&&Row<'_>| (cpu.run == row.run, cpu.timestamp, cpu.threads, cpu.cell == row.cell);
        let cpu = self.cells.get(&key)?.iter().filter(fits).max_by_key(best)?;
        Some(cpu.median_ms? / row.median_ms?).filter(|ratio| ratio.is_finite() && *ratio > 0.0)
    }
}

/// The geometric mean of what is above 0; `None` of nothing.
pub(super) fn geometric_mean(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().map(|value| value.ln()).sum();
    (!values.is_empty()).then(|| (sum / values.len() as f64).exp())
}

/// Of the newest cells of one model on one hardware the speed-up for each machine and precision, the one to be shown first.
pub(super) fn speedups(rows: &[&Row<'_>], baseline: &Baseline<'_>, rule: &Rule) -> Vec<Speedup> {
    let mut kinds: BTreeMap<(&str, &str), Vec<(f64, &Row<'_>)>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.comparable() && row.benchmark == rule.benchmark) {
        if let (Some(precision), Some(ratio)) = (row.precision, baseline.speedup(row)) {
            kinds.entry((precision, row.machine)).or_default().push((ratio, row));
        }
    }
    let one = |((precision, machine), points): ((&str, &str), Vec<(f64, &Row<'_>)>)| {
        let value = geometric_mean(&points.iter().map(|(ratio, _)| *ratio).collect::<Vec<_>>())?;
        Some(Speedup {
            value,
            rating: rule.rating(value),
            precision: precision.into(),
            machine: machine.into(),
            points: points.len() as u64,
            models: 1,
            timestamp: points.iter().filter_map(|(_, row)| row.moment()).max(),
        })
    };
    in_order(kinds.into_iter().filter_map(one).collect(), rule)
}

/// By the precision that is preferred, then the most models, then the newest.
pub(super) fn in_order(mut all: Vec<Speedup>, rule: &Rule) -> Vec<Speedup> {
    all.sort_by_cached_key(|one| {
        let place = (rule.preference(&one.precision), Reverse(one.models), Reverse(one.timestamp.clone()));
        (place, one.precision.clone(), one.machine.clone())
    });
    all
}

/// The rating by a speed-up that is shown.
pub(super) fn rated(all: &[Speedup]) -> Option<Rating> {
    all.first().map(|speedup| speedup.rating)
}
