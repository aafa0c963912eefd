//! The audit: what the host does around every run of a round, so that a plugin that does less work than it claims is caught while it
//! is timed.
//!
//! - No run sees contents that an earlier one had: inputs are filled anew where they lie, and bound again at the same addresses.
//! - Outputs are poisoned before a run and have to be written after it; nobody may write beside them (`poison`).
//! - Some runs, which nobody can foresee, get an input that the reference engine ran and the measured one never saw; what comes out is
//!   held against the reference. One more is run after the last round.
//! - The host times each run by its own clock (`clock`), and holds against it what the backend tells of the time within (`device`). What the audit costs is taken out of the samples.
//!
//! - `lane`: a request that a benchmark made, with what is bound to it. `unseen`: inputs with reference outputs. `stages`:
//!   how often each part of a skill runs.
//!
//! Not here: rounds and series, and what a benchmark asks of its target.

mod clock;
mod device;
mod lane;
mod poison;
mod random;
mod stages;
mod unseen;

pub(super) use clock::{Corrected, Ran, correct};
pub(super) use lane::Lane;
pub(super) use unseen::Unseen;

use super::target::lock;
use crate::DeviceTimes;
use device::Span;
use lane::{Cpu, Moment};
use random::Random;
use skillbench_plugin_api::{Error, Result, Round, RoundKind, Timing, Why};
use skillbench_record::Audit as Record;
use stages::Stages;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

/// So many inputs that were never seen are held against the reference, where it has as many: a plugin that skips every other run passes
/// each of them by chance in two.
const LEAST: u64 = 8;
/// After these, so many of a hundred rounds have a run that is held against the reference.
const AUDITED_ROUNDS: u64 = 25;
/// So many unseen inputs are left for the time after the last round.
const RESERVED: usize = 1;
/// More than one are run then only while so many are left for later series.
const SPARED: usize = 2;
/// In a round that is a large part of the measuring time, another run is held against the reference after each such share of that time, on average.
const OFTEN: u32 = LEAST as u32;

/// What happens around the rounds of a cell.
pub(super) trait RoundWatch: Sync {
    /// A round begins: every run from here on belongs to it.
    /// `for_counter`: the round is played for an energy counter alone.
    fn begin(&self, series: &str, round: &Round, for_counter: bool);
    /// It ended, with so many iterations.
    fn end(&self, iterations: u64) -> Seen;
    /// The last round of a series is over.
    fn over(&self);
}

/// What the host saw of a round.
#[derive(Default)]
pub(super) struct Seen {
    /// In order.
    pub runs: Vec<Ran>,
    /// What the host itself did in it that no sample is of, such as unloading.
    pub outside_ns: u64,
}

/// The audit of one cell.
pub(super) struct Audit<'i> {
    /// When the clock began that backends ask.
    epoch: Instant,
    /// A round is open.
    open: AtomicBool,
    /// Outputs were not what one engine says.
    differs: AtomicBool,
    /// The bits of the largest difference that was allowed: of numbers that are not negative, those of a larger one are larger.
    furthest: AtomicU64,
    /// A part has several requests, which may run at once.
    shared: AtomicBool,
    lanes: Mutex<Vec<Weak<Lane<'i>>>>,
    /// There are requests of several sizes, each of which is audited for itself.
    of_sizes: bool,
    /// How long it is in a round, on average, from one run that is held against the reference to the next.
    often: Duration,
    stages: Stages,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    random: Random,
    round: Option<OpenRound>,
    seen: Seen,
    /// How often each part ran in this round, where that is watched.
    of_parts: BTreeMap<String, u64>,
    /// A part that ran less often than it has to, or a submitted run whose outputs were wrong.
    wrong: Option<Error>,
    /// The run of this round that gets an unseen input, counted from 0; of several sizes the first of each from there on.
    chosen: Option<usize>,
    /// When another one of this round is to get one, if it is still going on.
    again: Option<Instant>,
    /// What got one in this round, and how many inputs of each were held against the reference in all.
    checked: BTreeSet<String>,
    checked_of: BTreeMap<String, u64>,
    begun: usize,
    /// How many runs the last round had for each iteration.
    runs_per_iteration: usize,
    parts: BTreeMap<String, Unseen>,
    /// Series in which a round was audited.
    audited: BTreeSet<String>,
    report: Record,
}

