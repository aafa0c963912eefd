//! Since when something is slower: the histories of cells, judged for change points, and what was recorded as changed there.
//!
//! - `metric`: what can be looked at, and what may explain a change. `plugin`: the same of metrics that plugins add. `history`: cells in
//!   the order of time. `clock`: runs whose time is in doubt. `describe`: the JSON form.
//!
//! Not here: the statistics, which are the engine's; asking for it and printing it (host), drawing (report).

mod clock;
mod describe;
mod history;
mod metric;
mod plugin;

pub use clock::{When, doubts};
pub use describe::{date, json};
pub use history::{History, Of, Point, histories};
pub use metric::{Measure, metric, metrics, words};
pub use plugin::plugin_metrics;

use crate::{Stored, StoredError};
use skillbench_record::catalog::{self, column};
use skillbench_stats::rules;
use skillbench_stats::{e_divisive, median};
use skillbench_store::Database;
use skillbench_store::database::Filter;
use std::collections::BTreeSet;

/// What is found in a database, and what is to be said of it besides.
pub struct Found {
    pub judged: Vec<Judged>,
    pub notes: Vec<String>,
}

/// The histories of the cells of a filter, judged; at this moment, in microseconds since 1970-01-01. See [`histories`].
///
/// # Errors
/// As for any use of the database; a condition that DuckDB refuses.
pub fn of_database(
    database: &Database,
    filter: &Filter,
    metrics: Option<&[Measure]>,
    now: i64,
) -> Result<Found, StoredError> {
    let mut columns: BTreeSet<&str> = history::COLUMNS.into_iter().collect();
    columns.extend(words().cell.iter().map(|fact| fact.name.as_str()));
    let usual = metric::usual();
    let (own, of_plugins): (Vec<&Measure>, Vec<&Measure>) =
        metrics.unwrap_or(&usual).iter().partition(|measure| catalog::metric(&measure.name).is_some());
    columns.extend(own.iter().map(|measure| measure.column.as_str()));
    let mut cells = Stored::columns_of(database, filter, &columns.into_iter().collect::<Vec<_>>())?;
    for measure in of_plugins {
        cells = plugin::with_column(database, cells, measure)?;
    }
    let runs = database.runs(&Filter::all())?;
    let mut notes = doubts(When::all(database)?, now, rules().trend.clock_slack_s);
    match cells.column(column::TIMESTAMP)?.null_count() {
        0 => {}
        lost => notes.push(format!("{lost} cells are of runs that do not tell when they began, and are left out")),
    }
    Ok(Found { judged: judge(histories(cells, &runs, metrics)?), notes })
}

/// A history with what was found in it.
#[derive(Clone, Debug)]
pub struct Judged {
    pub history: History,
    /// `None`: it is too short to be judged.
    pub changes: Option<Vec<Change>>,
}

/// Where a history changed.
#[derive(Clone, Debug)]
pub struct Change {
    /// The first point after it.
    pub at: usize,
    pub p: f64,
    pub before: Level,
    pub after: Level,
    /// What is after over what is before.
    pub ratio: f64,
    pub worse: bool,
    /// Nothing has changed since.
    pub newest: bool,
    /// What is recorded otherwise at this run than at the one before it.
    pub with_it: Vec<Difference>,
    /// The same at runs close by, since the place is known to a run or two.
    pub nearby: Vec<(usize, Vec<Difference>)>,
}

/// The figures between two changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    pub median: f64,
    pub n: usize,
}

/// Something that is recorded otherwise than in the run before; `None`: not known.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    pub name: &'static str,
    pub label: &'static str,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// Judges all histories together: see [`e_divisive::change_points`].
pub fn judge(histories: Vec<History>) -> Vec<Judged> {
    let trend = &rules().trend;
    let values: Vec<Vec<f64>> =
        histories.iter().map(|history| history.points.iter().map(|point| point.value).collect()).collect();
    let found = e_divisive::change_points(&values, &trend.rules, trend.seed);
    let judged = |((history, points), values): ((History, Vec<e_divisive::ChangePoint>), Vec<f64>)| {
        let bounds: Vec<usize> =
            std::iter::once(0).chain(points.iter().map(|point| point.at)).chain([values.len()]).collect();
        let level = |from: usize, to: usize| Some(Level { median: median(&values[from..to])?, n: to - from });
        let changes = points.iter().enumerate().filter_map(|(place, point)| {
            let (before, after) = (level(bounds[place], point.at)?, level(point.at, bounds[place + 2])?);
            let ratio = after.median / before.median;
            Some(Change {
                at: point.at,
                p: point.p,
                before,
                after,
                ratio,
                worse: history.metric.is_worse(ratio),
                newest: place + 1 == points.len(),
                with_it: differences(&history, point.at),
                nearby: nearby(&history, point.at, trend.nearby_runs),
            })
        });
        let changes = (values.len() >= trend.rules.least_runs).then(|| changes.collect());
        Judged { history, changes }
    };
    histories.into_iter().zip(found).zip(values).map(judged).collect()
}

/// What is recorded otherwise at this point than at the one before.
fn differences(history: &History, at: usize) -> Vec<Difference> {
    let point = |place: Option<usize>| history.points.get(place?);
    let (Some(before), Some(after)) = (point(at.checked_sub(1)), point(Some(at))) else { return vec![] };
    let facts = words().cell.iter().chain(&words().environment);
    facts
        .zip(before.facts.iter().zip(&after.facts))
        .filter(|(_, (before, after))| before != after)
        .map(|(fact, (before, after))| Difference {
            name: &fact.name,
            label: &fact.label,
            before: before.clone(),
            after: after.clone(),
        })
        .collect()
}

fn nearby(history: &History, at: usize, runs: usize) -> Vec<(usize, Vec<Difference>)> {
    let near = (at.saturating_sub(runs).max(1)..=at + runs).filter(|place| *place != at);
    near.map(|place| (place, differences(history, place))).filter(|(_, differences)| !differences.is_empty()).collect()
}

impl Change {
    /// The run at which it happened.
    pub fn point<'h>(&self, history: &'h History) -> Option<&'h Point> {
        history.points.get(self.at)
    }

    /// What may explain it, in words.
    pub fn explained(&self) -> String {
        let list = |differences: &[Difference]| -> String {
            differences.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
        };
        if !self.with_it.is_empty() {
            return list(&self.with_it);
        }
        let near = self.nearby.iter().map(|(place, differences)| {
            let (runs, way) = (place.abs_diff(self.at), if *place < self.at { "earlier" } else { "later" });
            format!("{runs} run{} {way}: {}", if runs == 1 { "" } else { "s" }, list(differences))
        });
        let near: Vec<String> = near.collect();
        match near.is_empty() {
            true => "nothing changed in what is recorded".into(),
            false => format!("nothing changed with it; {}", near.join("; ")),
        }
    }
}

/// Hashes are told by their first digits.
const SHOWN: usize = 12;

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = |value: &Option<String>| match value {
            None => "not known".to_string(),
            Some(value) if value.len() == 64 && value.chars().all(|c| c.is_ascii_hexdigit()) => value[..SHOWN].into(),
            Some(value) => value.clone(),
        };
        write!(f, "{}: {} -> {}", self.label, shown(&self.before), shown(&self.after))
    }
}
