//! Figures of requests that arrive: what became of them, and the load that a target bears.

use super::energy::{Counted, per_item};
use super::mlperf;
use super::plan::{RATE, RATE_PER_HOUR};
use super::summarize::measured;
use skillbench_record::defaults::defaults;
use skillbench_record::{Axes, CapacityMetrics, CapacityTrial, PluginOptions, ServingMetrics, TokenMetrics};
use skillbench_stats::{Capacity, capacity as of_trials, half_widths, is_kept, summarize};
pub(crate) use skillbench_worker::BUDGET;
use skillbench_worker::SeriesRecord;

const NS_TO_MS: f64 = 1e-6;

/// What the cell was asked for, beside its point.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AskedLoad<'a> {
    /// "latency.p99<=20ms".
    pub slo: Option<&'a str>,
    pub workers: Option<u64>,
    /// To be held against the rules of MLPerf's LoadGen.
    pub by_mlperf: bool,
    /// All requests were there at once.
    pub is_offline: bool,
}

impl<'a> AskedLoad<'a> {
    pub fn of(options: &'a PluginOptions) -> AskedLoad<'a> {
        let of = |option: &str| options.get(option).map(String::as_str);
        AskedLoad {
            slo: of("slo"),
            workers: of("workers").and_then(|workers| workers.parse().ok()),
            by_mlperf: is_by_mlperf(options),
            is_offline: of(SCENARIO) == Some("offline"),
        }
    }
}

pub(super) const SCENARIO: &str = "scenario";
/// Into so many sessions a benchmark of load divides its time.
const SESSIONS: f64 = 3.0;

/// Whether a benchmark is asked to keep the rules of MLPerf's LoadGen.
pub(super) fn is_by_mlperf(options: &PluginOptions) -> bool {
    options.get("mlperf").is_some_and(|value| value == "on")
}

/// Whether queries come one after the other: nothing says how else they come.
pub(super) fn is_stream(options: &PluginOptions, axes: &Axes) -> bool {
    let is_asked = |name: &str| options.contains_key(name) || axes.contains_key(name);
    match options.get(SCENARIO) {
        Some(scenario) => scenario.ends_with("-stream"),
        None => ![RATE, RATE_PER_HOUR, "slo", "users", "trace"].into_iter().any(is_asked),
    }
}

/// Seconds for a benchmark with these options, where nobody gave others. `is_told`: it takes them as an option.
pub(crate) fn usual_budget_s(options: &PluginOptions, is_told: bool) -> f64 {
    let (run, has) = (&defaults().run, |option: &str| options.contains_key(option));
    if is_told && is_by_mlperf(options) {
        return mlperf::budget_s((!is_stream(options, &Axes::new())).then_some(SESSIONS));
    }
    match is_told {
        // A limit alone is searched for.
        true if has("slo") && ![RATE, RATE_PER_HOUR, "users", "trace"].into_iter().any(has) => run.search_budget_s,
        true => run.load_budget_s,
        false => run.budget_s,
    }
}

/// Figures without rounds, by the name of their series.
pub(super) fn singles<'a>(report: &'a [SeriesRecord], name: &str) -> &'a [f64] {
    find(report, name).map_or(&[], |series| &series.singles)
}

pub(super) fn find<'a>(report: &'a [SeriesRecord], name: &str) -> Option<&'a SeriesRecord> {
    report.iter().find(|series| series.name == name)
}

/// Rounds of sessions, in each of which many requests were served.
pub(crate) fn sessions(report: &[SeriesRecord]) -> Option<&SeriesRecord> {
    find(report, "session")
        .filter(|series| series.kind == "duration" && !measured(series).is_empty())
        .filter(|_| !singles(report, "requests").is_empty())
}

/// Whether requests arrived, in sessions or in the trials of a search.
pub(crate) fn is_load(report: &[SeriesRecord]) -> bool {
    sessions(report).is_some() || !singles(report, "trial.per_s").is_empty()
}

