//! What was found, as JSON: `skillbench.trend/2`, which docs/trends.md describes.

use super::{Change, Difference, Judged, Level, Of};
use serde_json::{Value, json};
use skillbench_record::catalog::Better;
use skillbench_record::time::{now_utc, utc};
use skillbench_stats::rules;

/// Microseconds since 1970-01-01 as "2026-01-31T12:00:00Z".
pub fn date(time: i64) -> String {
    utc(time.div_euclid(1_000_000))
}

/// The whole of it. Of the changes only those that pass.
pub fn json(judged: &[Judged], notes: &[String], passes: &dyn Fn(&Judged, &Change) -> bool) -> Value {
    let trend = &rules().trend;
    let count = |which: &dyn Fn(&Judged) -> bool| judged.iter().filter(|one| which(one)).count();
    let changed = |one: &Judged| one.changes.iter().flatten().any(|change| passes(one, change));
    json!({
        "schema": "skillbench.trend/2",
        "made_at": now_utc(),
        "rules": trend.rules,
        "seed": trend.seed,
        "histories_judged": count(&|one| one.changes.is_some()),
        "histories_too_short": count(&|one| one.changes.is_none()),
        "histories_changed": count(&changed),
        "notes": notes,
        "histories": judged.iter().map(|one| history(one, passes)).collect::<Vec<_>>(),
    })
}

fn history(judged: &Judged, passes: &dyn Fn(&Judged, &Change) -> bool) -> Value {
    let history = &judged.history;
    let place = |point: Option<&super::Point>| point.map(|point| json!({"run": point.run, "began": date(point.time)}));
    let changes = judged.changes.as_ref().map(|changes| {
        changes.iter().filter(|change| passes(judged, change)).map(|one| change(judged, one)).collect::<Vec<_>>()
    });
    json!({
        "cell": cell(&history.of),
        "metric": history.metric.name,
        "unit": history.metric.unit,
        "less_is_better": history.metric.better == Better::Lower,
        "runs": history.points.len(),
        "least_runs": rules().trend.rules.least_runs,
        "first": place(history.points.first()),
        "last": place(history.points.last()),
        "not_measured": history.not_measured,
        "runs_without": history.runs_without,
        "judged": changes.is_some(),
        "changes": changes,
    })
}

/// What a history is of.
pub fn cell(of: &Of) -> Value {
    json!({
        "machine": of.machine,
        "plugin": of.plugin,
        "device": of.device_id,
        "model": of.model_id,
        "benchmark": of.benchmark,
        "axes": of.axes,
        "precision": of.precision,
        "threads": of.threads,
        "workers": of.workers,
        "options": of.options,
        "beside": of.beside,
        "trust": of.trust,
    })
}

fn change(judged: &Judged, change: &Change) -> Value {
    let history = &judged.history;
    let level = |level: &Level| json!({"median": level.median, "runs": level.n});
    let run = |place: usize| history.points.get(place).map(|point| &point.run);
    let near = |(place, all): &(usize, Vec<Difference>)| json!({"run": run(*place), "runs_later": *place as i64 - change.at as i64, "changed": differences(all)});
    json!({
        "run": run(change.at),
        "began": change.point(history).map(|point| date(point.time)),
        "run_before": change.at.checked_sub(1).and_then(run),
        "before": level(&change.before),
        "after": level(&change.after),
        "ratio": change.ratio,
        "direction": history.metric.direction(change.ratio),
        "worse": change.worse,
        "newest": change.newest,
        "p": change.p,
        "changed": differences(&change.with_it),
        "nearby": change.nearby.iter().map(near).collect::<Vec<_>>(),
    })
}

fn differences(all: &[Difference]) -> Vec<Value> {
    all.iter().map(|one| json!({"what": one.name, "before": one.before, "after": one.after})).collect()
}
