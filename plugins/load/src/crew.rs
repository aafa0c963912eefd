//! The workers: threads that live as long as the benchmark. Engines keep state for each thread that runs a model (ONNX Runtime on CUDA makes
//! handles of cuBLAS and cuDNN, which takes 20 ms), so that a thread that began with a session would make its first request late.

use crate::board::Board;
use crate::session::Serve;
use skillbench_plugin_api::{Code, Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, Scope};

/// Its threads end when it is dropped.
pub struct Crew {
    members: Vec<Member>,
    size: usize,
}

struct Member {
    orders: Sender<Order>,
    done: Receiver<Result<()>>,
}

enum Order {
    /// One request, now.
    Once,
    /// The requests of a session.
    Session(Arc<Board>),
}

impl Crew {
    /// A thread for each worker.
    ///
    /// # Errors
    /// `ResourceExhausted` where the system starts no more threads.
    pub fn hire<'scope, W: Serve + 'scope>(
        scope: &'scope Scope<'scope, '_>,
        workers: impl IntoIterator<Item = W>,
    ) -> Result<Crew> {
        let (mut members, mut size) = (vec![], 0);
        for (index, mut worker) in workers.into_iter().enumerate() {
            size += worker.room();
            let ((orders, received), (report, done)) = (channel(), channel());
            let attend = move || {
                while let Ok(order) = received.recv() {
                    let outcome = match order {
                        Order::Once => once(&mut worker),
                        Order::Session(board) => {
                            board.attend(index, &mut worker);
                            Ok(())
                        }
                    };
                    if report.send(outcome).is_err() {
                        return;
                    }
                }
            };
            let started = Builder::new().name(format!("server {index}")).spawn_scoped(scope, attend);
            started.map_err(|error| {
                Error::new(Code::ResourceExhausted, format!("cannot start thread {}: {error}", index + 1))
            })?;
            members.push(Member { orders, done });
        }
        Ok(Crew { members, size })
    }

    /// How many requests they serve at once.
    pub fn size(&self) -> usize {
        self.size
    }

    pub(crate) fn threads(&self) -> usize {
        self.members.len()
    }

    /// Each worker serves one request, one after the other; one with room for several as many as that, all at once. Says how many there were one after
    /// another.
    ///
    /// # Errors
    /// What the first says that fails.
    pub fn once(&self) -> Result<u32> {
        for member in &self.members {
            member.orders.send(Order::Once).map_err(|_| gone())?;
            member.done.recv().map_err(|_| gone())??;
        }
        Ok(self.members.len() as u32)
    }

    /// All take their places at a board. A thread ends only with the crew, so that none is missed there.
    pub(crate) fn begin(&self, board: &Arc<Board>) {
        for member in &self.members {
            let _ = member.orders.send(Order::Session(board.clone()));
        }
    }

    /// Waits until all have left the board.
    pub(crate) fn end(&self) {
        for member in &self.members {
            let _ = member.done.recv();
        }
    }
}

fn once(worker: &mut impl Serve) -> Result<()> {
    catch_unwind(AssertUnwindSafe(|| worker.serve())).unwrap_or_else(|_| Err(Error::internal("a worker panicked")))
}

fn gone() -> Error {
    Error::internal("a worker's thread is gone")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::thread::{ThreadId, current, scope};

    #[test]
    fn a_worker_serves_all_sessions_and_warm_ups_on_one_thread() {
        use crate::coming::Coming;
        use crate::session::{Batching, Patience, Plan, run};
        use crate::timer::Timer;
        use std::time::Duration;
        let seen: Mutex<Vec<ThreadId>> = Mutex::default();
        scope(|scope| {
            let serve = || {
                seen.lock().unwrap().push(current().id());
                Ok(())
            };
            let crew = Crew::hire(scope, [serve]).unwrap();
            crew.once().unwrap();
            let patience = Patience { drain: Duration::from_secs(5), over: None, takes_refusals: false };
            let timer = Timer::calibrated();
            for _ in 0..3 {
                let plan = Plan {
                    coming: &Coming::Due(vec![0, 1_000_000]),
                    sizes: None,
                    timer: &timer,
                    patience,
                    batching: Batching::NONE,
                    tokens: 0,
                    session: 1,
                };
                assert_eq!(run(&crew, plan, &|| false).unwrap().left(), 0);
            }
        });
        let seen = seen.into_inner().unwrap();
        assert_eq!(seen.len(), 7);
        assert!(seen.iter().all(|thread| *thread == seen[0] && *thread != current().id()));
    }
}
