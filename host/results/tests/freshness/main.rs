//! Which measurements still hold, of a database that was made by hand.

#[path = "../made/mod.rs"]
mod made;

use made::{at_batch, ended, measured, run, with};
use serde_json::json;
use skillbench_record::Run;
use skillbench_record::RunRequest;
use skillbench_results::freshness::{Age, MadeWith, Measured, Wanted, of_machine};
use skillbench_store::{Database, Recorded};

fn recorded(run: Run, request: Option<RunRequest>) -> Recorded {
    Recorded { request, fingerprint: run.run_id.clone(), run, samples: vec![], damaged: vec![] }
}

fn stored(runs: &[Recorded]) -> Vec<Measured> {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::at(folder.path().join("b.duckdb"));
    database.store(runs).unwrap();
    of_machine(&database, "here, A processor").unwrap()
}

fn bert(batch: i64) -> serde_json::Value {
    at_batch(measured("cpu", "bert", 2.0, 2.0, 10.0), batch)
}

/// The cell of a measurement, as it would be asked for again.
fn again(known: &Measured) -> Wanted {
    Wanted {
        name: known.name.clone(),
        precision: known.precision.clone(),
        threads: known.threads,
        beside: false,
        unverified: false,
        options: None,
        workers: None,
        made_with: known.made_with.clone(),
    }
}

fn is(wanted: &Wanted, known: &Measured) -> bool {
    wanted.is(known)
}

#[test]
fn only_figures_of_this_machine_that_count_now_are_read_the_newest_first() {
    let mut elsewhere = run("elsewhere", 3, vec![bert(1)]);
    elsewhere.environment.hostname = Some("there".into());
    let mut nameless = run("nameless", 3, vec![bert(1)]);
    nameless.environment.hostname = None;
    let mut other_processor = run("other-processor", 3, vec![bert(1)]);
    other_processor.environment.cpu_model = None;
    let cells = vec![bert(1), ended("cpu", "bert", "failed", "no"), bert(2)];
    let runs = [run("old", 1, cells), run("new", 2, vec![bert(2)]), elsewhere, nameless, other_processor];
    let all = stored(&runs.map(|run| recorded(run, Some(RunRequest::default()))));
    let found: Vec<_> = all.iter().map(|known| (known.run.as_str(), known.name.axes["batch"])).collect();
    assert_eq!(found, [("new", 2), ("old", 1)]);
    assert_eq!(all[0].name.axes["sequence"], 32);
    let newer = all[1].newer.as_ref().unwrap();
    assert_eq!(newer.to_string(), "failed when it was tried again (run old): no");
}

#[test]
fn a_check_of_outputs_leaves_no_figures() {
    let blank = with(
        bert(1),
        json!({"metrics": {"latency_ms": null, "cpu_ms": null, "throughput_per_s": null,
        "sequential_per_s": null, "concurrent_per_s": null, "concurrent_workers": null, "speedup_over_sequential": null,
        "init_ms": {}, "memory_mb": {}, "energy_j_per_item": null, "energy": null, "efficiency": null, "counters": {}, "series": {}}}),
    );
    assert!(serde_json::from_value::<skillbench_record::Cell>(with(blank.clone(), json!({"index": 0}))).is_ok());
    assert!(stored(&[recorded(run("b", 1, vec![blank]), None)]).is_empty());
    assert_eq!(stored(&[recorded(run("c", 1, vec![bert(1)]), None)]).len(), 1);
}

#[test]
fn a_cell_is_the_same_only_on_the_same_device_in_the_same_way() {
    let cell = with(bert(1), json!({"workers": 2}));
    let known = &stored(&[recorded(run("a", 1, vec![cell]), Some(RunRequest::default()))])[0];
    let same = again(known);
    assert!(is(&same, known));
    let mut device = same.clone();
    device.name.device = Some("another".into());
    let mut axes = same.clone();
    axes.name.axes.insert("batch".into(), 9);
    let options = Some("arena=off".to_string());
    let others = [
        device,
        axes,
        Wanted { precision: Some("float16".into()), ..same.clone() },
        Wanted { threads: Some(1), ..same.clone() },
        Wanted { options, ..same.clone() },
        Wanted { workers: Some(4), ..same.clone() },
    ];
    assert!(others.iter().all(|other| !is(other, known)));
    assert!(is(&Wanted { workers: Some(2), ..same.clone() }, known));

    let crowded = Measured { beside: true, ..known.clone() };
    assert!(!is(&same, &crowded) && is(&Wanted { beside: true, ..same.clone() }, &crowded));
    let unchecked = Measured { unverified: true, ..known.clone() };
    assert!(!is(&same, &unchecked) && is(&Wanted { unverified: true, ..same.clone() }, &unchecked));
    let imported = Measured { workers: None, ..known.clone() };
    assert!(is(&Wanted { workers: Some(4), ..same }, &imported), "what nobody recorded was not asked for");
}

