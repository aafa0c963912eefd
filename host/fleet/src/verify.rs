//! Whether what is kept here is what the machines of a fleet signed: each cell of a submission once, none more, none other.

use crate::collect::{FAILED_OVER, believed};
use crate::courier::{Courier, CourierError, all_stored};
use crate::form::{self, Submission};
use crate::names;
use crate::seal::Trust;
use crate::submit::{self, SubmitError};
use skillbench_record::journal::Contents;
use skillbench_record::{Cell, CellName, Samples};
use skillbench_store::journal;
use std::collections::BTreeMap;
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
    let signed = signed(courier, trust, &submission)?;
    let mut verified = Verified::default();
    for run in &submission.runs {
        let recorded = journal::read(&output.join(submission.run_id(&run.machine)))?;
        let mut kept: BTreeMap<String, Vec<&Cell>> = BTreeMap::new();
        for cell in &recorded.run.cells {
            kept.entry(form::key_of(&run.cells, cell)).or_default().push(cell);
        }
        verified.cells += recorded.run.cells.len();
        for asked in &run.cells {
            let name = || format!("{}: {}", run.machine, asked.name);
            match kept.get(&asked.key).map(Vec::as_slice) {
                None => verified.lost.push(name()),
                Some([_]) => {}
                Some(_) => verified.twice.push(name()),
            }
        }
        let of_run = signed.range((run.machine.clone(), String::new())..).take_while(|((of, _), _)| *of == run.machine);
        for ((machine, key), outcome) in of_run {
            match (outcome, kept.get(key).and_then(|cells| cells.first())) {
                (Err(why), _) => verified.other.push(format!("{machine}: {why}")),
                (Ok((cell, _)), None) => verified.lost.push(format!("{machine}: {}", CellName::of(cell))),
                (Ok(_), Some(here)) if here.outcome.reason().is_some_and(|reason| reason.code == FAILED_OVER) => {
                    let name = CellName::of(here);
                    verified
                        .other
                        .push(format!("{machine}: {name} came after the machine was given up: follow it again"));
                }
                (Ok((_, samples)), Some(here)) if other_samples(samples, &recorded.samples, here.index) => {
                    let name = CellName::of(here);
                    verified.other.push(format!("{machine}: the samples of {name} are not those it signed"));
                }
                (Ok((cell, _)), Some(here)) if Cell { index: here.index, ..cell.clone() } != **here => {
                    verified.other.push(format!("{machine}: {} is not what it signed", CellName::of(here)));
                }
                _ => {}
            }
        }
        // Figures that no machine signed.
        let nobody_signed = |key: &String| !signed.contains_key(&(run.machine.clone(), key.clone()));
        for cell in kept.iter().filter(|(key, _)| nobody_signed(key)).flat_map(|(_, cells)| cells) {
            if cell.outcome.metrics().is_some() {
                verified.other.push(format!("{}: nobody signed the figures of {}", run.machine, CellName::of(cell)));
            }
        }
    }
    Ok(verified)
}

/// Whether the samples of a cell, which stands at this place here, are others than those that were signed.
fn other_samples(signed: &[Samples], here: &[Samples], place: usize) -> bool {
    let figures = |samples: &Samples| (samples.series.clone(), samples.round, samples.values.clone());
    let here = here.iter().filter(|samples| samples.cell == place).map(figures);
    !here.eq(signed.iter().map(figures))
}

type Signed = BTreeMap<(String, String), Result<(Cell, Vec<Samples>), String>>;

/// Every outcome that the server has, by machine and key.
fn signed(courier: &dyn Courier, trust: &Trust, submission: &Submission) -> Result<Signed, CourierError> {
    let mut found = Signed::new();
    for message in all_stored(courier, &names::all_of(&submission.id))? {
        let words: Vec<&str> = message.subject.split('.').collect();
        let ["skb", "of", _, "cell", machine, key] = words[..] else { continue };
        let outcome = believed(trust, &message, &submission.id, machine, key).and_then(|outcome| {
            let mut contents = Contents::read(outcome.line.as_bytes());
            contents.cells.pop_first().map(|(_, cell)| cell).ok_or_else(|| "an outcome has no cell".into())
        });
        found.insert((machine.into(), key.into()), outcome);
    }
    Ok(found)
}
