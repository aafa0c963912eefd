//! A cell held against the rules of MLPerf's LoadGen: what LoadGen would call its result, and whether it would count. Each session is a run of its own, and
//! the worst of them is told. That a model, its inputs and its accuracy are those of a benchmark of MLPerf's is not looked at: this is no submission.

use super::serving::{AskedLoad, find, has_refusals, makes_tokens, sessions, singles};
use super::summarize::measured;
use serde::Deserialize;
use skillbench_record::MlperfMetrics;
use skillbench_stats::{is_kept, percentile};
use skillbench_worker::{RoundRecord, SeriesRecord};
use std::sync::LazyLock;

const NS_TO_S: f64 = 1e-9;
const NS_TO_MS: f64 = 1e-6;
/// As many as are kept of a series, and come in a session.
const MOST_QUERIES: f64 = 1e6;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    seconds: f64,
    slack_percent: f64,
    single_stream: Latency,
    multi_stream: Latency,
    server: Latency,
    offline: Offline,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Latency {
    percentile: f64,
    samples_per_query: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Offline {
    samples: f64,
}

fn rules() -> &'static Rules {
    static RULES: LazyLock<Rules> =
        LazyLock::new(|| toml::from_str(include_str!("mlperf.toml")).expect("mlperf.toml is valid"));
    &RULES
}

/// Seconds that a cell takes which keeps the rules. `sessions`: how many share them; `None`: queries come one after the other.
pub(crate) fn budget_s(sessions: Option<f64>) -> f64 {
    let Rules { seconds, slack_percent, .. } = rules();
    sessions.map_or(*seconds, |sessions| sessions * seconds * (100.0 + slack_percent) / 100.0)
}

/// `launches`: how many processes measured the cell. `None`: nobody asked for it, or nothing is there to be held against a rule.
pub(crate) fn mlperf(report: &[SeriesRecord], asked: AskedLoad<'_>, launches: u64) -> Option<MlperfMetrics> {
    if !asked.by_mlperf {
        return None;
    }
    let mut found = match sessions(report) {
        None => of_stream(find(report, "latency")?),
        Some(sessions) if asked.is_offline => of_offline(report, sessions),
        Some(sessions) => of_server(report, sessions),
    };
    if launches > 1 {
        found.why.push(format!("{launches} processes shared the time, and a run is of one: leave --launches out"));
    }
    if found.result.is_none() && found.why.is_empty() {
        found.why.push("the benchmark did not tell enough for a result".into());
    }
    found.valid = found.why.is_empty();
    Some(found)
}

fn judged(scenario: &str, result: Option<f64>, unit: &str, why: Vec<String>) -> MlperfMetrics {
    MlperfMetrics { scenario: scenario.into(), result, unit: unit.into(), valid: false, why }
}

fn of_stream(latency: &SeriesRecord) -> MlperfMetrics {
    let samples = latency.items_per_sample;
    let (scenario, rule) = match samples > 1.0 {
        true => ("MultiStream", &rules().multi_stream),
        false => ("SingleStream", &rules().single_stream),
    };
    let mut times = measured(latency);
    times.sort_by(f64::total_cmp);
    let seconds =
        latency.rounds.iter().filter(|round| round.measured).map(|round| round.wall_ns as f64 * NS_TO_S).sum();
    let mut why = vec![];
    too_short(&[Run { seconds, queries: times.len() as f64 }], &mut why);
    samples_per_query(samples, rule, &mut why);
    let result = percentile(&times, rule.percentile / 100.0).map(|ns| ns * NS_TO_MS);
    if result.is_none() {
        why.push(format!("{} queries are too few for p{}", times.len(), rule.percentile));
    }
    judged(scenario, result, "ms", why)
}

/// A session, as a run of LoadGen's.
struct Run {
    /// By the clock: requests came all the while, whatever the host looked at meanwhile.
    seconds: f64,
    queries: f64,
}

/// `None`: the benchmark did not tell of each session how many queries it had.
fn runs(report: &[SeriesRecord], sessions: &SeriesRecord) -> Option<Vec<Run>> {
    let rounds: Vec<_> = sessions.rounds.iter().filter(|round| round.measured).collect();
    let requests = singles(report, "requests");
    let is_whole = rounds.len() == requests.len() && rounds.iter().all(|round| round.values.len() == 1);
    let run = |(round, queries): (&&RoundRecord, &f64)| Run {
        seconds: (round.wall_ns + round.audit_ns) as f64 * NS_TO_S,
        queries: *queries,
    };
    is_whole.then(|| rounds.iter().zip(requests).map(run).collect())
}

