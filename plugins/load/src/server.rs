//! Sessions and searches: what is done with workers, whatever they serve.

use crate::coming::{Coming, Users};
use crate::cores::Apart;
use crate::crew::Crew;
use crate::lateness;
use crate::limit::{Limit, Metric};
use crate::options::{Asked, Load, Of};
use crate::search::{Search, Trial};
use crate::series::{MOST, OfRequests, OfTrials, figure};
use crate::session::{self, Over, Patience, Plan, Served};
use crate::timer::Timer;
use crate::trace::Played;
use skillbench_plugin_api::sdk::{Context, Series};
use skillbench_plugin_api::{Code, Error, Result, Round, RoundKind, SeriesInfo, SeriesKind};
use std::time::{Duration, Instant};

/// A budget is used for so many sessions at one rate, or so many trials of a search.
pub(crate) const SESSIONS: u32 = 3;
const TRIALS: u32 = 40;
/// A trial is at least so many times as long as its longest limit, and at its edge so many requests may break a limit: with less, intervals do not
/// hold the truth (host/stats/tests/capacity.rs).
const LONG: u32 = 20;
const MAY_BREAK: f64 = 2.0;
/// Of a search so many trials may be void, and so many at one rate after another.
const MOST_VOID: u32 = TRIALS / 10;
const VOID_IN_A_ROW: u32 = 3;
/// No session has more requests.
pub const MOST_REQUESTS: usize = 10 * MOST;
/// A session has at least so many requests.
const FEW: usize = 12;
/// How long a warm-up runs at least.
const WARM_UP: Duration = Duration::from_millis(60);
/// The most requests a second that are tried.
const FASTEST: f64 = 1e6;
/// A trial in which the share of late requests is so far from what is allowed to all of them is far beyond the edge, however many more would be.
const GIVEN_UP: f64 = 0.3;

/// What requests make.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tokens {
    /// The most tokens of a request; 0: requests make none.
    pub most: usize,
    /// Whether the backend keeps the cache, where it computes; `None`: there is none.
    pub kept_by_backend: Option<bool>,
}

pub struct Server<'c> {
    context: &'c Context<'c>,
    asked: Asked,
    of: Of,
    tokens: Tokens,
    crew: Crew,
    timer: Timer,
    seed: u64,
    sessions: u64,
    /// Sessions whose requests were issued late are what is measured.
    takes_late: bool,
    /// How long a worker takes for as many requests as it serves together, as the latest warm-up showed it.
    service: Option<Duration>,
    /// Each worker serves at least so many to show that.
    turns: u32,
}

