//! One lot: whatever is there of it already is used, the rest is measured. Outcomes are stored before the end of the lot (I2), and the job
//! leaves the queue after that (I3).

use super::measure::{Answer, Finished, Step};
use super::own::LaidOut;
use super::spool::{MeasuredCell, journal_in};
use super::{Agent, AgentError, Word, Words};
use crate::courier::{CourierError, Delivery, Settle};
use crate::failover::is_over_for;
use crate::files::FileError;
use crate::form::{self, AskedCell, Doing, Job, LotEnd};
use crate::keys::Role;
use crate::lease::{CellStart, Lease};
use crate::names;
use crate::seal::When;
use skillbench_record::time::now_utc;
use skillbench_record::{CellName, Outcome as Ended, Reason, Run};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

/// Between two tries to reach the server.
const AGAIN: Duration = Duration::from_secs(1);

/// What became of a delivery.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Handled {
    Done,
    /// The agent was asked to end; the job waits in the queue.
    Stopped,
}

/// A lot on its way.
pub(super) struct Work<'w, 'a> {
    pub(super) agent: &'w Agent<'a>,
    pub(super) job: &'w Job,
    /// Keys of cells that have an outcome.
    pub(super) done: BTreeSet<String>,
    /// Outcomes that nobody measured, which lie in no spool, by key.
    pub(super) unmeasured: BTreeMap<String, Vec<u8>>,
    pub(super) lease: Lease,
    /// The cell that is being measured.
    pub(super) begun: Option<String>,
    /// Taken back, or moved to another machine.
    is_over: bool,
}

impl Agent<'_> {
    /// Does what a delivery asks for.
    pub(super) fn handle(
        &self,
        delivery: &Delivery,
        does: &mut dyn FnMut(Doing),
        tell: &mut Words<'_>,
    ) -> Result<Handled, AgentError> {
        let words: Vec<&str> = delivery.subject.split('.').collect();
        let ["skb", "job", _, machine, submission, lot] = words[..] else {
            self.sure(|| self.courier.settle(delivery, Settle::Done))?;
            return Ok(Handled::Done);
        };
        let is_over = self.sure(|| self.courier.stored(&names::end(submission, &self.machine.name, lot)))?.is_some()
            || self.sure(|| is_over_for(self.courier, submission, &self.machine.name))?;
        if !is_over {
            match self.read(delivery, machine, submission, lot) {
                Ok((job, by)) => {
                    tell(Word::Lot { submission, lot, cells: job.cells.len(), by: &by });
                    let mut work = Work {
                        agent: self,
                        job: &job,
                        done: BTreeSet::new(),
                        unmeasured: BTreeMap::new(),
                        lease: Lease::default(),
                        begun: None,
                        is_over: false,
                    };
                    if work.measure_all(does, tell)? == Handled::Stopped {
                        work.take_back()?;
                        self.sure(|| self.courier.settle(delivery, Settle::Again(Duration::ZERO)))?;
                        return Ok(Handled::Stopped);
                    }
                    work.send_missing()?;
                    if !work.is_over {
                        self.end(submission, lot, None)?;
                    }
                }
                Err(why) => {
                    tell(Word::Warning(&format!("lot {lot} of {submission} is refused: {why}")));
                    self.end(submission, lot, Some(why))?;
                }
            }
        }
        self.sure(|| self.courier.settle(delivery, Settle::Done))?;
        Ok(Handled::Done)
    }

    /// The job of a delivery, with who signed it.
    fn read(&self, delivery: &Delivery, machine: &str, submission: &str, lot: &str) -> Result<(Job, String), String> {
        let opened =
            self.trust.open(&delivery.body, &[Role::Submitter], When::Now).map_err(|error| error.to_string())?;
        let job: Job = form::read(form::JOB, &opened.body).map_err(|error| error.to_string())?;
        names::check(&job.submission).and_then(|()| names::check(&job.lot)).map_err(|error| error.to_string())?;
        if job.cells.iter().any(|cell| cell.key != names::key(&cell.name)) {
            return Err("it has a key that is not its cell's".into());
        }
        job.own.check()?;
        let is_this = job.machine == machine && job.submission == submission && job.lot == lot;
        match is_this && machine == self.machine.name {
            true => Ok((job, opened.by.name)),
            false => Err("it was signed as the job of another queue".into()),
        }
    }

    fn end(&self, submission: &str, lot: &str, problem: Option<String>) -> Result<(), AgentError> {
        let end = LotEnd {
            schema: form::LOT_END.into(),
            submission: submission.into(),
            lot: lot.into(),
            machine: self.machine.name.clone(),
            problem,
        };
        let end = self.signer.seal(&end)?;
        self.sure(|| self.courier.store(&names::end(submission, &self.machine.name, lot), &end))?;
        Ok(())
    }

    /// Makes a call until the server is there.
    pub(super) fn sure<T>(&self, call: impl Fn() -> Result<T, CourierError>) -> Result<T, CourierError> {
        loop {
            match call() {
                Err(error) if error.is_passing() && !self.stop.asked() => std::thread::sleep(AGAIN),
                result => return result,
            }
        }
    }
}