/// What a session made a second, of the one that made the least: tokens, or samples that were answered.
fn least_per_s(report: &[SeriesRecord], runs: &[Run]) -> Option<(f64, &'static str)> {
    let (made, unit) = match makes_tokens(report) {
        true => (singles(report, "tokens").to_vec(), "tokens/s"),
        false => {
            let items = find(report, "service")?.items_per_sample;
            let refused = singles(report, "refused");
            let answered = |(index, run): (usize, &Run)| items * (run.queries - refused.get(index).unwrap_or(&0.0));
            (runs.iter().enumerate().map(answered).collect(), "samples/s")
        }
    };
    let per_s = made.iter().zip(runs).map(|(made, run)| made / run.seconds).reduce(f64::min);
    per_s.filter(|per_s| per_s.is_finite() && made.len() == runs.len()).map(|per_s| (per_s, unit))
}

fn of_offline(report: &[SeriesRecord], sessions: &SeriesRecord) -> MlperfMetrics {
    let runs = runs(report, sessions).unwrap_or_default();
    let (result, unit) = least_per_s(report, &runs).unzip();
    let items = find(report, "service").map_or(1.0, |series| series.items_per_sample);
    let mut why = vec![];
    too_short(&runs, &mut why);
    let (least, wanted) =
        (runs.iter().map(|run| run.queries * items).fold(f64::INFINITY, f64::min), rules().offline.samples);
    if least < wanted {
        why.push(format!("a run had {least} samples, and the rule is {wanted}: give a longer --budget"));
    }
    judged("Offline", result, unit.unwrap_or_default(), why)
}

fn of_server(report: &[SeriesRecord], sessions: &SeriesRecord) -> MlperfMetrics {
    let runs = runs(report, sessions).unwrap_or_default();
    let (result, unit) = least_per_s(report, &runs).unzip();
    let rule = &rules().server;
    let mut why = vec![];
    // A run is as long as requests came, however long the last was served.
    let came = |(run, per_s): (&Run, &f64)| Run { seconds: run.queries / per_s, queries: run.queries };
    let issued: Vec<Run> = runs.iter().zip(singles(report, "issued_per_s")).map(came).collect();
    if issued.len() == runs.len() {
        too_short(&issued, &mut why);
    } else {
        why.push("the benchmark did not tell how long requests came".into());
    }
    samples_per_query(find(report, "service").map_or(1.0, |series| series.items_per_sample), rule, &mut why);
    let (allowed, wanted) = (singles(report, "slo.allowed"), rule.percentile);
    if allowed.is_empty() {
        why.push(format!("no limit was given, and the rule is one on p{wanted}: --slo \"latency.p{wanted}<=LIMIT\""));
    }
    for (limit, allowed) in allowed.iter().enumerate() {
        let percentile = (1e6 * (1.0 - allowed)).round() / 1e4;
        if percentile != wanted {
            why.push(format!("a limit is on p{percentile}, and the rule is p{wanted}"));
        }
        let over = singles(report, &format!("slo.over.{limit}"));
        let is_kept = |(over, run): (&f64, &Run)| is_kept(*over as u64, run.queries as u64, 1.0 - allowed);
        let kept = over.iter().zip(&runs).filter(|(over, run)| is_kept((over, run))).count();
        if kept < runs.len() {
            why.push(format!("limit {} was not kept in {} of {} runs", limit + 1, runs.len() - kept, runs.len()));
        }
    }
    if has_refusals(report) {
        why.push("requests were refused".into());
    }
    judged("Server", result, unit.unwrap_or_default(), why)
}

fn samples_per_query(samples: f64, rule: &Latency, why: &mut Vec<String>) {
    let wanted = rule.samples_per_query;
    if samples != wanted {
        why.push(format!("a query has {samples} samples, and the rule is {wanted}: --batch-sizes {wanted}"));
    }
}

