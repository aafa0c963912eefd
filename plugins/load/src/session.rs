//! One session: a thread issues requests when they are due, and workers serve them in that order (`board`).

use crate::board::{Board, Shift};
use crate::coming::Coming;
use crate::crew::Crew;
use crate::limit::Limit;
use crate::sizes::Sizes;
use crate::timer::Timer;
use skillbench_plugin_api::{Code, Error, Result};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A worker: what it does with the requests of a session.
pub trait Serve: Send {
    /// Serves a batch of requests, which for most sessions is one, now and to their end.
    ///
    /// # Errors
    /// Whatever went wrong.
    fn serve(&mut self) -> Result<()>;

    /// How many requests it serves side by side, each on its own: an event loop counts as so many workers. [`Serve::serve`] then serves so many, all at
    /// once.
    fn room(&self) -> usize {
        1
    }

    /// Whether its thread sees to several requests at once, so that it may itself be what they wait for.
    fn is_event_loop(&self) -> bool {
        self.room() > 1
    }

    /// Serves requests of a session until there are no more: batch after batch, unless a worker knows better.
    ///
    /// # Errors
    /// Whatever went wrong: the session then ends.
    fn attend(&mut self, shift: &Shift<'_>) -> Result<()> {
        shift.batches(|_| self.serve())
    }
}

impl<F: FnMut() -> Result<()> + Send> Serve for F {
    fn serve(&mut self) -> Result<()> {
        self()
    }
}

/// When a session is given up.
#[derive(Clone, Copy, Debug)]
pub struct Patience<'p> {
    /// How long after the last request was due those that wait are still served.
    pub drain: Duration,
    /// A session in which so many requests broke a limit has shown what it can: no more are issued.
    pub over: Option<Over<'p>>,
    /// A request that the target refuses, for want of room or of time, counts as such, in place of ending the session.
    pub takes_refusals: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Over<'p> {
    pub limits: &'p [Limit],
    /// More than so many.
    pub most: usize,
}

/// How many requests are served together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batching {
    /// At most so many.
    pub most: usize,
    /// A batch that is not full is served when its first request has waited so long since it was issued.
    pub wait: Duration,
}

impl Batching {
    /// Each request is served alone.
    pub const NONE: Batching = Batching { most: 1, wait: Duration::ZERO };
}

/// What a session is to do.
#[derive(Clone, Copy)]
pub struct Plan<'p> {
    pub coming: &'p Coming,
    /// How long each is; `None`: as long as the worker says.
    pub sizes: Option<&'p Arc<Sizes>>,
    pub timer: &'p Timer,
    pub patience: Patience<'p>,
    pub batching: Batching,
    /// The most tokens that a request makes; 0: it makes none.
    pub tokens: usize,
    /// The number of the session: what is left to chance is another chance in each.
    pub session: u64,
}

/// What became of one request, in nanoseconds from the start of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub due: u64,
    pub issued: u64,
    /// A worker took it, and was done with it; `None`: the session ended before.
    pub served: Option<[u64; 2]>,
    /// When its first token was there, of one that makes tokens.
    pub first: Option<u64>,
    /// How many tokens were made.
    pub tokens: usize,
    /// What it was told was no answer.
    pub refused: bool,
}

impl Request {
    /// When a worker took it and had its answer.
    pub fn answered(&self) -> Option<[u64; 2]> {
        self.served.filter(|_| !self.refused)
    }

    /// From when it was due to its answer.
    pub fn latency(&self) -> Option<u64> {
        self.answered().map(|[_, end]| end.saturating_sub(self.due))
    }

    /// From when it was due to its first token.
    pub fn first_token(&self) -> Option<u64> {
        self.answered().and(self.first).map(|first| first.saturating_sub(self.due))
    }

    /// From its first token to its last, by the tokens after the first; `None` without any.
    pub fn per_output_token(&self) -> Option<u64> {
        let ([_, end], first) = (self.answered()?, self.first?);
        end.saturating_sub(first).checked_div((self.tokens as u64).checked_sub(1)?)
    }

