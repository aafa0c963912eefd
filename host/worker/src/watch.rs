//! What is seen of a worker from outside: time, memory, and what the machine does meanwhile.

use super::Limits;
use super::children::all_below;
use super::conditions::Follow;
use super::failure::Failure;
use super::over_time::{EVERY, LONG, OverTime, WORKER_MEMORY, append, read};
use super::processors::are_shared;
use super::protocol::{Reply, Stage};
use skillbench_record::Conditions;
use std::time::{Duration, Instant};

/// How often a worker is looked at while it is silent.
pub(super) const TICK: Duration = Duration::from_millis(20);
/// What it started is looked at each so many times.
const CHILDREN_EVERY: u64 = 10;
const MIB: f64 = (1u64 << 20) as f64;

/// What was seen of a worker from outside.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    /// Highest resident set over the measured rounds, in bytes, with what the worker started; `None` where the system does not tell.
    pub peak: Option<u64>,
    /// Average of the same.
    pub average: Option<f64>,
    /// Highest of all that was seen at one moment, but for verifying, which is the host's own.
    pub peak_of_all: Option<u64>,
    /// Highest proportional set of what the worker started, at any time; `None`: it started nothing that was seen.
    pub children_peak: Option<u64>,
    /// How long the measured rounds took together, by the clock of this process, and how many there were.
    pub rounds: Duration,
    pub rounds_seen: u64,
    /// How long in them this process and the worker were ready to run and had no processor, as the kernel counts it.
    pub waited: Duration,
    /// What the machine did besides through the measured rounds.
    pub conditions: Option<Conditions>,
    /// The machine and the worker's memory over the time of the measured rounds.
    pub over_time: Vec<OverTime>,
    /// More of it than one thread could run on the processors that were kept for that.
    pub shares_kept: bool,
    /// From start to the worker's first message.
    pub ready: Option<Duration>,
}

impl Watched {
    /// Adds what was seen of another process that measured the same cell.
    pub fn add(&mut self, other: Watched) {
        let (mine, theirs) = (self.rounds.as_secs_f64(), other.rounds.as_secs_f64());
        let weigh = |(one, more): (f64, f64)| (one * mine + more * theirs) / (mine + theirs).max(f64::MIN_POSITIVE);
        let average = self.average.zip(other.average).map(weigh);
        let conditions = match (self.conditions.take(), other.conditions) {
            (Some(one), Some(more)) => Some(one.worse(&more)),
            (one, more) => one.or(more),
        };
        let mut over_time = std::mem::take(&mut self.over_time);
        append(&mut over_time, &other.over_time, self.rounds);
        *self = Watched {
            peak: self.peak.max(other.peak),
            average,
            peak_of_all: self.peak_of_all.max(other.peak_of_all),
            children_peak: self.children_peak.max(other.children_peak),
            rounds: self.rounds + other.rounds,
            rounds_seen: self.rounds_seen + other.rounds_seen,
            waited: self.waited + other.waited,
            conditions,
            over_time,
            shares_kept: self.shares_kept || other.shares_kept,
            ready: self.ready,
        };
    }
}

/// How the work on a command ended.
pub(super) enum End {
    Reply(Box<Reply>),
    Failed(Failure),
    Closed,
    TimedOut(Duration),
    Memory { used: u64, limit: u64 },
    Stopped,
    Protocol(String),
}

/// Time, memory and the user's wish to stop, looked at from outside.
pub(super) struct Watch<'l> {
    pub(super) limits: &'l Limits,
    began: Instant,
    pub(super) stage: Stage,
    stage_began: Instant,
    /// The plugin's slot that is under way, where the worker tells.
    pub(super) slot: Option<String>,
    pub(super) measuring: bool,
    last_look: Option<Instant>,
    /// When figures over time were read.
    last_read: Option<Instant>,
    pub(super) follow: Follow,
    /// When the measured round began that is running, and what was waited for a processor until then.
    round_began: Option<(Instant, Duration)>,
    looks: u64,
    /// What the worker started, when it was last looked at.
    children: u64,
    sum: f64,
    count: u64,
    pub(super) seen: Watched,
}

