//! Which stored results are meant, of what was typed; the rule is that of `skillbench_session::which`.

use super::{CommandError, db, failed, usage};
use crate::cli::{Global, Stored as Typed, WhichRuns};
use crate::output;
use skillbench_record::BackendChoice;
use skillbench_results::Stored;
use skillbench_results::questions::rules::rules;
use skillbench_session::which::{Chosen, Named, Only, Place, Which, WhichError};
use skillbench_store::Database;

impl Typed {
    /// Where results are. What is typed counts before what the environment says: a folder that is named is meant with its own database.
    pub fn place(&self, global: &Global) -> Place {
        let folder = self.results();
        let of_environment = db::of_environment();
        let (database, named) = match (&self.db, &self.results_dir) {
            (Some(file), Some(_)) => (Some(file.clone()), Named::Both),
            (Some(file), None) => (Some(file.clone()), Named::Database),
            (None, Some(_)) => (None, Named::Folder),
            (None, None) if of_environment.is_some() => (of_environment, Named::Environment),
            (None, None) => (None, Named::Nothing),
        };
        Place { database: db::at(global, database.as_deref(), &folder), folder, named }
    }

    /// The database, for a command that asks all of it.
    ///
    /// # Errors
    /// It is not there.
    pub fn whole(&self, global: &Global) -> Result<Database, CommandError> {
        self.place(global).whole().cloned().map_err(refused)
    }
}

impl WhichRuns {
    /// Reads what is meant.
    pub fn read(&self, global: &Global) -> Result<Chosen, CommandError> {
        let (place, which, only) = (self.stored.place(global), self.which(), self.only());
        match place.read(&which, &only) {
            Err(WhichError::NoneIs { .. }) => read(&place, &which, &by_id(global, only)),
            other => told(other),
        }
    }

    /// The cells that are named.
    fn only(&self) -> Only {
        let backends = match self.hardware.iter().any(|name| name == BackendChoice::ALL) {
            true => vec![],
            false => self.hardware.clone(),
        };
        Only { models: self.model.clone(), backends }
    }

    /// Whether neither a run nor cells are named.
    pub fn is_open(&self) -> bool {
        self.run.is_empty() && self.condition.is_none() && self.join.is_empty() && self.json_path.is_empty()
    }

    fn which(&self) -> Which {
        match &self.condition {
            _ if !self.json_path.is_empty() => Which::Files(self.json_path.clone()),
            Some(condition) => Which::Cells(condition.clone()),
            None if self.all => Which::All,
            None => Which::Runs(if self.join.is_empty() { self.run.clone() } else { self.join.clone() }),
        }
    }

    /// What a report is about: as [`WhichRuns::read`], but of a large database only what counts now, and a line says so.
    pub fn read_for_report(&self, global: &Global) -> Result<Chosen, CommandError> {
        let place = self.stored.place(global);
        let is_whole = self.all && self.is_open() && self.only().is_all();
        let cells = if is_whole { place.filled().map_err(refused)?.count().map_err(db::refused)? } else { 0 };
        if cells <= rules().report.most_cells {
            return self.read(global);
        }
        let stored = Stored::that_count(&place.database).map_err(|error| refused(error.into()))?;
        if !global.quiet {
            output::say(&format!(
                "of {cells} cells the report has the {} that count now or are the newest try; `host query` has all",
                stored.cells.height()
            ));
        }
        Ok(Chosen { stored, folder: place.folder, notes: vec![] })
    }
}

/// Models and backends by the ids that results have, where they were named otherwise: by a published name, or another name of a backend.
fn by_id(global: &Global, only: Only) -> Only {
    let inventory = global.inventory();
    let catalog = inventory.catalog();
    let model = |name: String| catalog.named(&name).map_or(name, |skill| skill.id().to_string());
    let backend = |name: String| inventory.plugin(&name).map_or(name, |plugin| plugin.id.clone());
    Only {
        models: only.models.into_iter().map(model).collect(),
        backends: only.backends.into_iter().map(backend).collect(),
    }
}

/// Reads what is meant, and says what could not be read.
fn read(place: &Place, which: &Which, only: &Only) -> Result<Chosen, CommandError> {
    told(place.read(which, only))
}

fn told(chosen: Result<Chosen, WhichError>) -> Result<Chosen, CommandError> {
    let chosen = chosen.map_err(refused)?;
    chosen.notes.iter().for_each(|note| output::warning(note));
    Ok(chosen)
}

/// Reads one run by its name.
pub fn read_run(place: &Place, name: &str) -> Result<Chosen, CommandError> {
    read(place, &Which::Runs(vec![name.into()]), &Only::default())
}

/// How the program ends that cannot read what is meant.
pub fn refused(error: WhichError) -> CommandError {
    if error.is_slip() { usage(error) } else { failed(error) }
}