    /// From when it was due to the first that its user sees: a token, or the answer.
    pub fn response(&self) -> Option<u64> {
        self.first_token().or(self.latency())
    }

    /// How late it was issued.
    pub fn lateness(&self) -> u64 {
        self.issued.saturating_sub(self.due)
    }
}

/// What came of a session.
#[derive(Debug)]
pub struct Served {
    /// Those that were issued, in order.
    pub requests: Vec<Request>,
    /// From the start to the last end.
    pub wall: Duration,
    /// From each token to the next, of all requests or of some that are spread evenly, in nanoseconds.
    pub gaps: Vec<u64>,
    /// How long workers worked, all together.
    pub busy: Duration,
    /// CPU time of the thread that issued them, which sleeps, then spins; `None` where the system does not tell.
    pub generator: Option<Duration>,
    /// How much of its time the thread worked that has all requests under way, where it is one event loop; `None` of other workers, and where the
    /// system does not tell.
    pub event_loop: Option<f64>,
    /// How many runs there were, and how many requests they served, each counted in every run that it was in.
    pub runs: u64,
    pub rows: u64,
    /// Requests that were due were not issued, since the session had shown what it can.
    pub given_up: bool,
}

impl Served {
    /// How long requests that an event loop had room for were due before it saw to them; of others how long they were due before they were issued.
    pub(crate) fn late(&self, workers: usize) -> Vec<u64> {
        if self.event_loop.is_none() {
            return self.requests.iter().map(Request::lateness).collect();
        }
        let mut ends: Vec<u64> = self.requests.iter().filter_map(|request| Some(request.served?[1])).collect();
        ends.sort_unstable();
        let late = |(number, request): (usize, &Request)| {
            let has_room = number - ends.partition_point(|end| *end <= request.issued).min(number) < workers;
            let seen = request.served.map(|[taken, _]| taken).filter(|_| has_room);
            seen.map_or(request.lateness(), |taken| taken.saturating_sub(request.due))
        };
        self.requests.iter().enumerate().map(late).collect()
    }

    /// Requests that nobody took, or had done with, until the session ended.
    pub fn left(&self) -> usize {
        self.requests.iter().filter(|request| request.served.is_none()).count()
    }

    pub fn refused(&self) -> usize {
        self.requests.iter().filter(|request| request.refused).count()
    }

    /// Requests that broke a limit, those that nobody answered among them.
    pub fn over(&self, limit: &Limit) -> usize {
        self.requests.iter().filter(|request| !limit.holds(request)).count()
    }

    /// Requests that broke one of several limits.
    pub fn over_any(&self, limits: &[Limit]) -> usize {
        self.requests.iter().filter(|request| !limits.iter().all(|limit| limit.holds(request))).count()
    }

    /// How many requests one run served, on average; `None`: there was none.
    pub fn requests_per_run(&self) -> Option<f64> {
        (self.runs > 0).then(|| self.rows as f64 / self.runs as f64)
    }

    /// The share of their time in which workers worked, and of those that serve several requests side by side the share of their room. What was cut
    /// worked longer than anything that came to an end.
    pub fn utilization(&self, workers: usize) -> f64 {
        (self.busy.as_secs_f64() / (self.wall.as_secs_f64() * workers as f64).max(1e-9)).min(1.0)
    }
}

/// Issues each request when it is due and has the workers serve them.
///
/// `stopping` is asked now and then.
///
/// # Errors
/// The first failure of a worker, after all have ended; `Cancelled` where `stopping` says so.
pub fn run(crew: &Crew, plan: Plan<'_>, stopping: &dyn Fn() -> bool) -> Result<Served> {
    let board = Arc::new(Board::new(&plan, crew.threads()));
    let _exact = plan.timer.exactly();
    crew.begin(&board);
    let (start, before) = (board.start(), cpu_time());
    let ended = plan.coming.issue(&board, start, &plan, stopping);
    let generator = cpu_time().zip(before).map(|(after, before)| after.saturating_sub(before));
    board.close();
    let ended = ended.and_then(|given_up| {
        drain(&board, start, plan, given_up, stopping)?;
        Ok(given_up)
    });
    board.cut();
    crew.end();
    if let Some(error) = board.failure() {
        return Err(error);
    }
    ended.map(|given_up| Served { generator, ..board.served(given_up) })
}

