//! Rounds: handed out, timed, and their samples checked. Written once, for every benchmark.

use super::Services;
use super::audit::{Corrected, RoundWatch, Seen, correct};
use super::cpu::{self, Below, Cpu, Tree};
use super::energy::Used;
use super::sensors::{Counted, Sensors};
use super::series::{MOST, Series};
use super::target::{highest, lock};
use crate::{CellJob, CounterRecord, Event, Policy, RoundRecord, SeriesRecord};
use skillbench_plugin_api::host_tables::ReporterServices;
use skillbench_plugin_api::{Code, Error, Result, Round, RoundKind, SeriesInfo, SeriesKind};
use skillbench_record::Samples;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// No cell has more series.
const MOST_SERIES: usize = 1_000;
/// No sample is larger: figures of them stay finite.
const LARGEST: f64 = 1e18;

/// Waits for the turn of a round, given its series and whether it is measured. `false`: there were enough.
pub(super) type Permit<'a> = dyn Fn(&str, bool) -> bool + Sync + 'a;

pub(super) struct Rounds<'a> {
    services: &'static Services,
    policy: &'a Policy,
    sensors: Option<&'a Sensors<'a>>,
    /// The engine computes in processes of its own.
    computes_elsewhere: bool,
    verified: &'a AtomicBool,
    /// What happens around rounds; `None`: nothing.
    pub watch: Option<&'a dyn RoundWatch>,
    attachments: Option<&'a Path>,
    /// What a round waits for; `None`: nothing.
    pub permit: Option<&'a Permit<'a>>,
    /// The kernel's mark of the highest resident set was set back when the first measured round began.
    peak_is_of_rounds: AtomicBool,
    began: Instant,
    tree: Mutex<Tree>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    series: Vec<Series>,
    open: Option<Open>,
    measuring: bool,
    warming_up: bool,
    last_id: u64,
    failure: Option<Error>,
    counted: Counted,
    /// How long the measured rounds took that are over.
    measured: Duration,
}

/// The round that a benchmark is running now.
struct Open {
    round: Round,
    series: u32,
    start: Instant,
    cpu: Option<Cpu>,
    /// It is played for an energy counter alone: no other figure has it.
    for_counter: bool,
    /// Its work is done, and the host looks at what came of it.
    has_ended: bool,
}

/// A round that is under way.
#[derive(Clone, Copy)]
pub(super) struct UnderWay {
    pub id: u64,
    pub lasted: Duration,
}

/// The moment at which a round was over.
#[derive(Clone, Copy)]
struct End {
    at: Instant,
    cpu: Option<Cpu>,
}

