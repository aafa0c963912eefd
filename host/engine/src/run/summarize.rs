//! What workers reported becomes figures. Every figure comes from samples; what has none is `None`.

use super::energy::{self, Counted};
use super::launches;
use super::mlperf::mlperf;
use super::prepare::Startup;
use super::serving::{self, AskedLoad};
use skillbench_models::{Moves, Power, stored};
use skillbench_record::defaults::defaults;
use skillbench_record::{
    Audit, CounterMetrics, GenerationMetrics, InitMetrics, MemoryMetrics, Metrics, SeriesMetrics, Stats, Verification,
};
use skillbench_stats::{Launches, half_widths, summarize, summarize_rounds};
use skillbench_worker::{CellReport, CounterRecord, DeviceTimes, LoadRecord, RoundRecord, SeriesRecord, Watched};

const NS_TO_MS: f64 = 1e-6;

/// The reports that belong to one cell.
pub(super) struct Reports<'a> {
    pub main: &'a CellReport,
    /// The same start in further fresh processes: load and first inference.
    pub cold: &'a [CellReport],
    /// A start with the compiled code of the main one in the cache, for an engine that keeps one.
    pub warm: Option<&'a CellReport>,
    pub startup: Option<&'a Startup>,
    pub watched: &'a Watched,
    pub workers: Option<u64>,
    pub load: AskedLoad<'a>,
    /// How far launches of this backend are apart on this machine; `None`: nobody measured it.
    pub launches: Option<Launches>,
}

pub(crate) fn measured(series: &SeriesRecord) -> Vec<f64> {
    series.rounds.iter().filter(|round| round.measured).flat_map(|round| round.values.iter().copied()).collect()
}

/// A series of durations by its well-known name; another kind under that name is a vendor's own affair.
fn find<'a>(report: &'a CellReport, name: &str) -> Option<&'a SeriesRecord> {
    report.series.iter().find(|series| series.name == name && series.kind == "duration")
}

/// Items per second over the measured time; `None` without samples. Where samples overlap, the time is that of their rounds.
pub(crate) fn rate(series: &SeriesRecord) -> Option<f64> {
    let values = measured(series);
    let rounds = series.rounds.iter().filter(|round| round.measured).map(|round| round.wall_ns as f64);
    let total_ns: f64 = if series.concurrent { rounds.sum() } else { values.iter().sum() };
    (total_ns > 0.0 && !values.is_empty()).then(|| values.len() as f64 * series.items_per_sample / (total_ns * 1e-9))
}

/// Ends of an interval of a rate whose time is known to within a share of `half`; `None`: it has no upper end.
pub(crate) fn interval(rate: f64, half: f64) -> Option<[f64; 2]> {
    (half < 1.0).then(|| [rate / (1.0 + half), rate / (1.0 - half)])
}

/// CPU time per iteration, a sample for each measured round.
pub(crate) fn cpu_per_iteration(series: &SeriesRecord) -> Vec<f64> {
    let rounds = series.rounds.iter().filter(|round| round.measured && !round.values.is_empty());
    let share = |round: &RoundRecord| Some(round.cpu_ns? as f64 / (round.values.len() as u64 + round.settled) as f64);
    rounds.filter_map(share).collect()
}

/// Of what a backend tells of each run, the part per iteration, a sample for each measured round; none where a round does not tell.
fn of_device(series: &SeriesRecord, part: impl Fn(&DeviceTimes) -> Option<u64>) -> Option<Stats> {
    let rounds = series.rounds.iter().filter(|round| round.measured && !round.values.is_empty());
    let share =
        |round: &RoundRecord| Some(part(&round.device)? as f64 / (round.values.len() as u64 + round.settled) as f64);
    summarize(&rounds.map(share).collect::<Option<Vec<f64>>>()?, NS_TO_MS)
}