/// Of this thread, until now.
#[cfg(target_os = "linux")]
pub(crate) fn cpu_time() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Some(Duration::new(time.tv_sec.try_into().ok()?, time.tv_nsec.try_into().ok()?))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn cpu_time() -> Option<Duration> {
    None
}

/// A session with workers of its own.
///
/// # Errors
/// As for [`run`], and where threads cannot be started.
pub fn alone<W: Serve>(
    workers: impl IntoIterator<Item = W>,
    plan: Plan<'_>,
    stopping: &dyn Fn() -> bool,
) -> Result<Served> {
    let workers: Vec<W> = workers.into_iter().collect();
    std::thread::scope(|scope| run(&Crew::hire(scope, workers)?, plan, stopping))
}

const STEP: Duration = Duration::from_millis(1);

/// As the timer does, with a look at what happens meanwhile where requests are far apart.
pub(crate) fn wait_until(
    due: Instant,
    timer: &Timer,
    enough: &dyn Fn() -> bool,
    stopping: &dyn Fn() -> bool,
) -> Result<()> {
    const FAR: Duration = Duration::from_millis(20);
    while due.saturating_duration_since(Instant::now()) > 2 * FAR {
        std::thread::sleep(FAR);
        if stopping() {
            return Err(stopped());
        }
        if enough() {
            return Ok(());
        }
    }
    timer.until(due);
    Ok(())
}

/// Waits until what was issued is served, or patience is over.
fn drain(board: &Board, start: Instant, plan: Plan<'_>, given_up: bool, stopping: &dyn Fn() -> bool) -> Result<()> {
    let last = plan.coming.last_due().filter(|_| !given_up).unwrap_or_else(|| board.now());
    let end = start + Duration::from_nanos(last) + plan.patience.drain + plan.batching.wait;
    while board.is_behind() && !board.is_cut() && Instant::now() < end {
        if stopping() {
            return Err(stopped());
        }
        std::thread::sleep(STEP);
    }
    Ok(())
}