impl<'a> Rounds<'a> {
    pub fn new(
        services: &'static Services,
        job: &'a CellJob,
        verified: &'a AtomicBool,
        sensors: &'a Sensors<'a>,
        computes_elsewhere: bool,
    ) -> Rounds<'a> {
        let attachments = job.attachments.as_deref();
        let (peak_is_of_rounds, tree, state) = Default::default();
        let began = Instant::now();
        Rounds {
            services,
            policy: &job.policy,
            sensors: Some(sensors),
            computes_elsewhere,
            verified,
            watch: None,
            attachments,
            permit: None,
            peak_is_of_rounds,
            began,
            tree,
            state,
        }
    }

    /// Of a benchmark without a target: there is nothing to verify, and no device with sensors.
    pub fn without_target(
        services: &'static Services,
        policy: &'a Policy,
        attachments: Option<&'a Path>,
        verified: &'a AtomicBool,
    ) -> Rounds<'a> {
        let (peak_is_of_rounds, tree, state) = Default::default();
        let began = Instant::now();
        let (sensors, permit) = (None, None);
        Rounds {
            services,
            policy,
            sensors,
            computes_elsewhere: false,
            verified,
            watch: None,
            attachments,
            permit,
            peak_is_of_rounds,
            began,
            tree,
            state,
        }
    }

    /// A browser computes in other processes: where these are not listed, nobody knows.
    fn cpu(&self, own: Option<Duration>, below: Option<Below>) -> Option<Cpu> {
        Some(Cpu { own: own.filter(|_| below.is_some() || !self.computes_elsewhere)?, below })
    }

    /// The highest resident set since the first measured round began; `None` without one, or where the kernel keeps no such mark.
    pub fn peak(&self) -> Option<u64> {
        self.peak_is_of_rounds.load(Ordering::SeqCst).then(highest).flatten()
    }

    /// The measured round that is under way, and how long measured rounds have taken until now; `None`: there is none.
    pub fn under_way(&self) -> Option<(UnderWay, Duration)> {
        let state = lock(&self.state);
        let goes_on = |open: &&Open| open.round.kind == RoundKind::Measured && !open.for_counter && !open.has_ended;
        let open = state.open.as_ref().filter(goes_on)?;
        let lasted = open.start.elapsed();
        Some((UnderWay { id: open.round.id, lasted }, state.measured + lasted))
    }

    /// Every series as it was measured, the backend's own figures, and what a benchmark did that it may not.
    pub fn finish(self) -> (Vec<SeriesRecord>, Vec<CounterRecord>, Option<Error>) {
        let state = self.state.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let record = |mut series: Series| {
            let binding_counts = series.claims.settle(&mut series.rounds);
            let is_time = series.info.kind == SeriesKind::Duration;
            let implausible = if is_time { series.claims.implausible(&series.rounds) } else { vec![] };
            let measured = series.rounds.iter().filter(|round| round.measured).count();
            SeriesRecord {
                name: series.info.name,
                unit: series.info.unit,
                kind: series.info.kind.name().into(),
                higher_is_better: series.info.higher_is_better,
                concurrent: series.info.concurrent,
                items_per_sample: series.info.items_per_sample,
                rounds: series.rounds,
                for_counter_ns: series.long_ns,
                singles: series.singles,
                stable: series.stable,
                stopped_by: series.stopped_by.map(String::from),
                binding_counts,
                implausible,
                energy: series.energy.and_then(|used| self.sensors?.record(used, measured)),
            }
        };
        (state.series.into_iter().map(record).collect(), state.counted.finish(), state.failure)
    }
}

fn invalid<T>(text: String) -> Result<T> {
    Err(Error::new(Code::InvalidArgument, text))
}

impl State {
    /// `coarse`: see [`Series::for_counter`].
    fn next_round(
        &mut self,
        handle: u32,
        policy: &Policy,
        verified: bool,
        coarse: impl Fn(&Used) -> Option<f64>,
    ) -> Result<Option<Round>> {
        if self.open.is_some() {
            return invalid("the benchmark asked for a round before it handed over the samples of the last one".into());
        }
        let series = &mut self.series[handle as usize];
        let planned = series.plan(policy);
        let for_counter = planned.is_none();
        let further = || Some((RoundKind::Measured, series.for_counter(policy, coarse)?));
        let Some((kind, iterations)) = planned.or_else(further) else { return Ok(None) };
        if kind == RoundKind::Measured && !verified {
            return invalid("the benchmark asked for a measured round before it verified the target".into());
        }
        self.last_id += 1;
        let round = Round { id: self.last_id, kind, iterations, settle: 0 };
        self.open =
            Some(Open { round, series: handle, start: Instant::now(), cpu: None, for_counter, has_ended: false });
        Ok(Some(round))
    }

