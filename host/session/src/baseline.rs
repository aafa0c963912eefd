//! Runs that later ones are held against: kept by name under the user's data, apart for each machine. The same processor model is not
//! the same machine.

use skillbench_record::hash::sha256_text;
use skillbench_record::paths;
use skillbench_record::scratch::write_whole;
use skillbench_record::{Run, machine};
use skillbench_store::{JournalError, Recorded, journal};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    #[error("'{0}' is no name for a baseline: expected letters, digits, '-', '_' and '.'")]
    Name(String),
    #[error("{0} has no journal: a baseline is a run of this host in its folder")]
    NoJournal(PathBuf),
    #[error("{run} was measured on {measured_on}, and this is {here}: every machine has its own")]
    OtherMachine { run: PathBuf, measured_on: String, here: String },
    #[error("this machine has no baseline '{0}'; `host baseline list` lists them")]
    Missing(String),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("{path}: {error}")]
    Folder { path: PathBuf, error: io::Error },
}

/// A baseline of some machine.
pub struct Baseline {
    pub name: String,
    pub run: Run,
    /// Whether it belongs to this machine.
    pub is_here: bool,
}

/// Whether a name is a folder's, and no run's.
///
/// # Errors
/// It is not.
pub fn check_name(name: &str) -> Result<&str, BaselineError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    match !name.is_empty() && name.chars().all(allowed) && !name.starts_with('.') && name != "latest" {
        true => Ok(name),
        false => Err(BaselineError::Name(name.into())),
    }
}

/// The folder of this machine's baseline of this name.
pub fn find(name: &str) -> Option<PathBuf> {
    let name = check_name(name).ok()?;
    // An older host kept it under what people call the machine.
    let places = [machine::this(), machine::label()].map(|machine| of_machine(name, &machine));
    places.into_iter().find(|place| place.join(journal::NAME).is_file())
}

/// Keeps a run's journal under a name, in place of what had it. Returns the run's id.
///
/// # Errors
/// The run has no journal, was measured on another machine, or cannot be copied.
pub fn save(name: &str, run: &Path) -> Result<String, BaselineError> {
    let name = check_name(name)?;
    let file = run.join(journal::NAME);
    if !file.is_file() {
        return Err(BaselineError::NoJournal(run.into()));
    }
    let Recorded { run: head, .. } = journal::read(run)?;
    if head.environment.machine_id().as_deref() != Some(&machine::this()) {
        let measured_on = head.environment.machine_label();
        return Err(BaselineError::OtherMachine { run: run.into(), measured_on, here: machine::label() });
    }
    let place = of_machine(name, &machine::this());
    let failed = |error| BaselineError::Folder { path: place.clone(), error };
    let copy = |out: &mut BufWriter<File>| io::copy(&mut File::open(&file)?, out).map(drop);
    write_whole(&place.join(journal::NAME), copy).map_err(failed)?;
    Ok(head.run_id)
}

/// All baselines of all machines, by name; an error in place of one that cannot be read.
pub fn list() -> Vec<Result<Baseline, BaselineError>> {
    let read = |name: &str, place: &Path| {
        let Recorded { run, .. } = journal::read(place)?;
        let is_here = run.environment.machine_id().as_deref() == Some(&machine::this());
        Ok(Baseline { name: name.into(), run, is_here })
    };
    let names = folders(&folder()).into_iter();
    let of_name = |place: PathBuf| {
        let name = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
        folders(&place).into_iter().map(|place| read(&name, &place)).collect::<Vec<_>>()
    };
    names.flat_map(of_name).collect()
}

/// Removes this machine's baseline of this name.
///
/// # Errors
/// There is none, or it cannot be removed.
pub fn remove(name: &str) -> Result<(), BaselineError> {
    let place = find(check_name(name)?).ok_or_else(|| BaselineError::Missing(name.into()))?;
    std::fs::remove_dir_all(&place).map_err(|error| BaselineError::Folder { path: place, error })?;
    // Other machines may have theirs under this name.
    let _ = std::fs::remove_dir(folder().join(name));
    Ok(())
}

fn folder() -> PathBuf {
    paths::data().join("baselines")
}

fn of_machine(name: &str, machine: &str) -> PathBuf {
    folder().join(name).join(&sha256_text(machine)[..16])
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    all.sort();
    all
}
