//! The worker: one thread whose event loop has as many requests under way as it has room for, each over a connection of its own.

use super::body::{Bodies, Drawn};
use super::connection::Open;
use super::exchange::Asker;
use super::files;
use super::noticed::Noticed;
use super::options::Question;
use crate::settings::Settings;
use futures_util::stream::{FuturesUnordered, StreamExt};
use skillbench_load::board::Shift;
use skillbench_load::session::Serve;
use skillbench_load::sizes::Parts;
use skillbench_plugin_api::{Code, Error, Options, Result};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

/// The longest that a server takes to close a connection behind its answer, where it closes each.
const BEHIND_AN_ANSWER: Duration = Duration::from_millis(100);

pub struct Streams {
    workers: usize,
    asker: Asker,
    bodies: Bodies,
    /// Connections over which nothing is under way; the last was used last.
    idle: Vec<Open>,
    /// Whether the server was watched after its first answers.
    was_watched: bool,
    runtime: Runtime,
}

impl Streams {
    /// `workers`: how many requests may be under way at once.
    ///
    /// # Errors
    /// Options that say nothing, and a system that allows fewer open files.
    pub fn new(options: &Options, workers: usize, noticed: &Arc<Noticed>) -> Result<Streams> {
        let (settings, question) = (Settings::of(options)?, Question::of(options)?);
        files::allow(workers)?;
        let runtime = Builder::new_current_thread().enable_io().enable_time().build();
        Ok(Streams {
            workers,
            asker: Asker::new(&settings, &question, noticed)?,
            bodies: Bodies::new(&question),
            idle: vec![],
            was_watched: false,
            runtime: runtime.map_err(|error| {
                Error::new(Code::ResourceExhausted, format!("an event loop cannot be started: {error}"))
            })?,
        })
    }
}

impl Serve for Streams {
    fn room(&self) -> usize {
        self.workers
    }

    fn is_event_loop(&self) -> bool {
        true
    }

    fn serve(&mut self) -> Result<()> {
        self.asker.door.find()?;
        let Streams { workers, asker, bodies, idle, was_watched, runtime } = self;
        let start = Instant::now();
        runtime.block_on(async {
            see_what_was_closed().await;
            let mut under_way: FuturesUnordered<_> = (0..*workers)
                .map(|_| {
                    let (mut open, body) = (idle.pop(), bodies.draw(0, None, Parts::NONE));
                    let asker = &*asker;
                    async move {
                        asker.ask(&mut open, body, || start.elapsed().as_nanos() as u64).await?;
                        Ok(open)
                    }
                })
                .collect();
            while let Some(open) = under_way.next().await {
                idle.extend(open?);
            }
            drop(under_way);
            let last = if *was_watched { None } else { idle.last_mut() };
            if let Some(last) = last {
                *was_watched = true;
                if closes(last).await {
                    asker.keep_no_connection();
                    idle.clear();
                }
            }
            Ok(())
        })
    }

    fn attend(&mut self, shift: &Shift<'_>) -> Result<()> {
        self.asker.door.find()?;
        let Streams { workers, asker, bodies, idle, runtime, .. } = self;
        runtime.block_on(async {
            see_what_was_closed().await;
            let mut under_way = FuturesUnordered::new();
            // The waker of this, of all of them, takes no lock: whoever issues a request calls it.
            poll_fn(|context| {
                loop {
                    if shift.is_over() {
                        // What is under way is given up, with its connections.
                        return Poll::Ready(Ok(()));
                    }
                    while let Poll::Ready(Some(open)) = under_way.poll_next_unpin(context) {
                        match open {
                            Ok(open) => idle.extend(open),
                            Err(error) => return Poll::Ready(Err(error)),
                        }
                    }
                    let before = under_way.len();
                    while under_way.len() < *workers
                        && let Poll::Ready(next) = shift.poll_next(context)
                    {
                        match next {
                            Some(number) => {
                                let (lengths, parts) = (shift.lengths(number), shift.parts(number));
                                let body = bodies.draw(shift.session(), lengths, parts);
                                under_way.push(serve(asker, idle.pop(), body, number, shift));
                            }
                            None if under_way.is_empty() => return Poll::Ready(Ok(())),
                            None => break,
                        }
                    }
                    if under_way.len() == before {
                        return Poll::Pending;
                    }
                }
            })
            .await
        })
    }
}

/// Has the system say what happened to connections since the loop stood still.
async fn see_what_was_closed() {
    tokio::task::yield_now().await;
}

/// Whether the server closes a connection right behind an answer, though it said that it keeps it. It is that of the last answer: others may have been
/// idle for as long as any server keeps them. No request waits for it, which would be sent before this can be seen.
async fn closes(last: &mut Open) -> bool {
    tokio::time::sleep(BEHIND_AN_ANSWER).await;
    last.look().await;
    !last.is_kept()
}

/// Serves a request of a session, and gives its connection back if it can be used again.
async fn serve(
    asker: &Asker,
    mut open: Option<Open>,
    asked: Drawn,
    number: usize,
    shift: &Shift<'_>,
) -> Result<Option<Open>> {
    let taken = shift.begin(number..number + 1);
    let tokens = match asker.ask(&mut open, asked, || shift.now()).await {
        Ok(tokens) => Some(tokens),
        Err(error) if shift.takes(&error) => None,
        Err(error) => return Err(error),
    };
    let end = shift.now();
    let all = tokens.as_deref().unwrap_or_default();
    if let Some(first) = all.first() {
        let gaps: Vec<u64> = all.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
        shift.made(number, *first, &gaps);
    }
    shift.ran(1);
    shift.worked(taken, end, 1.0);
    // What came after the last token is none of the answer's time.
    shift.end(number, all.last().copied().unwrap_or(end), tokens.is_none());
    Ok(open)
}