pub(super) fn metrics(reports: &Reports<'_>) -> Metrics {
    let main = reports.main;
    let latency = find(main, "latency");
    let (sequential, concurrent) = (find(main, "sequential"), find(main, "concurrent"));
    let (sequential_per_s, concurrent_per_s) = (sequential.and_then(rate), concurrent.and_then(rate));
    let own = |series: &SeriesRecord| launches::apart(series, main.launches).or(reports.launches);
    let around = |series: &SeriesRecord| Some((rate(series)?, half_widths(&measured(series), own(series))?.mean));
    let of_rate = |series: Option<&SeriesRecord>| series.and_then(around).and_then(|(rate, half)| interval(rate, half));
    let alone = |series: &SeriesRecord| Some((rate(series)?, half_widths(&measured(series), None)?.mean));
    let speedup_ci95 = concurrent.and_then(alone).zip(sequential.and_then(alone));
    let whole = latency.or(find(main, "end_to_end"));
    let times = latency.or(concurrent).or(whole);
    // A sequence of tokens is no item: its energy is counted by token.
    let by_item =
        latency.or(concurrent).or(serving::sessions(&main.series)).is_some() && !serving::makes_tokens(&main.series);
    let counted = serving::energy(&main.series).or_else(|| times.and_then(Counted::of_samples));
    Metrics {
        // Requests that arrive have no rounds of their own: sessions have.
        latency_ms: latency.filter(|_| !serving::has_refusals(&main.series)).and_then(
            |series| match serving::sessions(&main.series) {
                Some(_) => summarize_rounds(&series.singles, NS_TO_MS, own(series)),
                None => summarize_rounds(&measured(series), NS_TO_MS, own(series)),
            },
        ),
        throughput_ci95: of_rate(latency.or(concurrent)),
        sequential_ci95: of_rate(sequential),
        concurrent_ci95: of_rate(concurrent),
        // One machine at one time: what launches differ by, both rates have in common.
        speedup_ci95: speedup_ci95
            .and_then(|((at_once, one), (in_turn, other))| interval(at_once / in_turn, one.hypot(other))),
        ci95_covers: times.map(|series| if own(series).is_some() { "launches" } else { "within one launch" }.into()),
        cpu_ms: whole.and_then(|series| summarize(&cpu_per_iteration(series), NS_TO_MS)),
        device_ms: whole.and_then(|series| of_device(series, |times| times.compute_ns)),
        host_to_device_ms: whole.and_then(|series| of_device(series, |times| times.to_device_ns)),
        device_to_host_ms: whole.and_then(|series| of_device(series, |times| times.from_device_ns)),
        throughput_per_s: serving::items_per_s(&main.series).or_else(|| latency.or(concurrent).and_then(rate)),
        sequential_per_s,
        concurrent_per_s,
        concurrent_workers: concurrent.and(reports.workers),
        // The quotient of the reported rates: one of medians would contradict them.
        speedup_over_sequential: concurrent_per_s.zip(sequential_per_s).map(|(at_once, in_turn)| at_once / in_turn),
        init_ms: init(reports),
        memory_mb: memory(reports),
        energy_j_per_item: counted.as_ref().filter(|_| by_item).and_then(energy::per_item),
        energy: counted.as_ref().map(energy::metrics),
        generation: generation(main, |series| own(series)),
        serving: serving::serving(&main.series, reports.load),
        capacity: serving::capacity(&main.series, reports.load),
        mlperf: mlperf(&main.series, reports.load, main.launches),
        efficiency: None,
        counters: main.counters.iter().filter_map(|c| Some((c.name.clone(), counter(c)?))).collect(),
        series: main.series.iter().filter_map(|series| Some((series.name.clone(), series_metrics(series)?))).collect(),
    }
}

