//! The runs of a submission as they are kept here: each outcome that can be believed, at its place.

use super::{CollectError, believed};
use crate::courier::{Courier, Message};
use crate::files::{self, FileError};
use crate::form::{self, Lot, LotEnd, MachineRun, Outcome, Submission};
use crate::keys::Role;
use crate::seal::{Trust, When};
use crate::status::Status;
use skillbench_record::cell_files;
use skillbench_record::journal::Contents;
use skillbench_record::{Cell, Environment, FleetRecord, Outcome as Ended, RUN_SCHEMA, Reason, Run, Samples};
use skillbench_session::{Event, Listener, Measured, Received};
use skillbench_store::{Recorded, journal};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Between two tries to reach a server that is away.
const AGAIN: Duration = Duration::from_secs(1);

/// Why a cell was not measured whose submission was taken back.
pub(super) const CANCELLED: &str = "cancelled";

/// Why a cell was not measured whose machine was gone.
pub(crate) const FAILED_OVER: &str = "failed-over";

/// Whether a cell says that its submission was taken back.
fn is_cancelled(cell: &Cell) -> bool {
    is_skipped(cell, &[CANCELLED])
}

fn is_skipped(cell: &Cell, codes: &[&str]) -> bool {
    matches!(&cell.outcome, Ended::Skipped(reason) if codes.contains(&reason.code.as_str()))
}

/// Whether a run has nothing but cells that were skipped, some of them since they were moved to other machines: the runs of those say what
/// became of them.
pub fn is_moved_whole(run: &Run) -> bool {
    run.cells.iter().all(|cell| matches!(cell.outcome, Ended::Skipped(_)))
        && run.cells.iter().any(|cell| is_skipped(cell, &[FAILED_OVER]))
}

/// Whether all runs of a submission are kept in a folder of runs, as far as they have ended: a submission that was taken back has cells that
/// are not measured, and one that goes on again has none.
pub fn is_kept(submission: &Submission, output: &Path, status: &Status) -> bool {
    submission.runs.iter().all(|run| {
        // A machine that was given up may have sent outcomes since: then fewer cells lack one than are kept as moved.
        let lacks = status.machines.get(&run.machine).map_or(0, |share| share.cells.saturating_sub(share.ended));
        let recorded = journal::read(&output.join(submission.run_id(&run.machine)));
        recorded.is_ok_and(|Recorded { run: kept, .. }| {
            let places: BTreeSet<usize> = kept.cells.iter().map(|cell| cell.index).collect();
            let is_whole = (0..run.cells.len()).all(|place| places.contains(&place));
            let moved = kept.cells.iter().filter(|cell| is_skipped(cell, &[FAILED_OVER])).count();
            is_whole && moved <= lacks && (status.is_cancelled || !kept.cells.iter().any(is_cancelled))
        })
    })
}

