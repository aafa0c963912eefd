//! What is done with runs that were measured: where they are kept, and what is drawn of them.

use super::db::{self, database};
use super::stored::read_run;
use super::typed::typed;
use super::{Done, Exit, failed, matrix, plot, report};
use crate::cli::{GateArgs, Global, LockArgs, PersistArgs, RESULTS, ReportForm};
use crate::output;
use skillbench_results::Stored;
use skillbench_session::which::{Chosen, Named, Place};
use skillbench_session::{Keep, Kept, Session};
use skillbench_store::Database;
use std::path::{Path, PathBuf};

/// What is done in place of measuring.
#[derive(Clone)]
pub enum Only {
    /// The plots of this run are drawn.
    Plots(String),
    /// The compatibility matrix is made anew, with the runs of this folder in it.
    Matrix(Option<PathBuf>),
}

#[derive(Clone)]
pub struct Persist {
    pub output_dir: PathBuf,
    /// `None`: the run stays in its folder.
    pub database: Option<Database>,
    /// Which of both the user named.
    pub named: Named,
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
        let output_dir = args.results_dir.clone().unwrap_or_else(|| RESULTS.into());
        let named = match (&args.db, &args.results_dir) {
            (Some(_), _) => Named::Database,
            (None, Some(_)) => Named::Folder,
            (None, None) if db::of_environment().is_some() => Named::Environment,
            (None, None) => Named::Nothing,
        };
        Persist {
            database: (!args.no_save).then(|| database(global, args.db.as_deref(), &output_dir)),
            output_dir,
            named,
            reports: args.report.clone(),
            plots: args.plots,
            only: match (&args.plot_only, &args.update_matrix_only) {
                (Some(run), _) => Some(Only::Plots(run.clone())),
                (None, Some(folder)) => Some(Only::Matrix(folder.clone())),
                (None, None) => None,
            },
            matrix: true,
            gate: args.gate.clone(),
            incremental: false,
            lock: args.lock.clone(),
        }
    }

    /// For what is measured once more: kept in its folder, and not in the database, where it would take the place of what it repeats.
    pub fn repeating(output_dir: &Path, lock: &LockArgs) -> Persist {
        Persist {
            output_dir: output_dir.into(),
            database: None,
            named: Named::Folder,
            reports: vec![],
            plots: false,
            only: None,
            matrix: false,
            gate: GateArgs::default(),
            incremental: false,
            lock: lock.clone(),
        }
    }

    /// Does what is to be done without measuring; `None`: there is something to measure.
    pub fn without_measuring(&self, global: &Global) -> Option<Done> {
        Some(match self.only.as_ref()? {
            Only::Plots(run) => self.draw_stored(global, run),
            Only::Matrix(folder) => matrix::update_only(global, self, folder.as_deref()),
        })
    }

    /// Where stored results are that a run is held against, or that are drawn.
    pub fn place(&self, global: &Global) -> Place {
        let database = self.database.clone().unwrap_or_else(|| database(global, None, &self.output_dir));
        Place { database, folder: self.output_dir.clone(), named: self.named }
    }

    fn draw_stored(&self, global: &Global, run: &str) -> Done {
        let Chosen { stored, folder, .. } = read_run(&self.place(global), run)?;
        plot::beside(global, &folder, &stored)?;
        Ok(Exit::Good)
    }

    /// Runs in this folder, with the database beside them.
    pub fn beside(global: &Global, output_dir: &Path) -> Persist {
        Persist {
            output_dir: output_dir.into(),
            database: Some(database(global, None, output_dir)),
            named: Named::Folder,
            reports: vec![],
            plots: false,
            only: None,
            matrix: true,
            gate: GateArgs::default(),
            incremental: false,
            lock: LockArgs::default(),
        }
    }

    /// The session that measures and keeps.
    pub fn session(&self) -> Session {
        let keep = Keep { folder: self.output_dir.clone(), database: self.database.clone(), matrix: self.matrix };
        Session { keep, lock: self.lock.lock(), command: typed() }
    }

    /// Reports what could not be done with a run that is kept, and draws what was asked for in its folder. Returns how the program ends.
    pub fn after(&self, global: &Global, kept: &Kept) -> Exit {
        let mut exit = Exit::Good;
        if let Some(failure) = &kept.failure {
            output::error(&failure.to_string());
            exit = Exit::Broken;
        }
        if !kept.is_in_folder() {
            return exit;
        }
        if let Err(error) = self.draw(global, kept) {
            let folder = kept.folder.display();
            output::error(&format!("the run is kept in {folder}, and not all of it drawn: {error}"));
            exit = Exit::Broken;
        }
        exit
    }

    fn draw(&self, global: &Global, kept: &Kept) -> Result<(), super::CommandError> {
        if !self.plots && self.reports.is_empty() {
            return Ok(());
        }
        let stored = Stored::from_recorded(std::slice::from_ref(&kept.recorded)).map_err(failed)?;
        report::beside(global, &kept.folder, &stored, &self.reports)?;
        if self.plots { plot::beside(global, &kept.folder, &stored) } else { Ok(()) }
    }
}