/// `None`: no tokens were made.
fn generation(report: &CellReport, launches: impl Fn(&SeriesRecord) -> Option<Launches>) -> Option<GenerationMetrics> {
    let whole = find(report, "end_to_end")?;
    // What launches differ by is seen of whole sequences; their parts have no rounds of their own.
    let apart = launches(whole);
    let singles = |name: &str| find(report, name).and_then(|series| summarize_rounds(&series.singles, NS_TO_MS, apart));
    let per_second = |name: &str| {
        let series = find(report, name)?;
        let mean_s = summarize(&series.singles, 1e-9)?.mean;
        (mean_s > 0.0).then(|| series.items_per_sample / mean_s)
    };
    let kept = report.series.iter().find(|series| series.name == "cache_kept_by_backend");
    Some(GenerationMetrics {
        time_to_first_token_ms: singles("time_to_first_token"),
        time_per_output_token_ms: singles("time_per_output_token"),
        time_per_output_token_formula: "(end to end - first token) / (tokens - 1)".into(),
        inter_token_ms: singles("inter_token"),
        end_to_end_ms: summarize_rounds(&measured(whole), NS_TO_MS, apart),
        // With an encoder or an image before it, the time to the first token is not that of the prompt.
        prefill_tokens_per_s: match report.series.iter().any(|series| series.name.starts_with("part.")) {
            true => None,
            false => per_second("time_to_first_token"),
        },
        decode_tokens_per_s: per_second("time_per_output_token"),
        energy_j_per_token: Counted::of_samples(whole).as_ref().and_then(energy::per_item),
        cache_kept_by_backend: kept.and_then(|series| series.singles.first()).map(|value| *value > 0.0),
        tokens_checked: serving::tokens_checked(&report.series),
    })
}

fn counter(record: &CounterRecord) -> Option<CounterMetrics> {
    let stats = summarize(&record.values, 1.0)?;
    let (first, last) = (*record.values.first()?, *record.values.last()?);
    let (n, min, mean, max) = (stats.n, stats.min, stats.mean, stats.max);
    Some(CounterMetrics { unit: record.unit.clone(), n, first, last, min, mean, max })
}

pub(crate) fn series_metrics(series: &SeriesRecord) -> Option<SeriesMetrics> {
    let values = match measured(series) {
        values if values.is_empty() => series.singles.clone(),
        values => values,
    };
    Some(SeriesMetrics {
        unit: series.unit.clone(),
        kind: series.kind.clone(),
        higher_is_better: series.higher_is_better,
        items_per_sample: series.items_per_sample,
        rounds: series.rounds.iter().filter(|round| round.measured).count() as u64,
        stable: series.stable,
        stopped_by: series.stopped_by.clone(),
        stats: summarize(&values, 1.0)?,
    })
}

/// Only the first load of a process is a cold one; later loads of the same cell stand in its series, not here.
fn init(reports: &Reports<'_>) -> InitMetrics {
    let fresh: Vec<&CellReport> = std::iter::once(reports.main).chain(reports.cold).collect();
    let of_loads = |pick: fn(&LoadRecord) -> Option<u64>| {
        let values: Vec<f64> =
            fresh.iter().filter_map(|report| pick(report.loads.first()?)).map(|ns| ns as f64).collect();
        summarize(&values, NS_TO_MS)
    };
    let singles =
        |report: &&CellReport| find(report, "first_inference").and_then(|series| series.singles.first().copied());
    let first: Vec<f64> = fresh.iter().filter_map(singles).collect();
    let started = |pick: fn(&Startup) -> &Vec<f64>| summarize(pick(reports.startup?), NS_TO_MS);
    let warm = reports.warm.and_then(|report| report.loads.first()).filter(|load| load.cache_hit == Some(true));
    InitMetrics {
        import: started(|startup| &startup.import_ns),
        instantiate: started(|startup| &startup.instantiate_ns),
        load: of_loads(|load| Some(load.total_ns)),
        read: of_loads(|load| load.read_ns),
        compile_cold: of_loads(|load| load.compile_ns.filter(|_| load.cache_hit != Some(true))),
        compile_warm: warm.and_then(|load| summarize(&[load.compile_ns? as f64], NS_TO_MS)),
        first_inference: summarize(&first, NS_TO_MS),
    }
}