/// Whether requests were refused: those that were answered have latencies, which say nothing of all.
pub(crate) fn has_refusals(report: &[SeriesRecord]) -> bool {
    sessions(report).is_some() && singles(report, "refused").iter().any(|refused| *refused > 0.0)
}

/// Seconds of all sessions by the clock, what the audit took included: requests came all the while.
fn seconds(sessions: &SeriesRecord) -> f64 {
    let rounds = sessions.rounds.iter().filter(|round| round.measured);
    rounds.map(|round| (round.wall_ns + round.audit_ns) as f64 * 1e-9).sum()
}

/// Items a second that were served; `None`: there were no sessions.
pub(crate) fn items_per_s(report: &[SeriesRecord]) -> Option<f64> {
    let (sessions, items) = (sessions(report)?, find(report, "service")?.items_per_sample);
    let sum = |name: &str| singles(report, name).iter().sum::<f64>();
    let served = sum("requests") - sum("refused");
    Some(served * items / seconds(sessions)).filter(|rate| rate.is_finite() && *rate > 0.0)
}

/// Whether requests make tokens.
pub(super) fn makes_tokens(report: &[SeriesRecord]) -> bool {
    sessions(report).is_some() && find(report, "itl").is_some()
}

/// What a sensor counted around sessions, by items that were answered, or by tokens where those are made: a session at another rate has others. `None`
/// without a sensor.
pub(super) fn energy(report: &[SeriesRecord]) -> Option<Counted<'_>> {
    let (sessions, per_request) = (sessions(report)?, find(report, "service")?.items_per_sample);
    let (requests, refused) = (singles(report, "requests"), singles(report, "refused"));
    let (tokens, makes_tokens) = (singles(report, "tokens"), makes_tokens(report));
    let answered = |index: usize| match makes_tokens {
        true => tokens.get(index).copied(),
        false => Some(requests.get(index)? - refused.get(index).unwrap_or(&0.0)),
    };
    let mut next = 0;
    let items = sessions.rounds.iter().filter(|round| round.measured).map(|round| {
        let of_round = next..next + round.values.len();
        next = of_round.end;
        Some(of_round.map(answered).sum::<Option<f64>>()? * per_request)
    });
    Counted::of_rounds(sessions, items.collect::<Option<_>>()?)
}

/// `None`: the requests made none.
fn tokens(report: &[SeriesRecord], sessions: &SeriesRecord) -> Option<TokenMetrics> {
    find(report, "itl")?;
    // Those that were answered look the better the more are refused.
    let all_answered = !has_refusals(report);
    let times = |name: &str| summarize(singles(report, name), NS_TO_MS).filter(|_| all_answered);
    let tokens: f64 = singles(report, "tokens").iter().sum();
    Some(TokenMetrics {
        ttft_ms: times("ttft"),
        ttft_from_issue_ms: times("ttft.from_issue"),
        tpot_ms: times("tpot"),
        tpot_of_all_ms: times("tpot.of_all"),
        itl_ms: times("itl"),
        tokens: tokens as u64,
        tokens_per_s: Some(tokens / seconds(sessions)).filter(|rate| rate.is_finite()),
        cache_kept_by_backend: singles(report, "cache_kept_by_backend").first().map(|kept| *kept > 0.0),
        tokens_checked: tokens_checked(report),
        energy_j_per_token: energy(report).as_ref().and_then(per_item),
    })
}

/// As the benchmark tells it, of each process.
pub(crate) fn tokens_checked(report: &[SeriesRecord]) -> Option<u64> {
    let of_launches = singles(report, "tokens_checked");
    (!of_launches.is_empty()).then(|| of_launches.iter().sum::<f64>() as u64)
}

