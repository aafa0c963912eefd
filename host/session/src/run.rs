//! A session carries requests out: chosen, planned, measured, kept, and held to what was asked.

use crate::conditions::{environment_of, names};
use crate::event::{Event, Listener};
use crate::gate::{self, Asked, GateError, Verdict};
use crate::incremental;
use crate::keep::{Keep, Kept};
use crate::machine_lock::MachineLock;
use crate::measure::{Begun, MeasureError, measure};
use crate::recorded::{self, RecordedError};
use skillbench_engine::lock::LockError;
use skillbench_engine::run::{self, Inventory, Plan, RequestError};
use skillbench_engine::skill::Tell;
use skillbench_record::{OptionChoice, RunRequest};
use skillbench_store::{DatabaseError, Journal, JournalError, Recorded, journal};
use std::path::{Path, PathBuf};

/// Who measures, and where results are kept.
pub struct Session {
    pub keep: Keep,
    pub lock: MachineLock,
    /// The command line, as runs keep it.
    pub command: Vec<String>,
}

/// What is measured.
pub enum Start {
    New(Box<RunRequest>),
    /// A run that was begun, which this process alone writes from here on.
    Resumed {
        journal: Box<Journal>,
        recorded: Box<Recorded>,
        /// Paths of its options that are named again (see `recorded.rs`).
        named: Vec<OptionChoice>,
    },
}

/// How a request ended that could be carried out.
pub enum Ended {
    /// The user stopped it before anything was measured.
    Stopped,
    /// The database has figures of every cell.
    NothingMissing,
    Ran(Box<Ran>),
}

/// A run that has ended, in full or stopped.
pub struct Ran {
    pub kept: Kept,
    /// `None`: it was stopped, and is held to nothing.
    pub verdict: Option<Verdict>,
}

