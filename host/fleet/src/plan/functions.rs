//! Functions of plugins that a machine has, as it told them. They need nothing of this host's.

use super::Part;
use crate::form::{Machine, MachineRun};
use crate::own::{OwnFiles, Sources, of_request};
use crate::place::{Placed, Present};
use crate::submit::SubmitError;
use skillbench_engine::bench::{Discovery, not_taken};
use skillbench_engine::run::{Inventory, RequestError};
use skillbench_record::{BackendChoice, CellName, Outcome, RunRequest};
use std::collections::{BTreeMap, BTreeSet};

/// The part of a request that a machine has functions for, in these of its plugins.
pub(super) fn part(
    local: &Inventory,
    machine: &Machine,
    plugins: &[BackendChoice],
    request: &RunRequest,
    known: &OwnFiles,
    sources: &mut Sources,
) -> Result<Part, SubmitError> {
    let discovery = Discovery::elsewhere(local, &machine.functions);
    let request = discovery.narrowed(&RunRequest { exactly: vec![], ..request.clone() })?;
    let own = of_request(discovery.files_among(&request)?.into_iter(), &[], known, sources)?;
    let mut plan = discovery.outline(request)?;
    plan.functions.retain(|function| plugins.iter().any(|choice| choice.plugin == function.found.plugin));
    let mut environment = machine.environment.clone();
    environment.plugin_sha256.retain(|id, _| plugins.iter().any(|choice| choice.plugin == *id));
    environment.runtime_sha256 = BTreeMap::new();
    environment.models = BTreeMap::new();
    let cells = plan.functions.iter().map(|function| {
        let mut cell = function.cell(0);
        if !own.options.is_empty() && !machine.takes_files() {
            cell.outcome = Outcome::Skipped(super::models::no_files(&machine.name));
        }
        (CellName::of(&cell), cell)
    });
    Ok(Part { cells: cells.collect(), request: plan.request, environment, own, warnings: vec![] })
}

/// Functions that a request leaves out on the machines that it was placed on, each with the option that it needs.
///
/// # Errors
/// As for a plan.
pub fn left_out(
    local: &Inventory,
    present: &[Present],
    placed: &Placed,
    request: &RunRequest,
) -> Result<BTreeSet<(String, String)>, RequestError> {
    let mut all = BTreeSet::new();
    for Present { machine, .. } in present.iter().filter(|present| placed.machines.contains_key(&present.machine.name))
    {
        let discovery = Discovery::elsewhere(local, &machine.functions);
        all.extend(discovery.left_out(&discovery.narrowed(request)?)?);
    }
    Ok(all)
}

/// Whether each name and each option of a request is of some machine's functions.
///
/// # Errors
/// One that no machine has anything for.
pub(super) fn all_have_a_taker(
    local: &Inventory,
    present: &[Present],
    request: &RunRequest,
    runs: &[MachineRun],
) -> Result<(), SubmitError> {
    let is_known = |name: &String| runs.iter().any(|run| run.request.benchmarks.contains(name));
    if let Some(name) = request.benchmarks.iter().find(|name| !is_known(name)) {
        // Names that are alike may be of any machine's.
        let all: Vec<_> = present.iter().flat_map(|present| present.machine.functions.clone()).collect();
        Discovery::elsewhere(local, &all).check_name(name)?;
        return Err(RequestError(format!("none of the machines that measure has the benchmark '{name}'")).into());
    }
    let is_taken = |option| runs.iter().any(|run| run.request.options.contains(option));
    match request.options.iter().find(|option| !is_taken(option)) {
        Some(option) => Err(not_taken(option).into()),
        None => Ok(()),
    }
}