    /// `end`: when the round ended; `seen`: what the host saw of it. Returns the median of a round that was played for an energy counter alone.
    fn samples(
        &mut self,
        handle: u32,
        id: u64,
        values: &[f64],
        began: Instant,
        end: End,
        seen: &Seen,
    ) -> Result<Option<f64>> {
        let End { at: now, cpu } = end;
        let Some(series) = self.series.get_mut(handle as usize) else {
            return invalid(format!("there is no series {handle}"));
        };
        let name = series.info.name.clone();
        let duration = series.info.kind == SeriesKind::Duration;
        if series.singles.len() as u64 + values.len() as u64 > MOST {
            return invalid(format!("series '{name}': more than {MOST} figures without a round"));
        }
        let cannot_be = |value: &&f64| !value.is_finite() || value.abs() > LARGEST || (duration && **value <= 0.0);
        if let Some(bad) = values.iter().find(cannot_be) {
            return invalid(format!("series '{name}': a sample of {bad}; no time was measured, so none is taken"));
        }
        let more_than =
            |wall: Duration| duration && !series.info.concurrent && values.iter().sum::<f64>() > wall.as_nanos() as f64;
        if id == 0 {
            if more_than(now - began) {
                return invalid(format!("series '{name}': a figure of more time than the benchmark ran"));
            }
            series.singles.extend_from_slice(values);
            return Ok(None);
        }
        let Some(open) = self.open.take_if(|open| open.round.id == id && open.series == handle) else {
            return invalid(format!("series '{name}': samples for round {id}, which is not running"));
        };
        let wall = now - open.start;
        if values.len() as u64 != open.round.iterations {
            return invalid(format!(
                "series '{name}': {} samples for {} iterations",
                values.len(),
                open.round.iterations
            ));
        }
        if more_than(wall) {
            return invalid(format!("series '{name}': samples that add up to more than the round took"));
        }
        let measured = open.round.kind == RoundKind::Measured;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let corrected = match duration {
            true => correct(values, &seen.runs, cores),
            // They are no times; the audit took some of the round's all the same.
            false => {
                let of_round = correct(&[wall.as_nanos() as f64], &seen.runs, cores);
                Corrected { values: values.to_vec(), bind_ns: vec![], too_short: false, ..of_round }
            }
        };
        if open.for_counter {
            series.long_ns.push(wall.as_nanos() as u64);
            return Ok(skillbench_stats::median(&corrected.values));
        }
        let audit_ns = (corrected.audit_ns + seen.outside_ns as f64).min(wall.as_nanos() as f64);
        let wall_ns = wall.as_nanos() as f64 - audit_ns;
        let cpu_of_audit = Duration::from_nanos(corrected.audit_cpu_ns as u64);
        let cpu = cpu.zip(open.cpu).and_then(|(now, then)| Some(now.since(then)?.saturating_sub(cpu_of_audit)));
        // What is no time has the audit in it: requests came all the while.
        let spent_ns = if duration { wall_ns } else { wall.as_nanos() as f64 };
        series.iteration_ns = Some(spent_ns / open.round.iterations as f64);
        *(if measured { &mut series.spent_ns } else { &mut series.warm_ns }) += spent_ns;
        if measured {
            self.measured += wall;
            let claimed = values.iter().sum::<f64>();
            let overlaps = series.info.concurrent || !duration;
            let by_clock = wall.as_nanos() as f64 - seen.outside_ns as f64;
            series.claims.add(&corrected, seen.outside_ns as f64, (!overlaps).then_some((claimed, by_clock)));
        }
        series.rounds.push(RoundRecord {
            id,
            measured,
            wall_ns: wall_ns as u64,
            audit_ns: audit_ns as u64,
            cpu_ns: cpu.map(|cpu| cpu.as_nanos() as u64),
            device: corrected.device,
            settled: open.round.settle,
            launch: 0,
            values: corrected.values,
        });
        Ok(None)
    }
}

