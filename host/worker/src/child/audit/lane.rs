//! A request that a benchmark made: the host runs it, and does the audit around each run.

use super::super::comparison::{apart_of, compare, finite};
use super::super::cpu;
use super::super::inputs::{self, Filled};
use super::super::outputs::View;
use super::super::target::{Loaded, lock};
use super::{Audit, Ran, Span, Turn, clock, poison, unseen::Expected};
use skillbench_models::Renewal;
use skillbench_plugin_api::client::{Model, Output, Request};
use skillbench_plugin_api::host_tables::Touch;
use skillbench_plugin_api::{Code, Direction, Error, HostTensor, Result, Timing, Why};
use skillbench_record::Axes;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Instant;

pub(in super::super) struct Lane<'i> {
    loaded: Arc<Loaded<'i>>,
    known_as: String,
    state: Mutex<State<'i>>,
}

struct State<'i> {
    request: Request<'i>,
    /// How its inputs get other contents; empty where the benchmark binds some itself.
    renewals: Vec<(u32, Renewal)>,
    /// A plain copy of all that is bound again.
    copy_ns: u64,
    /// The host filled every input, and the benchmark touched none of them.
    is_hosts: bool,
    /// The benchmark takes outputs itself.
    takes: bool,
    verified: bool,
    last_run_ns: u64,
    /// Elements of bound outputs that are others after each run: of which output, and where.
    spots: Vec<(u32, usize)>,
    /// What was there after the last run, and what its inputs were.
    last: Vec<u64>,
    last_inputs: Option<u64>,
    /// A run that was submitted, and not looked at since.
    submitted: Option<Submitted>,
}

/// What the host did before a run.
struct Before {
    turn: Turn,
    cpu: Cpu,
    renews: bool,
    bind_ns: u64,
    start: Moment,
}

/// The end of a submitted run, as its callback came.
struct Landed {
    at: Instant,
    ended: Result<Timing>,
    /// What stood in its outputs then, at the places that are marked.
    found: Vec<u64>,
}

/// A run between `submit` and the look at what it wrote.
struct Submitted {
    /// `None`: nothing is done around this run but to time it.
    before: Option<Before>,
    start: Instant,
    landed: Arc<Mutex<Option<Landed>>>,
}

/// The outputs of a run: in bound memory, or taken.
struct Outcome {
    shapes: Vec<Vec<usize>>,
    taken: Vec<Option<Output>>,
}

