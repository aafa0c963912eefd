//! One session: a thread issues requests when they are due, and workers serve them in that order.
//!
//! Nobody waits for a lock and nothing is allocated between the first request and the last: each request has its place in lists that are
//! made before, and a worker takes the next number.

use crate::timer::Timer;
use skillbench_plugin_api::{Code, Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Barrier, Mutex, OnceLock, PoisonError};
use std::thread::{Scope, Thread};
use std::time::{Duration, Instant};

/// Serves one request.
pub trait Serve: Send {
    /// # Errors
    /// Whatever went wrong: the session then ends.
    fn serve(&mut self) -> Result<()>;
}

impl<F: FnMut() -> Result<()> + Send> Serve for F {
    fn serve(&mut self) -> Result<()> {
        self()
    }
}

/// When a session is given up.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// How long after the last request was due those that wait are still served.
    pub drain: Duration,
    /// A session in which more requests than `over` took longer than `within_ns` has shown what it can: no more are issued.
    pub over: Option<Over>,
    /// A request that the target refuses, for want of room or of time, counts as such, in place of ending the session.
    pub takes_refusals: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Over {
    pub within_ns: u64,
    pub most: usize,
}

/// What became of one request, in nanoseconds from the start of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub due: u64,
    pub issued: u64,
    /// A worker took it, and was done with it; `None`: the session ended before.
    pub served: Option<[u64; 2]>,
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
    /// Requests that were due were not issued, since the session had shown what it can.
    pub given_up: bool,
}

impl Served {
    /// Requests that nobody took, or had done with, until the session ended.
    pub fn left(&self) -> usize {
        self.requests.iter().filter(|request| request.served.is_none()).count()
    }

    pub fn refused(&self) -> usize {
        self.requests.iter().filter(|request| request.refused).count()
    }

    /// Requests whose latency is beyond a limit, those that nobody answered among them.
    pub fn over(&self, within_ns: u64) -> usize {
        self.requests.iter().filter(|request| request.latency().is_none_or(|latency| latency > within_ns)).count()
    }

    /// The share of their time in which workers worked.
    pub fn utilization(&self, workers: usize) -> f64 {
        let busy: u64 = self.requests.iter().filter_map(|request| request.served).map(|[from, to]| to - from).sum();
        busy as f64 / (self.wall.as_nanos() as f64 * workers as f64).max(1.0)
    }
}

/// A request's times while the session goes on; 0: not yet. All are at least 1.
#[derive(Default)]
struct Times {
    issued: AtomicU64,
    taken: AtomicU64,
    ended: AtomicU64,
    refused: AtomicBool,
}

/// What the thread that issues and the workers share.
struct Board<'s> {
    due: &'s [u64],
    times: Vec<Times>,
    start: OnceLock<Instant>,
    /// How many requests were issued, and how many were taken by workers.
    issued: AtomicUsize,
    taken: AtomicUsize,
    ended: AtomicUsize,
    over: AtomicUsize,
    within_ns: u64,
    takes_refusals: bool,
    /// No more will be issued; those that were are still served.
    closed: AtomicBool,
    /// Nothing more is served.
    cut: AtomicBool,
    failure: Mutex<Option<Error>>,
}

/// A worker's place: the request it waits for, and its thread. One that works waits for none.
struct Place {
    waits_for: AtomicUsize,
    thread: OnceLock<Thread>,
}

const NOTHING: usize = usize::MAX;

impl Board<'_> {
    fn now(&self) -> u64 {
        self.start.get().map_or(1, |start| (start.elapsed().as_nanos() as u64).max(1))
    }

    /// Waits until a request is there to be served; `false`: none will be.
    fn wait(&self, number: usize, place: &Place) -> bool {
        place.waits_for.store(number, SeqCst);
        loop {
            if self.cut.load(SeqCst) {
                return false;
            }
            if self.issued.load(SeqCst) > number {
                place.waits_for.store(NOTHING, SeqCst);
                return true;
            }
            if self.closed.load(SeqCst) {
                // What was issued before it was closed is seen now.
                return self.issued.load(SeqCst) > number;
            }
            std::thread::park();
        }
    }

    fn work(&self, worker: &mut impl Serve, place: &Place) {
        loop {
            let number = self.taken.fetch_add(1, SeqCst);
            if number >= self.due.len() || !self.wait(number, place) {
                return;
            }
            let times = &self.times[number];
            times.taken.store(self.now(), SeqCst);
            let served = catch_unwind(AssertUnwindSafe(|| worker.serve()));
            let refused = match served.unwrap_or_else(|_| Err(Error::internal("a worker panicked"))) {
                Ok(()) => false,
                Err(error) if self.takes_refusals && is_refusal(&error) => true,
                Err(error) => {
                    self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    self.cut.store(true, SeqCst);
                    return;
                }
            };
            let end = self.now();
            times.refused.store(refused, SeqCst);
            times.ended.store(end, SeqCst);
            if refused || end.saturating_sub(self.due[number]) > self.within_ns {
                self.over.fetch_add(1, SeqCst);
            }
            self.ended.fetch_add(1, SeqCst);
        }
    }

    fn served(&self, given_up: bool) -> Served {
        let issued = self.issued.load(SeqCst);
        let request = |(due, times): (&u64, &Times)| {
            let at = |time: &AtomicU64| Some(time.load(SeqCst)).filter(|at| *at > 0);
            let served = at(&times.taken).zip(at(&times.ended)).map(|(from, to)| [from, to]);
            Request { due: *due, issued: times.issued.load(SeqCst), served, refused: times.refused.load(SeqCst) }
        };
        let requests: Vec<Request> = self.due.iter().zip(&self.times).take(issued).map(request).collect();
        let last = requests.iter().map(|request| request.served.map_or(request.issued, |[_, end]| end)).max();
        Served { requests, wall: Duration::from_nanos(last.unwrap_or_default()), given_up }
    }
}