impl Work<'_, '_> {
    fn measure_all(&mut self, does: &mut dyn FnMut(Doing), tell: &mut Words<'_>) -> Result<Handled, AgentError> {
        self.look_up()?;
        if let Some(reason) = self.cannot() {
            self.end_rest(&Ended::Unavailable(reason), tell)?;
            return Ok(Handled::Done);
        }
        let laid_out = match self.lay_out()? {
            Ok(laid_out) => laid_out,
            Err(FileError::Unwanted { .. }) => {
                return Ok(if self.is_over { Handled::Done } else { Handled::Stopped });
            }
            Err(FileError::Io { path, error }) if is_of_disk(&error) => {
                return Err(AgentError::Spool(std::io::Error::other(format!("{}: {error}", path.display()))));
            }
            Err(error) => {
                self.end_rest(&Ended::Unavailable(Reason::new("no-file", error.to_string())), tell)?;
                return Ok(Handled::Done);
            }
        };
        loop {
            for cell in self.open() {
                if self.lease.is_poison(&cell.key) {
                    let starts = self.lease.tell(&cell.key);
                    let text =
                        format!("it was begun and never ended, and its agent with it: {starts}; it is not begun again");
                    self.end_unmeasured(&cell, Ended::Crashed(Reason::new("machine-lost", text)), tell)?;
                }
            }
            let (open, before) = (self.open(), self.done.len());
            if open.is_empty() {
                return Ok(Handled::Done);
            }
            if self.agent.stop.asked() {
                return Ok(Handled::Stopped);
            }
            let folder = self.agent.spool.begin(self.job).map_err(AgentError::Spool)?;
            let request = laid_out.request(self.job.request_for(&open.iter().collect::<Vec<_>>()));
            let (agent, mut refused) = (self.agent, None);
            let finished = agent.measure.measure(&request, &folder, &mut |step| match step {
                Step::Head(run) => {
                    refused = self.differs(run);
                    Ok(if refused.is_some() { Answer::Stop } else { Answer::Go })
                }
                Step::Begin(place) => self.begin(&open, place, does),
                Step::Ended(line) => self.ended(line, &folder, tell).map(|()| Answer::Go),
            })?;
            if self.is_over {
                return Ok(Handled::Done);
            }
            if let Some(reason) = refused {
                self.end_rest(&Ended::Unavailable(reason), tell)?;
                return Ok(Handled::Done);
            }
            match finished {
                Finished::Stopped => return Ok(Handled::Stopped),
                Finished::All => {
                    let text = "the host measured the lot and said nothing of this cell";
                    self.end_rest(&Ended::Failed(Reason::new("no-outcome", text)), tell)?;
                }
                Finished::Died(why) => self.died(&why, self.done.len() > before, tell)?,
                Finished::NoRoom(why) => return Err(AgentError::Spool(std::io::Error::other(why))),
            }
        }
    }

    /// Whoever measured died. The cell that was at it is told so, and is not begun again; where none was and none has ended, no cell can be
    /// measured so.
    fn died(&mut self, why: &str, has_measured: bool, tell: &mut Words<'_>) -> Result<(), AgentError> {
        let begun = self.begun.take();
        match self.open().into_iter().find(|cell| Some(&cell.key) == begun.as_ref()) {
            Some(cell) => {
                let reason = Reason::new("host-died", format!("the host that measured it ended: {why}"));
                self.end_unmeasured(&cell, Ended::Crashed(reason), tell)
            }
            None if has_measured => Ok(()),
            None => {
                let reason = Reason::new("not-begun", format!("no host could begin with it: {why}"));
                self.end_rest(&Ended::Failed(reason), tell)
            }
        }
    }

    /// Gives all cells without an outcome this one.
    fn end_rest(&mut self, outcome: &Ended, tell: &mut Words<'_>) -> Result<(), AgentError> {
        self.open().iter().try_for_each(|cell| self.end_unmeasured(cell, outcome.clone(), tell))
    }

    /// Looks up what was begun, what the server has, and what lies here.
    fn look_up(&mut self) -> Result<(), AgentError> {
        let Work { agent, job, .. } = *self;
        self.lease = agent.sure(|| self.read_lease())?.0;
        for cell in &job.cells {
            if agent.sure(|| agent.courier.stored(&self.subject(&cell.key)))?.is_some() {
                self.done.insert(cell.key.clone());
            }
        }
        for (key, measured) in agent.spool.measured(job) {
            self.store(&key, &measured)?;
        }
        Ok(())
    }

