//! What becomes of a run that has ended: files in its folder, and rows in the database.

use super::db::database;
use super::{Exit, failed};
use crate::cli::{Global, KeepingArgs};
use crate::output;
use skillbench_results::files;
use skillbench_store::{Database, Recorded};
use std::path::{Path, PathBuf};

pub struct Keeping {
    pub output_dir: PathBuf,
    /// `None`: the run stays in its folder.
    pub database: Option<Database>,
}

impl Keeping {
    pub fn new(global: &Global, args: &KeepingArgs) -> Keeping {
        let database = (!args.no_save).then(|| database(global, args.db.as_deref(), &args.output_dir));
        Keeping { output_dir: args.output_dir.clone(), database }
    }

    /// Runs in this folder, with the database beside them.
    pub fn beside(global: &Global, output_dir: &Path) -> Keeping {
        Keeping { output_dir: output_dir.into(), database: Some(database(global, None, output_dir)) }
    }

    /// Writes the files and stores the run. A database that cannot be written costs the run nothing but its exit code.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn keep(&self, folder: &Path, recorded: &Recorded) -> Result<Exit, super::CommandError> {
        files::write(folder, recorded).map_err(|error| failed(format!("{}: {error}", folder.display())))?;
        let Some(database) = &self.database else { return Ok(Exit::Good) };
        match database.store(std::slice::from_ref(recorded)) {
            Ok(_) => Ok(Exit::Good),
            Err(error) => {
                output::error(&format!("the run is kept in {}, and not in the database: {error}", folder.display()));
                Ok(Exit::Broken)
            }
        }
    }
}
