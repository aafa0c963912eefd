//! What the thread that issues requests and the workers that serve them share.
//!
//! The thread that issues waits for no lock, and nothing is allocated between the first request and the last: each request has its place in
//! lists that are made before, and a worker takes the next number, or the next few. Only a worker that gathers a batch keeps others from
//! it, which are idle.

use crate::session::{Batching, Plan, Request, Serve, Served};
use crate::timer::ExactSleep;
use skillbench_plugin_api::{Code, Error};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Barrier, Mutex, OnceLock, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// A request while the session goes on: its times, 0 for not yet, all at least 1.
#[derive(Default)]
struct Times {
    issued: AtomicU64,
    taken: AtomicU64,
    ended: AtomicU64,
    refused: AtomicBool,
    /// See [`Request::batch`].
    batch: AtomicUsize,
}

pub struct Board {
    due: Vec<u64>,
    places: Vec<Place>,
    /// All are at their places, and the one that issues.
    ready: Barrier,
    batching: Batching,
    within_ns: u64,
    takes_refusals: bool,
    times: Vec<Times>,
    start: OnceLock<Instant>,
    /// How many requests were issued, and how many were taken by workers.
    issued: AtomicUsize,
    taken: AtomicUsize,
    ended: AtomicUsize,
    over: AtomicUsize,
    /// Held by the worker that gathers a batch.
    gathers: Mutex<()>,
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

impl Default for Place {
    fn default() -> Place {
        Place { waits_for: AtomicUsize::new(NOTHING), thread: OnceLock::new() }
    }
}

impl Place {
    fn wake(&self) {
        self.thread.get().into_iter().for_each(Thread::unpark);
    }
}

impl Board {
    pub fn new(plan: &Plan<'_>, workers: usize) -> Board {
        Board {
            due: plan.due.to_vec(),
            places: (0..workers).map(|_| Place::default()).collect(),
            ready: Barrier::new(workers + 1),
            batching: plan.batching,
            within_ns: plan.patience.over.map_or(u64::MAX, |over| over.within_ns),
            takes_refusals: plan.patience.takes_refusals,
            times: plan.due.iter().map(|_| Times::default()).collect(),
            start: OnceLock::new(),
            issued: AtomicUsize::new(0),
            taken: AtomicUsize::new(0),
            ended: AtomicUsize::new(0),
            over: AtomicUsize::new(0),
            gathers: Mutex::default(),
            closed: AtomicBool::new(false),
            cut: AtomicBool::new(false),
            failure: Mutex::default(),
        }
    }

    /// Waits until all workers are at their places. Times count from then.
    pub fn start(&self) -> Instant {
        self.ready.wait();
        *self.start.get_or_init(Instant::now)
    }

    /// Nanoseconds from the start, at least 1.
    pub fn now(&self) -> u64 {
        self.start.get().map_or(1, |start| (start.elapsed().as_nanos() as u64).max(1))
    }

    /// Issues a request, and wakes the worker that waits for it.
    pub fn issue(&self, number: usize) {
        self.times[number].issued.store(self.now(), SeqCst);
        self.issued.store(number + 1, SeqCst);
        if let Some(place) = self.places.iter().find(|place| place.waits_for.load(SeqCst) == number) {
            place.wake();
        }
    }

    /// No more will be issued.
    pub fn close(&self) {
        self.closed.store(true, SeqCst);
    }

    /// Nothing more is to be served.
    pub fn cut(&self) {
        self.cut.store(true, SeqCst);
        self.places.iter().for_each(Place::wake);
    }

    pub fn is_cut(&self) -> bool {
        self.cut.load(SeqCst)
    }

    /// Whether requests that were issued are not served yet.
    pub fn is_behind(&self) -> bool {
        self.ended.load(SeqCst) < self.issued.load(SeqCst)
    }

    /// How many requests took longer than the limit, or were refused.
    pub fn over(&self) -> usize {
        self.over.load(SeqCst)
    }