    /// Has the files of the submitter's here that open cells need.
    fn lay_out(&mut self) -> Result<Result<LaidOut, FileError>, AgentError> {
        let Work { agent, job, .. } = *self;
        if self.open().is_empty() {
            return Ok(Ok(LaidOut::default()));
        }
        let is_over = Cell::new(false);
        let is_wanted = || {
            // A server that is away has not taken it back.
            is_over.set(is_over_for(agent.courier, &job.submission, &job.machine).unwrap_or(false));
            !is_over.get() && !agent.stop.asked()
        };
        let laid_out = agent.lay_out(job, &is_wanted);
        self.is_over |= is_over.get();
        match laid_out {
            Err(FileError::Courier(error)) if agent.stop.asked() || !error.is_passing() => Err(error.into()),
            laid_out => Ok(laid_out),
        }
    }

    /// The cells without an outcome.
    fn open(&self) -> Vec<AskedCell> {
        self.job.cells.iter().filter(|cell| !self.done.contains(&cell.key)).cloned().collect()
    }

    /// Why the lot cannot be measured here: it was planned for another plugin or model than this machine has.
    fn cannot(&self) -> Option<Reason> {
        let here = &self.agent.machine.environment;
        let of_skillsets = self.job.models.iter().filter(|(name, _)| !self.job.own.models.contains_key(*name));
        let of_skillsets = of_skillsets.map(|(name, content)| (name.clone(), content.clone())).collect();
        other("plugin", &self.job.plugins, &here.plugin_sha256).or_else(|| other("model", &of_skillsets, &here.models))
    }

    /// Why what was begun is not what was planned: a file was changed since the machine was announced.
    fn differs(&self, run: &Run) -> Option<Reason> {
        let (here, announced) = (&run.environment, &self.agent.machine.environment);
        let runtimes = announced.runtime_sha256.iter().filter(|(id, _)| here.runtime_sha256.contains_key(*id));
        let runtimes = runtimes.map(|(id, hash)| (id.clone(), hash.clone())).collect();
        other("plugin", &self.job.plugins, &here.plugin_sha256)
            .or_else(|| other("model", &self.job.models, &here.models))
            .or_else(|| other("runtime", &runtimes, &here.runtime_sha256))
            .or_else(|| {
                let is_same = form::conditions(here) == form::conditions(announced);
                let text =
                    "the machine or its host is another one than was announced: start its agent again, and ask anew";
                (!is_same).then(|| Reason::new("other-machine", text))
            })
    }

    fn begin(&mut self, open: &[AskedCell], place: usize, does: &mut dyn FnMut(Doing)) -> Result<Answer, CourierError> {
        let Work { agent, job, .. } = *self;
        if agent.stop.asked() {
            return Ok(Answer::Stop);
        }
        // A server that is away does not stop what is begun.
        match is_over_for(agent.courier, &job.submission, &job.machine) {
            Ok(true) => {
                self.is_over = true;
                return Ok(Answer::Stop);
            }
            Err(error) if !error.is_passing() => return Err(error),
            _ => {}
        }
        let Some(cell) = open.get(place) else { return Ok(Answer::Go) };
        self.begun = Some(cell.key.clone());
        does(Doing::Measuring {
            submission: job.submission.clone(),
            lot: job.lot.clone(),
            place: self.done.len() + 1,
            of: job.cells.len(),
            cell: cell.name.to_string(),
        });
        let start = CellStart {
            key: cell.key.clone(),
            machine: job.machine.clone(),
            session: agent.machine.session.clone(),
            at: now_utc(),
        };
        match self.changed_lease(|lease| lease.begin(start.clone(), |key| self.done.contains(key))) {
            Ok(lease) => self.lease = lease,
            Err(error) if !error.is_passing() => return Err(error),
            Err(_) => {}
        }
        Ok(Answer::Go)
    }

    /// Stores the line of a cell under its key. A server that is away does not stop the next cell.
    fn ended(&mut self, line: &str, folder: &Path, tell: &mut Words<'_>) -> Result<(), CourierError> {
        let run = journal_in(folder).and_then(|journal| journal.parent().map(Path::to_path_buf));
        let Some((key, cell, measured)) = MeasuredCell::read(self.job, line, run.as_deref().unwrap_or(folder)) else {
            return Ok(());
        };
        tell(Word::Cell { name: &CellName::of(&cell).to_string(), outcome: cell.outcome.name() });
        if self.begun.as_ref() == Some(&key) {
            self.begun = None;
        }
        self.store(&key, &measured)
    }
}

/// Whether nothing can be written here, whatever it is.
fn is_of_disk(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | ReadOnlyFilesystem | PermissionDenied)
}

/// What is another thing there than was asked for.
fn other(what: &str, asked: &BTreeMap<String, String>, here: &BTreeMap<String, String>) -> Option<Reason> {
    let (name, _) = asked.iter().find(|(name, hash)| here.get(*name) != Some(*hash))?;
    let is = if here.contains_key(name) { "is another one" } else { "is not there" };
    Some(Reason::new(
        &format!("other-{what}"),
        format!(
            "the {what} {name} {is} on this machine than when this was planned: start its agent again, and ask anew"
        ),
    ))
}
