//! Whether what is kept here is what the machines of a fleet signed: each cell of a submission once, none more, none other.

use crate::collect::{FAILED_OVER, believed};
use crate::courier::{Courier, CourierError, Message, each_stored};
use crate::files::{NamedFile, is_here};
use crate::form::{self, MachineRun, Submission};
use crate::names;
use crate::seal::Trust;
use crate::submit::{self, SubmitError};
use skillbench_record::journal::Contents;
use skillbench_record::{Cell, CellName, Samples, cell_files};
use skillbench_store::{Recorded, journal};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What was found.
#[derive(Debug, Default)]
pub struct Verified {
    pub cells: usize,
    pub lost: Vec<String>,
    pub twice: Vec<String>,
    /// What stands here is not what the machine signed.
    pub other: Vec<String>,
}

impl Verified {
    pub fn is_clean(&self) -> bool {
        self.lost.is_empty() && self.twice.is_empty() && self.other.is_empty()
    }
}

#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    #[error(transparent)]
    Submission(#[from] SubmitError),
    #[error(transparent)]
    Courier(#[from] CourierError),
    #[error(transparent)]
    Journal(#[from] journal::JournalError),
}

/// Holds the runs of a submission in a folder of runs against the server.
///
/// # Errors
/// There is no such submission, its runs are not here, or the courier's.
pub fn verify(courier: &dyn Courier, trust: &Trust, id: &str, output: &Path) -> Result<Verified, VerifyError> {
    let submission = submit::find(courier, trust, id)?;
    let mut verified = Verified::default();
    for run in &submission.runs {
        verified.hold(courier, trust, &submission, run, &output.join(submission.run_id(&run.machine)))?;
    }
    Ok(verified)
}

impl Verified {
    /// Holds the run of one machine, which is kept in a folder, against what that machine signed. Outcomes are looked at one by one: those of all
    /// machines are more than fits into memory.
    fn hold(
        &mut self,
        courier: &dyn Courier,
        trust: &Trust,
        submission: &Submission,
        run: &MachineRun,
        folder: &Path,
    ) -> Result<(), VerifyError> {
        let recorded = journal::read(folder)?;
        let kept = Kept::of(run, &recorded, folder);
        self.cells += recorded.run.cells.len();
        for asked in &run.cells {
            let name = || format!("{}: {}", run.machine, asked.name);
            match kept.cells.get(&asked.key).map(Vec::as_slice) {
                None => self.lost.push(name()),
                Some([_]) => {}
                Some(_) => self.twice.push(name()),
            }
        }
        let (machine, mut signed) = (&run.machine, BTreeSet::new());
        each_stored(courier, &names::outcomes_of(&submission.id, machine), &mut |message| {
            let Some((_, key)) = message.subject.rsplit_once('.') else { return };
            match Signed::read(trust, &message, &submission.id, machine, key).map(|outcome| kept.holds(key, &outcome)) {
                Err(why) => self.other.push(format!("{machine}: {why}")),
                Ok(Held::Lost(name)) => self.lost.push(format!("{machine}: {name}")),
                Ok(Held::Other(what)) => self.other.extend(what.iter().map(|what| format!("{machine}: {what}"))),
            }
            signed.insert(key.to_string());
        })?;
        for cell in kept.cells.iter().filter(|(key, _)| !signed.contains(*key)).flat_map(|(_, cells)| cells) {
            if cell.outcome.metrics().is_some() {
                self.other.push(format!("{machine}: nobody signed the figures of {}", CellName::of(cell)));
            }
        }
        Ok(())
    }
}

/// What is kept here of a machine's run.
struct Kept<'k> {
    folder: &'k Path,
    /// By their keys.
    cells: BTreeMap<String, Vec<&'k Cell>>,
    /// By the places of their cells.
    samples: BTreeMap<usize, Vec<&'k Samples>>,
}

/// What was found of a cell that a machine signed.
enum Held {
    /// It is not here; its name.
    Lost(CellName),
    /// What is here of it that is not as it was signed.
    Other(Vec<String>),
}

impl<'k> Kept<'k> {
    fn of(run: &MachineRun, recorded: &'k Recorded, folder: &'k Path) -> Kept<'k> {
        let mut kept = Kept { folder, cells: BTreeMap::new(), samples: BTreeMap::new() };
        for cell in &recorded.run.cells {
            kept.cells.entry(form::key_of(&run.cells, cell)).or_default().push(cell);
        }
        for samples in &recorded.samples {
            kept.samples.entry(samples.cell).or_default().push(samples);
        }
        kept
    }

    fn holds(&self, key: &str, signed: &Signed) -> Held {
        let Some(here) = self.cells.get(key).and_then(|cells| cells.first()) else {
            return Held::Lost(CellName::of(&signed.cell));
        };
        let name = CellName::of(here);
        Held::Other(if here.outcome.reason().is_some_and(|reason| reason.code == FAILED_OVER) {
            vec![format!("{name} came after the machine was given up: follow it again")]
        } else if self.has_other_samples(&signed.samples, here.index) {
            vec![format!("the samples of {name} are not those it signed")]
        } else if (Cell { index: here.index, ..signed.cell.clone() }) != **here {
            vec![format!("{name} is not what it signed")]
        } else {
            let others = signed.files.iter().filter_map(|file| self.other_file(file, here.index));
            others.map(|path| format!("{path} is not here as it was sent")).collect()
        })
    }

    /// Whether the samples of the cell at a place are others than those that were signed.
    fn has_other_samples(&self, signed: &[Samples], place: usize) -> bool {
        let figures = |samples: &Samples| (samples.series.clone(), samples.round, samples.values.clone());
        let here = self.samples.get(&place).into_iter().flatten();
        !here.map(|samples| figures(samples)).eq(signed.iter().map(figures))
    }

    /// Where a file that a cell left is to be, and is not or is another.
    fn other_file(&self, file: &NamedFile, cell: usize) -> Option<String> {
        let path = cell_files::place(self.folder, cell, &file.name)?;
        (!is_here(file, &path)).then(|| path.display().to_string())
    }
}

/// What a machine signed of a cell.
struct Signed {
    cell: Cell,
    samples: Vec<Samples>,
    files: Vec<NamedFile>,
}

impl Signed {
    fn read(trust: &Trust, message: &Message, submission: &str, machine: &str, key: &str) -> Result<Signed, String> {
        let outcome = believed(trust, message, submission, machine, key)?;
        let mut contents = Contents::read(outcome.line.as_bytes());
        let (_, (cell, samples)) = contents.cells.pop_first().ok_or("an outcome has no cell")?;
        Ok(Signed { cell, samples, files: outcome.files })
    }
}
