//! Measure and keep: a plan becomes a run in a folder of its own, each cell in the journal as it ends.

use crate::conditions::{environment_of, libraries};
use crate::event::{Listener, Relay};
use skillbench_engine::run::{self, Observer, Plan};
use skillbench_record::defaults::defaults;
use skillbench_record::time::now_utc;
use skillbench_record::{Cell, RUN_SCHEMA, Run, Samples};
use skillbench_store::{Journal, JournalError, Recorded, journal};
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    #[error("{folder}: no new run can begin there: {error}")]
    Folder { folder: PathBuf, error: io::Error },
    #[error("the results could not be kept in {folder}: {error}")]
    Keep { folder: PathBuf, error: io::Error },
    #[error("plugin '{0}' is not the one this run began with; begin a new run")]
    OtherPlugin(String),
    #[error("the plugins or models here would make another plan than this run's; begin a new run")]
    OtherPlan,
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// A run that is begun and not ended.
#[derive(Clone, Debug)]
pub struct Begun {
    pub folder: PathBuf,
    /// Without its cells.
    pub head: Run,
    /// Cells that are measured already, by their place in the plan.
    pub done: HashSet<usize>,
}

impl Begun {
    /// A new run in this folder of runs. Its own folder is made here and now, so that no other process takes the same id.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn new(output: &Path, plan: &Plan, command: Vec<String>) -> Result<Begun, MeasureError> {
        let started_at = now_utc();
        let (folder, run_id) =
            claim(output, &started_at).map_err(|error| MeasureError::Folder { folder: output.to_path_buf(), error })?;
        let head = Run {
            schema: RUN_SCHEMA.into(),
            run_id,
            started_at,
            command,
            seed: plan.request.seed.unwrap_or(defaults().run.seed),
            environment: environment_of(plan),
            left_out: Default::default(),
            cells: vec![],
        };
        Ok(Begun { folder, head, done: HashSet::new() })
    }

    /// A run that goes on, where the plan is the one it was begun with and the plugins are the very same.
    ///
    /// # Errors
    /// They are not.
    pub fn resumed(folder: PathBuf, run: Run, plan: &Plan) -> Result<Begun, MeasureError> {
        unchanged(plan, &run)?;
        let done = run.cells.iter().map(|cell| cell.index).collect();
        Ok(Begun { folder, head: run, done })
    }
}

/// So many ids are tried.
const MOST_IDS: u32 = 100;

/// Makes a folder that nobody had, and returns it with its name, which is the id of the run: the second it began in, and a number by
/// chance. Containers may have the second, the process id and even the database in common.
fn claim(output: &Path, started_at: &str) -> io::Result<(PathBuf, String)> {
    std::fs::create_dir_all(output)?;
    let stamp: String = started_at.chars().filter(char::is_ascii_digit).collect();
    let (day, time) = stamp.split_at(8.min(stamp.len()));
    for _ in 0..MOST_IDS {
        let id = format!("{day}-{time}-{:08x}", getrandom::u32().map_err(io::Error::other)?);
        match std::fs::create_dir(output.join(&id)) {
            Ok(()) => return Ok((output.join(&id), id)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other(format!("no id is free of {MOST_IDS} that were tried")))
}

/// What is done stays done only if the plan is the one it was done by, with the very same plugins.
fn unchanged(plan: &Plan, run: &Run) -> Result<(), MeasureError> {
    let libraries = libraries(plan);
    let other = |(id, hash): &(&String, &String)| run.environment.plugin_sha256.get(*id) != Some(*hash);
    if let Some((id, _)) = libraries.iter().find(other) {
        return Err(MeasureError::OtherPlugin(id.clone()));
    }
    // Beyond the plan are smaller batches that were tried where memory did not suffice.
    let same = |cell: &Cell| plan.cells.get(cell.index).is_none_or(|planned| plan.is_cell(planned, cell));
    match run.cells.iter().all(same) {
        true => Ok(()),
        false => Err(MeasureError::OtherPlan),
    }
}

/// Measures the cells of a plan that are not done, and reads the whole run back. The listener gets the events.
///
/// # Errors
/// An outcome could not be kept, which ends the run; or it cannot be read back.
pub fn measure(plan: &Plan, begun: &Begun, on: &mut Listener<'_>) -> Result<Recorded, MeasureError> {
    let failed = |error| MeasureError::Keep { folder: begun.folder.clone(), error };
    let journal = Journal::open(&begun.folder, &plan.request).map_err(failed)?;
    // The journal has an outcome before anybody else.
    let mut all: Vec<Box<dyn Observer + '_>> = vec![Box::new(Keeper(journal)), Box::new(Relay(on))];
    run::execute(plan, &begun.head, &begun.folder, &begun.done, &mut all).map_err(failed)?;
    drop(all);
    Ok(journal::read(&begun.folder)?)
}

/// The journal, as the engine tells it.
struct Keeper(Journal);

impl Observer for Keeper {
    fn begun(&mut self, run: &Run) -> io::Result<()> {
        self.0.begun(run)
    }

    fn left_out(&mut self, plugin: &str, why: &str) -> io::Result<()> {
        self.0.left_out(plugin, why)
    }

    fn cell_ended(&mut self, cell: &Cell, samples: &[Samples]) -> io::Result<()> {
        self.0.cell_ended(cell, samples)
    }
}

#[cfg(test)]
mod tests {
    use super::claim;
    use std::collections::BTreeSet;

    #[test]
    fn two_runs_of_one_second_and_one_process_number_have_folders_of_their_own() {
        let output = tempfile::tempdir().unwrap();
        let claims: Vec<_> = std::thread::scope(|scope| {
            let each = || claim(output.path(), "2026-01-31T12:00:00Z").unwrap();
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(each)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let ids: BTreeSet<&str> = claims.iter().map(|(_, id)| id.as_str()).collect();
        assert_eq!(ids.len(), 8);
        assert!(claims.iter().all(|(folder, id)| folder.is_dir() && folder.ends_with(id)));
        assert!(ids.iter().all(|id| id.starts_with("20260131-120000-")));
    }
}
