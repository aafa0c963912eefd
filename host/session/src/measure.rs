//! Measure and keep: a plan becomes a run in a folder of its own, each cell in the journal as it ends. A disk that fails in the middle costs
//! no cell: the run goes on, and is written when it ends.

use crate::conditions::libraries;
use crate::event::{Event, Listener, Relay};
use skillbench_engine::run::{Observer, Plan, PlannedCell};
use skillbench_record::defaults::defaults;
use skillbench_record::paths;
use skillbench_record::run_id;
use skillbench_record::time::{since_epoch, utc};
use skillbench_record::{Cell, Environment, RUN_SCHEMA, Run, RunRequest, Samples};
use skillbench_store::journal::{Journal, JournalError, Lost, Moved, Recorded};
use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

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

/// A run that is begun and not ended, and is this process's to write.
pub struct Begun {
    journal: Journal,
    /// Without its cells, if it is new.
    head: Run,
    /// Cells that are measured already, by their place in the plan.
    done: HashSet<usize>,
}

impl Begun {
    /// A new run in this folder of runs. Its own folder is made here and now, so that no other process takes the same id.
    ///
    /// # Errors
    /// The folder or the journal cannot be made.
    pub fn new(
        output: &Path,
        request: &RunRequest,
        environment: Environment,
        command: Vec<String>,
    ) -> Result<Begun, MeasureError> {
        let began = since_epoch();
        let no_run = |error| MeasureError::Folder { folder: output.to_path_buf(), error };
        let (folder, run_id) = claim(output, began).map_err(no_run)?;
        let journal = Journal::create(&folder, request).map_err(no_run)?;
        let head = Run {
            schema: RUN_SCHEMA.into(),
            run_id,
            started_at: utc(began.as_secs() as i64),
            command,
            seed: request.seed.unwrap_or(defaults().run.seed),
            environment,
            left_out: Default::default(),
            cells: vec![],
        };
        Ok(Begun { journal, head, done: HashSet::new() })
    }

    /// A run that goes on, where the plan is the one it was begun with and the plugins are the very same.
    ///
    /// # Errors
    /// They are not.
    pub fn resumed(journal: Journal, run: Run, plan: &Plan) -> Result<Begun, MeasureError> {
        unchanged(plan, &run)?;
        let done = run.cells.iter().map(|cell| cell.index).collect();
        Ok(Begun { journal, head: run, done })
    }
}

/// A run whose cells have ended.
pub struct Measured {
    pub recorded: Recorded,
    /// Held until all of the run's files are written.
    pub journal: Journal,
    /// No place took it.
    pub lost: Option<Lost>,
}

/// So many ids are tried.
const MOST_IDS: u32 = 100;

