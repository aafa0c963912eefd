//! A request becomes a submission, and a submission jobs: the head first (I1), so that whoever comes later can put back what is missing.

use crate::courier::{Courier, CourierError, Over, Table, stored_subjects};
use crate::failover::moved_to;
use crate::files::FileError;
use crate::form::{self, AskedCell, Job, Lot, Machine, MachineRun, Submission};
use crate::keys::Role;
use crate::names;
use crate::own::OwnFiles;
use crate::place::Present;
use crate::seal::{SealError, Signer, Trust, When};
use skillbench_engine::run::RequestError;
use skillbench_record::defaults::defaults;
use skillbench_record::run_id;
use skillbench_record::time::{since_epoch, utc};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The states of a submission.
pub const RUNNING: &[u8] = b"running";
pub const CANCELLED: &[u8] = b"cancelled";

#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
    #[error(transparent)]
    Request(#[from] RequestError),
    #[error("{path}: {why}", path = path.display())]
    BadModel { path: PathBuf, why: String },
    #[error("a file cannot be sent: {0}")]
    OwnFile(String),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(
        "a fleet measures one cell at a time on each machine: ask for backends side by side (parallel) without --fleet, there"
    )]
    Parallel,
    #[error("there is nothing to measure")]
    Nothing,
    #[error(transparent)]
    Courier(#[from] CourierError),
    #[error(transparent)]
    Seal(#[from] SealError),
    #[error("there is no submission '{0}'")]
    Unknown(String),
    #[error("submission '{id}': {why}")]
    Unreadable { id: String, why: String },
}

/// The machines that are there now, as each announced itself. What cannot be believed is left out, and told.
///
/// # Errors
/// The courier's.
pub fn present(courier: &dyn Courier, trust: &Trust) -> Result<(Vec<Present>, Vec<String>), CourierError> {
    let (mut machines, mut problems) = (vec![], vec![]);
    for name in courier.keys(Table::Agents)? {
        let (beat, announced) = (courier.read(Table::Agents, &name)?, courier.read(Table::Machines, &name)?);
        let (Some(beat), Some(announced)) = (beat, announced) else { continue };
        // An agent that ended in order has given its name back.
        let Ok(beat) = serde_json::from_slice::<form::Beat>(&beat.body) else { continue };
        match machine(trust, &name, &announced.body) {
            // What another agent of the name announced is not what this one has.
            Ok(machine) if machine.session != beat.session => {}
            Ok(machine) => machines.push(Present { machine, doing: beat.doing }),
            Err(why) => problems.push(format!("agent {name} is left out: {why}")),
        }
    }
    machines.sort_by(|one, other| one.machine.name.cmp(&other.machine.name));
    Ok((machines, problems))
}

/// What a machine announced last, whether it is there or not; `None`: nothing that can be believed.
///
/// # Errors
/// The courier's.
pub fn announced(courier: &dyn Courier, trust: &Trust, name: &str) -> Result<Option<Machine>, CourierError> {
    let entry = courier.read(Table::Machines, name)?;
    Ok(entry.and_then(|entry| machine(trust, name, &entry.body).ok()))
}

fn machine(trust: &Trust, name: &str, body: &[u8]) -> Result<Machine, String> {
    let opened = trust.open(body, &[Role::Agent, Role::Site], When::Now).map_err(|error| error.to_string())?;
    let machine: Machine = form::read(form::MACHINE, &opened.body).map_err(|error| error.to_string())?;
    let is_own = opened.by.role == Role::Site || opened.by.name == machine.name;
    match machine.name == name && is_own {
        false => Err(format!("'{}' announced it under the name of another", opened.by.name)),
        true if !machine.accepts.iter().any(|form| form == form::JOB) => {
            Err(format!("it takes jobs of the form {}, and this host writes {}", machine.accepts.join(", "), form::JOB))
        }
        true => Ok(machine),
    }
}

/// Makes a submission of what was planned, under an id that nobody had.
///
/// # Errors
/// There is nothing to measure, or no random number.
pub fn submission(
    runs: Vec<MachineRun>,
    own: OwnFiles,
    seed: Option<u64>,
    command: Vec<String>,
    by: &str,
) -> Result<Submission, SubmitError> {
    let began = since_epoch();
    let chance = getrandom::u32().map_err(|error| CourierError::Away(error.to_string()))?;
    let id = run_id::of(began, chance);
    let lots = lots(&runs);
    if lots.is_empty() {
        return Err(SubmitError::Nothing);
    }
    Ok(Submission {
        schema: form::SUBMISSION.into(),
        id,
        by: by.into(),
        at: utc(began.as_secs() as i64),
        command,
        seed: seed.unwrap_or(defaults().run.seed),
        runs,
        lots,
        must_understand: form::needed(&own),
        own,
    })
}

/// The cells of each backend and model, in the order of the plan.
fn lots(runs: &[MachineRun]) -> Vec<Lot> {
    let mut lots: Vec<Lot> = vec![];
    for (run, of_machine) in runs.iter().enumerate() {
        let mut places: BTreeMap<(&str, Option<&str>, &str), usize> = BTreeMap::new();
        let is_asked = |cell: &AskedCell| of_machine.kinds.get(cell.kind).is_some_and(form::is_planned);
        for (index, cell) in of_machine.cells.iter().enumerate().filter(|(_, cell)| is_asked(cell)) {
            let place =
                *places.entry((&cell.name.plugin, cell.name.device.as_deref(), &cell.name.model)).or_insert(lots.len());
            if place == lots.len() {
                lots.push(Lot { id: lots.len().to_string(), run, cells: vec![] });
            }
            lots[place].cells.push(index);
        }
    }
    lots
}

/// Sends a submission: its head, then its jobs. Sending it again adds what is missing and nothing else.
///
/// # Errors
/// The courier's.
pub fn send(courier: &dyn Courier, signer: &Signer, submission: &Submission) -> Result<(), SubmitError> {
    send_head(courier, signer, submission)?;
    for lot in &submission.lots {
        send_lot(courier, signer, submission, lot)?;
    }
    Ok(())
}

/// Stores a submission, where it is not.
///
/// # Errors
/// The courier's.
pub fn send_head(courier: &dyn Courier, signer: &Signer, submission: &Submission) -> Result<(), SubmitError> {
    courier.store(&names::head(&submission.id), &signer.seal(submission)?)?;
    courier.write(Table::States, &submission.id, RUNNING, Over::Nothing)?;
    Ok(())
}

/// Puts a lot into the queue of its machine, where it is not.
///
/// # Errors
/// The courier's.
pub fn send_lot(courier: &dyn Courier, signer: &Signer, submission: &Submission, lot: &Lot) -> Result<(), SubmitError> {
    let Some(job) = submission.job(lot) else { return Ok(()) };
    let Job { machine, lot, submission: id, .. } = &job;
    courier.store(&names::job(machine, id, lot), &signer.seal(&job)?)?;
    Ok(())
}

/// A submission, as its submitter signed it.
///
/// # Errors
/// There is none, or nobody who may has signed it.
pub fn find(courier: &dyn Courier, trust: &Trust, id: &str) -> Result<Submission, SubmitError> {
    let unreadable = |why: String| SubmitError::Unreadable { id: id.into(), why };
    names::check(id).map_err(|error| unreadable(error.to_string()))?;
    let head = courier.stored(&names::head(id))?.ok_or_else(|| SubmitError::Unknown(id.into()))?;
    let opened =
        trust.open(&head.body, &[Role::Submitter], When::At(head.at)).map_err(|e| unreadable(e.to_string()))?;
    let found: Submission = form::read(form::SUBMISSION, &opened.body).map_err(|e| unreadable(e.to_string()))?;
    found.check(id, &opened.by.name).map_err(unreadable)?;
    Ok(found)
}

/// Takes a submission back: what has not begun does not begin, what is measured stays. Returns how many lots were still in a queue.
///
/// # Errors
/// The courier's.
pub fn cancel(courier: &dyn Courier, id: &str) -> Result<u64, SubmitError> {
    // The state first: whoever sees a lot missing would put it back.
    let told = courier.write(Table::States, id, CANCELLED, Over::Anything);
    let taken = courier.take_back(&names::jobs_of(id))?;
    if told.is_err() {
        // A server without room takes nothing before something was taken out.
        courier.write(Table::States, id, CANCELLED, Over::Anything)?;
    }
    Ok(taken)
}

/// Has the lots of a submission that have not ended measured after all: one that was taken back, or whose jobs are in no queue. Returns how
/// many lots that are. Those that were moved from a machine that was gone are measured elsewhere.
///
/// # Errors
/// The courier's.
pub fn resume(courier: &dyn Courier, signer: &Signer, submission: &Submission) -> Result<usize, SubmitError> {
    // The state first: an agent takes no job of a submission that is cancelled.
    courier.write(Table::States, &submission.id, RUNNING, Over::Anything)?;
    put_back(courier, signer, submission)
}

/// Sends the lots of a submission that have not ended and are in no queue. Returns how many have not ended.
///
/// # Errors
/// The courier's.
pub fn put_back(courier: &dyn Courier, signer: &Signer, submission: &Submission) -> Result<usize, SubmitError> {
    let stored: BTreeSet<String> = stored_subjects(courier, &names::all_of(&submission.id))?.into_iter().collect();
    let has_ended = |lot: &Lot| {
        let run = submission.runs.get(lot.run);
        run.is_none_or(|run| stored.contains(&names::end(&submission.id, &run.machine, &lot.id)))
    };
    let moved = moved(courier, submission)?;
    let is_moved = |lot: &Lot| submission.runs.get(lot.run).is_some_and(|run| moved.contains_key(&run.machine));
    let open: Vec<&Lot> = submission.lots.iter().filter(|lot| !has_ended(lot) && !is_moved(lot)).collect();
    open.iter().try_for_each(|lot| send_lot(courier, signer, submission, lot))?;
    Ok(open.len())
}

/// The machines of a submission whose undone cells were moved, each with the submission that has them.
///
/// # Errors
/// The courier's.
pub fn moved(courier: &dyn Courier, submission: &Submission) -> Result<BTreeMap<String, String>, CourierError> {
    let of_submission = names::failover(&submission.id, "");
    let mut moved = BTreeMap::new();
    for key in courier.keys(Table::States)? {
        let Some(machine) = key.strip_prefix(&of_submission) else { continue };
        if let Some(to) = moved_to(courier, &submission.id, machine)? {
            moved.insert(machine.to_string(), to);
        }
    }
    Ok(moved)
}

/// Priorities that a submission can have. That of most is 0.
pub const PRIORITIES: std::ops::RangeInclusive<i64> = -100..=100;

/// Has the lots of a submission come before those of lower priority, from the next lot on.
///
/// # Errors
/// The courier's.
pub fn prioritize(courier: &dyn Courier, id: &str, priority: i64) -> Result<(), CourierError> {
    courier.write(Table::States, &names::priority(id), priority.to_string().as_bytes(), Over::Anything).map(|_| ())
}

/// The priority of a submission; where none was said, 0.
///
/// # Errors
/// The courier's.
pub fn priority(courier: &dyn Courier, id: &str) -> Result<i64, CourierError> {
    let said = courier.read(Table::States, &names::priority(id))?;
    let said = said.and_then(|entry| String::from_utf8(entry.body).ok()?.parse().ok());
    Ok(said.filter(|said| PRIORITIES.contains(said)).unwrap_or_default())
}

/// Whether a submission was taken back.
///
/// # Errors
/// The courier's.
pub fn is_cancelled(courier: &dyn Courier, id: &str) -> Result<bool, CourierError> {
    Ok(courier.read(Table::States, id)?.is_some_and(|entry| entry.body == CANCELLED))
}
