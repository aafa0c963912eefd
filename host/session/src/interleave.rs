//! Two targets measured round by round in turns: their plans, and which of their cells are held against each other.

use crate::compare::{document, party_here};
use crate::event::{Event, Listener, Relay};
use skillbench_engine::compare::{Live, Side};
use skillbench_engine::run::{self, Interleave, Inventory, Plan, PlannedCell, RequestError};
use skillbench_record::RunRequest;
use skillbench_record::defaults::defaults;
use skillbench_stats::compare::{ComparedCell, Comparison, Mode};
use std::path::Path;

#[derive(Debug, thiserror::Error)]
pub enum InterleaveError {
    #[error(transparent)]
    Request(#[from] RequestError),
    #[error("{0}")]
    Library(String),
    #[error("{0}")]
    Runtime(String),
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

/// What is asked of one side, whose library and runtime the inventory has from here on.
///
/// # Errors
/// A library that is no plugin, or a runtime that is not installed.
pub fn request_of(inventory: &mut Inventory, side: &Side, request: &RunRequest) -> Result<RunRequest, InterleaveError> {
    let plugin = match &side.library {
        None => side.backend.clone(),
        Some(library) => {
            inventory.take_library(library).map_err(|error| InterleaveError::Library(error.to_string()))?
        }
    };
    if let Some(version) = &side.runtime {
        inventory.use_runtime(&plugin, version).map_err(InterleaveError::Runtime)?;
    }
    Ok(side.of(request, &plugin))
}

/// The plan of one side. Its own cells measure nothing: the rounds come in turns.
///
/// # Errors
/// As for [`request_of`], and a name or value that cannot be.
pub fn plan_of(inventory: &mut Inventory, side: &Side, request: &RunRequest) -> Result<Plan, InterleaveError> {
    let request = request_of(inventory, side, request)?;
    let mut plan = run::plan(inventory, request)?;
    plan.request.verify_only = true;
    plan.rounds_follow = true;
    Ok(plan)
}

/// Measures the cells that the first plan and each of the others have in common in turns, and compares them; a side is the target as it
/// was named. What the workers write lies in `folder`. Where it is stopped, the comparison has the pairs that were done.
///
/// # Errors
/// The plans have no cell in common.
pub fn compare(
    first: (&Plan, &Side),
    others: &[(&Plan, &Side)],
    live: &Live<'_>,
    folder: &Path,
    command: Vec<String>,
    on: &mut Listener<'_>,
) -> Result<Comparison, InterleaveError> {
    let mut cells = vec![];
    'sides: for (plan, side) in others {
        let pairs = pairs(first.0, plan)?;
        let mut interleave = Interleave::new([first.0, plan], folder, "comparison");
        for (number, pair) in pairs.iter().enumerate() {
            let model = first.0.models[pair[0].model].id();
            let of_side = if others.len() > 1 { format!("{}: ", side.name) } else { String::new() };
            let name = format!("[{}/{}] {of_side}{model}, {}", number + 1, pairs.len(), pair[0].axes);
            on(Event::ComparisonBegun { name: &name });
            on(Event::Note(&format!("in turns, {} launches or more", live.launches)));
            match live.compare(&mut interleave, *pair, &mut Relay(&mut *on)) {
                Ok(cell) => cells.push(ComparedCell { side: (others.len() > 1).then(|| side.name.clone()), ..cell }),
                Err(_) => break 'sides,
            }
        }
    }
    let names: Vec<&str> = others.iter().map(|(_, side)| side.name.as_str()).collect();
    let parties = [party_here(first.1.name.clone()), party_here(names.join(", "))];
    Ok(document(Mode::Interleaved, parties, command, cells))
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