/// Makes a folder that nobody had, and returns it with its name, which is the id of the run.
fn claim(output: &Path, began: Duration) -> io::Result<(PathBuf, String)> {
    std::fs::create_dir_all(output)?;
    for _ in 0..MOST_IDS {
        let id = run_id::of(began, getrandom::u32().map_err(io::Error::other)?);
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

/// Measures a run: `work` gets the run without its cells, its folder, the cells that are done, and the observer to tell. What cannot be kept where
/// the run began is kept elsewhere. The listener gets the events.
///
/// # Errors
/// The journal cannot be begun.
pub fn measure(
    begun: Begun,
    on: &mut Listener<'_>,
    work: impl FnOnce(&Run, &Path, &HashSet<usize>, &mut dyn Observer) -> io::Result<()>,
) -> Result<Measured, MeasureError> {
    let Begun { mut journal, head, done } = begun;
    let folder = journal.folder().to_path_buf();
    let failed = |error| MeasureError::Keep { folder: folder.clone(), error };
    let mut keeper = Keeper { journal: &mut journal, relay: Relay(&mut *on) };
    work(&head, &folder, &done, &mut keeper).map_err(failed)?;
    end(journal, &head.run_id, on)
}

/// The cells of a run have ended.
fn end(mut journal: Journal, run_id: &str, on: &mut Listener<'_>) -> Result<Measured, MeasureError> {
    let elsewhere = [paths::data().join("rescued"), std::env::temp_dir()];
    let lost = match journal.end(run_id, &elsewhere) {
        Ok(None) => None,
        Ok(Some(Moved { from, to })) => {
            let (from, to) = (from.display(), to.display());
            on(Event::Warning(&format!("the run could not be kept in {from}; all of it is in {to}")));
            None
        }
        Err(lost) => Some(lost),
    };
    Ok(Measured { recorded: journal.recorded()?, journal, lost })
}

/// A run that another machine measures: its cells come here as they end there.
pub struct Received {
    journal: Journal,
    run_id: String,
    /// The cells that are kept, by their places.
    kept: BTreeMap<usize, Cell>,
}

impl Received {
    /// Begins to keep a run in a folder of its own among the runs, which has the run's id for a name; or goes on with it, where it is there.
    ///
    /// # Errors
    /// The folder cannot be made, another process writes it, or it has another run.
    pub fn open(output: &Path, request: &RunRequest, head: &Run) -> Result<Received, MeasureError> {
        let folder = output.join(&head.run_id);
        let no_run = |error| MeasureError::Folder { folder: output.to_path_buf(), error };
        std::fs::create_dir_all(&folder).map_err(no_run)?;
        let (mut journal, kept) = match Journal::resume(&folder) {
            Ok((journal, recorded)) => (journal, recorded.run.cells),
            // Whoever began it was killed before there was a first line.
            Err(JournalError::Empty(path)) => {
                std::fs::remove_file(path).map_err(no_run)?;
                (Journal::create(&folder, request).map_err(no_run)?, vec![])
            }
            Err(JournalError::Unreadable { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
                (Journal::create(&folder, request).map_err(no_run)?, vec![])
            }
            Err(error) => return Err(error.into()),
        };
        journal.begun(head).map_err(no_run)?;
        // The server and the machine have them until they are kept here.
        let journal = journal.as_copy();
        let kept = kept.into_iter().map(|cell| (cell.index, cell)).collect();
        Ok(Received { journal, run_id: head.run_id.clone(), kept })
    }

    /// The cells that are kept, by their places.
    pub fn kept(&self) -> &BTreeMap<usize, Cell> {
        &self.kept
    }

    /// Takes cells for such as are not kept: others may come in their places.
    pub fn forget(&mut self, is_meant: impl Fn(&Cell) -> bool) {
        self.kept.retain(|_, cell| !is_meant(cell));
    }

    /// Keeps a cell. Returns what the user should know of the file, once.
    ///
    /// # Errors
    /// The line cannot be made.
    pub fn cell_ended(&mut self, cell: &Cell, samples: &[Samples]) -> io::Result<Option<String>> {
        let news = self.journal.cell_ended(cell, samples)?;
        self.kept.insert(cell.index, cell.clone());
        Ok(news)
    }

    /// No more cells come.
    ///
    /// # Errors
    /// The journal cannot be read back.
    pub fn end(self, on: &mut Listener<'_>) -> Result<Measured, MeasureError> {
        end(self.journal, &self.run_id, on)
    }
}

/// Has what the engine reports in the journal before anybody else.
struct Keeper<'j, 'r, 'l> {
    journal: &'j mut Journal,
    relay: Relay<'r, 'l>,
}

impl Keeper<'_, '_, '_> {
    fn warn(&mut self, news: Option<String>) {
        news.iter().for_each(|text| self.relay.warning(text));
    }
}

impl Observer for Keeper<'_, '_, '_> {
    fn begun(&mut self, run: &Run) -> io::Result<()> {
        self.journal.begun(run)
    }

    fn step(&mut self, text: &str) {
        self.relay.step(text);
    }

    fn note(&mut self, text: &str) {
        self.relay.note(text);
    }

    fn warning(&mut self, text: &str) {
        self.relay.warning(text);
    }

    fn debug(&mut self, text: &str) {
        self.relay.debug(text);
    }

    fn left_out(&mut self, plugin: &str, why: &str) -> io::Result<()> {
        let news = self.journal.left_out(plugin, why)?;
        self.warn(news);
        Ok(())
    }

    fn cell_begun(&mut self, cell: &PlannedCell, place: usize, of: usize) {
        self.relay.cell_begun(cell, place, of);
    }

    fn function_begun(&mut self, index: usize, place: usize, of: usize) {
        self.relay.function_begun(index, place, of);
    }

    fn cell_progress(&mut self, index: usize, share: f64) {
        self.relay.cell_progress(index, share);
    }

    fn cell_ended(&mut self, cell: &Cell, samples: &[Samples]) -> io::Result<()> {
        let news = self.journal.cell_ended(cell, samples)?;
        self.warn(news);
        self.relay.cell_ended(cell, samples)
    }
}

#[cfg(test)]
mod tests {
    use super::claim;
    use std::collections::BTreeSet;
    use std::time::Duration;

    #[test]
    fn two_runs_of_one_second_and_one_process_number_have_folders_of_their_own() {
        let output = tempfile::tempdir().unwrap();
        let claims: Vec<_> = std::thread::scope(|scope| {
            let each = || claim(output.path(), Duration::from_secs(1_769_860_800)).unwrap();
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(each)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let ids: BTreeSet<&str> = claims.iter().map(|(_, id)| id.as_str()).collect();
        assert_eq!(ids.len(), 8);
        assert!(claims.iter().all(|(folder, id)| folder.is_dir() && folder.ends_with(id)));
        assert!(ids.iter().all(|id| id.starts_with("20260131-120000-")));
    }
}
