//! A worker's place at a board: which request it waits for, and how it is woken.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::Waker;
use std::thread::Thread;

const NOTHING: usize = usize::MAX;

/// One that works waits for no request.
pub struct Place {
    waits_for: AtomicUsize,
    thread: OnceLock<Thread>,
    /// Of a thread that waits for other things, too: what ends its wait.
    waker: OnceLock<Waker>,
}

impl Default for Place {
    fn default() -> Place {
        Place { waits_for: AtomicUsize::new(NOTHING), thread: OnceLock::new(), waker: OnceLock::new() }
    }
}

impl Place {
    /// This thread is at it from now on.
    pub fn take(&self) {
        let _ = self.thread.set(std::thread::current());
    }

    /// In place of its thread, this is woken from now on. The first is kept: an event loop has one.
    pub fn is_woken_by(&self, waker: &Waker) {
        self.waker.get_or_init(|| waker.clone());
    }

    pub fn wait_for(&self, number: usize) {
        self.waits_for.store(number, SeqCst);
    }

    pub fn has_it(&self) {
        self.waits_for.store(NOTHING, SeqCst);
    }

    pub fn waits_for(&self, number: usize) -> bool {
        self.waits_for.load(SeqCst) == number
    }

    pub fn wake(&self) {
        match self.waker.get() {
            Some(waker) => waker.wake_by_ref(),
            None => self.thread.get().into_iter().for_each(Thread::unpark),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::board::Shift;
    use crate::coming::Coming;
    use crate::crew::Crew;
    use crate::session::{Batching, Patience, Plan, Serve, run};
    use crate::timer::Timer;
    use skillbench_plugin_api::Result;
    use std::collections::VecDeque;
    use std::sync::Arc;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::task::{Context, Poll, Wake, Waker};
    use std::time::{Duration, Instant};

    /// The smallest event loop: it waits for what wakes it, and for the time at which a request is done.
    struct Loop {
        room: usize,
        takes: Duration,
        called: Receiver<()>,
        calls: Arc<Calls>,
    }

    struct Calls(Sender<()>);

    impl Wake for Calls {
        fn wake(self: Arc<Self>) {
            let _ = self.0.send(());
        }
    }

    impl Loop {
        fn new(room: usize, takes: Duration) -> Loop {
            let (calls, called) = channel();
            Loop { room, takes, called, calls: Arc::new(Calls(calls)) }
        }
    }

    impl Serve for Loop {
        fn serve(&mut self) -> Result<()> {
            Ok(())
        }

        fn room(&self) -> usize {
            self.room
        }

        fn attend(&mut self, shift: &Shift<'_>) -> Result<()> {
            let waker = Waker::from(Arc::clone(&self.calls));
            let context = Context::from_waker(&waker);
            let mut under_way: VecDeque<(usize, u64)> = VecDeque::new();
            loop {
                if shift.is_over() {
                    return Ok(());
                }
                while under_way.len() < self.room
                    && let Poll::Ready(next) = shift.poll_next(&context)
                {
                    let Some(number) = next else { break };
                    under_way.push_back((number, shift.begin(number..number + 1)));
                }
                let now = shift.now();
                let done = |(_, taken): &mut (usize, u64)| *taken + (self.takes.as_nanos() as u64) < now;
                while let Some((number, taken)) = under_way.pop_front_if(done) {
                    shift.ran(1);
                    shift.worked(taken, now, 1.0);
                    shift.end(number, now, false);
                }
                let _ = match under_way.is_empty() {
                    true => self.called.recv().ok(),
                    false => self.called.recv_timeout(Duration::from_millis(1)).ok(),
                };
            }
        }
    }

    fn plan<'p>(coming: &'p Coming, timer: &'p Timer, drain: Duration) -> Plan<'p> {
        let patience = Patience { drain, over: None, takes_refusals: false };
        Plan { coming, sizes: None, timer, patience, batching: Batching::NONE, tokens: 0, session: 1 }
    }

    #[test]
    fn an_event_loop_is_woken_for_each_request_and_counts_as_the_workers_that_it_has_room_for() {
        let due = Coming::Due((0..40).map(|number| number * 2_000_000).collect());
        std::thread::scope(|scope| {
            let crew = Crew::hire(scope, [Loop::new(8, Duration::from_millis(4))]).unwrap();
            assert_eq!((crew.size(), crew.threads(), crew.once().unwrap()), (8, 1, 1));
            for _ in 0..2 {
                let served = run(&crew, plan(&due, &Timer::calibrated(), Duration::from_secs(20)), &|| false).unwrap();
                assert_eq!((served.requests.len(), served.left()), (40, 0));
                assert!(served.requests.iter().all(|one| one.served.is_some_and(|[taken, _]| taken >= one.issued)));
                assert!(served.utilization(crew.size()) <= 1.0);
            }
        });
    }

    #[test]
    fn an_event_loop_that_is_busy_is_woken_when_its_session_is_over() {
        std::thread::scope(|scope| {
            let crew = Crew::hire(scope, [Loop::new(2, Duration::from_secs(3600))]).unwrap();
            let start = Instant::now();
            let served =
                run(&crew, plan(&Coming::Due(vec![0; 3]), &Timer::calibrated(), Duration::from_millis(50)), &|| false);
            assert_eq!(served.unwrap().left(), 3);
            assert!(start.elapsed() < Duration::from_secs(60));
        });
    }
}
