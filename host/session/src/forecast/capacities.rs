//! The capacities that count now, as the database has them. Nothing here is predicted.

use super::{Figure, Place};
use skillbench_record::catalog;
use skillbench_record::catalog::column;
use skillbench_record::load::{Load, SLO};
use skillbench_record::{Axes, OutcomeKind};
use skillbench_results::freshness::Newer;
use skillbench_store::database::{Filter, StoredCell, StoredLatest};
use skillbench_store::{Database, DatabaseError};
use std::collections::{BTreeMap, BTreeSet};

/// The load of a search, and the options that are the hardware's. `None` of what was no search.
fn searched(cell: &StoredCell) -> Option<(Load, Option<String>)> {
    Load::searched(&cell.benchmark, &cell.axes, cell.options.as_deref()?)
}

/// The largest rate that keeps the limits, as one search found it.
#[derive(Clone, Debug)]
pub struct Capacity {
    pub model: String,
    pub load: Load,
    /// With the options of the hardware alone.
    pub place: Place,
    pub workers: Option<u64>,
    pub precision_asked: Option<String>,
    pub axes: Axes,
    /// Requests a second.
    pub figure: Figure,
}

/// A search that never found one, and how the newest ended.
#[derive(Clone, Debug)]
pub struct Vain {
    pub model: String,
    pub load: Load,
    pub place: Place,
    pub outcome: OutcomeKind,
    pub reason: String,
}

#[derive(Debug, Default)]
pub struct Capacities {
    pub found: Vec<Capacity>,
    pub vain: Vec<Vain>,
    /// What people call each machine, by its id.
    pub machines: BTreeMap<String, String>,
}

impl Capacities {
    /// # Errors
    /// As for any use of the database.
    pub fn read(database: &Database) -> Result<Capacities, DatabaseError> {
        let mut all = Capacities::default();
        let searches = format!("{} LIKE '%{SLO}=%' AND {} IS NULL", column::OPTIONS, column::BESIDE);
        let mut latest = database.latest(&Filter::sql(&searches))?;
        // The newest first: of a model whose content changed only the newest content counts.
        latest.sort_by(|one, other| other.cell.seen().order().cmp(&one.cell.seen().order()));
        let mut seen = BTreeSet::new();
        for StoredLatest { cell, newer } in latest {
            let Some((load, options)) = searched(&cell).filter(|_| !cell.model.is_empty()) else { continue };
            let place = Place { options, ..Place::of(&cell) };
            let Some(figure) = figure(&cell, newer.as_ref()) else {
                if cell.outcome != OutcomeKind::Measured {
                    let reason = cell.reason.unwrap_or_default();
                    all.vain.push(Vain { model: cell.model, load, place, outcome: cell.outcome, reason });
                }
                continue;
            };
            let policy = (place.clone(), cell.workers, cell.model.clone(), cell.axes.clone(), load.clone());
            if !seen.insert(policy) {
                continue;
            }
            all.machines.entry(cell.machine.clone()).or_insert_with(|| cell.machine_label());
            all.found.push(Capacity {
                figure,
                model: cell.model,
                load,
                place,
                workers: cell.workers,
                precision_asked: cell.precision_asked,
                axes: cell.axes,
            });
        }
        Ok(all)
    }

    /// The models of which a capacity is known on any machine.
    pub fn models(&self) -> BTreeSet<&str> {
        self.found.iter().map(|one| one.model.as_str()).collect()
    }

    /// The limits within which capacities of a model are known on a machine.
    pub fn limits(&self, machine: &str, model: &str) -> BTreeSet<&str> {
        let of = self.found.iter().filter(|one| one.place.machine == machine && one.model == model);
        of.map(|one| one.load.limits.as_str()).collect()
    }
}

fn figure(cell: &StoredCell, newer: Option<&StoredCell>) -> Option<Figure> {
    let of = |column: &str| cell.figure(catalog::metric(column)?);
    let newer =
        newer.map(|newer| Newer { run: newer.run.clone(), outcome: newer.outcome, reason: newer.reason.clone() });
    Some(Figure {
        value: of(column::CAPACITY_PER_SEC)?,
        interval: of(column::CAPACITY_CI95_LOW_PER_SEC).zip(of(column::CAPACITY_CI95_HIGH_PER_SEC)),
        run: cell.run.clone(),
        date: super::cells::date(cell),
        trust: cell.trust.filter(|_| cell.has_figures)?,
        newer: newer.as_ref().map(Newer::short),
    })
}