impl<'l> Watch<'l> {
    pub(super) fn new(limits: &'l Limits) -> Watch<'l> {
        let now = Instant::now();
        let (looks, children, sum, count) = (0, 0, 0.0, 0);
        let seen = Watched::default();
        Watch {
            limits,
            began: now,
            stage: Stage::Import,
            stage_began: now,
            slot: None,
            measuring: false,
            last_look: None,
            last_read: None,
            follow: Follow::default(),
            round_began: None,
            looks,
            children,
            sum,
            count,
            seen,
        }
    }

    pub(super) fn enter(&mut self, stage: Stage) {
        self.stage = stage;
        self.stage_began = Instant::now();
    }

    /// Time that no limit counts.
    pub(super) fn pass_over(&mut self, waited: Duration) {
        self.began += waited;
        self.stage_began += waited;
    }

    pub(super) fn round(&mut self, begins: bool, pid: u32) {
        let (now, waited) = (Instant::now(), waited(pid));
        match (begins, self.round_began.take()) {
            (true, _) => {
                self.round_began = Some((now, waited));
                // What happened before it is none of the round's.
                self.follow.forget_moment();
            }
            (false, Some((began, before))) => {
                self.seen.rounds += now - began;
                self.seen.rounds_seen += 1;
                self.seen.waited += waited.saturating_sub(before);
            }
            (false, None) => {}
        }
    }

    fn note(&mut self, used: u64) {
        if self.stage != Stage::Verify {
            self.seen.peak_of_all = self.seen.peak_of_all.max(Some(used));
        }
    }

    pub(super) fn look_at_children(&mut self, pid: u32) {
        self.children = started_by(pid);
        if let Some(own) = resident(pid) {
            self.note(own + self.children);
        }
        self.seen.children_peak = self.seen.children_peak.max(Some(self.children).filter(|bytes| *bytes > 0));
    }

    fn read_over_time(&mut self, now: Instant, pid: u32, used: u64) {
        let Some((began, _)) = self.round_began else { return };
        if now - began < LONG || self.last_read.is_some_and(|last| now - last < EVERY) {
            return;
        }
        self.last_read = Some(now);
        let at = self.seen.rounds + (now - began);
        let memory = (WORKER_MEMORY, "MiB", used as f64 / MIB);
        for (name, unit, value) in self.follow.moment(pid).into_iter().chain([memory]) {
            read(&mut self.seen.over_time, at, name, unit, value);
        }
    }

    pub(super) fn look(&mut self, pid: u32) -> Option<End> {
        let now = Instant::now();
        if self.last_look.is_some_and(|last| now - last < TICK) {
            return None;
        }
        self.last_look = Some(now);
        if self.limits.stopped() {
            return Some(End::Stopped);
        }
        for (limit, since) in [(self.limits.total, self.began), (self.limits.of(&self.stage), self.stage_began)] {
            if now - since > limit {
                return Some(End::TimedOut(limit));
            }
        }
        self.looks += 1;
        // To look at a whole browser takes longer than a look at the worker, and from the same cores.
        if self.looks % CHILDREN_EVERY == 1 {
            self.look_at_children(pid);
            self.follow.look();
            if self.round_began.is_some() && !self.limits.kept.is_empty() {
                self.seen.shares_kept |= are_shared(pid, &self.limits.kept);
            }
        }
        let used = resident(pid)? + self.children;
        self.note(used);
        if self.measuring {
            self.seen.peak = self.seen.peak.max(Some(used));
            self.sum += used as f64;
            self.count += 1;
            self.seen.average = Some(self.sum / self.count as f64);
        }
        self.read_over_time(now, pid, used);
        let limit = self.limits.memory?;
        (used > limit).then_some(End::Memory { used, limit })
    }
}

/// How long this thread and a worker's first one, which runs the rounds, have waited for a processor so far; 0 where the kernel does not
/// count it.
fn waited(pid: u32) -> Duration {
    let of = |path: &str| std::fs::read_to_string(path).ok()?.split_whitespace().nth(1)?.parse().ok();
    let (host, worker): (Option<u64>, Option<u64>) =
        (of("/proc/thread-self/schedstat"), of(&format!("/proc/{pid}/schedstat")));
    Duration::from_nanos(host.unwrap_or_default().saturating_add(worker.unwrap_or_default()))
}

/// A process's resident set in bytes.
fn resident(pid: u32) -> Option<u64> {
    let statm = std::fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let pages: u64 = statm.split(' ').nth(1)?.parse().ok()?;
    Some(pages * page_size())
}

/// A process's proportional set in bytes, in which pages that several share count by their share; else its resident set.
fn proportional(pid: u32) -> Option<u64> {
    let of_kernel = || {
        let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
        let line = text.lines().find(|line| line.starts_with("Pss:"))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
    };
    of_kernel().or_else(|| resident(pid))
}

/// The proportional sets of all processes below one, in bytes.
fn started_by(pid: u32) -> u64 {
    all_below(pid).into_iter().map(|child| proportional(child).unwrap_or(0)).sum()
}

#[cfg(unix)]
fn page_size() -> u64 {
    rustix::param::page_size() as u64
}

#[cfg(not(unix))]
fn page_size() -> u64 {
    4096
}
