//! The tables as files that any reader opens.

use super::read::columns_to;
use super::{Database, DatabaseError, Filter};
use skillbench_record::catalog;
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A folder for each run, with its cells and its samples.
    Parquet,
    Csv,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    pub files: Vec<PathBuf>,
    pub runs: usize,
}

impl Database {
    /// Writes the runs of the filter into a folder: `cells.parquet` and `samples.parquet` for each run, or `cells.csv` for all.
    ///
    /// # Errors
    /// As [`Database::runs`]; a folder that cannot be written.
    pub fn export(&self, filter: &Filter, form: Form, folder: &Path) -> Result<Exported, DatabaseError> {
        let make = |folder: &Path| {
            std::fs::create_dir_all(folder)
                .map_err(|error| DatabaseError::Unwritable { path: folder.into(), text: error.to_string() })
        };
        make(folder)?;
        let runs = self.runs(filter)?;
        let mut files = vec![];
        match form {
            Form::Csv => {
                let names: Vec<&str> = catalog::all().map(|column| column.name).collect();
                let file = folder.join("cells.csv");
                self.read_into(&file, |connection| {
                    columns_to(connection, filter, &names, &file, "FORMAT csv, HEADER")
                })?;
                files.push(file);
            }
            Form::Parquet => {
                for run in &runs {
                    let (own, one) = (folder.join(&run.run_id), Filter::runs([run.run_id.as_str()]));
                    make(&own)?;
                    for name in ["cells.parquet", "samples.parquet"] {
                        let file = own.join(name);
                        match name {
                            "cells.parquet" => self.cells_to(&one, &file)?,
                            _ => self.samples_to(&one, &file)?,
                        }
                        files.push(file);
                    }
                }
            }
        }
        Ok(Exported { files, runs: runs.len() })
    }
}
