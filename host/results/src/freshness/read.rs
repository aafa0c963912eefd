//! The measurements of one machine that count now, out of the database.

use super::{MadeWith, Measured, Newer};
use skillbench_record::{CellName, FUNCTION, Run, RunRequest};
use skillbench_store::database::{Filter, StoredCell, text_literal};
use skillbench_store::{Database, DatabaseError};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// What was measured of models on a machine and has figures, the newest first; by its id, see [`skillbench_record::Environment::machine_id`]. Of
/// a model whose content changed only the newest content is there.
///
/// # Errors
/// As for any use of the database.
pub fn of_machine(database: &Database, machine: &str) -> Result<Vec<Measured>, DatabaseError> {
    let of_models = format!("family IS DISTINCT FROM {}", text_literal(FUNCTION));
    let filter = Filter::sql(&format!("machine = {} AND {of_models}", text_literal(machine)));
    let runs: HashMap<String, Run> = database.runs(&filter)?.into_iter().map(|run| (run.run_id.clone(), run)).collect();
    let requests: HashMap<String, Arc<RunRequest>> =
        database.requests(&filter)?.into_iter().map(|(run, request)| (run, Arc::new(request))).collect();
    let mut latest = database.latest(&filter)?;
    latest.retain(|latest| latest.cell.trust.is_some() && latest.cell.has_figures);
    latest.sort_by(|one, other| other.cell.seen().order().cmp(&one.cell.seen().order()));
    let mut seen = BTreeSet::new();
    latest.retain(|latest| seen.insert(without_content(&latest.cell)));
    let measured = |latest: skillbench_store::database::StoredLatest| {
        let cell = latest.cell;
        let name = CellName {
            plugin: cell.plugin,
            device: Some(cell.device).filter(|device| !device.is_empty()),
            model: cell.model,
            benchmark: cell.benchmark,
            axes: cell.axes,
        };
        let made_with =
            runs.get(&cell.run).map(|run| MadeWith::of(&run.environment, &name.plugin, &name.benchmark, &name.model));
        Measured {
            began: cell.began,
            precision: cell.precision_asked,
            threads: cell.threads,
            workers: cell.workers,
            options: cell.options,
            beside: cell.beside.is_some(),
            unverified: cell.verified.as_deref() == Some("off"),
            made_with: MadeWith {
                plugin_version: cell.plugin_version,
                benchmark_version: cell.benchmark_version,
                driver: cell.driver,
                ..made_with.unwrap_or_default()
            },
            request: requests.get(&cell.run).cloned(),
            newer: latest.newer.map(|newer| Newer { run: newer.run, outcome: newer.outcome, reason: newer.reason }),
            run: cell.run,
            name,
        }
    };
    Ok(latest.into_iter().map(measured).collect())
}

type Key = ([String; 5], Option<String>, Option<u64>, Option<u64>, Option<String>, Option<String>);

/// What is the same for two contents of one model.
fn without_content(cell: &StoredCell) -> Key {
    let name = [&cell.plugin, &cell.device, &cell.model, &cell.benchmark, &cell.axes.to_string()].map(Clone::clone);
    (name, cell.precision_asked.clone(), cell.threads, cell.workers, cell.options.clone(), cell.beside.clone())
}