pub(crate) fn stopped() -> Error {
    Error::new(Code::Cancelled, "the run is being stopped")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrivals::Arrivals;
    use crate::limit::Metric;
    use skillbench_plugin_api::Why;

    const PATIENT: Patience<'static> = Patience { drain: Duration::from_secs(10), over: None, takes_refusals: false };

    /// So long that only what has no answer breaks it.
    const LONG: Limit = Limit { metric: Metric::Latency, percent: 99.0, within_ns: u64::MAX };

    fn never() -> bool {
        false
    }

    fn sleeps(ms: u64) -> impl FnMut() -> Result<()> {
        move || {
            std::thread::sleep(Duration::from_millis(ms));
            Ok(())
        }
    }

    fn with<W: Serve>(
        workers: impl IntoIterator<Item = W>,
        due: &[u64],
        patience: Patience<'_>,
        batching: Batching,
    ) -> Result<Served> {
        alone(
            workers,
            Plan {
                coming: &Coming::Due(due.to_vec()),
                sizes: None,
                timer: &Timer::calibrated(),
                patience,
                batching,
                tokens: 0,
                session: 1,
            },
            &never,
        )
    }

    fn of(workers: usize, ms: u64, due: &[u64], patience: Patience<'_>) -> Served {
        with((0..workers).map(|_| sleeps(ms)), due, patience, Batching::NONE).unwrap()
    }

    #[test]
    fn every_request_is_issued_when_it_is_due_and_served_once_in_its_turn() {
        let due = Arrivals::Poisson.due(200.0, 100, 3);
        // One worker: of several, one that the system stops as it takes a request says later when that was.
        let served = of(1, 3, &due, PATIENT);
        assert_eq!(served.requests.len(), 100);
        assert!(!served.given_up);
        let mut last = 0;
        for (request, due) in served.requests.iter().zip(&due) {
            let [taken, ended] = request.served.unwrap();
            assert_eq!(request.due, *due);
            assert!(request.issued >= *due && taken >= request.issued && ended >= taken + 3_000_000);
            assert!(taken >= last, "first come, first served");
            last = taken;
        }
    }

    #[test]
    fn a_latency_counts_from_when_the_request_was_due() {
        // All at once, one worker: the last waits for all before it.
        let served = of(1, 5, &[0; 10], PATIENT);
        let last = served.requests[9].latency().unwrap();
        assert!(last >= 50_000_000, "{last}");
        assert!(served.utilization(1) > 0.9);
    }

    #[test]
    fn workers_serve_at_the_same_time() {
        let served = of(4, 20, &[0; 8], PATIENT);
        assert!((40..80).contains(&served.wall.as_millis()), "{:?}", served.wall);
    }

    #[test]
    fn what_is_not_served_in_time_is_told_as_not_served() {
        let drain = Duration::from_millis(30);
        let served = of(1, 10, &[0; 100], Patience { drain, over: None, takes_refusals: false });
        let done = served.requests.iter().filter(|request| request.served.is_some()).count();
        assert_eq!(served.requests.len(), 100);
        assert!((2..=6).contains(&done), "{done}");
        assert_eq!(served.over(&LONG), 100 - done, "nobody knows how long they would have taken");
    }

    #[test]
    fn a_session_that_has_shown_enough_issues_no_more() {
        let due = Arrivals::Constant.due(1_000.0, 2_000, 1);
        let limits = Limit::all("latency.p99<=15ms").unwrap();
        let over = Some(Over { limits: &limits, most: 5 });
        let served = of(1, 5, &due, Patience { drain: Duration::from_millis(50), over, takes_refusals: false });
        assert!(served.given_up && served.requests.len() < 500, "{}", served.requests.len());
    }

    /// How many requests each batch had.
    fn batches(served: &Served) -> Vec<usize> {
        let together = |one: &Request, other: &Request| one.served == other.served;
        served.requests.chunk_by(together).map(<[Request]>::len).collect()
    }

    #[test]
    fn requests_that_wait_are_served_together_up_to_the_largest_batch() {
        let four = Batching { most: 4, wait: Duration::ZERO };
        for workers in [1, 3] {
            let served = with((0..workers).map(|_| sleeps(5)), &[0; 10], PATIENT, four).unwrap();
            let batches = batches(&served);
            assert_eq!(batches.iter().sum::<usize>(), 10, "each is in one batch");
            assert!(batches.iter().all(|batch| *batch <= 4) && batches.contains(&4), "{batches:?}");
            let mut first = 0;
            for batch in batches {
                let together = &served.requests[first..first + batch];
                assert!(together.iter().all(|request| request.served == together[0].served), "one run serves them all");
                first += batch;
            }
            assert!(served.utilization(workers) <= 1.0, "a batch is one run, however many it serves");
        }
    }

    #[test]
    fn a_batch_that_is_not_full_goes_when_its_first_request_has_waited() {
        // 4 ms apart, so that 30 ms bring about eight, and never sixteen.
        let due = Arrivals::Constant.due(250.0, 64, 1);
        let batching = Batching { most: 16, wait: Duration::from_millis(30) };
        let served = with([sleeps(1)], &due, PATIENT, batching).unwrap();
        let sizes = batches(&served);
        assert!(sizes.iter().all(|size| (2..=12).contains(size)), "{sizes:?}");
        for batch in served.requests.chunk_by(|one, other| one.served == other.served) {
            let (first, [taken, _]) = (&batch[0], batch[0].served.unwrap());
            assert!(taken - first.issued >= 30_000_000, "{first:?}");
        }
        // Full batches wait for nothing.
        let batching = Batching { most: 2, wait: Duration::from_secs(5) };
        let start = Instant::now();
        let served = with([sleeps(1)], &due, PATIENT, batching).unwrap();
        assert_eq!(batches(&served), [2; 32]);
        assert!(start.elapsed() < Duration::from_secs(2));
    }

    #[test]
    fn a_batch_that_is_refused_is_no_answer_to_any_of_its_requests() {
        let refuses = || Err(Error::new(Code::ResourceExhausted, "no"));
        let patience = Patience { takes_refusals: true, ..PATIENT };
        let three = Batching { most: 3, wait: Duration::ZERO };
        let served = with([refuses], &[0; 6], patience, three).unwrap();
        assert_eq!((served.refused(), served.over(&LONG), served.left()), (6, 6, 0));
    }

    #[test]
    fn a_failure_ends_the_session_with_its_reason() {
        let mut count = 0;
        let fails = move || {
            count += 1;
            if count == 4 { Err(Error::invalid("the fourth")) } else { Ok(()) }
        };
        let due = Arrivals::Constant.due(1_000.0, 5_000, 1);
        let start = Instant::now();
        let told = with([fails], &due, PATIENT, Batching::NONE).unwrap_err();
        assert_eq!(told.message, "the fourth");
        assert!(start.elapsed() < Duration::from_secs(2));
    }

    #[test]
    fn a_refusal_counts_as_one_where_it_is_asked_for_and_other_failures_end_the_session() {
        let each = |code: Code| {
            let mut count = 0;
            move || {
                count += 1;
                std::thread::sleep(Duration::from_millis(1));
                if count % 4 == 0 { Err(Error::new(code, "no")) } else { Ok(()) }
            }
        };
        let due = Arrivals::Constant.due(200.0, 40, 1);
        let taking = Patience { takes_refusals: true, ..PATIENT };
        let served = |code, patience| with([each(code)], &due, patience, Batching::NONE);
        for code in [Code::ResourceExhausted, Code::DeadlineExceeded] {
            let served = served(code, taking).unwrap();
            assert_eq!((served.requests.len(), served.refused(), served.left()), (40, 10, 0));
            assert_eq!(served.over(&LONG), 10, "a refusal is within no limit");
            assert!(
                served.requests.iter().filter(|request| request.refused).all(|request| request.latency().is_none())
            );
        }
        assert_eq!(served(Code::ResourceExhausted, PATIENT).unwrap_err().code, Code::ResourceExhausted);
        assert_eq!(served(Code::Internal, taking).unwrap_err().code, Code::Internal);
        let no_memory = || Err(Error::new(Code::ResourceExhausted, "no memory").because(Why::MEMORY));
        let told = with([no_memory], &due, taking, Batching::NONE).unwrap_err();
        assert_eq!(told.message, "no memory", "which less load would not mend");
        let many = Some(Over { limits: &[LONG], most: 3 });
        let given_up = served(Code::ResourceExhausted, Patience { over: many, ..taking }).unwrap();
        assert!(given_up.given_up && given_up.requests.len() < 40, "refusals are beyond every limit");
    }

    #[test]
    fn a_panic_is_an_error_and_leaves_nobody_waiting() {
        let panics = || -> Result<()> { panic!("on purpose") };
        let told = with([panics, panics], &[0, 0, 0], PATIENT, Batching::NONE).unwrap_err();
        assert_eq!(told.code, Code::Internal);
    }

    #[test]
    fn a_run_that_is_being_stopped_ends_within_a_moment() {
        let start = Instant::now();
        let due = Arrivals::Constant.due(1.0, 60, 1);
        let stopping = || start.elapsed() > Duration::from_millis(100);
        let plan = Plan {
            coming: &Coming::Due(due),
            sizes: None,
            timer: &Timer::calibrated(),
            patience: PATIENT,
            batching: Batching::NONE,
            tokens: 0,
            session: 1,
        };
        let told = alone([sleeps(1)], plan, &stopping).unwrap_err();
        assert_eq!(told.code, Code::Cancelled);
        assert!(start.elapsed() < Duration::from_millis(500), "{:?}", start.elapsed());
    }
}
