//! The order of it all.

use crate::crew::Crew;
use crate::lateness;
use crate::limit::Limit;
use crate::options::{Asked, Load, SCHEMA};
use crate::search::{Search, Trial};
use crate::series::{MOST, OfRequests, OfTrials, figure};
use crate::session::{self, Over, Patience, Plan, Served};
use crate::timer::Timer;
use skillbench_pipeline::{self as pipeline, Prepared};
use skillbench_plugin_api::sdk::{Benchmark, Context, Series};
use skillbench_plugin_api::{Code, Error, Result, Round, RoundKind, SeriesInfo, SeriesKind};
use std::ffi::CStr;
use std::time::{Duration, Instant};

/// A budget is used for so many sessions at one rate, or so many trials of a search.
const SESSIONS: u32 = 3;
const TRIALS: u32 = 40;
/// Of a search so many trials may be void, and so many at one rate after another.
const MOST_VOID: u32 = TRIALS / 10;
const VOID_IN_A_ROW: u32 = 3;
/// A session has at least so many requests.
const FEW: usize = 12;
/// How long a warm-up runs at least.
const WARM_UP: Duration = Duration::from_millis(60);
/// The most requests a second that are tried.
const FASTEST: f64 = 1e6;
/// A trial in which so large a share was late is far beyond the edge, however many more would be.
const GIVEN_UP: f64 = 0.3;
pub struct Serving;

impl Benchmark for Serving {
    const ID: &'static CStr = c"serving";
    const VERSION: &'static CStr = c"1";
    const CATEGORY: &'static CStr = c"performance";
    const SUMMARY: &'static CStr =
        c"Latency of requests that arrive at a rate, and the largest rate that keeps a limit";
    const OPTIONS_SCHEMA: &'static CStr = SCHEMA;
    const NEEDS_TARGET: bool = true;
    const SHARES_MODELS: bool = true;

    fn run(context: &Context<'_>) -> Result<()> {
        let target = context.target()?;
        let asked = Asked::read(&context.options, target)?;
        let order = pipeline::order(target)?;
        let models = pipeline::load(target, &order)?;
        let mut lanes: Vec<Prepared<'_>> = (0..asked.workers)
            .map(|_| {
                let mut lane = pipeline::prepared(target, &order, &models)?;
                lane.run()?;
                lane.verify(target, &models)?;
                Ok(lane)
            })
            .collect::<Result<_>>()?;
        let items = asked.items;
        if asked.load == Load::Stream {
            let latency = context.reporter.series(&SeriesInfo::duration("latency", items))?;
            let lane = lanes.first_mut().ok_or_else(|| Error::internal("a benchmark without a worker"))?;
            return context.reporter.time(latency, || lane.run());
        }
        std::thread::scope(|scope| {
            let crew = Crew::hire(scope, lanes.iter_mut().map(|lane| || lane.run()))?;
            // What an engine makes for a thread is made before the first request.
            crew.once()?;
            let (timer, seed) = (Timer::calibrated(), target.seed());
            let mut server = Server { context, asked, crew, timer, seed, sessions: 0, service: None };
            match asked.load {
                Load::Stream => Ok(()),
                Load::Offline => server.offline(),
                Load::Rate(per_s, limit) => server.at_rate(per_s, limit),
                Load::Search(limit) => server.search(limit),
            }
        })
    }
}

struct Server<'c> {
    context: &'c Context<'c>,
    asked: Asked,
    crew: Crew,
    timer: Timer,
    seed: u64,
    sessions: u64,
    /// How long one request takes alone, as the latest warm-up showed it.
    service: Option<Duration>,
}