/// `None`: no requests arrived.
pub(crate) fn serving(report: &[SeriesRecord], asked: AskedLoad<'_>) -> Option<ServingMetrics> {
    let sessions = sessions(report)?;
    let times = |name: &str| summarize(singles(report, name), NS_TO_MS);
    let mean = |name: &str| summarize(singles(report, name), 1.0).map(|stats| stats.mean);
    let counts = singles(report, "requests");
    let requests: f64 = counts.iter().sum();
    let shares = singles(report, "within_slo");
    let within = (!shares.is_empty() && shares.len() == counts.len())
        .then(|| shares.iter().zip(counts).map(|(share, count)| share * count).sum::<f64>());
    Some(ServingMetrics {
        lateness_ms: times("lateness"),
        queue_ms: times("queue"),
        service_ms: times("service"),
        audit_ms: audit_ms(sessions, requests, asked),
        requests: requests as u64,
        issued_per_s: mean("issued_per_s"),
        utilization: mean("utilization"),
        generator_cores: generator_cores(report, sessions),
        requests_per_run: mean("requests_per_run"),
        slo: asked.slo.map(String::from),
        within_slo: within.map(|within| within / requests.max(1.0)),
        slo_kept: slo_kept(report, requests as u64),
        goodput_per_s: within.map(|within| within / seconds(sessions)),
        error_rate: find(report, "refused").map(|refused| refused.singles.iter().sum::<f64>() / requests.max(1.0)),
        tokens: tokens(report, sessions),
    })
}

/// What the audit took of each request, on average.
fn audit_ms(series: &SeriesRecord, requests: f64, asked: AskedLoad<'_>) -> Option<f64> {
    let audit_ns: u64 = series.rounds.iter().filter(|round| round.measured).map(|round| round.audit_ns).sum();
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    // The audit of workers at once is counted once for as many as can run.
    let at_once = asked.workers.unwrap_or(1).min(cores) as f64;
    (requests > 0.0).then(|| audit_ns as f64 * NS_TO_MS * at_once / requests)
}

/// `None` where the system does not tell.
fn generator_cores(report: &[SeriesRecord], sessions: &SeriesRecord) -> Option<f64> {
    let of = singles(report, "generator.cpu");
    let wall: f64 = sessions.rounds.iter().filter(|round| round.measured).flat_map(|round| &round.values).sum();
    (!of.is_empty() && wall > 0.0).then(|| of.iter().sum::<f64>() / wall)
}

/// `None`: there are no limits.
fn slo_kept(report: &[SeriesRecord], requests: u64) -> Option<bool> {
    let allowed = singles(report, "slo.allowed");
    let kept = |(limit, allowed): (usize, &f64)| {
        let over = &find(report, &format!("slo.over.{limit}"))?.singles;
        Some(is_kept(over.iter().sum::<f64>() as u64, requests, 1.0 - allowed))
    };
    let kept = allowed.iter().enumerate().map(kept).collect::<Option<Vec<bool>>>()?;
    (!kept.is_empty()).then(|| kept.iter().all(|kept| *kept))
}

/// `None`: nothing was searched, or the trials have no edge, which is then a failure of the cell.
pub(crate) fn capacity(report: &[SeriesRecord], asked: AskedLoad<'_>) -> Option<CapacityMetrics> {
    let column = |name: &str| singles(report, name);
    let (per_s, requests, over) = (column("trial.per_s"), column("trial.requests"), column("trial.over"));
    let refused = column("trial.refused");
    let (given_up, utilization) = (column("trial.given_up"), column("trial.utilization"));
    let (slo, allowed) = (asked.slo?, column("trial.allowed"));
    let several = if allowed.len() > 1 { allowed.len() } else { 0 };
    let over_each: Vec<&[f64]> = (0..several).map(|limit| column(&format!("trial.over.{limit}"))).collect();
    let at = |index: usize| {
        Some(CapacityTrial {
            per_s: *per_s.get(index)?,
            requests: *requests.get(index)? as u64,
            over: *over.get(index)? as u64,
            over_each: over_each.iter().map(|over| Some(*over.get(index)? as u64)).collect::<Option<_>>()?,
            refused: *refused.get(index)? as u64,
            given_up: *given_up.get(index)? > 0.0,
            utilization: *utilization.get(index)?,
            requests_per_run: column("trial.requests_per_run").get(index).copied().filter(|requests| *requests > 0.0),
        })
    };
    let trials = (0..per_s.len()).map(at).collect::<Option<Vec<_>>>()?;
    let (per_s, ci95, cliff) = edge(&trials, allowed, *column("trial.stay_of_length").first()?)?;
    let void = column("trial.void").iter().sum::<f64>() as u64;
    let audit_ms = find(report, "trial").and_then(|series| audit_ms(series, requests.iter().sum(), asked));
    let (slo, tokens_checked) = (slo.into(), tokens_checked(report));
    Some(CapacityMetrics { per_s, ci95, cliff, slo, void, audit_ms, tokens_checked, trials })
}