#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error(transparent)]
    Request(#[from] RequestError),
    #[error("there is no run '{name}' in {folder}")]
    NoRun { name: String, folder: PathBuf },
    #[error(
        "{}: workers are sent the name of a run's folder, and this one is no Unicode text: choose another with --results-dir",
        .0.display()
    )]
    NoText(PathBuf),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("the journal does not say what was asked for")]
    NoRequest,
    #[error("the run is one of functions, which does not go on; call them again: host bench run{0}")]
    Functions(String),
    #[error(transparent)]
    Recorded(#[from] RecordedError),
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// A run cannot go on with what is here now.
    #[error(transparent)]
    Changed(MeasureError),
    #[error(transparent)]
    Measure(MeasureError),
    #[error(transparent)]
    Gate(#[from] GateError),
}

impl Start {
    /// A run to go on with, by its folder or by its id in the folder of runs.
    ///
    /// # Errors
    /// There is no such run, its journal cannot be read, or another process writes it.
    pub fn resume(runs: &Path, name: &str) -> Result<Start, SessionError> {
        let (journal, recorded) = Journal::resume(&run_folder(runs, name)?)?;
        Ok(Start::Resumed { journal: Box::new(journal), recorded: Box::new(recorded), named: vec![] })
    }

    /// Names options of a resumed run again.
    pub fn naming(self, options: Vec<OptionChoice>) -> Start {
        match self {
            Start::Resumed { journal, recorded, .. } => Start::Resumed { journal, recorded, named: options },
            new => new,
        }
    }
}

/// A run as it was recorded, by its folder or by its id in the folder of runs. Another process may be writing it.
///
/// # Errors
/// There is no such run, or its journal cannot be read.
pub fn recorded(runs: &Path, name: &str) -> Result<Recorded, SessionError> {
    Ok(journal::read(&run_folder(runs, name)?)?)
}

fn run_folder(runs: &Path, name: &str) -> Result<PathBuf, SessionError> {
    let folder = [PathBuf::from(name), runs.join(name)].into_iter().find(|folder| folder.is_dir());
    folder.ok_or_else(|| SessionError::NoRun { name: name.into(), folder: runs.to_path_buf() })
}

/// Refuses a folder whose name, from the root on, cannot be sent to a worker.
pub(crate) fn check_name(folder: &Path) -> Result<(), SessionError> {
    let whole = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
    match whole.to_str() {
        Some(_) => Ok(()),
        None => Err(SessionError::NoText(whole)),
    }
}

impl Session {
    /// Carries a request out. Ctrl-C or whoever else has the inventory's handle to stop ends it; what is measured is kept.
    ///
    /// # Errors
    /// It cannot be carried out, or its results cannot be kept.
    pub fn run(
        &mut self,
        inventory: &Inventory,
        start: Start,
        asked: &Asked,
        is_incremental: bool,
        on: &mut Listener<'_>,
    ) -> Result<Ended, SessionError> {
        let (request, earlier) = match start {
            Start::New(request) => (*request, None),
            Start::Resumed { journal, recorded, named } => {
                journal.notes.iter().for_each(|note| on(Event::Warning(note)));
                let request = recorded.request.ok_or(SessionError::NoRequest)?;
                if request.functions {
                    return Err(SessionError::Functions(
                        request.benchmarks.iter().map(|name| format!(" {name}")).collect(),
                    ));
                }
                recorded::held(inventory, &request, &named)?;
                (request, Some((*journal, recorded.run)))
            }
        };
        let request_text = serde_json::to_string(&request).unwrap_or_default();
        on(Event::Debug(&format!("request: {request_text}")));
        check_name(earlier.as_ref().map_or(self.keep.folder.as_path(), |(journal, _)| journal.folder()))?;
        let Some(plan) = self.plan(inventory, request, on)? else { return Ok(Ended::Stopped) };
        let plan = match is_incremental {
            false => plan,
            true => match self.missing(plan, on)? {
                Some(missing) => missing,
                None => return Ok(Ended::NothingMissing),
            },
        };
        for (cell, name) in plan.cells.iter().zip(names(&plan)) {
            let skipped = if cell.skip.is_some() { ", which a rule skips" } else { "" };
            on(Event::Debug(&format!("cell {}: {name}{skipped}", cell.index)));
        }
        if inventory.stop.asked() {
            return Ok(Ended::Stopped);
        }
        let begun = match earlier {
            Some((journal, run)) => Begun::resumed(journal, run, &plan).map_err(SessionError::Changed)?,
            None => self.begin(&plan)?,
        };
        let kept = self.measure(&plan, begun, false, on)?;
        let verdict = match inventory.stop.asked() {
            true => None,
            false => Some(self.hold(asked, &plan.request, &kept, on, |again, on| self.again(inventory, again, on))?),
        };
        Ok(Ended::Ran(Box::new(Ran { kept, verdict })))
    }

    /// A slip is an error before any wait for the machine: a plan is no work. Choosing a backend is, since it loads models.
    fn plan(
        &mut self,
        inventory: &Inventory,
        request: RunRequest,
        on: &mut Listener<'_>,
    ) -> Result<Option<Plan>, SessionError> {
        let mut resolved = run::resolve(inventory, request)?;
        if !resolved.names_backends() {
            self.lock.take(&inventory.stop, on)?;
            let notes = resolved.choose();
            if inventory.stop.asked() {
                return Ok(None);
            }
            notes?.iter().for_each(|note| on(Event::Note(note)));
        }
        let plan = resolved.plan()?;
        self.lock.take(&inventory.stop, on)?;
        Ok(Some(plan))
    }

    /// The plan of what the database lacks; `None`: nothing.
    fn missing(&self, plan: Plan, on: &mut Listener<'_>) -> Result<Option<Plan>, SessionError> {
        let missing = incremental::missing(&plan, self.keep.database.as_ref())?;
        on(Event::Missing { missing: &missing, planned: plan.cells.len() });
        match missing.cells.is_empty() {
            true => Ok(None),
            false => Ok(Some(plan.only(missing.cells)?)),
        }
    }

    fn begin(&self, plan: &Plan) -> Result<Begun, SessionError> {
        Begun::new(&self.keep.folder, &plan.request, environment_of(plan), self.command.clone())
            .map_err(SessionError::Measure)
    }

    /// Holds a run to what was asked. What looks worse than the baseline is measured once more, by `again`, before that counts.
    ///
    /// # Errors
    /// Those of `again`; the comparison or the baseline cannot be kept.
    pub fn hold<E: From<GateError>>(
        &self,
        asked: &Asked,
        request: &RunRequest,
        kept: &Kept,
        on: &mut Listener<'_>,
        again: impl FnOnce(RunRequest, &mut Listener<'_>) -> Result<Kept, E>,
    ) -> Result<Verdict, E> {
        let Some(against) = asked.against(kept, request, &self.command) else { return Ok(asked.verdict(kept, None)?) };
        let (mut comparison, suspected) = against.first()?;
        if !suspected.is_empty() {
            on(Event::Suspected { cells: suspected.len(), baseline: against.name });
            let again = again(gate::again(request, suspected), on)?;
            comparison = against.confirmed(comparison, &again.recorded)?;
        }
        Ok(asked.verdict(kept, Some(comparison))?)
    }

    /// Measures a request once more, in a run of its own.
    fn again(&self, inventory: &Inventory, request: RunRequest, on: &mut Listener<'_>) -> Result<Kept, SessionError> {
        // What there is to say of its models was said.
        let inventory = Inventory { tell: Tell::default(), ..inventory.clone() };
        let plan = run::plan(&inventory, request)?;
        let begun = self.begin(&plan)?;
        self.measure(&plan, begun, true, on)
    }

    fn measure(&self, plan: &Plan, begun: Begun, is_again: bool, on: &mut Listener<'_>) -> Result<Kept, SessionError> {
        on(Event::RunBegun { names: &names(plan) });
        let measured =
            measure(begun, on, |head, folder, done, observer| run::execute(plan, head, folder, done, observer));
        let measured = measured.map_err(SessionError::Measure)?;
        let kept = self.keep.keep(measured, is_again);
        on(Event::Kept(&kept));
        Ok(kept)
    }
}