impl<'c> Server<'c> {
    /// # Errors
    /// What the first worker says that fails: each serves once.
    pub fn new(context: &'c Context<'c>, asked: Asked, tokens: Tokens, crew: Crew, seed: u64) -> Result<Server<'c>> {
        // What an engine makes for a thread is made before the first request.
        crew.once()?;
        let of = if tokens.most > 0 { Of::Tokens } else { Of::Items };
        Ok(Server {
            context,
            asked,
            of,
            tokens,
            crew,
            timer: Timer::calibrated(),
            seed,
            sessions: 0,
            takes_late: false,
            service: None,
            turns: 1,
        })
    }

    /// Has no session be void because its requests were issued late: of the generator itself.
    #[must_use]
    pub fn even_late(self) -> Server<'c> {
        Server { takes_late: true, ..self }
    }

    /// Has each worker serve at least so many requests before anybody knows how long one takes: of those that are not alike.
    #[must_use]
    pub fn warmed_by(self, turns: u32) -> Server<'c> {
        Server { turns, ..self }
    }

    /// # Errors
    /// Whatever went wrong, and what makes a session no measurement.
    pub fn serve(&mut self) -> Result<()> {
        let _apart = self.asked.generator.as_deref().map(Apart::go).transpose()?;
        match self.asked.load {
            Load::Stream => Err(Error::internal("requests one after the other have no sessions")),
            Load::Offline => self.offline(),
            Load::Rate(per_s) => self.at_rate(per_s),
            Load::Users(users) => self.of_users(users),
            Load::Search => self.search(),
        }
    }

    /// All requests at once: as many as take a session.
    fn offline(&mut self) -> Result<()> {
        let patience = Patience { drain: self.asked.budget * 20, over: None, takes_refusals: false };
        self.measure(patience, |server| {
            let session = server.asked.budget.as_secs_f64() / f64::from(SESSIONS);
            let at_once = (server.crew.size() * server.asked.together) as f64;
            let count = session * at_once / server.service()?.as_secs_f64();
            Ok(Played { coming: Coming::Due(vec![0; (count as usize).clamp(FEW, MOST_REQUESTS)]), sizes: None })
        })
    }

    fn at_rate(&mut self, per_s: f64) -> Result<()> {
        let session = self.asked.budget / SESSIONS;
        // A request that was due last has the time that it takes, beside others.
        let drain = session.max(Duration::from_secs(1)) + 2 * self.service()?;
        // Without a limit a refusal is in no figure, and so ends the cell.
        let patience = Patience { drain, over: None, takes_refusals: !self.asked.limits.is_empty() };
        self.measure(patience, |server| server.come(per_s, session))
    }

    /// Each user asks again when it has its answer and has thought.
    fn of_users(&mut self, users: usize) -> Result<()> {
        let session = self.asked.budget / SESSIONS;
        // The last has all others before it.
        let waves = users.div_ceil(self.crew.size() * self.asked.together) as u32;
        let drain = session.max(Duration::from_secs(1)) + 2 * waves * self.service()?;
        let patience = Patience { drain, over: None, takes_refusals: !self.asked.limits.is_empty() };
        self.measure(patience, |server| server.think(users, session))
    }

    /// The requests of the next session of users.
    ///
    /// # Errors
    /// `FailedPrecondition` for users who ask too seldom for a figure.
    fn think(&mut self, users: usize, length: Duration) -> Result<Played> {
        self.sessions += 1;
        let (think, service) = (self.asked.think, self.service()?);
        let likely = users as f64 / (think + service).as_secs_f64() * length.as_secs_f64();
        if likely < FEW as f64 {
            return Err(self.too_seldom(users, likely));
        }
        // They ask no more often than they think, and the target answers no more often than it can; twice as many are room enough.
        let at_once = (self.crew.size() * self.asked.together) as f64;
        let most_per_s = (at_once / service.as_secs_f64()).min(users as f64 / think.as_secs_f64());
        let requests = ((2.0 * most_per_s * length.as_secs_f64()) as usize + 2 * users).clamp(FEW, MOST_REQUESTS);
        let users = Users::new(users, think, self.asked.arrivals, requests, length, self.seed_of_session());
        Ok(Played { coming: Coming::Users(users), sizes: None })
    }

    fn too_seldom(&self, users: usize, requests: f64) -> Error {
        let text = format!(
            "option users: {users} of them ask about {requests:.1} times in a session of {:.1} s, and a figure needs {FEW}: ask for --budget {:.0}, for more users, or for a shorter think_ms",
            (self.asked.budget / SESSIONS).as_secs_f64(),
            (self.asked.budget.as_secs_f64() * 1.5 * FEW as f64 / requests.max(1.0)).ceil()
        );
        Error::new(Code::FailedPrecondition, text)
    }

    /// Sessions until the host has enough of them.
    fn measure(&mut self, patience: Patience<'_>, mut come: impl FnMut(&mut Self) -> Result<Played>) -> Result<()> {
        let reporter = &self.context.reporter;
        let session = reporter.series(&SeriesInfo::duration("session", 1.0))?;
        let figures = OfRequests::announce(reporter, &self.asked, self.of)?;
        figures.hand_over_keeper(reporter, self.tokens.kept_by_backend)?;
        let tells = |name: &str| reporter.series(&SeriesInfo { concurrent: true, ..SeriesInfo::duration(name, 1.0) });
        let tells = if self.takes_late { vec![tells("tells_from.median")?, tells("tells_from.p99")?] } else { vec![] };
        while let Some(round) = reporter.next_round(session) {
            let mut served = vec![];
            self.play(session, &round, |server| {
                let played = come(server)?;
                let one = server.session(&played, patience)?;
                let wall = one.wall.as_nanos() as f64;
                served.push(one);
                Ok(wall)
            })?;
            for served in &served {
                self.look(served, patience)?;
                // How many come at once follows from how long each takes: a warm-up that others slowed down made this session a short one.
                if self.asked.load == Load::Offline && !served.requests.is_empty() {
                    let together = served.requests.len() as f64 / self.asked.together as f64;
                    self.service = Some(served.busy.div_f64(together));
                }
                figures.hand_over(reporter, served, self.crew.size(), &self.asked.limits)?;
                let from = lateness::tells_from(served);
                for (series, from) in tells.iter().zip(from) {
                    from.map_or(Ok(()), |from| reporter.single(*series, from))?;
                }
            }
        }
        Ok(())
    }

    /// The trials of a search, until the host has no time left for another.
    fn search(&mut self) -> Result<()> {
        let reporter = &self.context.reporter;
        let trial = reporter.series(&figure("trial", "", SeriesKind::Ratio, Some(false)))?;
        let figures = OfTrials::announce(reporter, &self.asked.limits, TRIALS)?;
        let length = self.asked.budget / TRIALS;
        let (mut search, mut void): (Option<Search>, u32) = (None, 0);
        while let Some(round) = reporter.next_round(trial) {
            let mut seen: Vec<(Trial, Served)> = vec![];
            self.play(trial, &round, |server| {
                let at_once = (server.crew.size() * server.asked.together) as f64;
                let first = at_once / server.service()?.as_secs_f64() / 2.0;
                if search.is_none() {
                    server.refuse_short_trials()?;
                    server.refuse_long_wait()?;
                }
                let allowed = || server.asked.limits.iter().map(Limit::allowed).collect();
                let search = search.get_or_insert_with(|| Search::new(allowed(), first, fastest(length)));
                let Some(per_s) = search.next_rate() else {
                    search.edges(&server.asked.slo)?;
                    return Err(Error::internal("a search that has two sides goes on between them"));
                };
                if let Some(edge) = search.found() {
                    refuse_few_requests(&server.asked.limits, edge, length)?;
                }
                let (one, served) = server.valid_trial(per_s, length, &mut void)?;
                let share = share(&one);
                search.saw(one.clone());
                seen.push((one, served));
                Ok(share)
            })?;
            for (one, served) in &seen {
                figures.hand_over(reporter, one, served, self.crew.size())?;
            }
        }
        let stay = self.stay()?.as_secs_f64() / length.as_secs_f64();
        figures.hand_over_all(reporter, void, stay)?;
        search.map_or(Ok(()), |search| search.edges(&self.asked.slo))
    }

    /// How long a request may stay and keep its limits: until its answer, or until its first token, and then as long as tokens take.
    fn stay(&mut self) -> Result<Duration> {
        let service = self.service()?;
        let of = |limit: &Limit| match limit.metric {
            Metric::Latency => Duration::from_nanos(limit.within_ns),
            Metric::FirstToken => Duration::from_nanos(limit.within_ns) + service,
            Metric::PerOutputToken => service,
        };
        Ok(self.asked.limits.iter().map(of).max().unwrap_or_default())
    }

    /// Where requests may stay for about as long as a trial takes, no queue has the time to grow beyond it, whatever the rate, and sequences side by
    /// side never become as many as they would.
    fn refuse_short_trials(&mut self) -> Result<()> {
        if self.asked.limits.iter().all(|limit| limit.response().is_zero()) {
            let text = "a limit on tpot alone does not limit how long a request waits, so that a queue may grow without end: add one on ttft or latency, or ask for a --rate";
            return Err(Error::invalid(text));
        }
        let stay = self.stay()?;
        let least = stay * LONG * TRIALS;
        if self.asked.budget >= least {
            return Ok(());
        }
        let text = format!(
            "a search takes {TRIALS} sessions, each {LONG} times as long as a request may stay within its limits ({:.3} s), or shows more than the target bears: ask for --budget {:.0}, or for a shorter limit",
            stay.as_secs_f64(),
            least.as_secs_f64().ceil()
        );
        Err(Error::new(Code::FailedPrecondition, text))
    }

    /// At a low rate a request waits for others as long as it may: where that and a run are longer than the limit, less load breaks it more.
    fn refuse_long_wait(&mut self) -> Result<()> {
        let (batching, service) = (self.asked.batching, self.service()?);
        // How long the run takes that a limit has in it; of a prompt alone nobody knows.
        let run = |limit: &Limit| if limit.metric == Metric::Latency { service } else { Duration::ZERO };
        let breaks = |limit: &&Limit| {
            !limit.response().is_zero() && batching.wait + run(limit) > Duration::from_nanos(limit.within_ns)
        };
        let Some(limit) = self.asked.limits.iter().find(breaks).filter(|_| batching.most > 1) else { return Ok(()) };
        let (run, within) = (run(limit), Duration::from_nanos(limit.within_ns));
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
    fn valid_trial(&mut self, per_s: f64, length: Duration, void: &mut u32) -> Result<(Trial, Served)> {
        let mut tries = 1;
        loop {
            let (one, served) = self.trial(per_s, length)?;
            let Err(late) = self.refuse_late(&served) else { return Ok((one, served)) };
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

    fn trial(&mut self, per_s: f64, length: Duration) -> Result<(Trial, Served)> {
        let played = self.arrive(per_s, length);
        let limits = self.asked.limits.clone();
        let over =
            Some(Over { limits: &limits, most: (given_up(&limits) * played.coming.most() as f64) as usize + FEW });
        // What is still served when it is over keeps no limit anyway, or has the time that it takes.
        let drain = self.stay()?.max(length) + 2 * self.service()?;
        let served = self.session(&played, Patience { drain, over, takes_refusals: true })?;
        let one = Trial {
            per_s,
            requests: served.requests.len(),
            over: limits.iter().map(|limit| served.over(limit)).collect(),
            over_any: served.over_any(&limits),
            given_up: served.given_up,
        };
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
        self.warm_for(WARM_UP)
    }

    fn warm_for(&mut self, least: Duration) -> Result<f64> {
        let start = Instant::now();
        let (mut count, mut turns) = (0, 0);
        while turns < self.turns || start.elapsed() < least {
            count += self.crew.once()?;
            turns += 1;
        }
        self.service = Some(start.elapsed() / count);
        Ok(start.elapsed().as_nanos() as f64)
    }

    fn service(&mut self) -> Result<Duration> {
        if self.service.is_none() {
            self.warm_for(Duration::ZERO)?;
        }
        Ok(self.service.unwrap_or_default().max(Duration::from_nanos(1)))
    }

    /// The requests of the next session at a rate.
    ///
    /// # Errors
    /// `FailedPrecondition` for a trace that takes longer than a session: of a part of it the load would be another one.
    fn come(&mut self, per_s: f64, length: Duration) -> Result<Played> {
        let Some(trace) = self.asked.trace.clone() else { return Ok(self.arrive(per_s, length)) };
        let seconds = trace.seconds(per_s);
        if seconds > length.as_secs_f64() {
            let text = format!(
                "option trace: it takes {seconds:.1} s at this rate, and one of {SESSIONS} sessions has {:.1} s: ask for --budget {:.0}, or for a higher --rate",
                length.as_secs_f64(),
                (seconds * f64::from(SESSIONS)).ceil()
            );
            return Err(Error::new(Code::FailedPrecondition, text));
        }
        self.sessions += 1;
        Ok(trace.played(per_s))
    }

    /// Others each time, from one seed.
    fn arrive(&mut self, per_s: f64, length: Duration) -> Played {
        self.sessions += 1;
        let count = ((per_s * length.as_secs_f64()).round() as usize).clamp(FEW, MOST_REQUESTS);
        let due = self.asked.arrivals.due_over(&self.asked.over_time, per_s, count, self.seed_of_session());
        Played { coming: Coming::Due(due), sizes: None }
    }

    fn seed_of_session(&self) -> u64 {
        self.seed ^ self.sessions.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    fn session(&mut self, played: &Played, patience: Patience<'_>) -> Result<Served> {
        let Server { timer, tokens, sessions, .. } = self;
        let batching = self.asked.batching;
        let Played { coming, sizes } = played;
        let sizes = sizes.as_ref();
        let plan = Plan { coming, sizes, timer, patience, batching, tokens: tokens.most, session: *sessions };
        let served = session::run(&self.crew, plan, &|| self.context.host.stopping())?;
        match self.asked.load {
            Load::Users(users) if served.requests.len() < FEW => {
                Err(self.too_seldom(users, served.requests.len() as f64))
            }
            _ => Ok(served),
        }
    }

    /// How less load is asked for.
    fn less(&self) -> &'static str {
        match self.asked.load {
            Load::Users(_) => "fewer users, or a longer think_ms",
            Load::Offline => "fewer workers",
            _ => "a lower rate",
        }
    }

    /// What makes a session no measurement of the target at this load.
    fn look(&self, served: &Served, patience: Patience<'_>) -> Result<()> {
        let left = served.left();
        if left > 0 {
            let (all, drain) = (served.requests.len(), (patience.drain + self.asked.batching.wait).as_secs_f64());
            let per_s = (all - left) as f64 / served.wall.as_secs_f64();
            let text = format!(
                "overloaded: the queue grew, and {left} of {all} requests were not served within {drain:.1} s after the last was due; about {per_s:.4} a second were served: ask for {}",
                self.less()
            );
            return Err(Error::new(Code::ResourceExhausted, text));
        }
        self.refuse_late(served)
    }

    /// A session whose requests were issued too late says more of the generator than of the target.
    fn refuse_late(&self, served: &Served) -> Result<()> {
        if self.takes_late {
            return Ok(());
        }
        let late = || match self.asked.load {
            // All are there at once.
            Load::Offline => None,
            _ => lateness::too_late(served, self.crew.size(), &self.asked.limits, self.less()),
        };
        match lateness::at_its_limit(served, self.less()).or_else(late) {
            None => Ok(()),
            Some(text) => Err(Error::new(Code::FailedPrecondition, text)),
        }
    }
}

/// Where hardly a request of a trial may break a limit, trials say little of whether it holds.
fn refuse_few_requests(limits: &[Limit], per_s: f64, length: Duration) -> Result<()> {
    let allowed = limits.iter().map(Limit::allowed).fold(1.0, f64::min);
    let least = Duration::from_secs_f64(MAY_BREAK / (allowed * per_s));
    if length >= least {
        return Ok(());
    }
    let text = format!(
        "the limits hold up to about {per_s:.4} requests a second, of which a session has {:.0}: too few to tell of such a percentile; ask for --budget {:.0}, or for a lower percentile",
        per_s * length.as_secs_f64(),
        (least * TRIALS).as_secs_f64().ceil()
    );
    Err(Error::new(Code::FailedPrecondition, text))
}

/// The largest rate of which a session has no more requests than are kept: a shorter session would show more than the target bears.
fn fastest(length: Duration) -> f64 {
    FASTEST.min(MOST_REQUESTS as f64 / length.as_secs_f64())
}

/// The share of requests that broke a limit.
fn share(trial: &Trial) -> f64 {
    trial.over_any as f64 / trial.requests.max(1) as f64
}

/// The share of requests beyond a limit with which a trial has shown enough.
fn given_up(limits: &[Limit]) -> f64 {
    // Other requests may break each of them.
    let allowed = limits.iter().map(Limit::allowed).sum::<f64>().min(1.0);
    allowed + (1.0 - allowed) * GIVEN_UP
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_with_few_requests_at_its_edge_says_what_to_ask_for() {
        let limits = Limit::all("latency.p90<=1s,latency.p99<=2s").unwrap();
        assert!(refuse_few_requests(&limits, 200.0, Duration::from_secs(1)).is_ok());
        let told = refuse_few_requests(&limits, 5.0, Duration::from_secs(1)).unwrap_err().message;
        assert!(told.contains("a session has 5: ") && told.contains("--budget 1600,"), "{told}");
        assert!(refuse_few_requests(&limits[..1], 5.0, Duration::from_secs(4)).is_ok(), "one of ten may");
    }

    #[test]
    fn a_search_never_has_shorter_sessions_than_it_needs() {
        assert_eq!(fastest(Duration::from_millis(500)), FASTEST);
        assert_eq!(fastest(Duration::from_secs(40)), 25_000.0);
    }

    #[test]
    fn a_trial_is_not_given_up_while_it_may_keep_its_limits() {
        for (slo, share) in [
            ("latency.p99<=1s", 0.307),
            ("latency.p50<=1s", 0.65),
            ("latency.p90<=1s,ttft.p40<=1s", 0.79),
            ("tpot.p50<=1s,ttft.p50<=1s", 1.0),
        ] {
            let found = given_up(&Limit::all(slo).unwrap());
            assert!((found - share).abs() < 1e-9, "{slo}: {found}");
        }
    }
}