/// Where the first of the limits breaks, its interval, and whether it is a cliff. A limit that no rate breaks says nothing; one that every rate
/// breaks leaves no edge. `allowed`: the share of requests that may break each limit; `of_length`: how long a request may
/// stay, beside a trial.
fn edge(trials: &[CapacityTrial], allowed: &[f64], of_length: f64) -> Option<(f64, [f64; 2], bool)> {
    let mut first: Option<(f64, [f64; 2], bool)> = None;
    for (limit, allowed) in allowed.iter().enumerate() {
        let of_limit = |trial: &CapacityTrial| CapacityTrial {
            over: trial.over_each.get(limit).copied().unwrap_or(trial.over),
            ..trial.clone()
        };
        // A trial that was given up for another limit says nothing of this one.
        let says_something =
            |trial: &CapacityTrial| !trial.given_up || trial.over as f64 > allowed * trial.requests as f64;
        let trials: Vec<CapacityTrial> = trials.iter().map(of_limit).filter(says_something).collect();
        first = match (of_trials(&trials, *allowed, of_length)?, first) {
            (Capacity::NoRate { .. }, _) => return None,
            (Capacity::EveryRate { .. }, first) => first,
            // Chance may have either of two edges that are near each other break first.
            (Capacity::Edge { per_s, ci95, cliff }, Some((other, [low, high], other_cliff))) => {
                let lower = per_s < other;
                let ci95 = [ci95[0].min(low), ci95[1].min(high)];
                Some((per_s.min(other), ci95, if lower { cliff } else { other_cliff }))
            }
            (Capacity::Edge { per_s, ci95, cliff }, None) => Some((per_s, ci95, cliff)),
        };
    }
    first
}

/// How wide the interval of a capacity may be, each way, for it to be one figure.
const TIGHT: f64 = 0.05;

