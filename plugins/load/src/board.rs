//! What the thread that issues requests and the workers that serve them share.
//!
//! The thread that issues waits for no lock, and nothing is allocated between the first request and the last: each request has its place in
//! lists that are made before, and a worker takes the next number, or the next few. Only a worker that gathers a batch keeps others from
//! it, which are idle.

use crate::gaps::Gaps;
use crate::limit::Limit;
use crate::place::Place;
use crate::session::{Batching, Plan, Request, Serve, Served, cpu_time};
use crate::sizes::{Lengths, Parts, Sizes};
use crate::timer::ExactSleep;
use skillbench_plugin_api::{Code, Error, Result, Why};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// A request while the session goes on: when it is due, and its times, 0 for not yet, all at least 1.
#[derive(Default)]
struct Times {
    due: AtomicU64,
    issued: AtomicU64,
    taken: AtomicU64,
    ended: AtomicU64,
    first: AtomicU64,
    tokens: AtomicUsize,
    refused: AtomicBool,
}

pub struct Board {
    /// Whom the end of a request wakes: the thread that issues them, where users wait for their answers.
    issuer: Option<Thread>,
    sizes: Option<Arc<Sizes>>,
    places: Vec<Place>,
    /// All are at their places, and the one that issues.
    ready: Barrier,
    batching: Batching,
    limits: Vec<Limit>,
    takes_refusals: bool,
    times: Vec<Times>,
    gaps: Gaps,
    session: u64,
    /// Nanoseconds that workers worked; runs, and requests in them.
    busy: AtomicU64,
    runs: AtomicU64,
    rows: AtomicU64,
    /// How much of its time an event loop worked.
    event_loop: OnceLock<f64>,
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

impl Board {
    /// `workers`: how many threads will attend. The thread that makes it issues requests.
    pub fn new(plan: &Plan<'_>, workers: usize) -> Board {
        Board {
            issuer: plan.coming.waits_for_answers().then(std::thread::current),
            sizes: plan.sizes.cloned(),
            places: (0..workers).map(|_| Place::default()).collect(),
            ready: Barrier::new(workers + 1),
            batching: plan.batching,
            limits: plan.patience.over.map_or_else(Vec::new, |over| over.limits.to_vec()),
            takes_refusals: plan.patience.takes_refusals,
            times: (0..plan.coming.most()).map(|_| Times::default()).collect(),
            gaps: Gaps::of(plan.coming.most(), plan.tokens),
            session: plan.session,
            busy: AtomicU64::new(0),
            runs: AtomicU64::new(0),
            rows: AtomicU64::new(0),
            event_loop: OnceLock::new(),
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

    /// Issues a request that was due at a moment, and wakes the worker that waits for it.
    pub fn issue(&self, number: usize, due: u64) {
        self.times[number].due.store(due, SeqCst);
        self.times[number].issued.store(self.now(), SeqCst);
        self.issued.store(number + 1, SeqCst);
        if let Some(place) = self.places.iter().find(|place| place.waits_for(number)) {
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

    /// How many requests have ended.
    pub fn ended(&self) -> usize {
        self.ended.load(SeqCst)
    }

    /// When a request ended; `None`: it has not.
    pub fn ended_at(&self, number: usize) -> Option<u64> {
        Some(self.times[number].ended.load(SeqCst)).filter(|at| *at > 0)
    }

    /// Whether requests that were issued are not served yet.
    pub fn is_behind(&self) -> bool {
        self.ended.load(SeqCst) < self.issued.load(SeqCst)
    }

    /// How many requests broke a limit, or were refused.
    pub fn over(&self) -> usize {
        self.over.load(SeqCst)
    }

    /// What the first worker that failed said.
    pub fn failure(&self) -> Option<Error> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Waits until a request is there to be served; `false`: none will be.
    fn wait(&self, number: usize, place: &Place) -> bool {
        place.wait_for(number);
        loop {
            if self.is_cut() {
                return false;
            }
            if self.issued.load(SeqCst) > number {
                place.has_it();
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
        place.wait_for(number);
        while !self.is_cut() && self.issued.load(SeqCst) <= number {
            match by.checked_sub(self.now()).filter(|left| *left > 0) {
                Some(left) => std::thread::park_timeout(Duration::from_nanos(left)),
                None => break,
            }
        }
        place.has_it();
    }

    /// The next requests for a worker to serve together; `None`: there will be none.
    fn take(&self, place: &Place) -> Option<Range<usize>> {
        let most = self.batching.most;
        if most == 1 {
            let number = self.taken.fetch_add(1, SeqCst);
            return (number < self.times.len() && self.wait(number, place)).then_some(number..number + 1);
        }
        let _gathers = self.gathers.lock().unwrap_or_else(PoisonError::into_inner);
        let first = self.taken.load(SeqCst);
        if first >= self.times.len() || !self.wait(first, place) {
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

    /// Takes the next request where it was issued already; nobody waits.
    fn take_one(&self) -> Option<usize> {
        let next = |taken: usize| (taken < self.issued.load(SeqCst) && !self.is_cut()).then_some(taken + 1);
        self.taken.fetch_update(SeqCst, SeqCst, next).ok()
    }

    /// As [`Board::take_one`], for an event loop: where there is none yet, `context` is woken for the next.
    fn poll_one(&self, place: &Place, context: &Context<'_>) -> Poll<Option<usize>> {
        place.is_woken_by(context.waker());
        loop {
            place.has_it();
            if let Some(number) = self.take_one() {
                return Poll::Ready(Some(number));
            }
            let next = self.taken.load(SeqCst);
            if self.is_cut() || next >= self.times.len() {
                return Poll::Ready(None);
            }
            place.wait_for(next);
            // One that was issued before that was written has woken nobody.
            if self.issued.load(SeqCst) <= next && !self.is_cut() {
                return Poll::Pending;
            }
        }
    }

    /// Takes a place, and serves requests until there are no more.
    pub fn attend(&self, place: usize, worker: &mut impl Serve) {
        // A batch that is not full is waited for by the clock.
        let _exact = (self.batching.most > 1).then(ExactSleep::begin);
        let place = &self.places[place];
        place.take();
        self.ready.wait();
        let before = cpu_time().filter(|_| worker.is_event_loop());
        let attended = catch_unwind(AssertUnwindSafe(|| worker.attend(&Shift { board: self, place })));
        if let Some((before, now)) = before.zip(cpu_time()) {
            let worked = now.saturating_sub(before).as_nanos() as f64;
            let _ = self.event_loop.set(worked / self.now() as f64);
        }
        if let Err(error) = attended.unwrap_or_else(|_| Err(Error::internal("a worker panicked"))) {
            self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            self.cut();
        }
    }

    fn end(&self, number: usize, end: u64, refused: bool) {
        let times = &self.times[number];
        times.refused.store(refused, SeqCst);
        times.ended.store(end, SeqCst);
        if refused || !self.limits.iter().all(|limit| limit.holds(&self.request(number))) {
            self.over.fetch_add(1, SeqCst);
        }
        self.ended.fetch_add(1, SeqCst);
        self.issuer.iter().for_each(Thread::unpark);
    }

    fn request(&self, number: usize) -> Request {
        let times = &self.times[number];
        let at = |time: &AtomicU64| Some(time.load(SeqCst)).filter(|at| *at > 0);
        Request {
            due: times.due.load(SeqCst),
            issued: times.issued.load(SeqCst),
            served: at(&times.taken).zip(at(&times.ended)).map(|(from, to)| [from, to]),
            first: at(&times.first),
            tokens: times.tokens.load(SeqCst),
            refused: times.refused.load(SeqCst),
        }
    }

    /// What came of all that was issued.
    pub fn served(&self, given_up: bool) -> Served {
        let requests: Vec<Request> = (0..self.issued.load(SeqCst)).map(|number| self.request(number)).collect();
        let last = requests.iter().map(|request| request.served.map_or(request.issued, |[_, end]| end)).max();
        Served {
            requests,
            wall: Duration::from_nanos(last.unwrap_or_default()),
            gaps: self.gaps.kept(),
            generator: None,
            event_loop: self.event_loop.get().copied(),
            busy: Duration::from_nanos(self.busy.load(SeqCst)),
            runs: self.runs.load(SeqCst),
            rows: self.rows.load(SeqCst),
            given_up,
        }
    }
}

/// What a worker has of a session: the next requests, and where it says what became of them.
pub struct Shift<'b> {
    board: &'b Board,
    place: &'b Place,
}

impl Shift<'_> {
    /// Has batch after batch served, each by one call of `serve` with the numbers of its requests, until there are no more.
    ///
    /// # Errors
    /// What `serve` says, unless it is a refusal that counts as one.
    pub fn batches(&self, mut serve: impl FnMut(Range<usize>) -> Result<()>) -> Result<()> {
        while let Some(batch) = self.next() {
            let taken = self.begin(batch.clone());
            let refused = match serve(batch.clone()) {
                Ok(()) => false,
                Err(error) if self.takes(&error) => true,
                Err(error) => return Err(error),
            };
            let end = self.now();
            self.worked(taken, end, 1.0);
            self.ran(batch.len());
            batch.for_each(|number| self.end(number, end, refused));
        }
        Ok(())
    }

    /// The next requests to serve together, waited for; `None`: there will be none.
    pub fn next(&self) -> Option<Range<usize>> {
        self.board.take(self.place)
    }

    /// The next request, if it is there already.
    pub fn one_more(&self) -> Option<usize> {
        self.board.take_one()
    }

    /// The next request, for a worker whose thread is an event loop and waits for other things, too: `context` is woken when it is there, and when
    /// the session is over. `None`: there will be none. Whoever issues takes no lock to wake it if its waker takes none.
    ///
    /// A session has one such worker and no other, which always asks with the same waker.
    pub fn poll_next(&self, context: &Context<'_>) -> Poll<Option<usize>> {
        self.board.poll_one(self.place, context)
    }

    /// Nobody waits for what this session would still bring.
    pub fn is_over(&self) -> bool {
        self.board.is_cut()
    }

    /// Nanoseconds from the start of the session.
    pub fn now(&self) -> u64 {
        self.board.now()
    }

    /// Requests are being served from now on, which is returned.
    pub fn begin(&self, batch: Range<usize>) -> u64 {
        let taken = self.now();
        batch.for_each(|number| self.board.times[number].taken.store(taken, SeqCst));
        taken
    }

    /// Whether a failure is a refusal that counts as one, and no end of the session.
    pub fn takes(&self, error: &Error) -> bool {
        self.board.takes_refusals && is_refusal(error)
    }

    /// How long a request is; `None`: nobody says.
    pub fn lengths(&self, number: usize) -> Option<Lengths> {
        self.board.sizes.as_ref()?.lengths(number)
    }

    /// What its prompt shares with others.
    pub fn parts(&self, number: usize) -> Parts<'_> {
        self.board.sizes.as_ref().map_or(Parts::NONE, |sizes| sizes.parts(number))
    }

    /// The number of the session.
    pub fn session(&self) -> u64 {
        self.board.session
    }

    /// The worker worked from then to then, with that share of what it can do at once.
    pub fn worked(&self, from: u64, to: u64, share: f64) {
        self.board.busy.fetch_add((to.saturating_sub(from) as f64 * share) as u64, SeqCst);
    }

    /// A run served so many requests.
    pub fn ran(&self, requests: usize) {
        self.board.runs.fetch_add(1, SeqCst);
        self.board.rows.fetch_add(requests as u64, SeqCst);
    }

    /// A request made tokens: when the first was there, and how long each took after the one before. Said before its end.
    pub fn made(&self, number: usize, first: u64, gaps: &[u64]) {
        let times = &self.board.times[number];
        times.first.store(first.max(1), SeqCst);
        times.tokens.store(gaps.len() + 1, SeqCst);
        self.board.gaps.keep(number, gaps);
    }

    pub fn end(&self, number: usize, end: u64, refused: bool) {
        self.board.end(number, end, refused);
    }
}

/// What a target says that has too much to do; anything else is no matter of the load, and neither is memory that a batch does not fit in.
fn is_refusal(error: &Error) -> bool {
    let is_memory = error.why.0 & Why::MEMORY.0 != 0;
    matches!(error.code, Code::ResourceExhausted | Code::DeadlineExceeded) && !is_memory
}
