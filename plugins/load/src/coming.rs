//! How the requests of a session come: when they are due, or as users ask who wait for their answers.

use crate::arrivals::Arrivals;
use crate::board::Board;
use crate::session::{Plan, stopped, wait_until};
use fastrand::Rng;
use skillbench_plugin_api::Result;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

/// When it is looked whether the cell is to end: of requests that are due after so many, of users after so long.
const LOOK: usize = 64;
const LOOK_AFTER: Duration = Duration::from_millis(20);

#[derive(Clone, Debug, PartialEq)]
pub enum Coming {
    /// When each is due, in nanoseconds from the start and in order, whatever became of those before.
    Due(Vec<u64>),
    Users(Users),
}

/// A closed loop: each user thinks, asks, waits for the answer, and thinks again.
#[derive(Clone, Debug, PartialEq)]
pub struct Users {
    pub count: usize,
    /// Nanoseconds of thought before each request, in the order in which users begin to think. There are no more requests than these.
    pub think: Vec<u64>,
    /// Nanoseconds from the start; whoever would ask later does not.
    pub until: u64,
}

impl Users {
    /// Users whose thoughts take `think` on average, as far apart as `arrivals` are, for at most so many requests. Each is somewhere within its first
    /// thought when the session begins.
    pub fn new(
        count: usize,
        think: Duration,
        arrivals: Arrivals,
        requests: usize,
        length: Duration,
        seed: u64,
    ) -> Users {
        let (mean, mut rng) = (think.as_nanos() as f64, Rng::with_seed(!seed));
        let think = arrivals.gaps(requests, seed).enumerate().map(|(number, gap)| {
            let left = if number < count { rng.f64() } else { 1.0 };
            (gap * left * mean) as u64
        });
        Users { count, think: think.collect(), until: length.as_nanos() as u64 }
    }

    /// Issues requests until time is over, or there are no more. A request is due when its user has thought for long enough, whenever that is seen.
    fn issue(
        &self,
        board: &Board,
        plan: &Plan<'_>,
        enough: &dyn Fn() -> bool,
        stopping: &dyn Fn() -> bool,
    ) -> Result<bool> {
        let mut think = self.think.iter();
        // Neither grows beyond the number of users.
        let mut thinking = BinaryHeap::with_capacity(self.count);
        thinking.extend(think.by_ref().take(self.count).map(|think| Reverse(*think)));
        let mut waiting: Vec<usize> = Vec::with_capacity(self.count);
        let (spins, mut looked, mut issued, mut ended) = (plan.timer.spins(), Instant::now(), 0, 0);
        loop {
            let now_ended = board.ended();
            if now_ended != ended {
                ended = now_ended;
                let mut is_full = false;
                waiting.retain(|of| {
                    let Some(end) = board.ended_at(*of) else { return true };
                    match think.next() {
                        Some(think) => thinking.push(Reverse(end + think)),
                        None => is_full = true,
                    }
                    false
                });
                // With fewer users it would be another load.
                if is_full {
                    return Ok(false);
                }
            }
            if enough() {
                return Ok(true);
            }
            if looked.elapsed() >= LOOK_AFTER {
                looked = Instant::now();
                if stopping() {
                    return Err(stopped());
                }
            }
            let now = board.now();
            let next = thinking.peek().map(|Reverse(due)| *due).filter(|due| *due < self.until);
            match next {
                Some(due) if due <= now => {
                    thinking.pop();
                    board.issue(issued, due);
                    waiting.push(issued);
                    issued += 1;
                    continue;
                }
                None if now >= self.until || waiting.is_empty() => return Ok(false),
                _ => {}
            }
            let left = Duration::from_nanos(next.unwrap_or(self.until).saturating_sub(now));
            match left.checked_sub(spins) {
                // Whoever ends a request wakes this thread.
                Some(sleep) if !sleep.is_zero() => std::thread::park_timeout(sleep.min(LOOK_AFTER)),
                _ => std::hint::spin_loop(),
            }
        }
    }
}