/// The runs of a submission, as far as they came.
pub(super) struct Keeping<'s> {
    pub(super) submission: &'s Submission,
    /// The folder of runs.
    output: PathBuf,
    runs: Vec<RunKept<'s>>,
    /// Which of them is that of a machine.
    machines: BTreeMap<&'s str, usize>,
    /// The lots that have ended, each with the reason why nothing of it could be measured.
    pub(super) ended: BTreeMap<String, Option<String>>,
    /// Machines that are gone, each with the submission that has its undone cells.
    pub(super) moved: BTreeMap<String, String>,
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
    pub(super) fn begin(submission: &'s Submission, fleet: &str, output: &Path) -> Result<Keeping<'s>, CollectError> {
        let (mut runs, mut offset) = (vec![], 0);
        for asked in &submission.runs {
            let through = FleetRecord {
                fleet: fleet.into(),
                submission: submission.id.clone(),
                machine: asked.machine.clone(),
                submitter: submission.by.clone(),
                clock: asked.clock,
            };
            let head = Run {
                schema: RUN_SCHEMA.into(),
                run_id: submission.run_id(&asked.machine),
                started_at: submission.at.clone(),
                command: submission.command.clone(),
                seed: submission.seed,
                environment: Environment { fleet: Some(through), ..asked.environment.clone() },
                left_out: BTreeMap::new(),
                cells: vec![],
            };
            let mut received = Received::open(output, &asked.request, &head)?;
            // What was said here of a cell without an outcome holds until there is one.
            received.forget(|cell| is_skipped(cell, &[CANCELLED, FAILED_OVER]));
            let mut places: BTreeMap<String, usize> =
                asked.cells.iter().enumerate().map(|(place, cell)| (cell.key.clone(), place)).collect();
            let beyond = received.kept().range(asked.cells.len()..);
            places.extend(beyond.map(|(place, cell)| (form::key_of(&asked.cells, cell), *place)));
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
        let output = output.to_path_buf();
        let machines = submission.runs.iter().enumerate().map(|(place, run)| (run.machine.as_str(), place)).collect();
        Ok(Keeping {
            submission,
            output,
            runs,
            machines,
            ended: BTreeMap::new(),
            moved: BTreeMap::new(),
            asked: offset,
            told: 0,
        })
    }

    /// What the cells of all runs are called: "h1: bert-tiny on rten, inference, batch=1".
    pub(super) fn titles(&self) -> Vec<String> {
        let of_run = |run: &RunKept<'_>| {
            let machine = run.asked.machine.clone();
            run.asked.cells.iter().map(move |cell| format!("{machine}: {}", cell.name)).collect::<Vec<_>>()
        };
        self.runs.iter().flat_map(of_run).collect()
    }

    pub(super) fn tell_kept(&mut self, on: &mut Listener<'_>) {
        for run in &self.runs {
            for (place, cell) in run.received.kept().range(..run.asked.cells.len()) {
                let index = place + run.offset;
                on(Event::CellBegun { index, place: self.told, of: self.asked });
                on(Event::CellEnded(&Cell { index, ..cell.clone() }));
                self.told += 1;
            }
        }
    }

    /// Lots that have not ended, of machines that are not given up.
    pub(super) fn open_lots(&self) -> impl Iterator<Item = &'s Lot> {
        let is_moved = |lot: &Lot| {
            let run = self.submission.runs.get(lot.run);
            run.is_some_and(|run| self.moved.contains_key(&run.machine))
        };
        self.submission.lots.iter().filter(move |lot| !self.ended.contains_key(&lot.id) && !is_moved(lot))
    }

    /// Machines with such lots.
    pub(super) fn waited_for(&self) -> BTreeSet<&'s str> {
        self.open_lots().filter_map(|lot| self.submission.runs.get(lot.run)).map(|run| run.machine.as_str()).collect()
    }

    pub(super) fn is_whole(&self) -> bool {
        // It is asked after each outcome: while fewer have ended than there are, and none is moved, one is open.
        let may_be = self.ended.len() >= self.submission.lots.len() || !self.moved.is_empty();
        may_be && self.open_lots().next().is_none()
    }

    /// Nothing more is waited for of a machine.
    pub(super) fn end_lots(&mut self, machine: &str) {
        let its = |lot: &&Lot| self.submission.runs.get(lot.run).is_some_and(|run| run.machine == machine);
        let open: Vec<String> = self.open_lots().filter(its).map(|lot| lot.id.clone()).collect();
        self.ended.extend(open.into_iter().map(|lot| (lot, None)));
    }

    /// The keys of a machine's cells that have no outcome.
    pub(super) fn undone(&self, machine: &str) -> BTreeSet<String> {
        let runs = self.runs.iter().filter(|run| run.asked.machine == machine);
        let undone = runs.flat_map(|run| {
            let cells = run.asked.cells.iter().enumerate();
            cells.filter(|(place, _)| !run.received.kept().contains_key(place)).map(|(_, cell)| cell.key.clone())
        });
        undone.collect()
    }

    /// Takes one stored message.
    pub(super) fn take(
        &mut self,
        courier: &dyn Courier,
        trust: &Trust,
        message: &Message,
        stop: &dyn Fn() -> bool,
        on: &mut Listener<'_>,
    ) -> Result<(), CollectError> {
        let words: Vec<&str> = message.subject.split('.').collect();
        let problem = match words[..] {
            ["skb", "of", _, "cell", machine, key] => match self.outcome(trust, message, machine, key) {
                Ok((run, cell, samples, outcome)) => {
                    let place = self.place(run, key);
                    // First, so that whoever is stopped or killed here asks for them again.
                    return match self.fetch_left(courier, place, &outcome, stop, on)? {
                        true => self.keep(run, key, cell, &samples, on),
                        false => Ok(()),
                    };
                }
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
    ) -> Result<(usize, Cell, Vec<Samples>, Outcome), String> {
        let outcome = believed(trust, message, &self.submission.id, machine, key)?;
        let run = *self.machines.get(machine).ok_or("nothing was asked of that machine")?;
        let RunKept { asked, places, .. } = &self.runs[run];
        if outcome.conditions != form::conditions(&asked.environment) {
            return Err("it was measured under another host, or on another machine, than was planned".into());
        }
        let mut contents = Contents::read(outcome.line.as_bytes());
        if let Some(damaged) = contents.damaged.first() {
            return Err(damaged.why.clone());
        }
        let (_, (cell, samples)) = contents.cells.pop_first().ok_or("it has no cell")?;
        let is_the_one = match places.get(key).and_then(|place| asked.cells.get(*place)) {
            Some(asked) => asked.is(&cell),
            // Smaller batches are tried where memory did not suffice.
            None => key == form::key_of(&asked.cells, &cell) && asked.cells.iter().any(|asked| asked.stands_for(&cell)),
        };
        if !is_the_one {
            return Err("it is of another cell than it says".into());
        }
        Ok((run, cell, samples, outcome))
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

    /// The place of a cell in its run, by its key. One beyond the plan gets the next.
    fn place(&mut self, run: usize, key: &str) -> usize {
        let Some(run) = self.runs.get_mut(run) else { return 0 };
        let next = run.places.len();
        *run.places.entry(key.into()).or_insert(next)
    }

    /// Has here what a cell left on its machine. What cannot be had is told, and costs nothing else. `false`: it was stopped before.
    fn fetch_left(
        &self,
        courier: &dyn Courier,
        place: usize,
        outcome: &Outcome,
        stop: &dyn Fn() -> bool,
        on: &mut Listener<'_>,
    ) -> Result<bool, CollectError> {
        let machine = &outcome.machine;
        let run = self.output.join(self.submission.run_id(machine));
        for lost in &outcome.lost {
            on(Event::Warning(&format!("{machine}: what a cell left was not sent: {lost}")));
        }
        for file in &outcome.files {
            let target = cell_files::place(&run, place, &file.name).filter(|_| file.check().is_ok());
            let Some(target) = target else {
                on(Event::Warning(&format!("{machine}: a file of a cell has a name or a hash that none has")));
                continue;
            };
            loop {
                match files::fetch(courier, file, &target, &|| !stop()) {
                    Ok(()) => break,
                    Err(_) if stop() => return Ok(false),
                    Err(FileError::Courier(error)) if error.is_passing() => std::thread::sleep(AGAIN),
                    Err(FileError::Courier(error)) => return Err(error.into()),
                    Err(error) => {
                        on(Event::Warning(&format!("{machine}: what a cell left is not kept: {error}")));
                        break;
                    }
                }
            }
        }
        Ok(true)
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
        let place = self.place(run, key);
        let Some(run) = self.runs.get_mut(run) else { return Ok(()) };
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
    pub(super) fn end(self, without: Option<Reason>, on: &mut Listener<'_>) -> Result<Vec<Measured>, CollectError> {
        let problem_of = |run: usize, place: usize| {
            let lot = self.submission.lots.iter().find(|lot| lot.run == run && lot.cells.contains(&place));
            lot.and_then(|lot| self.ended.get(&lot.id)?.clone())
        };
        let mut all = vec![];
        for (index, RunKept { asked, mut received, .. }) in self.runs.into_iter().enumerate() {
            let lacks = (0..asked.cells.len()).filter(|place| !received.kept().contains_key(place));
            for place in lacks.collect::<Vec<_>>() {
                let moved = self.moved.get(&asked.machine).map(|to| failed_over(&asked.machine, to));
                let outcome = match moved.as_ref().or(without.as_ref()) {
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

fn failed_over(machine: &str, to: &str) -> Reason {
    Reason::new(
        FAILED_OVER,
        format!("{machine} gave no sign of life: submission {to} has this cell, on another machine"),
    )
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
