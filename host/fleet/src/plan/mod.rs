//! A request on the machines of a fleet: planned here, with what each of them announced. `models`: on backends. `functions`: of its plugins.

mod functions;
mod models;

use crate::form::{AskedCell, MachineRun};
use crate::names;
use crate::own::{OwnFiles, Sources};
use crate::place::{Placed, Present};
use crate::spread::share_out;
use crate::submit::SubmitError;
pub use functions::left_out;
pub use models::other_model;
use skillbench_engine::run::Inventory;
use skillbench_record::{Cell, CellName, Environment, RunRequest};

/// What a request is on the machines of a fleet.
pub struct Planned {
    pub runs: Vec<MachineRun>,
    /// What they are measured with and the machines do not have.
    pub own: OwnFiles,
    /// Where that is here.
    pub sources: Sources,
    pub warnings: Vec<String>,
}

/// What one machine measures of a request.
struct Part {
    request: RunRequest,
    environment: Environment,
    /// In order; with the reason where one is skipped.
    cells: Vec<(CellName, Cell)>,
    own: OwnFiles,
    warnings: Vec<String>,
}

/// Plans a request on the machines that it was placed on.
///
/// # Errors
/// A request that cannot be, here or there.
pub fn plan(
    local: &Inventory,
    present: &[Present],
    placed: &Placed,
    request: &RunRequest,
) -> Result<Planned, SubmitError> {
    if request.parallel {
        return Err(SubmitError::Parallel);
    }
    let (mut runs, mut warnings) = (vec![], vec![]);
    let (mut own, mut sources) = (OwnFiles::default(), Sources::new());
    for present in present {
        let machine = &present.machine;
        let Some(choices) = placed.machines.get(&machine.name) else { continue };
        let part = match request.functions {
            true => functions::part(local, machine, choices, request, &own, &mut sources)?,
            false => models::part(local, machine, choices, request, &own, &mut sources)?,
        };
        for warning in part.warnings {
            let told = format!("{}: {warning}", machine.name);
            if !warnings.contains(&told) {
                warnings.push(told);
            }
        }
        let (mut cells, mut kinds) = (vec![], vec![]);
        for (name, blank) in part.cells {
            let kind = Cell { index: 0, axes: Default::default(), ..blank };
            let known = kinds.iter().position(|known| *known == kind).unwrap_or_else(|| {
                kinds.push(kind);
                kinds.len() - 1
            });
            cells.push(AskedCell { key: names::key(&name), name, kind: known });
        }
        own.extend(part.own);
        let Part { request, environment, .. } = part;
        runs.push(MachineRun {
            machine: machine.name.clone(),
            request,
            environment,
            clock: machine.clock,
            cells,
            kinds,
        });
    }
    if request.functions {
        functions::all_have_a_taker(local, present, request, &runs)?;
    }
    share_out(&mut runs, &placed.shared);
    Ok(Planned { runs, own, sources, warnings })
}