    /// What the first worker that failed said.
    pub fn failure(&self) -> Option<Error> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Waits until a request is there to be served; `false`: none will be.
    fn wait(&self, number: usize, place: &Place) -> bool {
        place.waits_for.store(number, SeqCst);
        loop {
            if self.is_cut() {
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

    /// Waits until a request is issued, or the moment `by` (nanoseconds from the start) is there. That no more will come is nothing a
    /// server knows.
    fn wait_for_more(&self, number: usize, by: u64, place: &Place) {
        place.waits_for.store(number, SeqCst);
        while !self.is_cut() && self.issued.load(SeqCst) <= number {
            match by.checked_sub(self.now()).filter(|left| *left > 0) {
                Some(left) => std::thread::park_timeout(Duration::from_nanos(left)),
                None => break,
            }
        }
        place.waits_for.store(NOTHING, SeqCst);
    }

    /// The next requests for a worker to serve together; `None`: there will be none.
    fn take(&self, place: &Place) -> Option<Range<usize>> {
        let most = self.batching.most;
        if most == 1 {
            let number = self.taken.fetch_add(1, SeqCst);
            return (number < self.due.len() && self.wait(number, place)).then_some(number..number + 1);
        }
        let _gathers = self.gathers.lock().unwrap_or_else(PoisonError::into_inner);
        let first = self.taken.load(SeqCst);
        if first >= self.due.len() || !self.wait(first, place) {
            return None;
        }
        let by = self.times[first].issued.load(SeqCst).saturating_add(self.batching.wait.as_nanos() as u64);
        self.wait_for_more(first + most - 1, by, place);
        if self.is_cut() {
            return None;
        }
        let last = self.issued.load(SeqCst).min(first + most);
        self.taken.store(last, SeqCst);
        Some(first..last)
    }

    /// Takes a place, and serves requests until there are no more.
    pub fn attend(&self, place: usize, worker: &mut impl Serve) {
        // A batch that is not full is waited for by the clock.
        let _exact = (self.batching.most > 1).then(ExactSleep::begin);
        let place = &self.places[place];
        let _ = place.thread.set(std::thread::current());
        self.ready.wait();
        self.work(worker, place);
    }

    fn work(&self, worker: &mut impl Serve, place: &Place) {
        while let Some(batch) = self.take(place) {
            let taken = self.now();
            batch.clone().for_each(|number| self.times[number].taken.store(taken, SeqCst));
            let served = catch_unwind(AssertUnwindSafe(|| worker.serve()));
            let refused = match served.unwrap_or_else(|_| Err(Error::internal("a worker panicked"))) {
                Ok(()) => false,
                Err(error) if self.takes_refusals && is_refusal(&error) => true,
                Err(error) => {
                    self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    self.cut();
                    return;
                }
            };
            let end = self.now();
            self.times[batch.start].batch.store(batch.len(), SeqCst);
            for number in batch {
                self.times[number].refused.store(refused, SeqCst);
                self.times[number].ended.store(end, SeqCst);
                if refused || end.saturating_sub(self.due[number]) > self.within_ns {
                    self.over.fetch_add(1, SeqCst);
                }
                self.ended.fetch_add(1, SeqCst);
            }
        }
    }

    /// What came of all that was issued.
    pub fn served(&self, given_up: bool) -> Served {
        let issued = self.issued.load(SeqCst);
        let request = |(due, times): (&u64, &Times)| {
            let at = |time: &AtomicU64| Some(time.load(SeqCst)).filter(|at| *at > 0);
            Request {
                due: *due,
                issued: times.issued.load(SeqCst),
                served: at(&times.taken).zip(at(&times.ended)).map(|(from, to)| [from, to]),
                refused: times.refused.load(SeqCst),
                batch: times.batch.load(SeqCst),
            }
        };
        let requests: Vec<Request> = self.due.iter().zip(&self.times).take(issued).map(request).collect();
        let last = requests.iter().map(|request| request.served.map_or(request.issued, |[_, end]| end)).max();
        Served { requests, wall: Duration::from_nanos(last.unwrap_or_default()), given_up }
    }
}

/// What a target says that has too much to do; anything else is no matter of the load.
fn is_refusal(error: &Error) -> bool {
    matches!(error.code, Code::ResourceExhausted | Code::DeadlineExceeded)
}
