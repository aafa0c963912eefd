//! What a gone machine left undone is measured on another of its class, as a submission of its own: a run stays one machine's, and
//! figures of two machines are never mixed.
//!
//! Which submission that is stands on the server before anything is moved, so that of two collectors one moves it, and whoever comes later
//! finds it. The machine that was gone begins no more of its cells; what it has measured stays its own.

use crate::class::Class;
use crate::courier::{Courier, CourierError, Over, Table};
use crate::form::{Machine, MachineRun, Submission};
use crate::names;
use crate::own::OwnFiles;
use crate::place::{Placed, Present, class_of_backend, class_of_functions, idle_first};
use crate::plan::Planned;
use crate::seal::{Signer, Trust};
use crate::submit::{self, SubmitError};
use skillbench_record::{BackendChoice, RunRequest};
use std::collections::BTreeSet;
use std::time::Duration;

/// When work is moved, and who plans it anew.
pub struct Failover<'f> {
    /// So long a machine gives no sign of life before its cells are moved.
    pub after: Duration,
    pub plan: &'f Plan<'f>,
}

/// Plans a request on machines that it was placed on: [`plan`](crate::plan::plan) with what this host has.
pub type Plan<'f> = dyn Fn(&[Present], &Placed, &RunRequest) -> Result<Planned, SubmitError> + 'f;

/// What became of cells that were to be moved.
pub enum Moved {
    /// This submission has them, on these machines.
    To { submission: String, machines: Vec<String> },
    /// No machine can stand in for the one that is gone.
    Nowhere(String),
}

/// The submission that the undone cells of a machine were moved to.
///
/// # Errors
/// The courier's.
pub fn moved_to(courier: &dyn Courier, submission: &str, machine: &str) -> Result<Option<String>, CourierError> {
    let Some(id) = reserved(courier, submission, machine)? else { return Ok(None) };
    // Whoever meant to move them may have been killed before.
    Ok(courier.stored(&names::head(&id))?.map(|_| id))
}

/// The id that they are moved under, or are to be.
fn reserved(courier: &dyn Courier, submission: &str, machine: &str) -> Result<Option<String>, CourierError> {
    let entry = courier.read(Table::States, &names::failover(submission, machine))?;
    Ok(entry.and_then(|entry| String::from_utf8(entry.body).ok()).filter(|id| names::check(id).is_ok()))
}

/// Whether a machine is to begin nothing more of a submission: it was taken back, or moved elsewhere.
///
/// # Errors
/// The courier's.
pub fn is_over_for(courier: &dyn Courier, submission: &str, machine: &str) -> Result<bool, CourierError> {
    Ok(submit::is_cancelled(courier, submission)? || moved_to(courier, submission, machine)?.is_some())
}