impl Server<'_> {
    /// All requests at once: as many as take a session.
    fn offline(&mut self) -> Result<()> {
        let patience = Patience { drain: self.asked.budget * 20, over: None, takes_refusals: false };
        self.measure(patience, None, |server| {
            let session = server.asked.budget.as_secs_f64() / f64::from(SESSIONS);
            let count = session * server.crew.size() as f64 / server.service()?.as_secs_f64();
            Ok(vec![0; (count as usize).clamp(FEW, 10 * MOST)])
        })
    }

    fn at_rate(&mut self, per_s: f64, limit: Option<Limit>) -> Result<()> {
        let session = self.asked.budget / SESSIONS;
        // Without a limit a refusal is in no figure, and so ends the cell.
        let drain = session.max(Duration::from_secs(1));
        let patience = Patience { drain, over: None, takes_refusals: limit.is_some() };
        self.measure(patience, limit, |server| Ok(server.due(per_s, session)))
    }

    /// Sessions until the host has enough of them.
    fn measure(
        &mut self,
        patience: Patience,
        limit: Option<Limit>,
        mut due: impl FnMut(&mut Self) -> Result<Vec<u64>>,
    ) -> Result<()> {
        let reporter = &self.context.reporter;
        let session = reporter.series(&SeriesInfo::duration("session", 1.0))?;
        let arrive = self.asked.load != Load::Offline;
        let figures = OfRequests::announce(reporter, self.asked.items, arrive, limit)?;
        while let Some(round) = reporter.next_round(session) {
            let mut served = vec![];
            self.play(session, &round, |server| {
                let due = due(server)?;
                let one = server.session(&due, patience)?;
                let wall = one.wall.as_nanos() as f64;
                served.push(one);
                Ok(wall)
            })?;
            for served in &served {
                self.look(served, limit, patience)?;
                figures.hand_over(reporter, served, self.crew.size())?;
            }
        }
        Ok(())
    }

    /// The trials of a search, until the host has no time left for another.
    fn search(&mut self, limit: Limit) -> Result<()> {
        let reporter = &self.context.reporter;
        let trial = reporter.series(&figure("trial", "", SeriesKind::Ratio, Some(false)))?;
        let figures = OfTrials::announce(reporter, limit, TRIALS)?;
        let length = self.asked.budget / TRIALS;
        let (mut search, mut void): (Option<Search>, u32) = (None, 0);
        while let Some(round) = reporter.next_round(trial) {
            let mut seen: Vec<(Trial, Served)> = vec![];
            self.play(trial, &round, |server| {
                let at_once = (server.crew.size() * server.asked.batching.most) as f64;
                let first = at_once / server.service()?.as_secs_f64() / 2.0;
                if search.is_none() {
                    server.refuse_long_wait(limit)?;
                }
                let search = search.get_or_insert_with(|| Search::new(limit.allowed(), first, FASTEST));
                let Some(per_s) = search.next_rate() else {
                    search.edges(limit.within_ns)?;
                    return Err(Error::internal("a search that has two sides goes on between them"));
                };
                let (one, served) = server.valid_trial(per_s, limit, length, &mut void)?;
                search.saw(one);
                seen.push((one, served));
                Ok(share(&one))
            })?;
            for (one, served) in &seen {
                figures.hand_over(reporter, one, served, self.crew.size())?;
            }
        }
        figures.hand_over_void(reporter, void)?;
        search.map_or(Ok(()), |search| search.edges(limit.within_ns))
    }

    /// At a low rate a request waits for others as long as it may: where that and a run are longer than the limit, less load breaks it more.
    fn refuse_long_wait(&mut self, limit: Limit) -> Result<()> {
        let (batching, within) = (self.asked.batching, Duration::from_nanos(limit.within_ns));
        let run = self.service()?;
        if batching.most == 1 || batching.wait + run <= within {
            return Ok(());
        }
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let text = format!(
            "a request may wait {:.1} ms for others, and a run takes {:.1} ms: at a low rate that is more than {} ms: ask for a shorter --batch-wait or a longer limit",
            ms(batching.wait),
            ms(run),
            ms(within)
        );
        Err(Error::new(Code::FailedPrecondition, text))
    }

    /// A trial whose requests were issued when they were due. One in which they were not says nothing of the target, and is played again.
    ///
    /// # Errors
    /// As for a session that is void: too many were, so that the machine cannot issue requests at this rate.
    fn valid_trial(&mut self, per_s: f64, limit: Limit, length: Duration, void: &mut u32) -> Result<(Trial, Served)> {
        let mut tries = 1;
        loop {
            let (one, served) = self.trial(per_s, limit, length)?;
            let Err(late) = self.refuse_late(&served, Some(limit)) else { return Ok((one, served)) };
            *void += 1;
            if tries == VOID_IN_A_ROW || *void > MOST_VOID {
                return Err(Error {
                    message: format!("{} ({void} trials of the search were void)", late.message),
                    ..late
                });
            }
            tries += 1;
        }
    }

    fn trial(&mut self, per_s: f64, limit: Limit, length: Duration) -> Result<(Trial, Served)> {
        let due = self.due(per_s, length);
        let most = (GIVEN_UP * due.len() as f64) as usize + FEW;
        let over = Some(Over { within_ns: limit.within_ns, most });
        let drain = Duration::from_nanos(limit.within_ns).max(length);
        let served = self.session(&due, Patience { drain, over, takes_refusals: true })?;
        let over = served.over(limit.within_ns);
        let one = Trial { per_s, requests: served.requests.len(), over, given_up: served.given_up };
        Ok((one, served))
    }

    /// Does the iterations of a round: a warm-up, or `work`, which says what its sample is.
    fn play(&mut self, series: Series, round: &Round, mut work: impl FnMut(&mut Self) -> Result<f64>) -> Result<()> {
        let mut values = vec![];
        for iteration in 0..round.settle + round.iterations {
            let value = match round.kind {
                RoundKind::WarmUp => self.warm_up()?,
                RoundKind::Measured => work(self)?,
            };
            if iteration >= round.settle {
                values.push(value);
            }
        }
        self.context.reporter.samples(series, round, &values)
    }

    /// Requests one after the other, each worker's in turn: how long that took, in nanoseconds.
    fn warm_up(&mut self) -> Result<f64> {
        let start = Instant::now();
        let mut count = 0;
        while count == 0 || start.elapsed() < WARM_UP {
            self.crew.once()?;
            count += self.crew.size() as u32;
        }
        self.service = Some(start.elapsed() / count);
        Ok(start.elapsed().as_nanos() as f64)
    }

    fn service(&mut self) -> Result<Duration> {
        if self.service.is_none() {
            let start = Instant::now();
            self.crew.once()?;
            self.service = Some(start.elapsed() / self.crew.size() as u32);
        }
        Ok(self.service.unwrap_or_default().max(Duration::from_nanos(1)))
    }

    /// When the requests of the next session are due: others each time, from one seed.
    fn due(&mut self, per_s: f64, length: Duration) -> Vec<u64> {
        self.sessions += 1;
        let count = ((per_s * length.as_secs_f64()).round() as usize).clamp(FEW, 10 * MOST);
        self.asked.arrivals.due(per_s, count, self.seed ^ self.sessions.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn session(&mut self, due: &[u64], patience: Patience) -> Result<Served> {
        let plan = Plan { due, timer: &self.timer, patience, batching: self.asked.batching };
        session::run(&self.crew, plan, &|| self.context.host.stopping())
    }

    /// What makes a session no measurement of the target at this load.
    fn look(&self, served: &Served, limit: Option<Limit>, patience: Patience) -> Result<()> {
        let left = served.left();
        if left > 0 {
            let (all, drain) = (served.requests.len(), (patience.drain + self.asked.batching.wait).as_secs_f64());
            let per_s = (all - left) as f64 / served.wall.as_secs_f64();
            let text = format!(
                "overloaded: the queue grew, and {left} of {all} requests were not served within {drain:.1} s after the last was due; about {per_s:.4} a second were served: ask for a lower rate"
            );
            return Err(Error::new(Code::ResourceExhausted, text));
        }
        self.refuse_late(served, limit)
    }

    /// A session whose requests were issued too late says more of the generator than of the target.
    fn refuse_late(&self, served: &Served, limit: Option<Limit>) -> Result<()> {
        if self.asked.load == Load::Offline {
            return Ok(());
        }
        match lateness::too_late(served, self.crew.size(), limit) {
            None => Ok(()),
            Some(text) => Err(Error::new(Code::FailedPrecondition, text)),
        }
    }
}

/// The share of requests that were late.
fn share(trial: &Trial) -> f64 {
    trial.over as f64 / trial.requests.max(1) as f64
}