/// Issues a request at each of `due` (nanoseconds from the start, in order) and has the workers serve them.
///
/// `stopping` is asked now and then.
///
/// # Errors
/// The first failure of a worker, after all have ended; `Cancelled` where `stopping` says so.
pub fn run<W: Serve>(
    workers: &mut [W],
    due: &[u64],
    timer: &Timer,
    patience: Patience,
    stopping: &dyn Fn() -> bool,
) -> Result<Served> {
    let board = Board {
        due,
        times: due.iter().map(|_| Times::default()).collect(),
        start: OnceLock::new(),
        issued: AtomicUsize::new(0),
        taken: AtomicUsize::new(0),
        ended: AtomicUsize::new(0),
        over: AtomicUsize::new(0),
        within_ns: patience.over.map_or(u64::MAX, |over| over.within_ns),
        takes_refusals: patience.takes_refusals,
        closed: AtomicBool::new(false),
        cut: AtomicBool::new(false),
        failure: Mutex::default(),
    };
    let place = |_: &W| Place { waits_for: AtomicUsize::new(NOTHING), thread: OnceLock::new() };
    let places: Vec<Place> = workers.iter().map(place).collect();
    let ready = Barrier::new(workers.len() + 1);
    let _exact = timer.exactly();
    let ended = std::thread::scope(|scope| {
        hire(scope, workers, &board, &places, &ready)?;
        ready.wait();
        let start = *board.start.get_or_init(Instant::now);
        let ended = issue(&board, &places, start, timer, patience, stopping);
        board.closed.store(true, SeqCst);
        let given_up = ended.and_then(|given_up| {
            drain(&board, start, patience, given_up, stopping)?;
            Ok(given_up)
        });
        board.cut.store(true, SeqCst);
        wake_all(&places);
        given_up
    });
    if let Some(error) = board.failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
        return Err(error);
    }
    ended.map(|given_up| board.served(given_up))
}

fn hire<'scope, 'env: 'scope, W: Serve>(
    scope: &'scope Scope<'scope, 'env>,
    workers: &'env mut [W],
    board: &'env Board<'_>,
    places: &'env [Place],
    ready: &'env Barrier,
) -> Result<()> {
    let total = workers.len();
    for (index, (worker, place)) in workers.iter_mut().zip(places).enumerate() {
        let serve = move || {
            let _ = place.thread.set(std::thread::current());
            ready.wait();
            board.work(worker, place);
        };
        let started = std::thread::Builder::new().name(format!("server {index}")).spawn_scoped(scope, serve);
        if let Err(error) = started {
            // Those that wait at the barrier already would wait for ever.
            board.cut.store(true, SeqCst);
            for _ in index..total {
                scope.spawn(|| ready.wait());
            }
            ready.wait();
            let text = format!("cannot start thread {} of {total}: {error}", index + 1);
            return Err(Error::new(Code::ResourceExhausted, text));
        }
    }
    Ok(())
}

/// Every so many requests it is looked whether the cell is to end.
const LOOK: usize = 64;
const STEP: Duration = Duration::from_millis(1);

/// Whether requests were left out, since the session had shown what it can.
fn issue(
    board: &Board<'_>,
    places: &[Place],
    start: Instant,
    timer: &Timer,
    patience: Patience,
    stopping: &dyn Fn() -> bool,
) -> Result<bool> {
    let most = patience.over.map_or(usize::MAX, |over| over.most);
    for (number, due) in board.due.iter().enumerate() {
        wait_until(board, start + Duration::from_nanos(*due), timer, most, stopping)?;
        if board.cut.load(SeqCst) || board.over.load(SeqCst) > most {
            return Ok(true);
        }
        board.times[number].issued.store(board.now(), SeqCst);
        board.issued.store(number + 1, SeqCst);
        if let Some(place) = places.iter().find(|place| place.waits_for.load(SeqCst) == number) {
            place.thread.get().into_iter().for_each(Thread::unpark);
        }
        if number % LOOK == LOOK - 1 && stopping() {
            return Err(stopped());
        }
    }
    Ok(false)
}