/// Moves cells of a machine that is gone, named by their keys, to machines of the same class of devices.
///
/// # Errors
/// They cannot be planned, or the courier's.
pub fn move_cells(
    courier: &dyn Courier,
    trust: &Trust,
    signer: &Signer,
    plan: &Plan<'_>,
    submission: &Submission,
    run: &MachineRun,
    undone: &BTreeSet<String>,
) -> Result<Moved, SubmitError> {
    let (present, _) = submit::present(courier, trust)?;
    let others: Vec<&Present> =
        present.iter().filter(|present| can_stand_in(&present.machine.name, submission, run, undone)).collect();
    let Some(gone) = submit::announced(courier, trust, &run.machine)? else {
        return Ok(Moved::Nowhere(format!("nobody knows what {} was", run.machine)));
    };
    // A run of functions names no backends: what its cells are of says it as well.
    let mut choices: Vec<BackendChoice> = vec![];
    for cell in run.cells.iter().filter(|cell| undone.contains(&cell.key)) {
        let choice = BackendChoice { plugin: cell.name.plugin.clone(), device: cell.name.device.clone() };
        if !choices.contains(&choice) {
            choices.push(choice);
        }
    }
    let class = if run.request.functions { class_of_functions } else { class_of_backend };
    let placed = match successors(&gone, &others, &choices, class) {
        Ok(placed) => placed,
        Err(lacks) => return Ok(Moved::Nowhere(format!("no other machine there has a device like that of {lacks}"))),
    };
    let (mut lacks, mut lacked, mut own) = (undone.clone(), None, OwnFiles::default());
    let made = plan(&present, &placed, &run.request).and_then(|mut planned| {
        for run in &mut planned.runs {
            run.cells.retain(|cell| undone.contains(&cell.key));
            lacks.retain(|key| !run.cells.iter().any(|cell| cell.key == *key));
        }
        planned.runs.retain(|run| !run.cells.is_empty());
        lacked = run.cells.iter().find(|cell| lacks.contains(&cell.key)).map(|cell| cell.name.to_string());
        own = planned.own;
        submit::submission(planned.runs, own.clone(), Some(submission.seed), submission.command.clone(), signer.name())
    });
    if let Some(cell) = lacked {
        return Ok(Moved::Nowhere(format!("this host, which would plan them anew, does not know {cell}: update it")));
    }
    let made = match made {
        // Cells of other files would be other cells.
        Ok(_) if own != submission.own => {
            return Ok(Moved::Nowhere(
                "the models or files that it is measured with are others here than when it was sent".into(),
            ));
        }
        Ok(made) => made,
        Err(SubmitError::Courier(error)) => return Err(error.into()),
        Err(error) => return Ok(Moved::Nowhere(format!("those that are there cannot measure it: {error}"))),
    };
    let key = names::failover(&submission.id, &run.machine);
    let id = match courier.write(Table::States, &key, made.id.as_bytes(), Over::Nothing)? {
        Some(_) => made.id.clone(),
        // Another collector was quicker; it may have been killed before it sent what it meant to.
        None => reserved(courier, &submission.id, &run.machine)?.unwrap_or_else(|| made.id.clone()),
    };
    submit::prioritize(courier, &id, submit::priority(courier, &submission.id)?)?;
    submit::send_head(courier, signer, &Submission { id: id.clone(), ..made })?;
    courier.take_back(&names::jobs_of_machine(&run.machine, &submission.id))?;
    // Whose head came first holds.
    let sent = submit::find(courier, trust, &id)?;
    sent.lots.iter().try_for_each(|lot| submit::send_lot(courier, signer, &sent, lot))?;
    Ok(Moved::To { submission: id, machines: sent.runs.into_iter().map(|run| run.machine).collect() })
}

/// A machine that measures the same cells in this very submission is no help.
fn can_stand_in(machine: &str, submission: &Submission, run: &MachineRun, undone: &BTreeSet<String>) -> bool {
    let measures_them = |(_, own): (usize, &MachineRun)| own.cells.iter().any(|cell| undone.contains(&cell.key));
    machine != run.machine && !submission.run_of(machine).is_some_and(measures_them)
}

/// For each choice a machine that is of the class of the gone one in it.
///
/// # Errors
/// A choice that no machine is of that class in.
fn successors(
    gone: &Machine,
    others: &[&Present],
    choices: &[BackendChoice],
    class: fn(&Machine, &BackendChoice) -> Result<Class, String>,
) -> Result<Placed, String> {
    let mut others = others.to_vec();
    idle_first(&mut others);
    let mut placed = Placed::default();
    for choice in choices {
        let of_class = class(gone, choice).map_err(|_| choice.to_string())?;
        let next = others.iter().find(|present| class(&present.machine, choice).as_ref() == Ok(&of_class));
        let next = next.ok_or_else(|| choice.to_string())?;
        placed.machines.entry(next.machine.name.clone()).or_default().push(choice.clone());
        placed.able.insert(next.machine.name.clone());
    }
    Ok(placed)
}
