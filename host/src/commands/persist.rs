//! What becomes of a run that has ended: files in its folder, and rows in the database.

use super::db::database;
use super::stored::latest;
use super::{Done, Exit, failed, matrix, plot, report, usage};
use crate::cli::{GateArgs, Global, LockArgs, PersistArgs, ReportForm};
use crate::output;
use skillbench_results::{Stored, files};
use skillbench_store::{Database, Recorded};
use std::path::{Path, PathBuf};

/// What is done in place of measuring.
#[derive(Clone, Copy)]
pub enum Only {
    /// The plots of the latest run are drawn.
    Plots,
    /// The compatibility matrix is brought up to date.
    Matrix,
}

#[derive(Clone)]
pub struct Persist {
    pub output_dir: PathBuf,
    /// `None`: the run stays in its folder.
    pub database: Option<Database>,
    pub reports: Vec<ReportForm>,
    pub plots: bool,
    pub only: Option<Only>,
    /// Whether the compatibility matrix beside the database is brought up to date.
    pub matrix: bool,
    /// What a run is held against.
    pub gate: GateArgs,
    /// Only cells that are missing in the database are measured.
    pub incremental: bool,
    pub lock: LockArgs,
}

impl Persist {
    pub fn new(global: &Global, args: &PersistArgs) -> Persist {
        let database = (!args.no_save).then(|| database(global, args.db.as_deref(), &args.output_dir));
        Persist {
            output_dir: args.output_dir.clone(),
            database,
            reports: args.report.clone(),
            plots: args.plots,
            only: match (args.plot_only, args.update_matrix_only) {
                (true, _) => Some(Only::Plots),
                (_, true) => Some(Only::Matrix),
                _ => None,
            },
            matrix: true,
            gate: args.gate.clone(),
            incremental: false,
            lock: args.lock.clone(),
        }
    }

    /// Does what is to be done without measuring; `None`: there is something to measure.
    pub fn without_measuring(&self, global: &Global) -> Option<Done> {
        Some(match self.only? {
            Only::Plots => self.draw_latest(global),
            Only::Matrix => matrix::update_only(self),
        })
    }

    fn draw_latest(&self, global: &Global) -> Done {
        let folder = latest(&self.output_dir)
            .ok_or_else(|| usage(format!("there is no run in {} yet", self.output_dir.display())))?;
        let stored = Stored::from_places(std::slice::from_ref(&folder)).map_err(failed)?;
        plot::beside(global, &folder, &stored)?;
        Ok(Exit::Good)
    }

    /// Runs in this folder, with the database beside them.
    pub fn beside(global: &Global, output_dir: &Path) -> Persist {
        Persist {
            output_dir: output_dir.into(),
            database: Some(database(global, None, output_dir)),
            reports: vec![],
            plots: false,
            only: None,
            matrix: true,
            gate: GateArgs::default(),
            incremental: false,
            lock: LockArgs::default(),
        }
    }

    /// Writes the files and stores the run. A database that cannot be written costs the run nothing but its exit code.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn keep(&self, global: &Global, folder: &Path, recorded: &Recorded) -> Result<Exit, super::CommandError> {
        files::write(folder, recorded).map_err(|error| failed(format!("{}: {error}", folder.display())))?;
        let kept = self.store(folder, recorded);
        if !self.plots && self.reports.is_empty() {
            return Ok(kept);
        }
        match self.draw(global, folder, recorded) {
            Ok(()) => Ok(kept),
            Err(error) => {
                output::error(&format!("the run is kept in {}, and not all of it drawn: {error}", folder.display()));
                Ok(kept.or(Exit::Broken))
            }
        }
    }

    fn draw(&self, global: &Global, folder: &Path, recorded: &Recorded) -> Result<(), super::CommandError> {
        let stored = Stored::from_recorded(std::slice::from_ref(recorded)).map_err(failed)?;
        report::beside(global, folder, &stored, &self.reports)?;
        if self.plots { plot::beside(global, folder, &stored) } else { Ok(()) }
    }

    fn store(&self, folder: &Path, recorded: &Recorded) -> Exit {
        let Some(database) = &self.database else { return Exit::Good };
        match database.store(std::slice::from_ref(recorded)) {
            Ok(_) if self.matrix => matrix::update(database).map_or_else(
                |error| {
                    output::error(&format!("the run is stored, and the compatibility matrix is as it was: {error}"));
                    Exit::Broken
                },
                |_| Exit::Good,
            ),
            Ok(_) => Exit::Good,
            Err(error) => {
                output::error(&format!("the run is kept in {}, and not in the database: {error}", folder.display()));
                Exit::Broken
            }
        }
    }
}