/// Whether the figures that the cell is known by are tight; `None`: it is no cell of requests that arrive.
pub(crate) fn stable(report: &[SeriesRecord], asked: AskedLoad<'_>) -> Option<bool> {
    if let Some(found) = capacity(report, asked) {
        return Some((found.ci95[1] - found.ci95[0]) / 2.0 <= TIGHT * found.per_s);
    }
    sessions(report)?;
    // Where all requests are there at once they have no latency.
    let times = match singles(report, "latency") {
        [] => singles(report, "service"),
        times => times,
    };
    Some(half_widths(times, None).is_some_and(|half| half.median <= defaults().run.interval))
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillbench_worker::{EnergyRecord, RoundEnergy, RoundRecord};

    fn series(name: &str, singles: &[f64]) -> SeriesRecord {
        SeriesRecord {
            name: name.into(),
            kind: "duration".into(),
            items_per_sample: 4.0,
            singles: singles.to_vec(),
            ..SeriesRecord::default()
        }
    }

    const SLO: AskedLoad<'_> =
        AskedLoad { slo: Some("latency.p99<=20ms"), workers: Some(1), by_mlperf: false, is_offline: false };

    #[test]
    fn a_benchmark_has_the_time_that_its_load_takes() {
        let of = |options: &[(&str, &str)]| {
            let options = options.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
            usual_budget_s(&options, true)
        };
        let run = &defaults().run;
        assert_eq!((of(&[("rate", "5")]), of(&[("slo", "x")])), (run.load_budget_s, run.search_budget_s));
        let by_rules = ("mlperf", "on");
        assert_eq!((of(&[by_rules]), of(&[by_rules, ("scenario", "multi-stream")])), (600.0, 600.0));
        for load in [("rate", "5"), ("rate_per_hour", "5"), ("scenario", "offline"), ("scenario", "interactive")] {
            assert_eq!(of(&[by_rules, load]), 1_980.0, "{load:?}");
        }
    }

    #[test]
    fn what_was_served_is_counted_by_the_hosts_clock_and_its_audit_is_in_it() {
        let round = RoundRecord {
            measured: true,
            wall_ns: 900_000_000,
            audit_ns: 100_000_000,
            values: vec![1e9],
            ..RoundRecord::default()
        };
        let session = SeriesRecord { rounds: vec![round.clone(), round], ..series("session", &[]) };
        let mut report = vec![
            session,
            series("latency", &[1e6; 300]),
            series("service", &[1e6; 300]),
            series("requests", &[100.0, 200.0]),
            series("within_slo", &[1.0, 0.5]),
            series("refused", &[0.0, 30.0]),
            series("slo.allowed", &[0.5, 0.01]),
            series("slo.over.0", &[0.0, 100.0]),
            series("slo.over.1", &[0.0, 0.0]),
        ];
        assert_eq!(items_per_s(&report), Some(270.0 * 4.0 / 2.0), "what was refused was not served");
        let found = serving(&report, SLO).unwrap();
        assert_eq!((found.requests, found.within_slo, found.goodput_per_s), (300, Some(200.0 / 300.0), Some(100.0)));
        assert_eq!(found.slo_kept, Some(false), "300 requests do not suffice for p99");
        assert_eq!(serving(&report[..6], SLO).unwrap().slo_kept, None);
        assert!(is_load(&report) && is_load(&[series("trial.per_s", &[5.0])]));
        assert!(!is_load(&[series("latency", &[5.0])]), "whatever its options are called");
        report.truncate(8);
        report[6].singles.truncate(1);
        assert_eq!(serving(&report, SLO).unwrap().slo_kept, Some(true), "100 of 300 over the median");
        assert!(has_refusals(&report));
        assert_eq!(found.error_rate, Some(0.1));
        assert!((found.audit_ms.unwrap() - 200.0 / 300.0).abs() < 1e-9);
        assert_eq!(stable(&report, SLO), Some(true));
    }

    #[test]
    fn energy_is_by_item_that_was_answered_whatever_the_rate_of_a_session() {
        let round =
            |sessions: usize| RoundRecord { measured: true, values: vec![1e9; sessions], ..RoundRecord::default() };
        let used = |joules| RoundEnergy {
            joules,
            seconds: 1.0,
            idle_watts: 10.0,
            samples: 1,
            median: None,
            other_joules: None,
        };
        let energy = EnergyRecord {
            source: "NVML".into(),
            scope: "device".into(),
            rounds: vec![used(410.0), used(1_370.0)],
            long: vec![],
            idle_half_watts: 0.1,
            period_s: Some(0.001),
            other: None,
        };
        let warm_up = RoundRecord { values: vec![1e9], ..RoundRecord::default() };
        let rounds = vec![warm_up, round(1), round(2)];
        let report = vec![
            SeriesRecord { rounds, energy: Some(energy), ..series("session", &[]) },
            series("service", &[1e6; 470]),
            series("requests", &[100.0, 200.0, 170.0]),
            series("refused", &[0.0, 30.0, 0.0]),
        ];
        assert_eq!(
            per_item(&super::energy(&report).unwrap()),
            Some(1.0),
            "400 and 1360 J above idle, 100 and 340 requests of four items"
        );
        assert!(super::energy(&report[1..]).is_none(), "no sensor, no figure");
    }

    #[test]
    fn a_series_of_that_name_without_sessions_is_somebody_elses() {
        assert!(!has_refusals(&[series("latency", &[1e6]), series("refused", &[3.0])]));
    }

    #[test]
    fn of_requests_for_tokens_energy_is_by_token_and_refusals_leave_no_times() {
        let round = RoundRecord { measured: true, wall_ns: 1_000_000_000, values: vec![1e9], ..RoundRecord::default() };
        let report = |refused: f64| {
            vec![
                SeriesRecord { rounds: vec![round.clone()], ..series("session", &[]) },
                series("service", &[1e6; 100]),
                series("requests", &[100.0]),
                series("refused", &[refused]),
                series("tokens", &[800.0]),
                series("ttft", &[2e6; 100]),
                series("itl", &[1e6; 700]),
            ]
        };
        let tokens = |refused| serving(&report(refused), SLO).unwrap().tokens.unwrap();
        let all = tokens(0.0);
        assert_eq!((all.tokens, all.tokens_per_s), (800, Some(800.0)));
        assert!(all.ttft_ms.is_some() && all.itl_ms.is_some());
        let some = tokens(1.0);
        assert!(some.ttft_ms.is_none() && some.itl_ms.is_none() && some.tokens == 800);
        assert!(makes_tokens(&report(0.0)) && !makes_tokens(&report(0.0)[..6]));
    }

    #[test]
    fn a_capacity_of_several_limits_is_where_the_first_breaks() {
        let trial = |per_s: f64, over_each: [u64; 2], given_up| CapacityTrial {
            per_s,
            requests: 1_000,
            over: over_each[0].max(over_each[1]),
            over_each: over_each.to_vec(),
            refused: 0,
            given_up,
            utilization: 0.5,
            requests_per_run: None,
        };
        // The second limit breaks at a cliff; the first is kept wherever trials were not given up for the second.
        let trials = [
            trial(100.0, [0, 0], false),
            trial(158.0, [0, 0], false),
            trial(162.0, [3, 900], true),
            trial(300.0, [2, 950], true),
        ];
        let (per_s, ci95, cliff) = edge(&trials, &[0.01, 0.01], 0.01).unwrap();
        assert!(cliff && (per_s - 160.0).abs() < 0.1 && ci95 == [158.0 * 0.98, 162.0], "{per_s} {ci95:?}");
        assert_eq!(edge(&trials[..2], &[0.01, 0.01], 0.0), None, "every rate keeps both");
        assert_eq!(edge(&trials[2..], &[0.01, 0.01], 0.0), None, "no rate keeps the second");
    }

    #[test]
    fn a_capacity_is_read_from_the_trials_and_none_is_made_up() {
        let trials = |per_s: &[f64], over: &[f64]| {
            let zeros = vec![0.0; per_s.len()];
            vec![
                series("trial.allowed", &[0.01]),
                series("trial.per_s", per_s),
                series("trial.requests", &vec![1_000.0; per_s.len()]),
                series("trial.over", over),
                series("trial.refused", &zeros),
                series("trial.given_up", &zeros),
                series("trial.void", &[2.0]),
                series("trial.stay_of_length", &[0.0]),
                series("trial.utilization", &zeros),
            ]
        };
        let found = capacity(&trials(&[100.0, 150.0, 158.0, 162.0], &[0.0, 0.0, 0.0, 900.0]), SLO).unwrap();
        assert!(found.cliff && found.ci95 == [158.0, 162.0] && found.trials.len() == 4 && found.void == 2);
        assert!(capacity(&trials(&[100.0], &[500.0]), SLO).is_none());
        assert!(capacity(&trials(&[100.0], &[500.0]), AskedLoad::default()).is_none());
    }
}