impl<'i> Lane<'i> {
    /// # Errors
    /// Whatever the backend says.
    pub fn new(loaded: &Arc<Loaded<'i>>, known_as: String) -> Result<Lane<'i>> {
        let request = Model::request_of(loaded.clone(), |loaded: &Loaded<'i>| &loaded.model)?;
        let state = State {
            request,
            renewals: vec![],
            copy_ns: 0,
            is_hosts: false,
            takes: false,
            verified: false,
            last_run_ns: 0,
            spots: vec![],
            last: vec![],
            last_inputs: None,
            submitted: None,
        };
        Ok(Lane { loaded: loaded.clone(), known_as, state: Mutex::new(state) })
    }

    pub fn loaded(&self) -> &Arc<Loaded<'i>> {
        &self.loaded
    }

    pub fn part(&self) -> &str {
        self.loaded.part()
    }

    /// The part at its size, as it is verified and audited.
    pub fn known_as(&self) -> &str {
        &self.known_as
    }

    /// Calls `work` with the request.
    pub fn with<T>(&self, work: impl FnOnce(&mut Request<'i>) -> T) -> T {
        work(&mut lock(&self.state).request)
    }

    /// Every input is bound, by rule. With `seed`, runs of rounds get others.
    ///
    /// # Errors
    /// No memory, or a rule that does not fit.
    pub fn prepared(&self, filled: &[Filled], axes: &Axes, seed: Option<u64>) -> Result<()> {
        let mut state = lock(&self.state);
        let State { request, .. } = &mut *state;
        let renewals = match seed {
            Some(seed) => inputs::renewals(request, filled, axes, seed)?,
            None => vec![],
        };
        state.copy_ns = copy_ns(&state.request, &renewals)?;
        (state.renewals, state.is_hosts, state.takes, state.verified) = (renewals, true, false, false);
        Ok(())
    }

    pub fn verified(&self, audit: &Audit<'i>) {
        let outputs = self.model().outputs();
        let index = |name: &str| outputs.iter().position(|port| port.name == name);
        let spots = audit.spots(&self.known_as);
        let mut state = lock(&self.state);
        state.spots = spots.iter().filter_map(|(name, place)| Some((index(name)? as u32, *place))).collect();
        state.last.clear();
        state.verified = true;
    }

    /// Whether its inputs are the host's to fill anew, and its outputs the host's to look at.
    pub fn renews(&self) -> bool {
        let state = lock(&self.state);
        state.verified && state.can_be_checked()
    }

    /// The benchmark does something to its request itself.
    ///
    /// # Errors
    /// What `touch` says.
    pub fn touch(&self, what: Touch, touch: &mut dyn FnMut(&mut Request<'_>) -> Result<()>) -> Result<()> {
        let mut state = lock(&self.state);
        match what {
            Touch::Bind(Direction::Input, _) | Touch::Alias => state.is_hosts = false,
            Touch::Take | Touch::Bind(Direction::Output, _) => state.takes = true,
            Touch::Reset => {}
        }
        touch(&mut state.request)
    }

    /// One run of a benchmark.
    ///
    /// # Errors
    /// `WrongOutput`, and what the backend says.
    pub fn run(&self, audit: &Audit<'i>) -> Result<Timing> {
        let entered = Instant::now();
        let mut state = lock(&self.state);
        self.look(&mut state, audit)?;
        let entered = Moment::at(entered, state.cpu(audit));
        let checks = state.can_be_checked() && state.verified;
        if !state.is_hosts || state.takes {
            // What a benchmark binds and takes itself is its own affair; how long it runs is not.
            let start = Instant::now();
            let ran = state.request.run_with_timing();
            let span = Span { start, end: Instant::now() };
            let timing = ran.as_ref().ok().map(|timing| audit.device(span, timing));
            audit.timed(span.nanoseconds(), Some(self.part()), timing);
            return ran;
        }
        let Some(turn) = audit.turn(&self.known_as, checks, entered) else { return state.request.run_with_timing() };
        let ran = state.audited(audit, self.model(), turn).map_err(|error| placed(error, audit));
        drop(state);
        let (ran, timing, checked) = ran?;
        audit.ran(ran, self.part(), checked.is_some());
        Ok(timing)
    }

    /// Starts a run of a benchmark. What it wrote is looked at before the request is used again, or when the round ends.
    ///
    /// # Errors
    /// `WrongOutput` of the run before, `Unimplemented` where an output cannot be bound, and what the backend says.
    pub fn submit(&self, audit: &Audit<'i>, done: Box<dyn FnOnce(Result<Timing>) + Send>) -> Result<()> {
        let entered = Instant::now();
        let mut state = lock(&self.state);
        self.look(&mut state, audit)?;
        let entered = Moment::at(entered, Cpu::OfThread);
        let checks = state.can_be_checked() && state.verified;
        let watched = state.is_hosts && !state.takes;
        let turn = if watched { audit.turn(&self.known_as, checks, entered) } else { None };
        let before = turn.map(|turn| state.before(self.model(), turn, Cpu::OfThread)).transpose()?;
        // A run that calls back before its outputs are there shows in bound memory alone.
        let outputs = if before.is_some() { state.outputs(self.model())? } else { vec![] };
        let seed = before.as_ref().map_or(0, |before| before.turn.seed);
        let landed = Arc::new(Mutex::new(None));
        let told = landed.clone();
        let start = before.as_ref().map_or_else(Instant::now, |before| before.start.at);
        state.request.submit(move |ended| {
            let at = Instant::now();
            let found = poison::found(&outputs, seed);
            // Before anybody writes into them again.
            drop(outputs);
            *lock(&told) = Some(Landed { at, ended: ended.clone(), found });
            done(ended);
        })?;
        state.submitted = Some(Submitted { before, start, landed });
        Ok(())
    }

    /// # Errors
    /// What the backend says.
    pub fn cancel(&self) -> Result<()> {
        lock(&self.state).request.cancel()
    }

    /// The round is over: what is still to be looked at is not of its time.
    ///
    /// # Errors
    /// `WrongOutput`, and a run that has not ended.
    pub(super) fn settle(&self, audit: &Audit<'i>) -> Result<()> {
        let mut state = lock(&self.state);
        self.look(&mut state, audit)
    }

    /// Looks at what a submitted run wrote.
    fn look(&self, state: &mut State<'i>, audit: &Audit<'i>) -> Result<()> {
        let Some(Submitted { before, start, landed }) = state.submitted.take() else { return Ok(()) };
        let entered = Moment::now(Cpu::OfThread);
        let Some(Landed { at: end, ended, found }) = lock(&landed).take() else {
            state.submitted = Some(Submitted { before, start, landed });
            let text = "the run that was submitted before has not ended: wait for its callback";
            return Err(Error::new(Code::FailedPrecondition, text));
        };
        // It told of its end from within its callback.
        state.request.wait();
        // The benchmark was told of a failure; what failed wrote nothing that could be looked at.
        let Ok(timing) = ended else { return Ok(()) };
        let (span, thread) = (Span { start, end }, self.number());
        let Some(before) = before else {
            let device = audit.device(span, &timing);
            audit.ran(Ran { thread, run_ns: span.nanoseconds(), device, ..Ran::default() }, self.part(), false);
            return Ok(());
        };
        if poison::found(&state.outputs(self.model())?, before.turn.seed) != found {
            let text = "outputs were written after the run had called back: it was over before its work was";
            return Err(placed(wrong(text.into()), audit));
        }
        let after = state.after(audit, self.model(), &before, entered).map_err(|error| placed(error, audit));
        let (after, checked) = after?;
        let ran = Ran { thread, run_ns: span.nanoseconds(), device: audit.device(span, &timing), ..after };
        audit.ran(ran, self.part(), checked.is_some());
        Ok(())
    }

    /// Stands for the thread that ran, where that is one of the engine's: the runs of a lane are one after the other.
    fn number(&self) -> u64 {
        std::ptr::from_ref(self) as u64
    }

    /// One run of the host's own; and, with `repeats`, the same again: how far its outputs are from themselves.
    ///
    /// # Errors
    /// As for [`Lane::run`].
    pub(super) fn check_now(&self, audit: &Audit<'i>, turn: Turn, repeats: bool) -> Result<Option<f64>> {
        let mut state = lock(&self.state);
        let (variant, seed) = (turn.variant, turn.seed);
        let (.., first) = state.audited(audit, self.model(), turn).map_err(|error| placed(error, audit))?;
        let Some(first) = first.filter(|_| repeats) else { return Ok(None) };
        let first = first.copied(&state.request)?;
        let turn = Turn { variant, unseen: None, seed, entered: Moment::now(state.cpu(audit)) };
        // The same inputs may give the same outputs.
        state.last.clear();
        state.audited(audit, self.model(), turn).map_err(|error| placed(error, audit))?;
        let again = state.outcome(self.model())?;
        let views = again.views(&state.request);
        let apart =
            first.iter().zip(&views).map(|((tensor, shape), view)| apart_of(&View::of_tensor(tensor, shape), view));
        Ok(Some(apart.fold(0.0, f64::max)))
    }

    fn model(&self) -> &Model<'i> {
        &self.loaded.model
    }

    /// Gives the inputs' memory up, for the next request.
    pub fn into_inputs(self) -> Vec<(u32, HostTensor)> {
        let state = self.state.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let bound = state.request.into_bound().into_iter();
        let inputs = bound.filter(|(direction, ..)| *direction == Direction::Input);
        inputs.filter_map(|(_, index, tensor)| Some((index, Arc::into_inner(tensor)?))).collect()
    }
}

fn placed(error: Error, audit: &Audit<'_>) -> Error {
    match error.code {
        Code::WrongOutput => Error { message: format!("{}: {}", audit.place(), error.message), ..error },
        _ => error,
    }
}

fn wrong(text: String) -> Error {
    Error::new(Code::WrongOutput, text)
}

/// The shortest of a few plain copies of what is bound again.
fn copy_ns(request: &Request<'_>, renewals: &[(u32, Renewal)]) -> Result<u64> {
    let mut all = 0;
    for (index, _) in renewals {
        let Some(tensor) = request.bound(Direction::Input, *index) else { continue };
        let mut copy = HostTensor::zeroed(tensor.dtype(), &tensor.shape())?;
        let mut shortest = u64::MAX;
        for _ in 0..3 {
            let start = Instant::now();
            copy.bytes_mut().copy_from_slice(tensor.bytes());
            std::hint::black_box(copy.bytes());
            shortest = shortest.min(start.elapsed().as_nanos() as u64);
        }
        all += shortest;
    }
    Ok(all)
}

/// Whose CPU time is read beside the clock.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cpu {
    /// Of the process: an engine's threads may spin while the audit goes on.
    OfProcess,
    /// Of this thread: others run meanwhile.
    OfThread,
    /// Nobody's, for to ask takes longer than the run: the audit then counts by the clock.
    Unread,
}

/// A moment, and the CPU time then; 0 where it is not read, or nobody tells.
#[derive(Clone, Copy)]
pub(super) struct Moment {
    at: Instant,
    cpu_ns: u64,
}

impl Moment {
    /// The clock is read last.
    pub fn now(cpu: Cpu) -> Moment {
        let cpu_ns = cpu_ns(cpu);
        Moment { at: Instant::now(), cpu_ns }
    }