/// What a run is held against: how long it took, and how many queries it had.
fn too_short(runs: &[Run], why: &mut Vec<String>) {
    let least = rules().seconds;
    let short: Vec<&Run> = runs.iter().filter(|run| run.seconds < least).collect();
    let Some(shortest) = short.iter().map(|run| run.seconds).reduce(f64::min) else { return };
    let what_to_do = match short.iter().any(|run| run.queries >= MOST_QUERIES) {
        true => format!("no run has more than {MOST_QUERIES} queries"),
        false => "leave --budget out, or give a longer one".into(),
    };
    why.push(format!(
        "{} of {} runs took less than the {least} s of the rule, the shortest {shortest:.1} s: {what_to_do}",
        short.len(),
        runs.len()
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: AskedLoad<'_> = AskedLoad { slo: None, workers: None, by_mlperf: true, is_offline: false };
    const OFFLINE: AskedLoad<'_> = AskedLoad { is_offline: true, ..SERVER };

    fn rounds(name: &str, walls: &[f64], items: f64) -> SeriesRecord {
        let round = |wall: &f64| RoundRecord {
            measured: true,
            wall_ns: (wall * 1e9) as u64,
            values: vec![wall * 1e9],
            ..RoundRecord::default()
        };
        SeriesRecord {
            name: name.into(),
            kind: "duration".into(),
            items_per_sample: items,
            rounds: walls.iter().map(round).collect(),
            ..SeriesRecord::default()
        }
    }

    fn figures(name: &str, values: &[f64], items: f64) -> SeriesRecord {
        SeriesRecord { name: name.into(), items_per_sample: items, singles: values.to_vec(), ..SeriesRecord::default() }
    }

    /// Three sessions with so many requests of so many items, of which so many broke the limit. They came for so many seconds, and the last was served ten later.
    fn sessions(seconds: f64, requests: f64, items: f64, over: [f64; 3], percentile: f64) -> Vec<SeriesRecord> {
        vec![
            rounds("session", &[seconds + 10.0; 3], 1.0),
            figures("service", &[1.0], items),
            figures("requests", &[requests; 3], 1.0),
            figures("issued_per_s", &[requests / seconds; 3], 1.0),
            figures("slo.allowed", &[1.0 - percentile / 100.0], 1.0),
            figures("slo.over.0", &over, 1.0),
        ]
    }

    fn judged(report: &[SeriesRecord], asked: AskedLoad<'_>) -> MlperfMetrics {
        mlperf(report, asked, 1).unwrap()
    }

    #[test]
    fn nobody_is_judged_who_did_not_ask() {
        assert!(mlperf(&sessions(660.0, 1e4, 1.0, [0.0; 3], 99.0), AskedLoad::default(), 1).is_none());
    }

    #[test]
    fn a_server_counts_where_each_session_is_long_and_keeps_its_limit() {
        let good = || sessions(660.0, 6_700.0, 1.0, [0.0, 40.0, 20.0], 99.0);
        let found = judged(&good(), SERVER);
        assert_eq!((found.valid, found.scenario.as_str(), found.unit.as_str()), (true, "Server", "samples/s"));
        assert_eq!((found.result, found.why.len()), (Some(10.0), 0));
        for (report, wanted) in [
            (
                sessions(595.0, 6_700.0, 1.0, [0.0; 3], 99.0),
                "3 of 3 runs took less than the 600 s of the rule, the shortest 595.0 s",
            ),
            (sessions(660.0, 6_700.0, 1.0, [0.0, 70.0, 0.0], 99.0), "not kept in 1 of 3 runs"),
            (sessions(660.0, 300.0, 1.0, [0.0; 3], 99.0), "not kept in 3 of 3 runs"),
            (sessions(660.0, 6_700.0, 1.0, [0.0; 3], 90.0), "a limit is on p90, and the rule is p99"),
            (sessions(660.0, 6_700.0, 8.0, [0.0; 3], 99.0), "a query has 8 samples, and the rule is 1"),
            (good()[..4].to_vec(), "no limit was given"),
            (good()[..5].to_vec(), "not kept in 3 of 3 runs"),
            ([&good()[..3], &good()[4..]].concat(), "did not tell how long"),
        ] {
            let found = judged(&report, SERVER);
            assert!(!found.valid && found.why.len() == 1 && found.why[0].contains(wanted), "{found:?}");
        }
        let found = mlperf(&good(), SERVER, 5).unwrap();
        assert!(!found.valid && found.why[0].contains("5 processes shared the time"), "{found:?}");
        let untold: Vec<_> = good().into_iter().filter(|series| series.name != "service").collect();
        assert_eq!(judged(&untold, SERVER).why, ["the benchmark did not tell enough for a result"]);
    }

    #[test]
    fn all_at_once_needs_its_samples() {
        let found = judged(&sessions(660.0, 67_000.0, 1.0, [0.0; 3], 99.0), OFFLINE);
        assert_eq!((found.valid, found.result, found.scenario.as_str()), (true, Some(100.0), "Offline"));
        assert!(judged(&sessions(660.0, 6_700.0, 4.0, [0.0; 3], 99.0), OFFLINE).valid);
        let found = judged(&sessions(660.0, 6_700.0, 1.0, [0.0; 3], 99.0), OFFLINE);
        assert_eq!(found.why, ["a run had 6700 samples, and the rule is 24576: give a longer --budget"]);
    }

    #[test]
    fn a_stream_tells_the_percentile_of_its_scenario() {
        // Early stopping takes the third of the longest of a hundred for p90.
        let mut walls = vec![7.0; 100];
        walls[..3].fill(9.0);
        let found = judged(&[rounds("latency", &walls, 1.0)], SERVER);
        assert_eq!((found.valid, found.scenario.as_str(), found.result), (true, "SingleStream", Some(9_000.0)));
        let found = judged(&[rounds("latency", &walls, 4.0)], SERVER);
        assert_eq!((found.valid, found.scenario.as_str(), found.result), (false, "MultiStream", None));
        assert!(found.why[0].contains("a query has 4 samples, and the rule is 8"), "{found:?}");
        assert!(found.why[1].contains("100 queries are too few for p99"), "{found:?}");
        let found = judged(&[rounds("latency", &walls[..70], 1.0)], SERVER);
        assert!(!found.valid && found.why[0].contains("the shortest 496.0 s"), "{found:?}");
    }

    #[test]
    fn a_cell_takes_as_long_as_its_rules() {
        assert_eq!((budget_s(None), budget_s(Some(3.0))), (600.0, 1_980.0));
    }
}
