//! Two targets measured round by round in turns: their plans, and which of their cells are held against each other.

use crate::compare::document;
use crate::event::{Event, Listener, Relay};
use skillbench_engine::compare::{Live, Side};
use skillbench_engine::run::{self, Interleave, Inventory, Plan, PlannedCell, RequestError};
use skillbench_record::RunRequest;
use skillbench_record::defaults::defaults;
use skillbench_record::machine;
use skillbench_stats::compare::{Comparison, Mode, Party};
use std::path::Path;

#[derive(Debug, thiserror::Error)]
pub enum InterleaveError {
    #[error(transparent)]
    Request(#[from] RequestError),
    #[error("{0}")]
    Library(String),
    #[error("there is no cell that both sides have")]
    NothingInCommon,
}

/// What both sides have in common, where the request leaves it open: latency, one item, and of models that are named one length.
pub fn with_defaults(request: RunRequest) -> RunRequest {
    let or = |given: Vec<i64>, default: &[i64]| if given.is_empty() { default.to_vec() } else { given };
    let length: &[i64] = if request.models.is_empty() { &[] } else { &defaults().run.sequence_lengths };
    RunRequest {
        benchmarks: if request.benchmarks.is_empty() { vec![INFERENCE.into()] } else { request.benchmarks },
        batch_sizes: or(request.batch_sizes, &[1]),
        sequence_lengths: or(request.sequence_lengths, length),
        ..request
    }
}

const INFERENCE: &str = "inference";

/// The plan of one side. Its own cells measure nothing: the rounds come in turns.
///
/// # Errors
/// A name or value that cannot be, or a library that is no plugin.
pub fn plan_of(inventory: &mut Inventory, side: &Side, request: &RunRequest) -> Result<Plan, InterleaveError> {
    let plugin = match &side.library {
        None => side.backend.clone(),
        Some(library) => {
            inventory.take_library(library).map_err(|error| InterleaveError::Library(error.to_string()))?
        }
    };
    let mut plan = run::plan(inventory, side.of(request, &plugin))?;
    plan.request.verify_only = true;
    plan.rounds_follow = true;
    Ok(plan)
}

/// Measures the cells that two plans have in common in turns, and compares them; `sides` are the targets as they were named. What the
/// workers write lies in `folder`. Where it is stopped, the comparison has the pairs that were done.
///
/// # Errors
/// The plans have no cell in common.
pub fn compare(
    plans: [&Plan; 2],
    sides: [&Side; 2],
    live: &Live<'_>,
    folder: &Path,
    command: Vec<String>,
    on: &mut Listener<'_>,
) -> Result<Comparison, InterleaveError> {
    let pairs = pairs(plans[0], plans[1])?;
    let mut interleave = Interleave::new(plans, folder, "comparison");
    let mut cells = vec![];
    for (number, pair) in pairs.iter().enumerate() {
        let model = plans[0].models[pair[0].model].id();
        on(Event::ComparisonBegun { name: &format!("[{}/{}] {model}, {}", number + 1, pairs.len(), pair[0].axes) });
        on(Event::Note(&format!("in turns, {} launches or more", live.launches)));
        match live.compare(&mut interleave, *pair, &mut Relay(&mut *on)) {
            Ok(cell) => cells.push(cell),
            Err(_) => break,
        }
    }
    let machine = machine::label();
    let party = |side: &Side| Party { name: side.name.clone(), run: None, started_at: None, machine: machine.clone() };
    Ok(document(Mode::Interleaved, sides.map(party), command, cells))
}

/// Cells of both plans that do the same work.
///
/// # Errors
/// There is none.
pub fn pairs<'p>(before: &'p Plan, after: &'p Plan) -> Result<Vec<[&'p PlannedCell; 2]>, InterleaveError> {
    let same = |a: &PlannedCell, b: &PlannedCell| {
        before.models[a.model].id() == after.models[b.model].id()
            && before.benchmarks[a.benchmark].description.id == after.benchmarks[b.benchmark].description.id
            && a.axes == b.axes
    };
    let of = |a: &'p PlannedCell| after.cells.iter().find(|b| same(a, b)).map(|b| [a, b]);
    let pairs: Vec<_> = before.cells.iter().filter_map(of).collect();
    match pairs.is_empty() {
        true => Err(InterleaveError::NothingInCommon),
        false => Ok(pairs),
    }
}