impl ReporterServices for Rounds<'_> {
    fn series(&self, info: SeriesInfo) -> Result<u32> {
        let mut state = lock(&self.state);
        if [Samples::OVER_TIME, Samples::READ_AT].iter().any(|of_host| info.name.starts_with(of_host)) {
            return invalid(format!("series '{}': the host has figures of such names", info.name));
        }
        if info.name.is_empty() || state.series.iter().any(|known| known.info.name == info.name) {
            return invalid(format!("series '{}' has no name, or one that is taken", info.name));
        }
        if state.series.len() >= MOST_SERIES {
            return invalid(format!("more than {MOST_SERIES} series"));
        }
        if !(info.items_per_sample.is_finite() && info.items_per_sample > 0.0) {
            return invalid(format!("series '{}': {} items per sample", info.name, info.items_per_sample));
        }
        if info.kind == SeriesKind::Duration && info.unit != "ns" {
            return invalid(format!("series '{}': durations are in ns, not in '{}'", info.name, info.unit));
        }
        state.series.push(Series::new(info));
        Ok(state.series.len() as u32 - 1)
    }

    fn next_round(&self, series: u32) -> Option<Round> {
        let verified = self.verified.load(Ordering::SeqCst);
        let mut state = lock(&self.state);
        if series as usize >= state.series.len() {
            state.failure = Some(Error::invalid(format!(
                "the benchmark asked for a round of series {series}, which it never announced"
            )));
            return None;
        }
        if let Err(stopped) = self.services.go_on() {
            state.failure = Some(stopped);
            return None;
        }
        let sensors = self.sensors.filter(|_| self.permit.is_none());
        let mut next = state.next_round(series, self.policy, verified, |used| sensors?.too_coarse_for(used));
        if let (Some(wait), Ok(Some(round))) = (self.permit, &next) {
            let measured = round.kind == RoundKind::Measured;
            if !wait(&state.series[series as usize].info.name, measured) {
                state.open = None;
                state.series[series as usize].stopped_by = Some("comparison");
                next = Ok(None);
            }
        }
        let spent = state.series[series as usize].spent_ns / self.policy.budget_ns.max(1) as f64;
        let measures = matches!(next, Ok(Some(round)) if round.kind == RoundKind::Measured);
        if measures && !self.peak_is_of_rounds.load(Ordering::SeqCst) {
            let reset = std::fs::write("/proc/self/clear_refs", "5").is_ok();
            self.peak_is_of_rounds.store(reset, Ordering::SeqCst);
        }
        let warms_up = matches!(next, Ok(Some(round)) if round.kind == RoundKind::WarmUp);
        if warms_up != std::mem::replace(&mut state.warming_up, warms_up) {
            self.services.send(&Event::WarmingUp(warms_up));
        }
        if measures != std::mem::replace(&mut state.measuring, measures) {
            self.services.send(&Event::Measuring(measures));
        }
        self.services.send(&Event::Progress { share: spent.min(1.0) });
        if measures {
            state.series[series as usize].before = self.sensors.and_then(Sensors::energy);
        }
        if let (Some(watch), Ok(round)) = (self.watch, &next) {
            match round {
                Some(round) => {
                    let for_counter = state.open.as_ref().is_some_and(|open| open.for_counter);
                    watch.begin(&state.series[series as usize].info.name, round, for_counter);
                }
                // What is run now is in no round.
                None => watch.over(),
            }
        }
        if measures {
            self.services.send(&Event::Round(true));
        }
        if let Some(open) = &mut state.open {
            // The round begins when the benchmark gets it, not while the host is told of it.
            // Processes below are read first here, and last at the end: to read them is no work of the round.
            let below = lock(&self.tree).time();
            open.cpu = self.cpu(cpu::of_process(), below);
            open.start = Instant::now();
        }
        next.unwrap_or_else(|error| {
            state.failure.get_or_insert(error);
            None
        })
    }

    fn samples(&self, series: u32, round: u64, values: &[f64]) -> Result<()> {
        let (at, own) = (Instant::now(), cpu::of_process());
        let end = End { at, cpu: self.cpu(own, lock(&self.tree).time()) };
        if let Some(open) = lock(&self.state).open.as_mut().filter(|open| open.round.id == round) {
            open.has_ended = true;
        }
        let seen = match (self.watch, round) {
            (Some(watch), 1..) => watch.end(values.len() as u64),
            _ => Seen::default(),
        };
        let mut state = lock(&self.state);
        let measuring = state.measuring;
        let taken = state.samples(series, round, values, self.began, end, &seen);
        if measuring && round != 0 {
            self.services.send(&Event::Round(false));
        }
        if measuring && taken.is_ok() && round != 0 {
            let one = &mut state.series[series as usize];
            if let (Some(before), Some(after)) = (one.before.take(), self.sensors.and_then(Sensors::energy)) {
                let median = taken.as_ref().ok().copied().flatten();
                one.energy = Used::plus(one.energy.take(), &before, &after, values.len() as u64, median);
            }
            if let Some(sensors) = self.sensors {
                state.counted.read(sensors);
            }
        }
        if let Err(error) = &taken {
            state.failure.get_or_insert_with(|| error.clone());
        }
        taken.map(drop)
    }

    fn attach(&self, name: &str, bytes: &[u8]) {
        let Some(folder) = self.attachments else { return };
        // A plain name only: an attachment stays inside its folder.
        let kept = match std::path::Path::new(name).file_name() {
            Some(plain) if plain == name => {
                std::fs::create_dir_all(folder).and_then(|()| std::fs::write(folder.join(plain), bytes))
            }
            _ => Err(std::io::Error::other("not a plain file name")),
        };
        if let Err(error) = kept {
            let message = format!("attachment '{name}' is not kept: {error}");
            self.services.send(&Event::Log { level: 2, message });
        }
    }
}

#[cfg(test)]
mod tests;
