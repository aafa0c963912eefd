//! A submission's outcomes become runs: one of each machine, kept here as cells end there. Collecting can stop anywhere and go on later, here
//! or elsewhere: what is stored is read again from its beginning, and what is kept is known by its key.

use crate::courier::{Courier, CourierError, Follow, Message, Table};
use crate::form::{self, Beat, Doing, LotEnd, MachineRun, Outcome, Submission};
use crate::keys::{Pass, Role};
use crate::names;
use crate::seal::{Signer, Trust, When};
use crate::submit::{self, SubmitError};
use skillbench_record::journal::Contents;
use skillbench_record::{Cell, CellName, Environment, FleetRecord, Outcome as Ended, RUN_SCHEMA, Reason, Run, Samples};
use skillbench_session::{Event, Listener, MeasureError, Measured, Received};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// So long one look for news takes.
const LOOK: Duration = Duration::from_millis(500);
/// Between two looks at what the agents do.
const REVIEW: Duration = Duration::from_secs(5);

#[derive(Debug, thiserror::Error)]
pub enum CollectError {
    #[error(transparent)]
    Submission(#[from] SubmitError),
    #[error(transparent)]
    Courier(#[from] CourierError),
    #[error(transparent)]
    Measure(#[from] MeasureError),
    #[error("{machine}: the run cannot be kept: {error}")]
    Keep { machine: String, error: io::Error },
}

/// How collecting ended.
pub enum Collected {
    /// All there is of each machine's run.
    All(Vec<Measured>),
    /// The user stopped it. The machines go on.
    Stopped,
}

/// Whoever collects.
pub struct Collector<'c> {
    pub courier: &'c dyn Courier,
    pub trust: Trust,
    /// `None`: a viewer, who cannot put back what is missing.
    pub signer: Option<Signer>,
}

impl<'c> Collector<'c> {
    /// Collects as whoever the pass is of.
    ///
    /// # Errors
    /// The pass cannot sign.
    pub fn of(courier: &'c dyn Courier, pass: &Pass) -> Result<Collector<'c>, SubmitError> {
        let signer = (pass.role == Role::Submitter).then(|| Signer::of(pass)).transpose()?;
        Ok(Collector { courier, trust: Trust::of(pass), signer })
    }

    /// Collects a submission into a folder of runs until all of it has ended, or `stop` says so.
    ///
    /// # Errors
    /// Nothing can be kept there, or the server refuses. A server that is away for a while is waited for.
    pub fn collect(
        &self,
        submission: &Submission,
        fleet: &str,
        output: &Path,
        stop: &dyn Fn() -> bool,
        on: &mut Listener<'_>,
    ) -> Result<Collected, CollectError> {
        let mut keeping = Keeping::begin(submission, fleet, output)?;
        on(Event::RunBegun { names: &keeping.titles() });
        keeping.tell_kept(on);
        let mut follow = self.courier.follow(&names::all_of(&submission.id))?;
        let mut outage = Outage::default();
        let mut review =
            Review { at: Instant::now(), silent: BTreeSet::new(), is_first: true, is_quiet: false, has_lost: false };
        loop {
            let was_away = outage.is_on();
            let news = self.news(&mut *follow, &mut outage, on)?;
            if (was_away && !outage.is_on()) || std::mem::take(&mut review.has_lost) {
                // The server may have lost its disk: all is read again from the beginning, and sent again where it is missing.
                follow = self.courier.follow(&names::all_of(&submission.id))?;
                match self.signer.as_ref().map(|signer| submit::send_head(self.courier, signer, submission)) {
                    Some(Err(SubmitError::Courier(error))) if error.is_passing() => outage.tell(&error, on),
                    Some(Err(error)) => return Err(error.into()),
                    _ => {}
                }
                keeping.ended.clear();
                review.is_first = true;
                continue;
            }
            if let Some(message) = &news {
                keeping.take(&self.trust, message, on)?;
            }
            if keeping.is_whole() {
                return Ok(Collected::All(keeping.end(None, on)?));
            }
            if stop() {
                return Ok(Collected::Stopped);
            }
            // What is stored was read: what has not ended by now is waited for, and put back where it is missing.
            if news.is_none() && !outage.is_on() && review.is_due() {
                match self.review(&keeping, &mut review, on) {
                    Ok(Next::Wait) => {}
                    Ok(Next::Cancelled) => return Ok(Collected::All(keeping.end(Some(cancelled()), on)?)),
                    Err(SubmitError::Courier(error)) if error.is_passing() => outage.tell(&error, on),
                    Err(error) => return Err(error.into()),
                }
            }
        }
    }

    fn news(
        &self,
        follow: &mut dyn Follow,
        outage: &mut Outage,
        on: &mut Listener<'_>,
    ) -> Result<Option<Message>, CollectError> {
        match follow.next(LOOK) {
            Ok(found) => {
                outage.over(on);
                Ok(found)
            }
            Err(error) if error.is_passing() => {
                outage.tell(&error, on);
                std::thread::sleep(LOOK);
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Looks at the agents, and puts back jobs that are in no queue though their lots have not ended: the submitter was killed while it sent
    /// them, or the server lost its disk.
    fn review(&self, keeping: &Keeping<'_>, review: &mut Review, on: &mut Listener<'_>) -> Result<Next, SubmitError> {
        review.at = Instant::now();
        let submission = keeping.submission;
        let beats = self.beats()?;
        if submit::is_cancelled(self.courier, &submission.id)? {
            let is_at_it =
                |beat: &Beat| matches!(&beat.doing, Doing::Measuring { submission: of, .. } if *of == submission.id);
            // What an agent stored before it was seen at nothing is read until the next look.
            let is_quiet = !beats.values().any(is_at_it);
            let was_quiet = std::mem::replace(&mut review.is_quiet, is_quiet);
            review.is_first = false;
            return Ok(if was_quiet && is_quiet { Next::Cancelled } else { Next::Wait });
        }
        if self.signer.is_some() && self.courier.stored(&names::head(&submission.id))?.is_none() {
            review.has_lost = true;
            return Ok(Next::Wait);
        }
        if review.is_first {
            review.is_first = false;
            if let Some(signer) = &self.signer {
                for lot in submission.lots.iter().filter(|lot| !keeping.ended.contains_key(&lot.id)) {
                    submit::send_lot(self.courier, signer, submission, lot)?;
                }
            }
        }
        for machine in keeping.waited_for() {
            if beats.contains_key(machine) {
                if review.silent.remove(machine) {
                    on(Event::Note(&format!("{machine} is there again")));
                }
            } else if review.silent.insert(machine.into()) {
                let id = &submission.id;
                on(Event::Warning(&format!(
                    "{machine} gives no sign of life: its cells wait for it; `host fleet cancel {id}` ends the wait"
                )));
            }
        }
        Ok(Next::Wait)
    }

    fn beats(&self) -> Result<BTreeMap<String, Beat>, CourierError> {
        let mut beats = BTreeMap::new();
        for name in self.courier.keys(Table::Agents)? {
            let entry = self.courier.read(Table::Agents, &name)?;
            if let Some(beat) = entry.and_then(|entry| serde_json::from_slice(&entry.body).ok()) {
                beats.insert(name, beat);
            }
        }
        Ok(beats)
    }
}

enum Next {
    Wait,
    Cancelled,
}

fn cancelled() -> Reason {
    Reason::new("cancelled", "the submission was taken back before this cell was measured")
}

/// When the agents were looked at, and which were not there.
struct Review {
    at: Instant,
    silent: BTreeSet<String>,
    is_first: bool,
    /// Nobody was at a cancelled submission when the agents were looked at last.
    is_quiet: bool,
    /// The server knows nothing of the submission any more.
    has_lost: bool,
}

impl Review {
    fn is_due(&self) -> bool {
        self.is_first || self.at.elapsed() >= REVIEW
    }
}

/// A time in which the server cannot be reached. It is told once.
#[derive(Default)]
struct Outage(bool);

impl Outage {
    fn is_on(&self) -> bool {
        self.0
    }

    fn tell(&mut self, error: &CourierError, on: &mut Listener<'_>) {
        if !std::mem::replace(&mut self.0, true) {
            on(Event::Warning(&format!("{error}; it is waited for, and nothing is lost")));
        }
    }

    fn over(&mut self, on: &mut Listener<'_>) {
        if std::mem::take(&mut self.0) {
            on(Event::Note("the fleet's server is there again"));
        }
    }
}

/// The runs of a submission, as far as they came.
struct Keeping<'s> {
    submission: &'s Submission,
    runs: Vec<RunKept<'s>>,
    /// The lots that have ended, each with the reason why nothing of it could be measured.
    ended: BTreeMap<String, Option<String>>,
    /// So many cells there are, and so many were told.
    asked: usize,
    told: usize,
}

/// The run of one machine.
struct RunKept<'s> {
    asked: &'s MachineRun,
    received: Received,
    /// Where each cell stands in the run, by its key. Cells beyond the plan come behind it.
    places: BTreeMap<String, usize>,
    /// What its cells' places are told as: those of all runs stand in one row.
    offset: usize,
}

impl<'s> Keeping<'s> {
    fn begin(submission: &'s Submission, fleet: &str, output: &Path) -> Result<Keeping<'s>, CollectError> {
        let (mut runs, mut offset) = (vec![], 0);
        for asked in &submission.runs {
            let through = FleetRecord {
                fleet: fleet.into(),
                submission: submission.id.clone(),
                machine: asked.machine.clone(),
                submitter: submission.by.clone(),
            };
            let head = Run {
                schema: RUN_SCHEMA.into(),
                run_id: format!("{}-{}", submission.id, asked.machine),
                started_at: submission.at.clone(),
                command: submission.command.clone(),
                seed: submission.seed,
                environment: Environment { fleet: Some(through), ..asked.environment.clone() },
                left_out: BTreeMap::new(),
                cells: vec![],
            };
            let mut received = Received::open(output, &asked.request, &head)?;
            let mut places: BTreeMap<String, usize> =
                asked.cells.iter().enumerate().map(|(place, cell)| (cell.key.clone(), place)).collect();
            let beyond = received.kept().range(asked.cells.len()..).map(|(place, cell)| (beyond_key(cell), *place));
            places.extend(beyond.collect::<Vec<_>>());
            // Cells that a stated rule skips are in no lot.
            for (place, cell) in asked.cells.iter().enumerate() {
                let kind = asked.kinds.get(cell.kind);
                let is_new = !received.kept().contains_key(&place);
                if let Some(kind) = kind.filter(|kind| is_new && !form::is_planned(kind)) {
                    let skipped = cell.ended(&asked.kinds, place, kind.outcome.clone());
                    keep(&mut received, &asked.machine, &skipped, &[])?;
                }
            }
            runs.push(RunKept { asked, received, places, offset });
            offset += asked.cells.len();
        }
        Ok(Keeping { submission, runs, ended: BTreeMap::new(), asked: offset, told: 0 })
    }

    /// What the cells of all runs are called: "h1: bert-tiny on rten, inference, batch=1".
    fn titles(&self) -> Vec<String> {
        let of_run = |run: &RunKept<'_>| {
            let machine = run.asked.machine.clone();
            run.asked.cells.iter().map(move |cell| format!("{machine}: {}", cell.name)).collect::<Vec<_>>()
        };
        self.runs.iter().flat_map(of_run).collect()
    }

    fn tell_kept(&mut self, on: &mut Listener<'_>) {
        for run in &self.runs {
            for (place, cell) in run.received.kept().range(..run.asked.cells.len()) {
                let index = place + run.offset;
                on(Event::CellBegun { index, place: self.told, of: self.asked });
                on(Event::CellEnded(&Cell { index, ..cell.clone() }));
                self.told += 1;
            }
        }
    }

    /// Machines with lots that have not ended.
    fn waited_for(&self) -> BTreeSet<&'s str> {
        let open = self.submission.lots.iter().filter(|lot| !self.ended.contains_key(&lot.id));
        open.filter_map(|lot| self.submission.runs.get(lot.run)).map(|run| run.machine.as_str()).collect()
    }

    fn is_whole(&self) -> bool {
        self.submission.lots.iter().all(|lot| self.ended.contains_key(&lot.id))
    }

    /// Takes one stored message.
    fn take(&mut self, trust: &Trust, message: &Message, on: &mut Listener<'_>) -> Result<(), CollectError> {
        let words: Vec<&str> = message.subject.split('.').collect();
        let problem = match words[..] {
            ["skb", "of", _, "cell", machine, key] => match self.outcome(trust, message, machine, key) {
                Ok((run, cell, samples)) => return self.keep(run, key, cell, &samples, on),
                Err(why) => format!("an outcome of {machine} is not believed: {why}"),
            },
            ["skb", "of", _, "end", machine, lot] => match self.end_of(trust, message, machine, lot) {
                Ok(()) => return Ok(()),
                Err(why) => format!("the end of lot {lot} is not believed: {why}"),
            },
            _ => return Ok(()),
        };
        on(Event::Warning(&problem));
        Ok(())
    }

    /// The cell of an outcome, with the run that it belongs to.
    fn outcome(
        &self,
        trust: &Trust,
        message: &Message,
        machine: &str,
        key: &str,
    ) -> Result<(usize, Cell, Vec<Samples>), String> {
        let outcome = believed(trust, message, &self.submission.id, machine, key)?;
        let (run, asked) = self.submission.run_of(machine).ok_or("nothing was asked of that machine")?;
        if outcome.conditions != form::conditions(&asked.environment) {
            return Err("it was measured under another host, or on another machine, than was planned".into());
        }
        let mut contents = Contents::read(outcome.line.as_bytes());
        if let Some(damaged) = contents.damaged.first() {
            return Err(damaged.why.clone());
        }
        let (_, (cell, samples)) = contents.cells.pop_first().ok_or("it has no cell")?;
        let is_the_one = match asked.cells.iter().find(|cell| cell.key == key) {
            Some(asked) => asked.is(&cell),
            // Smaller batches are tried where memory did not suffice.
            None => key == beyond_key(&cell) && asked.cells.iter().any(|asked| asked.stands_for(&cell)),
        };
        if !is_the_one {
            return Err("it is of another cell than it says".into());
        }
        Ok((run, cell, samples))
    }

    fn end_of(&mut self, trust: &Trust, message: &Message, machine: &str, lot: &str) -> Result<(), String> {
        let asked = self.submission.lot(lot).and_then(|lot| self.submission.runs.get(lot.run));
        let asked = asked.ok_or("nobody asked for it")?;
        let opened = trust.open(&message.body, &[Role::Agent, Role::Site], When::At(message.at));
        let opened = opened.map_err(|error| error.to_string())?;
        let end: LotEnd = form::read(form::LOT_END, &opened.body).map_err(|error| error.to_string())?;
        let is_own = opened.by.role == Role::Site || opened.by.name == asked.machine;
        if end.submission != self.submission.id
            || end.lot != lot
            || end.machine != machine
            || machine != asked.machine
            || !is_own
        {
            return Err(format!("'{}' said it of another", opened.by.name));
        }
        self.ended.insert(lot.into(), end.problem);
        Ok(())
    }

    /// Keeps a cell at its place in its run.
    fn keep(
        &mut self,
        run: usize,
        key: &str,
        cell: Cell,
        samples: &[Samples],
        on: &mut Listener<'_>,
    ) -> Result<(), CollectError> {
        let Some(run) = self.runs.get_mut(run) else { return Ok(()) };
        let next = run.places.len();
        let place = *run.places.entry(key.into()).or_insert(next);
        if run.received.kept().contains_key(&place) {
            return Ok(());
        }
        let cell = Cell { index: place, ..cell };
        let samples: Vec<Samples> = samples.iter().map(|samples| Samples { cell: place, ..samples.clone() }).collect();
        if let Some(news) = keep(&mut run.received, &run.asked.machine, &cell, &samples)? {
            on(Event::Warning(&news));
        }
        if place < run.asked.cells.len() {
            let index = place + run.offset;
            on(Event::CellBegun { index, place: self.told, of: self.asked });
            on(Event::CellEnded(&Cell { index, ..cell }));
            self.told += 1;
        }
        Ok(())
    }

    /// Ends all runs. Of a cell that has no outcome the reason is told: that it was taken back, or what its agent said of its lot.
    fn end(self, without: Option<Reason>, on: &mut Listener<'_>) -> Result<Vec<Measured>, CollectError> {
        let problem_of = |run: usize, place: usize| {
            let lot = self.submission.lots.iter().find(|lot| lot.run == run && lot.cells.contains(&place));
            lot.and_then(|lot| self.ended.get(&lot.id)?.clone())
        };
        let mut all = vec![];
        for (index, RunKept { asked, mut received, .. }) in self.runs.into_iter().enumerate() {
            let lacks = (0..asked.cells.len()).filter(|place| !received.kept().contains_key(place));
            for place in lacks.collect::<Vec<_>>() {
                let outcome = match &without {
                    Some(reason) => Ended::Skipped(reason.clone()),
                    None => Ended::Failed(no_outcome(&asked.machine, problem_of(index, place))),
                };
                let cell = asked.cells[place].ended(&asked.kinds, place, outcome);
                keep(&mut received, &asked.machine, &cell, &[])?;
            }
            all.push(received.end(on)?);
        }
        Ok(all)
    }
}

fn no_outcome(machine: &str, problem: Option<String>) -> Reason {
    let why = problem.unwrap_or_else(|| {
        "its agent said that the lot had ended, and sent nothing of this cell that can be believed".into()
    });
    Reason::new("no-outcome", format!("{machine}: {why}"))
}

fn keep(
    received: &mut Received,
    machine: &str,
    cell: &Cell,
    samples: &[Samples],
) -> Result<Option<String>, CollectError> {
    received.cell_ended(cell, samples).map_err(|error| CollectError::Keep { machine: machine.into(), error })
}

/// The key of a cell that nobody asked for: what was tried in place of one.
pub(crate) fn beyond_key(cell: &Cell) -> String {
    names::key(&CellName::of(cell))
}

/// An outcome that its own machine signed.
///
/// # Errors
/// Why it is not believed.
pub(crate) fn believed(
    trust: &Trust,
    message: &Message,
    submission: &str,
    machine: &str,
    key: &str,
) -> Result<Outcome, String> {
    let opened = trust.open(&message.body, &[Role::Agent, Role::Site], When::At(message.at));
    let opened = opened.map_err(|error| error.to_string())?;
    let outcome: Outcome = form::read(form::OUTCOME, &opened.body).map_err(|error| error.to_string())?;
    if opened.by.role != Role::Site && opened.by.name != machine {
        return Err(format!("'{}' wrote it in the name of {machine}", opened.by.name));
    }
    match outcome.submission == submission && outcome.machine == machine && outcome.key == key {
        true => Ok(outcome),
        false => Err("it says that it is another".into()),
    }
}