impl Coming {
    /// How many requests there are at most.
    pub fn most(&self) -> usize {
        match self {
            Coming::Due(due) => due.len(),
            Coming::Users(users) => users.think.len(),
        }
    }

    /// When the last request is due, where that is known before.
    pub(crate) fn last_due(&self) -> Option<u64> {
        match self {
            Coming::Due(due) => Some(due.last().copied().unwrap_or_default()),
            Coming::Users(_) => None,
        }
    }

    /// Whether a request comes because another one was answered.
    pub(crate) fn waits_for_answers(&self) -> bool {
        matches!(self, Coming::Users(_))
    }

    /// Issues the requests of a session. Returns whether some were left out, since it had shown what it can.
    pub(crate) fn issue(
        &self,
        board: &Board,
        start: Instant,
        plan: &Plan<'_>,
        stopping: &dyn Fn() -> bool,
    ) -> Result<bool> {
        let most = plan.patience.over.map_or(usize::MAX, |over| over.most);
        let enough = || board.is_cut() || board.over() > most;
        match self {
            Coming::Users(users) => users.issue(board, plan, &enough, stopping),
            Coming::Due(due) => {
                for (number, due) in due.iter().enumerate() {
                    wait_until(start + Duration::from_nanos(*due), plan.timer, &enough, stopping)?;
                    if enough() {
                        return Ok(true);
                    }
                    board.issue(number, *due);
                    if number % LOOK == LOOK - 1 && stopping() {
                        return Err(stopped());
                    }
                }
                Ok(false)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Batching, Over, Patience, Request, Served, alone};
    use crate::timer::Timer;
    use skillbench_plugin_api::Error;

    const PATIENT: Patience<'static> = Patience { drain: Duration::from_secs(10), over: None, takes_refusals: false };
    const MS: u64 = 1_000_000;

    /// Workers that take so long for each.
    fn served(users: Users, workers: usize, ms: u64, patience: Patience<'_>) -> Served {
        together(users, workers, ms, patience, Batching::NONE, &|| false).unwrap()
    }

    fn together(
        users: Users,
        workers: usize,
        ms: u64,
        patience: Patience<'_>,
        batching: Batching,
        stopping: &dyn Fn() -> bool,
    ) -> Result<Served> {
        let (coming, timer) = (Coming::Users(users), Timer::calibrated());
        let plan = Plan { coming: &coming, sizes: None, timer: &timer, patience, batching, tokens: 0, session: 1 };
        let worker = || {
            std::thread::sleep(Duration::from_millis(ms));
            Ok(())
        };
        alone((0..workers).map(|_| worker), plan, stopping)
    }

    /// Constant thoughts.
    fn users(count: usize, think_ms: u64, length_ms: u64) -> Users {
        let [think, length] = [think_ms, length_ms].map(Duration::from_millis);
        Users::new(count, think, Arrivals::Constant, 10_000, length, 7)
    }

    /// How many requests were under way at the most, from when they were due.
    fn at_once(served: &Served) -> usize {
        let moments = |one: &Request| [(one.due, 1), (one.served.unwrap()[1], -1)];
        let mut moments: Vec<(u64, i64)> = served.requests.iter().flat_map(moments).collect();
        // Who ends makes room for who begins at that moment.
        moments.sort_unstable();
        let mut now = 0;
        let counts = moments.iter().map(|(_, by)| {
            now += by;
            now
        });
        counts.max().unwrap() as usize
    }

    #[test]
    fn each_user_waits_for_its_answer_and_thinks_before_it_asks_again() {
        let served = served(users(1, 20, 400), 1, 5, PATIENT);
        assert!((8..=17).contains(&served.requests.len()), "{}", served.requests.len());
        assert!(served.requests[0].due < 20 * MS, "it is somewhere within its first thought");
        for pair in served.requests.windows(2) {
            assert_eq!(pair[1].due, pair[0].served.unwrap()[1] + 20 * MS);
        }
        assert!(served.requests.iter().all(|one| one.due < 400 * MS && one.issued >= one.due));
        assert!(served.left() == 0 && !served.given_up);
    }

    #[test]
    fn there_are_never_more_requests_under_way_than_users_and_a_slow_server_is_asked_less() {
        let (fast, slow) = (served(users(4, 10, 300), 4, 1, PATIENT), served(users(4, 10, 300), 1, 10, PATIENT));
        assert!(at_once(&fast) <= 4 && at_once(&slow) <= 4);
        assert!(slow.requests.len() <= 36 && fast.requests.len() > slow.requests.len(), "{}", fast.requests.len());
        let latencies = slow.requests[8..].iter().filter_map(Request::latency);
        assert!(latencies.min().unwrap() >= 10 * MS, "they wait for each other");
    }

    #[test]
    fn users_who_do_not_think_keep_all_workers_busy() {
        let served = served(users(3, 0, 200), 3, 4, PATIENT);
        assert!(served.utilization(3) > 0.7, "{}", served.utilization(3));
    }

    #[test]
    fn a_session_ends_when_its_places_are_used_up_or_it_has_shown_enough() {
        let few = Users { think: vec![MS; 5], ..users(2, 1, 60_000) };
        assert_eq!(served(few, 1, 1, PATIENT).requests.len(), 5);
        let limits = crate::limit::Limit::all("latency.p99<=1ms").unwrap();
        let over = Some(Over { limits: &limits, most: 3 });
        let broken = served(users(2, 1, 60_000), 1, 5, Patience { over, ..PATIENT });
        assert!(broken.given_up && broken.requests.len() < 10);
    }

    #[test]
    fn a_worker_that_fails_ends_the_session_of_users_with_its_reason() {
        let (coming, timer) = (Coming::Users(users(4, 1, 60_000)), Timer::calibrated());
        let mut count = 0;
        let fails = move || {
            count += 1;
            if count == 9 { Err(Error::invalid("the ninth")) } else { Ok(()) }
        };
        let (sizes, patience, batching) = (None, PATIENT, Batching::NONE);
        let plan = Plan { coming: &coming, sizes, timer: &timer, patience, batching, tokens: 0, session: 1 };
        let start = Instant::now();
        let told = alone([fails], plan, &|| false).unwrap_err();
        assert_eq!(told.message, "the ninth");
        assert!(start.elapsed() < Duration::from_secs(5), "users who wait for that worker wait no longer");
    }

    #[test]
    fn users_whose_requests_are_served_together_ask_again_after_their_batch() {
        let four = Batching { most: 4, wait: Duration::from_millis(20) };
        let served = together(users(4, 10, 300), 1, 5, PATIENT, four, &|| false).unwrap();
        assert!(at_once(&served) <= 4 && served.left() == 0);
        assert!(served.requests_per_run().unwrap() > 2.0, "{:?}", served.requests_per_run());
    }

    #[test]
    fn a_session_that_is_being_stopped_ends_within_a_moment_however_busy_its_users_are() {
        for think in [0, 60_000] {
            let start = Instant::now();
            let stopping = || start.elapsed() > Duration::from_millis(100);
            let busy = Users { count: 50, think: vec![think * MS; 1_000_000], until: u64::MAX };
            let told = together(busy, 2, 0, PATIENT, Batching::NONE, &stopping).unwrap_err();
            assert_eq!(told.code, skillbench_plugin_api::Code::Cancelled);
            assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
        }
    }

    #[test]
    fn thoughts_have_the_mean_that_was_asked_for() {
        for arrivals in [Arrivals::Constant, Arrivals::Poisson, Arrivals::Gamma(0.5), Arrivals::Gamma(4.0)] {
            let think = Users::new(3, Duration::from_millis(8), arrivals, 50_000, Duration::from_secs(1), 3).think;
            let mean = think.iter().skip(3).sum::<u64>() as f64 / (think.len() - 3) as f64;
            assert!((mean / 8e6 - 1.0).abs() < 0.03, "{arrivals:?}: {mean}");
        }
    }
}