fn memory(reports: &Reports<'_>) -> MemoryMetrics {
    let mebibytes = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let main = reports.main;
    let device_peak = main.device_peak.map(mebibytes);
    let children = reports.watched.children_peak;
    let children_peak = children.map(mebibytes);
    if main.device.remote {
        // The model is in another process, which nobody here sees.
        return MemoryMetrics { device_peak, ..MemoryMetrics::default() };
    }
    if !main.fresh {
        // A worker that ran a cell before holds what that left.
        return MemoryMetrics { device_peak, children_peak, ..MemoryMetrics::default() };
    }
    // A browser holds the model, and not the worker.
    let of_worker = |bytes: Option<u64>| bytes.filter(|_| main.device.kind != "browser").map(mebibytes);
    let average = reports.watched.average.map(|bytes| bytes / f64::from(1 << 20));
    // The kernel's mark is of the worker alone, and of every moment; from outside, moments of all processes are seen together.
    let rounds_peak = main.memory_peak.max(reports.watched.peak).map(mebibytes);
    let peak = main.memory_first_peak.max(reports.watched.peak_of_all).map(mebibytes);
    MemoryMetrics {
        before: of_worker(main.memory_before),
        loaded: of_worker(main.memory_loaded),
        peak: [peak, rounds_peak].into_iter().flatten().reduce(f64::max),
        load_peak: of_worker(main.memory_load_peak),
        rounds_peak,
        children_peak,
        average,
        device_peak,
    }
}

/// What was looked at while the cell was timed; `None`: its outputs were not verified, or nothing was timed.
/// `power`: of the skill.
pub(crate) fn audit(report: &CellReport, power: Option<&Power>) -> Option<Audit> {
    let seen = report.audit.as_ref().filter(|seen| seen.rounds_of > 0)?;
    let rounds = || report.series.iter().flat_map(|series| &series.rounds).filter(|round| round.measured);
    let (audit, wall) =
        rounds().fold((0u64, 0u64), |(audit, wall), round| (audit + round.audit_ns, wall + round.wall_ns));
    let (verified, passed) = match &report.verification {
        Some(Verification::Passed { tolerance, max_relative_difference, .. }) => {
            (1, Some((*tolerance, *max_relative_difference)))
        }
        _ => (0, None),
    };
    let furthest = passed.map(|(_, first)| seen.furthest.unwrap_or_default().max(first));
    Some(Audit {
        inputs: seen.inputs + verified,
        share_of_time: audit as f64 / (audit + wall).max(1) as f64,
        furthest,
        weak: passed.zip(furthest).and_then(|((tolerance, _), furthest)| weak(seen, power, tolerance, furthest)),
        undecidable: undecidable(report),
        binding_counts: report.series.iter().any(|series| series.binding_counts),
        ..seen.clone()
    })
}

/// A check proves little where a constant would come close to passing it.
const MOVES_ENOUGH: f64 = 3.0;

/// What was so many times closer on every input than the outputs move is right by what came out, however much was allowed.
const CLOSER: f64 = 30.0;
/// Nothing is closer than rounding.
const CLOSEST: f64 = 1e-5;

fn weak(seen: &Audit, power: Option<&Power>, tolerance: f64, furthest: f64) -> Option<String> {
    let enough = MOVES_ENOUGH * tolerance.min((CLOSER * furthest).max(CLOSEST));
    let layer = power.and_then(|power| power.layers.as_ref()).filter(|layer| layer.moves < enough);
    match seen.movement {
        Some(moves) if moves < enough => Some(format!(
            "outputs move by {moves:.1e} from one input to another, and the tolerance is {tolerance:.0e}: a constant would {}",
            if moves <= tolerance { "pass" } else { "nearly pass" }
        )),
        _ if layer.is_some() => layer.map(|Moves { moves, least }| {
            format!("other weights in '{least}' move outputs by {moves:.1e}, and the tolerance is {tolerance:.0e}: it need not be computed")
        }),
        _ if seen.inputs == 0 => Some("no input but the first was held against a reference".into()),
        _ if seen.rounds == 0 => Some("no run of a measured round was held against a reference".into()),
        _ => None,
    }
}

/// What rounding to float16 adds to the outputs of a model, about: a tolerance above it tells the two no longer apart.
const FLOAT16_SHOWS: f64 = 1e-4;