    pub fn instant(&self) -> Instant {
        self.at
    }

    /// The clock was read first.
    fn at(at: Instant, cpu: Cpu) -> Moment {
        Moment { at, cpu_ns: cpu_ns(cpu) }
    }
}

fn cpu_ns(cpu: Cpu) -> u64 {
    let time = match cpu {
        Cpu::OfProcess => cpu::of_process(),
        Cpu::OfThread => cpu::of_thread(),
        Cpu::Unread => None,
    };
    time.map_or(0, |time| time.as_nanos() as u64)
}

/// Of shorter runs no CPU time is read.
const SHORT_NS: u64 = 20_000;

fn nanoseconds(from: Instant, to: Instant) -> u64 {
    (to - from).as_nanos() as u64
}

impl State<'_> {
    /// The memory of all outputs, shared.
    ///
    /// # Errors
    /// `Unimplemented` where the backend allocates one.
    fn outputs(&self, model: &Model<'_>) -> Result<Vec<Arc<HostTensor>>> {
        let outputs = (0..model.outputs().len() as u32).map(|index| self.request.share(Direction::Output, index));
        let text =
            "a queue is measured where all outputs lie in bound memory, so that a run that calls back early is seen";
        outputs.collect::<Option<_>>().ok_or_else(|| Error::unimplemented(Why::NONE, text))
    }