struct OpenRound {
    series: String,
    id: u64,
    measured: bool,
    checked: bool,
}

/// A graph that is no part of several has no name.
fn of_part((known_as, inputs): (&String, &u64)) -> (String, u64) {
    let is_whole = known_as.is_empty() || known_as.starts_with(" at ");
    (if is_whole { format!("model{known_as}") } else { known_as.clone() }, *inputs)
}

/// What a lane does around one run.
struct Turn {
    /// Which contents its inputs get.
    variant: u64,
    /// Of an unseen input, what has to come out.
    unseen: Option<unseen::Expected>,
    seed: u64,
    /// When the benchmark's call came.
    entered: Moment,
}

impl<'i> Audit<'i> {
    /// `epoch`: when the clock began that backends ask. `stages`: how often one inference runs each part; empty where each runs once.
    /// `budget`: how long all rounds may take.
    pub fn new(epoch: Instant, stages: Vec<(String, u64)>, of_sizes: bool, budget: Duration) -> Audit<'i> {
        let (open, differs, furthest, shared, lanes, state) = Default::default();
        let often = budget / OFTEN;
        Audit { epoch, open, differs, furthest, shared, lanes, of_sizes, often, stages: Stages(stages), state }
    }

    /// When another run is to be looked at: nobody can foresee it.
    fn in_a_while(&self, random: &mut Random) -> Option<Instant> {
        Instant::now().checked_add(self.often.mul_f64(0.5 + random.share()))
    }

    pub fn was_apart(&self, difference: f64) {
        self.furthest.fetch_max(difference.to_bits(), Ordering::SeqCst);
    }

    pub fn differs(&self) -> bool {
        self.differs.load(Ordering::SeqCst)
    }

    fn is_shared(&self) -> bool {
        self.shared.load(Ordering::Relaxed)
    }

    pub fn watch(&self, lane: &Arc<Lane<'i>>) {
        let mut lanes = lock(&self.lanes);
        lanes.retain(|lane| lane.strong_count() > 0);
        let of_part = |other: &Weak<Lane<'i>>| other.upgrade().is_some_and(|other| other.known_as() == lane.known_as());
        self.shared.fetch_or(lanes.iter().any(of_part), Ordering::Relaxed);
        lanes.push(Arc::downgrade(lane));
    }

    /// Whether it has what the reference knows of a part.
    pub fn has(&self, part: &str) -> bool {
        lock(&self.state).parts.contains_key(part)
    }

    /// A part was verified: what the reference knows of it besides.
    pub fn knows(&self, part: &str, unseen: Unseen) {
        lock(&self.state).parts.entry(part.into()).or_insert(unseen);
    }

    /// Whether an output of a part has the same shape for every input, as far as the reference shows it.
    pub fn keeps_shape(&self, part: &str, output: &str) -> bool {
        lock(&self.state).parts.get(part).is_none_or(|unseen| unseen.keeps_shape(output))
    }

    /// Elements of a part's outputs that are others after each run: by the output's name, and the place.
    pub fn spots(&self, part: &str) -> Vec<(String, usize)> {
        let state = lock(&self.state);
        let spots = state.parts.get(part).map_or(&[][..], Unseen::spots);
        spots.iter().map(|spot| (spot.output.clone(), spot.place)).collect()
    }

    /// What a run does now; `None`: no round is open.
    fn turn(&self, part: &str, renews: bool, entered: Moment) -> Option<Turn> {
        if !self.open.load(Ordering::SeqCst) {
            return None;
        }
        let mut state = lock(&self.state);
        let State { random, round, chosen, again, checked, checked_of, begun, parts, .. } = &mut *state;
        let measured = round.as_ref().is_some_and(|round| round.measured);
        // One run of a round that is a whole session would say little of thousands.
        if measured && again.is_some_and(|again| again <= entered.instant()) {
            *again = self.in_a_while(random);
            *chosen = Some(*begun);
            checked.clear();
        }
        // A lane that cannot be checked passes the choice on to the next one.
        let is_chosen = measured && chosen.is_some_and(|chosen| chosen <= *begun) && !checked.contains(part);
        *begun += 1;
        let unseen = match is_chosen && renews {
            true => parts.get_mut(part).and_then(|unseen| unseen.take(random, RESERVED)),
            false => None,
        };
        if unseen.is_some() {
            *checked_of.entry(part.into()).or_default() += 1;
            match self.of_sizes {
                true => _ = checked.insert(part.into()),
                false => *chosen = None,
            }
        }
        Some(Turn {
            variant: unseen.as_ref().map_or_else(|| random.variant(), |unseen| unseen.variant),
            unseen,
            seed: random.next(),
            entered,
        })
    }

    fn ran(&self, run: Ran, part: &str, checked: bool) {
        let mut state = lock(&self.state);
        self.stages.count(&mut state.of_parts, part);
        state.seen.runs.push(run);
        state.report.runs += 1;
        state.report.inputs += u64::from(checked);
        if let (Some(round), true) = (&mut state.round, checked) {
            round.checked = true;
        }
    }

    /// Notes time of an open round that no sample is of.
    pub fn outside(&self, ns: u64) {
        lock(&self.state).seen.outside_ns += ns;
    }

    /// What a backend tells of a run, beside the host's clock.
    fn device(&self, run: Span, timing: &Timing) -> DeviceTimes {
        DeviceTimes::of(timing, run, self.epoch)
    }

    /// Notes a load, or the run of a part that nothing was done around.
    pub fn timed(&self, run_ns: u64, part: Option<&str>, device: Option<DeviceTimes>) {
        if self.open.load(Ordering::SeqCst) {
            let mut state = lock(&self.state);
            part.into_iter().for_each(|part| self.stages.count(&mut state.of_parts, part));
            state.seen.runs.push(Ran {
                thread: clock::thread(),
                run_ns,
                device: device.unwrap_or_default(),
                ..Ran::default()
            });
        }
    }

    /// Where a run went wrong.
    fn place(&self) -> String {
        let state = lock(&self.state);
        match &state.round {
            Some(round) => format!("round {} of '{}', run {}", round.id, round.series, state.begun),
            None => "after the last round".into(),
        }
    }

    /// Whether a model that was loaded in this round is one to be looked at: one that ran nothing in it.
    pub fn wants_loaded(&self, part: &str) -> bool {
        let mut state = lock(&self.state);
        let knows = state.parts.contains_key(part);
        let nothing_ran =
            state.round.as_ref().is_some_and(|round| round.measured && !round.checked) && state.begun == 0;
        if !(knows && nothing_ran && state.chosen.is_some()) {
            return false;
        }
        state.chosen = None;
        true
    }

    /// What a run of the host's own does: one with an unseen input, unless no more than `reserved` of the part are left.
    fn unseen(&self, part: &str, reserved: usize) -> Option<Turn> {
        let mut state = lock(&self.state);
        let State { random, parts, .. } = &mut *state;
        let unseen = parts.get_mut(part)?.take(random, reserved)?;
        let entered = Moment::now(Cpu::OfProcess);
        Some(Turn { variant: unseen.variant, unseen: Some(unseen), seed: random.next(), entered })
    }

    /// # Errors
    /// As for a run.
    pub fn check_loaded(&self, lane: &Lane<'i>) -> Result<()> {
        let Some(turn) = self.unseen(lane.known_as(), 0) else { return Ok(()) };
        lane.check_now(self, turn, false)?;
        let mut state = lock(&self.state);
        state.report.inputs += 1;
        *state.checked_of.entry(lane.known_as().into()).or_default() += 1;
        if let Some(round) = &mut state.round {
            round.checked = true;
        }
        Ok(())
    }

    /// Runs each part that the series used once more, on inputs that it never saw.
    ///
    /// # Errors
    /// `WrongOutput`, and whatever the backend says. `Unimplemented` where a part ran less often than one inference of the skill does.
    pub fn after_the_last_round(&self) -> Result<()> {
        if let Some(wrong) = lock(&self.state).wrong.take() {
            return Err(wrong);
        }
        let mut lanes: Vec<Arc<Lane<'i>>> = lock(&self.lanes).iter().filter_map(Weak::upgrade).collect();
        let first = lock(&self.state).random.next() % lanes.len().max(1) as u64;
        lanes.rotate_left(first as usize);
        let mut done = BTreeSet::new();
        for lane in lanes.iter().filter(|lane| lane.renews()) {
            if !done.insert(lane.known_as()) {
                continue;
            }
            let had = |state: &State| match self.of_sizes {
                true => state.checked_of.get(lane.known_as()).copied().unwrap_or_default(),
                false => state.report.inputs,
            };
            let wanted = LEAST.saturating_sub(had(&lock(&self.state))).max(1);
            for again in 0..wanted {
                let Some(turn) = self.unseen(lane.known_as(), if again == 0 { 0 } else { SPARED }) else { break };
                let apart = lane.check_now(self, turn, again == 0)?;
                let State { report, checked_of, .. } = &mut *lock(&self.state);
                report.inputs += 1;
                report.after_last += 1;
                *checked_of.entry(lane.known_as().into()).or_default() += 1;
                report.repeat_difference = report.repeat_difference.into_iter().chain(apart).reduce(f64::max);
            }
        }
        Ok(())
    }

    pub fn report(&self) -> Record {
        let state = lock(&self.state);
        let known = state.parts.values().filter_map(|part| part.movement().map(|moves| (moves, part.tolerance())));
        let weakest = known.min_by(|one, other| (one.0 / one.1).total_cmp(&(other.0 / other.1)));
        let furthest = f64::from_bits(self.furthest.load(Ordering::SeqCst));
        Record {
            movement: weakest.map(|(moves, _)| moves),
            furthest: (state.report.inputs > 0).then_some(furthest),
            inputs_by_size: state.checked_of.iter().filter(|_| self.of_sizes).map(of_part).collect(),
            ..state.report.clone()
        }
    }

    /// Of the few rounds for an energy counter alone each is audited: their figure is made of nothing else.
    pub fn begin(&self, series: &str, round: &Round, for_counter: bool) {
        let mut state = lock(&self.state);
        let measured = round.kind == RoundKind::Measured;
        let runs = (round.iterations as usize).saturating_mul(state.runs_per_iteration.max(1)).max(1);
        let is_early = !state.audited.contains(series) || state.report.inputs + (RESERVED as u64) < LEAST;
        let is_audited = measured && (for_counter || is_early || state.random.next() % 100 < AUDITED_ROUNDS);
        state.chosen = is_audited.then(|| (state.random.next() % runs as u64) as usize);
        state.again = self.in_a_while(&mut state.random);
        state.begun = 0;
        state.checked.clear();
        state.seen = Seen { runs: Vec::with_capacity(runs), outside_ns: 0 };
        state.of_parts.clear();
        state.round = Some(OpenRound { series: series.into(), id: round.id, measured, checked: false });
        self.open.store(true, Ordering::SeqCst);
    }

    pub fn end(&self, iterations: u64) -> Seen {
        // Runs that were submitted are looked at while they still belong to the round.
        let lanes: Vec<Arc<Lane<'i>>> = lock(&self.lanes).iter().filter_map(Weak::upgrade).collect();
        let wrong = lanes.iter().find_map(|lane| lane.settle(self).err());
        drop(lanes);
        self.open.store(false, Ordering::SeqCst);
        let mut state = lock(&self.state);
        if let Some(round) = state.round.take().filter(|round| round.measured) {
            state.report.rounds_of += 1;
            state.report.rounds += u64::from(round.checked);
            if round.checked {
                state.audited.insert(round.series);
            }
        }
        let lost = |text: String| Error::unimplemented(Why::MODEL, text);
        state.wrong = state.wrong.take().or(wrong).or_else(|| self.stages.lost(&state.of_parts).map(lost));
        state.runs_per_iteration = state.seen.runs.len() / (iterations.max(1) as usize);
        std::mem::take(&mut state.seen)
    }
}