/// Which lower precision might pass for the one that was read back.
fn undecidable(report: &CellReport) -> Option<String> {
    let precision = stored::arithmetic(report.placement.as_ref()?.precision.as_deref()?);
    let Some(Verification::Passed { tolerance, spread, .. }) = &report.verification else { return None };
    match (precision, spread) {
        ("float32", Some(_)) if *tolerance < FLOAT16_SHOWS => None,
        ("float32", Some(spread)) => Some(format!(
            "float16 for float32: engines of float32 are {spread:.1e} apart on this model, so that {tolerance:.0e} has to be allowed"
        )),
        ("float32", None) => {
            let ids = defaults().reference.others.join(",");
            Some(format!(
                "float16 for float32: no second engine is here to compare with; `host runtime install {ids}` brings others"
            ))
        }
        // Both have ten bits.
        ("tf32", _) => Some(format!("float16 or int8 for tf32: {tolerance:.0e} is allowed")),
        ("float16" | "bfloat16", _) => Some(format!("int8 for {precision}: {tolerance:.0e} is allowed")),
        _ => None,
    }
}

/// A worker's clock may say so much less of its rounds than the host's: messages take their time. What both waited for a processor on a
/// busy machine, the kernel tells; a plugin that makes its own worker wait only makes it slower.
const CLOCKS_APART: f64 = 0.8;
const MESSAGE_NS: f64 = 1e6;

/// Why the worker's clock cannot be: a library in its process may change what is sent.
fn other_clock(series: &[SeriesRecord], watched: &Watched) -> Option<String> {
    let measured = series.iter().flat_map(|series| &series.rounds).filter(|round| round.measured);
    let for_counter = series.iter().flat_map(|series| &series.for_counter_ns);
    let rounds: Vec<u64> = measured.map(|round| round.wall_ns + round.audit_ns).chain(for_counter.copied()).collect();
    let told: f64 = rounds.iter().map(|ns| *ns as f64 + MESSAGE_NS).sum();
    let seen = watched.rounds.saturating_sub(watched.waited).as_nanos() as f64;
    if rounds.len() as u64 != watched.rounds_seen {
        return Some(format!("the worker tells of {} rounds, the host saw {}", rounds.len(), watched.rounds_seen));
    }
    (told < seen * CLOCKS_APART).then(|| {
        let (told, seen) = (told * 1e-6, seen * 1e-6);
        format!("its rounds took {told:.1} ms by the worker's clock, {seen:.1} ms by the host's")
    })
}

/// Why the samples of a benchmark of models cannot be: each is inside of a round, and crews have to be woken. A function may time what part
/// of its rounds it likes.
fn too_little(series: &[SeriesRecord]) -> Option<String> {
    let times = || series.iter().filter(|series| series.kind == "duration");
    let rounds = series.iter().flat_map(|series| &series.rounds).filter(|round| round.measured).count();
    let samples: f64 = times().flat_map(measured).sum();
    let of_times = times().flat_map(|series| &series.rounds).filter(|round| round.measured);
    let walls: f64 = of_times.map(|round| round.wall_ns as f64).sum();
    let half = samples + MESSAGE_NS * rounds as f64;
    (samples > 0.0 && half < walls * 0.4)
        .then(|| format!("its samples add up to {:.1} ms, its rounds to {:.1} ms", samples * 1e-6, walls * 1e-6))
}

/// Why the figures of a cell cannot be; nothing where they can.
pub(super) fn implausible(series: &[SeriesRecord], watched: &Watched) -> Vec<String> {
    clocks(series, watched).into_iter().chain(too_little(series)).collect()
}

/// Why the figures of whatever was timed in rounds cannot be, by the clocks alone.
pub(crate) fn clocks(series: &[SeriesRecord], watched: &Watched) -> Vec<String> {
    let of_series = |series: &SeriesRecord| {
        series.implausible.iter().map(|why| format!("{}: {why}", series.name)).collect::<Vec<_>>()
    };
    series.iter().flat_map(of_series).chain(other_clock(series, watched)).collect()
}

/// Whether every series that was measured in rounds reached its interval.
pub(crate) fn stable(series: &[SeriesRecord]) -> bool {
    let mut rounds = series.iter().filter(|series| !series.rounds.is_empty()).peekable();
    rounds.peek().is_some() && rounds.all(|series| series.stable)
}