/// As the timer does, with a look at what happens meanwhile where requests are far apart.
fn wait_until(board: &Board<'_>, due: Instant, timer: &Timer, most: usize, stopping: &dyn Fn() -> bool) -> Result<()> {
    const FAR: Duration = Duration::from_millis(20);
    while due.saturating_duration_since(Instant::now()) > 2 * FAR {
        std::thread::sleep(FAR);
        if stopping() {
            return Err(stopped());
        }
        if board.cut.load(SeqCst) || board.over.load(SeqCst) > most {
            return Ok(());
        }
    }
    timer.until(due);
    Ok(())
}

/// Waits until what was issued is served, or patience is over.
fn drain(
    board: &Board<'_>,
    start: Instant,
    patience: Patience,
    given_up: bool,
    stopping: &dyn Fn() -> bool,
) -> Result<()> {
    let issued = board.issued.load(SeqCst);
    let last = if given_up { board.now() } else { board.due.last().copied().unwrap_or_default() };
    let end = start + Duration::from_nanos(last) + patience.drain;
    while board.ended.load(SeqCst) < issued && !board.cut.load(SeqCst) && Instant::now() < end {
        if stopping() {
            return Err(stopped());
        }
        std::thread::sleep(STEP);
    }
    Ok(())
}

fn wake_all(places: &[Place]) {
    places.iter().filter_map(|place| place.thread.get()).for_each(Thread::unpark);
}

/// What a target says that has too much to do; anything else is no matter of the load.
fn is_refusal(error: &Error) -> bool {
    matches!(error.code, Code::ResourceExhausted | Code::DeadlineExceeded)
}

fn stopped() -> Error {
    Error::new(Code::Cancelled, "the run is being stopped")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrivals::Arrivals;

    const PATIENT: Patience = Patience { drain: Duration::from_secs(10), over: None, takes_refusals: false };

    fn never() -> bool {
        false
    }

    fn sleeps(ms: u64) -> impl FnMut() -> Result<()> {
        move || {
            std::thread::sleep(Duration::from_millis(ms));
            Ok(())
        }
    }

    fn of(workers: usize, ms: u64, due: &[u64], patience: Patience) -> Served {
        let mut workers: Vec<_> = (0..workers).map(|_| sleeps(ms)).collect();
        run(&mut workers, due, &Timer::calibrated(), patience, &never).unwrap()
    }

    #[test]
    fn every_request_is_issued_when_it_is_due_and_served_once_in_its_turn() {
        let due = Arrivals::Poisson.due(200.0, 100, 3);
        let served = of(2, 3, &due, PATIENT);
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
        assert_eq!(served.over(u64::MAX), 100 - done, "nobody knows how long they would have taken");
    }

    #[test]
    fn a_session_that_has_shown_enough_issues_no_more() {
        let due = Arrivals::Constant.due(1_000.0, 2_000, 1);
        let over = Some(Over { within_ns: 15_000_000, most: 5 });
        let served = of(1, 5, &due, Patience { drain: Duration::from_millis(50), over, takes_refusals: false });
        assert!(served.given_up && served.requests.len() < 500, "{}", served.requests.len());
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
        let told = run(&mut [fails], &due, &Timer::calibrated(), PATIENT, &never).unwrap_err();
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
        let served = |code, patience| run(&mut [each(code)], &due, &Timer::calibrated(), patience, &never);
        for code in [Code::ResourceExhausted, Code::DeadlineExceeded] {
            let served = served(code, taking).unwrap();
            assert_eq!((served.requests.len(), served.refused(), served.left()), (40, 10, 0));
            assert_eq!(served.over(u64::MAX), 10, "a refusal is within no limit");
            assert!(
                served.requests.iter().filter(|request| request.refused).all(|request| request.latency().is_none())
            );
        }
        assert_eq!(served(Code::ResourceExhausted, PATIENT).unwrap_err().code, Code::ResourceExhausted);
        assert_eq!(served(Code::Internal, taking).unwrap_err().code, Code::Internal);
        let many = Some(Over { within_ns: u64::MAX, most: 3 });
        let given_up = served(Code::ResourceExhausted, Patience { over: many, ..taking }).unwrap();
        assert!(given_up.given_up && given_up.requests.len() < 40, "refusals are beyond every limit");
    }

    #[test]
    fn a_panic_is_an_error_and_leaves_nobody_waiting() {
        let panics = || -> Result<()> { panic!("on purpose") };
        let told = run(&mut [panics, panics], &[0, 0, 0], &Timer::calibrated(), PATIENT, &never).unwrap_err();
        assert_eq!(told.code, Code::Internal);
    }

    #[test]
    fn a_run_that_is_being_stopped_ends_within_a_moment() {
        let start = Instant::now();
        let due = Arrivals::Constant.due(1.0, 60, 1);
        let stopping = || start.elapsed() > Duration::from_millis(100);
        let told = run(&mut [sleeps(1)], &due, &Timer::calibrated(), PATIENT, &stopping).unwrap_err();
        assert_eq!(told.code, Code::Cancelled);
        assert!(start.elapsed() < Duration::from_millis(500), "{:?}", start.elapsed());
    }
}