#[test]
fn what_changed_is_told_and_what_nobody_recorded_is_no_change() {
    let some = |text: &str| Some(text.to_string());
    let then = MadeWith {
        plugin_version: some("1"),
        plugin_sha256: some("aa"),
        benchmark_version: some("1"),
        benchmark_sha256: some("bb"),
        runtime_sha256: [("cpu".to_string(), "cc".to_string())].into(),
        driver: some("535"),
        model: some("dd"),
    };
    assert!(then.changed(&then).is_empty());
    assert!(then.changed(&MadeWith::default()).is_empty() && MadeWith::default().changed(&then).is_empty());
    let rebuilt = MadeWith { plugin_sha256: some("ab"), ..then.clone() };
    assert_eq!(then.changed(&rebuilt), ["the plugin is another library of the same version"]);
    let now = MadeWith {
        plugin_version: some("2"),
        plugin_sha256: some("ab"),
        benchmark_version: some("2"),
        benchmark_sha256: some("bc"),
        runtime_sha256: [("cpu".to_string(), "cd".to_string())].into(),
        driver: some("550"),
        model: some("de"),
    };
    let told = [
        "the plugin changed from 1 to 2",
        "the benchmark changed from 1 to 2",
        "the runtime changed",
        "the driver changed from 535 to 550",
        "the model changed",
    ];
    assert_eq!(then.changed(&now), told);
}

#[test]
fn what_an_environment_records_is_found_by_the_names_of_the_cell() {
    let mut run = run("a", 1, vec![bert(1)]);
    let pairs = |pairs: &[(&str, &str)]| pairs.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
    run.environment.plugin_sha256 = pairs(&[("cpu", "11"), ("inference", "22"), ("rten", "33")]);
    run.environment.runtime_sha256 = pairs(&[("cpu", "44"), ("cpu extra", "55"), ("cpu2", "66")]);
    run.environment.models = pairs(&[("bert", "77")]);
    let known = &stored(&[recorded(run, Some(RunRequest::default()))])[0].made_with;
    assert_eq!((known.plugin_sha256.as_deref(), known.benchmark_sha256.as_deref()), (Some("11"), Some("22")));
    assert_eq!(known.runtime_sha256, pairs(&[("cpu", "44"), ("cpu extra", "55")]));
    assert_eq!((known.model.as_deref(), known.plugin_version.as_deref()), (Some("77"), Some("0.1.0")));
    assert_eq!(known.driver, None, "an empty one is not known");
}

#[test]
fn age_counts_from_the_start_of_the_run_and_tomorrow_has_none() {
    let known = &stored(&[recorded(run("a", 0, vec![bert(1)]), None)])[0];
    let began = known.began.unwrap();
    let day = 86_400_000_000;
    let at = |now: i64, most_days: f64| Age { now, most_days };
    assert_eq!(at(began + 30 * day, 30.0).too_old(known), None);
    assert_eq!(at(began + 41 * day, 30.0).too_old(known).unwrap(), "it is 41.0 d old, and 30.0 d is the most");
    assert_eq!(at(began + day / 2, 0.25).too_old(known).unwrap(), "it is 12.0 h old, and 6.0 h is the most");
    assert_eq!(at(began - day, 30.0).too_old(known), None);
    assert!(at(began - day, 30.0).is_of_the_future(known) && !at(began, 30.0).is_of_the_future(known));
    assert!(at(began - day, 0.0).too_old(known).is_some(), "0 takes all");
}