    /// A run on other inputs failed: their outputs may have another size than the memory that is bound.
    fn without_bound_outputs(&mut self, outputs: u32, error: Error) -> Result<Timing> {
        if !(0..outputs).any(|index| self.request.bound(Direction::Output, index).is_some()) {
            return Err(error);
        }
        (0..outputs).try_for_each(|index| self.request.leave_output(index))?;
        self.request.run_with_timing()
    }

    fn cpu(&self, audit: &Audit<'_>) -> Cpu {
        match audit.is_shared() {
            true => Cpu::OfThread,
            false if self.last_run_ns < SHORT_NS => Cpu::Unread,
            false => Cpu::OfProcess,
        }
    }

    fn can_be_checked(&self) -> bool {
        self.is_hosts && !self.takes && !self.renewals.is_empty()
    }

    /// A run with other inputs, marks in its outputs, and a look at them. Returns what came out, where it was held against a reference.
    fn audited(&mut self, audit: &Audit<'_>, model: &Model<'_>, turn: Turn) -> Result<(Ran, Timing, Option<Outcome>)> {
        let cpu = self.cpu(audit);
        let before = self.before(model, turn, cpu)?;
        let timing = match self.request.run_with_timing() {
            Err(error) if before.renews => self.without_bound_outputs(model.outputs().len() as u32, error)?,
            ran => ran?,
        };
        let end = Moment::at(Instant::now(), cpu);
        let (after, checked) = self.after(audit, model, &before, end)?;
        let span = Span { start: before.start.at, end: end.at };
        self.last_run_ns = span.nanoseconds();
        Ok((Ran { run_ns: self.last_run_ns, device: audit.device(span, &timing), ..after }, timing, checked))
    }

    /// Other inputs, and marks in the outputs.
    fn before(&mut self, model: &Model<'_>, turn: Turn, cpu: Cpu) -> Result<Before> {
        let renews = self.is_hosts;
        if renews {
            for (index, renewal) in &self.renewals {
                self.request.change(Direction::Input, *index, |tensor| renewal.write(tensor, turn.variant))?;
            }
        }
        poison::lay(&mut self.request, model.outputs().len() as u32, turn.seed)?;
        let binding = Instant::now();
        if renews {
            self.renewals.iter().try_for_each(|(index, _)| self.request.bind_again(*index))?;
        }
        let bind_ns = nanoseconds(binding, Instant::now());
        Ok(Before { turn, cpu, renews, bind_ns, start: Moment::now(cpu) })
    }

