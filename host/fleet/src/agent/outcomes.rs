//! The outcomes of a lot, as they are signed and stored: those that were measured, and those that say why nothing was.

use super::lot::Work;
use super::spool::MeasuredCell;
use super::{AgentError, Word, Words};
use crate::courier::{CourierError, LARGEST};
use crate::files::{FileError, NamedFile, send};
use crate::form::{self, AskedCell, Outcome};
use crate::names;
use skillbench_models::user_models::files::Tree;
use skillbench_record::journal::Line;
use skillbench_record::time::now_utc;
use skillbench_record::{Outcome as Ended, Reason};
use std::path::{Path, PathBuf};

/// Bytes that a cell may leave.
const MOST_LEFT: u64 = 1 << 30;

/// What a cell left: what was sent, and what could not be.
#[derive(Default)]
struct Left {
    files: Vec<NamedFile>,
    lost: Vec<String>,
}

impl Work<'_, '_> {
    /// Stores an outcome; one that is there already stays. What a server that is away does not take is stored before the lot ends.
    pub(super) fn store(&mut self, key: &str, measured: &MeasuredCell) -> Result<(), CourierError> {
        if self.done.contains(key) {
            return Ok(());
        }
        let sent = self.send_left(measured).and_then(|left| {
            let mut sealed = self.sealed(key, &measured.line, left)?;
            if sealed.len() > LARGEST {
                sealed = self.sealed(key, &self.too_large(key, sealed.len())?, Left::default())?;
                self.unmeasured.insert(key.into(), sealed.clone());
            }
            self.agent.courier.store(&self.subject(key), &sealed)
        });
        match sent {
            Err(error) if !error.is_passing() => Err(error),
            _ => {
                self.done.insert(key.into());
                Ok(())
            }
        }
    }

    /// Stores what a cell left, before its outcome: whoever reads of a file finds it. What cannot be sent does not hold the outcome up.
    fn send_left(&self, measured: &MeasuredCell) -> Result<Left, CourierError> {
        let (mut left, mut bytes) = (Left::default(), 0);
        for (name, path) in &measured.left {
            match self.send_one(&measured.run, name, path, &mut bytes) {
                Ok(file) => left.files.push(file),
                Err(FileError::Courier(error @ (CourierError::Away(_) | CourierError::Killed))) => return Err(error),
                Err(error) => left.lost.push(format!("{name}: {error}")),
            }
        }
        Ok(left)
    }

    fn send_one(&self, run: &Path, name: &str, path: &Path, bytes: &mut u64) -> Result<NamedFile, FileError> {
        let bad = |error: String| FileError::Io { path: path.into(), error: std::io::Error::other(error) };
        // A plugin wrote in that folder: what leads out of it is nothing that the cell left.
        let opened = Tree::of_folder(run).and_then(|tree| tree.open(path));
        let mut opened = opened.map_err(|error| bad(error.to_string()))?;
        if *bytes + opened.data.len() > MOST_LEFT {
            return Err(bad(format!("a cell may leave {} MiB", MOST_LEFT >> 20)));
        }
        let file = NamedFile::of_open(name, path, &mut opened.file)?;
        *bytes += file.bytes;
        send(self.agent.courier, path, &mut opened.file, &file).map(|()| file)
    }

    /// The line of a cell whose samples no message can carry.
    fn too_large(&self, key: &str, bytes: usize) -> Result<String, CourierError> {
        let asked = self.job.cells.iter().find(|cell| cell.key == key);
        let asked =
            asked.ok_or_else(|| CourierError::Refused("a cell beyond the plan is too large for a message".into()))?;
        let (have, most) = (bytes >> 20, LARGEST >> 20);
        let text = format!("its samples take {have} MiB, and a message holds {most}: ask for fewer iterations");
        self.line(asked, Ended::Failed(Reason::new("too-large", text)))
    }

    /// The line of a cell that was not measured.
    fn line(&self, asked: &AskedCell, outcome: Ended) -> Result<String, CourierError> {
        let place = self.job.cells.iter().position(|cell| cell.key == asked.key).unwrap_or_default();
        let cell = asked.ended(&self.job.kinds, place, outcome);
        let line = Line::Cell { cell: &cell, samples: &[] }.text();
        let line = line.map_err(|error| CourierError::Refused(error.to_string()))?;
        Ok(String::from_utf8_lossy(&line).trim_end().into())
    }

    pub(super) fn subject(&self, key: &str) -> String {
        names::outcome(&self.job.submission, &self.job.machine, key)
    }

    fn sealed(&self, key: &str, line: &str, left: Left) -> Result<Vec<u8>, CourierError> {
        let Work { agent, job, .. } = *self;
        let outcome = Outcome {
            schema: form::OUTCOME.into(),
            submission: job.submission.clone(),
            lot: job.lot.clone(),
            machine: job.machine.clone(),
            key: key.into(),
            session: agent.machine.session.clone(),
            attempt: self.lease.attempts(key),
            at: now_utc(),
            conditions: form::conditions(&agent.machine.environment),
            line: line.into(),
            files: left.files,
            lost: left.lost,
        };
        agent.signer.seal(&outcome).map_err(|error| CourierError::Refused(error.to_string()))
    }

    /// Stores what the server lacks: it was away when a cell ended, or has lost its disk since.
    pub(super) fn send_missing(&self) -> Result<(), CourierError> {
        let Work { agent, job, .. } = *self;
        let mut measured = None;
        for key in &self.done {
            if agent.sure(|| agent.courier.stored(&self.subject(key)))?.is_some() {
                continue;
            }
            let measured = measured.get_or_insert_with(|| agent.spool.measured(job));
            let sealed = match (self.unmeasured.get(key), measured.get(key)) {
                (Some(sealed), _) => sealed.clone(),
                (None, Some(cell)) => self.sealed(key, &cell.line, agent.sure(|| self.send_left(cell))?)?,
                (None, None) => continue,
            };
            agent.sure(|| agent.courier.store(&self.subject(key), &sealed))?;
        }
        Ok(())
    }

    /// Stores an outcome that was not measured.
    pub(super) fn end_unmeasured(
        &mut self,
        asked: &AskedCell,
        outcome: Ended,
        tell: &mut Words<'_>,
    ) -> Result<(), AgentError> {
        tell(Word::Cell { name: &asked.name.to_string(), outcome: outcome.name() });
        let line = self.line(asked, outcome)?;
        self.unmeasured.insert(asked.key.clone(), self.sealed(&asked.key, &line, Left::default())?);
        Ok(self.store(&asked.key, &MeasuredCell { line, left: vec![], run: PathBuf::new() })?)
    }
}
