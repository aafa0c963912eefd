//! Threads that live as long as the benchmark and wait between samples, so that no start of a thread is ever timed.

use skillbench_plugin_api::{Code, Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier};
use std::thread::{Builder, Scope};
use std::time::{Duration, Instant};

/// Its threads end when it is dropped.
pub struct Crew<T> {
    members: Vec<Member<T>>,
}

struct Member<T> {
    go: Sender<()>,
    done: Receiver<Shift<T>>,
}

/// One member's share of a sample.
struct Shift<T> {
    start: Instant,
    end: Instant,
    outcome: Result<T>,
}

impl<T: Send> Crew<T> {
    /// One member for each piece of work.
    pub fn assemble<'scope, W>(scope: &'scope Scope<'scope, '_>, works: impl IntoIterator<Item = W>) -> Result<Crew<T>>
    where
        W: FnMut() -> Result<T> + Send + 'scope,
        T: 'scope,
    {
        let works: Vec<W> = works.into_iter().collect();
        let size = works.len();
        let release = Arc::new(Barrier::new(size));
        let member = |(index, mut work): (usize, W)| {
            let ((go, orders), (report, done)) = (channel(), channel());
            let release = release.clone();
            let attend = move || {
                while let Ok(()) = orders.recv() {
                    release.wait();
                    let start = Instant::now();
                    let outcome = catch_unwind(AssertUnwindSafe(&mut work)).unwrap_or_else(|_| Err(panicked()));
                    let end = Instant::now();
                    if report.send(Shift { start, end, outcome }).is_err() {
                        return;
                    }
                }
            };
            let started = Builder::new().name(format!("worker {index}")).spawn_scoped(scope, attend);
            started.map(|_| Member { go, done }).map_err(|error| {
                Error::new(Code::ResourceExhausted, format!("cannot start thread {} of {size}: {error}", index + 1))
            })
        };
        Ok(Crew { members: works.into_iter().enumerate().map(member).collect::<Result<_>>()? })
    }

    /// Lets all members work once, at once: the time from their release to the end of the last, and what they made.
    pub fn work(&self) -> Result<(Duration, Vec<T>)> {
        for member in &self.members {
            member.go.send(()).map_err(|_| panicked())?;
        }
        // All of them end before the first failure is told, so that nobody works on while the next thing is done.
        let shifts: Vec<Shift<T>> =
            self.members.iter().map(|member| member.done.recv().map_err(|_| panicked())).collect::<Result<_>>()?;
        // Whoever reaches the barrier last passes it without sleeping: the earliest start is the release.
        let release = shifts.iter().map(|shift| shift.start).min();
        let end = shifts.iter().map(|shift| shift.end).max();
        let (release, end) = release.zip(end).ok_or_else(|| Error::internal("a crew without members took no time"))?;
        Ok((end - release, shifts.into_iter().map(|shift| shift.outcome).collect::<Result<_>>()?))
    }
}

fn panicked() -> Error {
    Error::internal("a worker thread panicked")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread::{scope, sleep};

    #[test]
    fn the_time_is_that_of_the_slowest_and_not_the_sum() {
        let works = [50_u64, 100, 60].map(|ms| {
            move || {
                sleep(Duration::from_millis(ms));
                Ok(())
            }
        });
        let (duration, _) = scope(|scope| Crew::assemble(scope, works)?.work()).unwrap();
        assert!((100..200).contains(&duration.as_millis()), "{duration:?}");
    }

    #[test]
    fn the_same_threads_work_again_and_again() {
        let counts = [const { AtomicUsize::new(0) }; 4];
        let works = counts.iter().map(|count| || Ok(count.fetch_add(1, Ordering::Relaxed)));
        scope(|scope| {
            let crew = Crew::assemble(scope, works).unwrap();
            for round in 0..100 {
                assert_eq!(crew.work().unwrap().1, [round; 4]);
            }
        });
    }

    #[test]
    fn an_error_is_carried_back_after_everybody_ended() {
        let ended = AtomicUsize::new(0);
        let works = (0..3).map(|index| {
            let ended = &ended;
            move || {
                sleep(Duration::from_millis(10 * index));
                ended.fetch_add(1, Ordering::Relaxed);
                if index == 0 { Err(Error::invalid("the first one")) } else { Ok(()) }
            }
        });
        let error = scope(|scope| Crew::assemble(scope, works)?.work()).unwrap_err();
        assert_eq!((error.message.as_str(), ended.load(Ordering::Relaxed)), ("the first one", 3));
    }

    #[test]
    fn a_panic_is_an_error_and_leaves_nobody_waiting() {
        let works = (0..3).map(|index| move || if index == 1 { panic!("on purpose") } else { Ok(()) });
        let error = scope(|scope| Crew::assemble(scope, works)?.work()).unwrap_err();
        assert_eq!(error.code, Code::Internal);
    }
}