    /// A look at what a run wrote, which ended at `end`, or is over since: what all of it cost, without the run itself.
    fn after(
        &mut self,
        audit: &Audit<'_>,
        model: &Model<'_>,
        before: &Before,
        end: Moment,
    ) -> Result<(Ran, Option<Outcome>)> {
        let Before { turn, cpu, renews, bind_ns, start } = before;
        let (inputs, outputs) = (model.inputs().len() as u32, model.outputs().len() as u32);
        let name = |index: u32| model.outputs()[index as usize].name.clone();
        poison::look(&self.request, name, inputs, outputs, turn.seed).map_err(wrong)?;
        if *renews {
            self.moved()?;
        }
        let checked = turn.unseen.as_ref().map(|expected| self.check(audit, model, expected)).transpose()?;
        let left = Moment::now(*cpu);
        let around_ns = nanoseconds(turn.entered.at, start.at) + nanoseconds(end.at, left.at);
        let cpu_ns = start.cpu_ns.saturating_sub(turn.entered.cpu_ns) + left.cpu_ns.saturating_sub(end.cpu_ns);
        let ran = Ran {
            thread: clock::thread(),
            audit_cpu_ns: if *cpu == Cpu::Unread { around_ns } else { cpu_ns },
            audit_ns: around_ns.saturating_sub(*bind_ns),
            bind_ns: *bind_ns,
            copy_ns: self.copy_ns,
            ..Ran::default()
        };
        Ok((ran, checked))
    }

    /// Whether outputs are others than after the run before, whose inputs were others.
    ///
    /// # Errors
    /// `WrongOutput`.
    fn moved(&mut self) -> Result<()> {
        if self.spots.is_empty() {
            return Ok(());
        }
        let of_spot = |(index, place): &(u32, usize)| {
            let view = View::of_tensor(self.request.bound(Direction::Output, *index)?, &[]);
            (*place < view.elements()).then(|| view.number(*place).to_bits())
        };
        let now: Vec<u64> = self.spots.iter().filter_map(of_spot).collect();
        let inputs = self.small_inputs();
        // Of few contents one may come twice in a row.
        let same_inputs = inputs.is_some() && inputs == self.last_inputs;
        let same = !now.is_empty() && now == self.last && !same_inputs;
        (self.last, self.last_inputs) = (now, inputs);
        match same {
            true => Err(wrong("outputs are those of the run before, whose inputs were others".into())),
            false => Ok(()),
        }
    }

    /// Stands for the contents of all inputs that change; `None` where one is so large that no two contents are alike.
    fn small_inputs(&self) -> Option<u64> {
        const SMALL: usize = 1 << 13;
        let mut hasher = DefaultHasher::new();
        for (index, _) in &self.renewals {
            let bytes = self.request.bound(Direction::Input, *index)?.bytes();
            if bytes.len() > SMALL {
                return None;
            }
            bytes.hash(&mut hasher);
        }
        Some(hasher.finish())
    }

    /// # Errors
    /// `WrongOutput`.
    fn check(&mut self, audit: &Audit<'_>, model: &Model<'_>, expected: &Expected) -> Result<Outcome> {
        let outcome = self.outcome(model)?;
        let views = outcome.views(&self.request);
        for (port, view) in model.outputs().iter().zip(&views) {
            finite(port, view, Some(&expected.references)).map_err(wrong)?;
        }
        let found = compare(model.outputs(), &views, &expected.references, expected.tolerance);
        // On the word of one engine.
        audit.differs.fetch_or(found.is_err(), Ordering::SeqCst);
        drop(views);
        found.map(|found| audit.was_apart(found.max_relative)).map(|()| outcome).map_err(wrong)
    }

    fn outcome(&mut self, model: &Model<'_>) -> Result<Outcome> {
        let mut outcome = Outcome { shapes: vec![], taken: vec![] };
        for index in 0..model.outputs().len() as u32 {
            let (shape, taken) = match self.request.bound(Direction::Output, index) {
                Some(tensor) => (tensor.shape(), None),
                None => {
                    let output = self.request.take_output(index)?;
                    (output.shape().to_vec(), Some(output))
                }
            };
            outcome.shapes.push(shape);
            outcome.taken.push(taken);
        }
        Ok(outcome)
    }
}

impl Outcome {
    fn copied(&self, request: &Request<'_>) -> Result<Vec<(HostTensor, Vec<usize>)>> {
        let copy = |view: View<'_>| {
            let mut tensor = HostTensor::zeroed(view.dtype, view.shape)?;
            tensor.bytes_mut().copy_from_slice(view.bytes);
            Ok((tensor, view.shape.to_vec()))
        };
        self.views(request).into_iter().map(copy).collect()
    }

    fn views<'t>(&'t self, request: &'t Request<'_>) -> Vec<View<'t>> {
        let view = |(index, (shape, taken)): (usize, (&'t Vec<usize>, &'t Option<Output>))| match taken {
            Some(output) => Some(View::of_output(output)),
            None => Some(View::of_tensor(request.bound(Direction::Output, index as u32)?, shape)),
        };
        self.shapes.iter().zip(&self.taken).enumerate().filter_map(view).collect()
    }
}
