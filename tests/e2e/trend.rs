//! Since when something is slower: histories that are made up, brought in as the runs that they would be.

use serde_json::{Value, json};
use skillbench_tests::{Ran, World};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

/// The beginning of the day of this number.
fn day(number: usize) -> String {
    format!("2026-{:02}-{:02}T02:00:00Z", 1 + number / 28, 1 + number % 28)
}

fn stats(median: f64) -> Value {
    json!({"n": 20, "min": median, "mean": median, "median": median, "p90": null, "p95": null, "p99": null, "max": median,
        "std": null, "mad": 0.0, "ci95": null, "outliers": 0})
}

fn metrics(ms: f64) -> Value {
    json!({
        "latency_ms": stats(ms), "cpu_ms": null, "throughput_per_s": 1000.0 / ms, "sequential_per_s": null,
        "concurrent_per_s": null, "concurrent_workers": null, "speedup_over_sequential": null,
        "init_ms": {"import": null, "instantiate": null, "load": null, "read": null, "compile_cold": null, "compile_warm": null, "first_inference": null},
        "memory_mb": {"before": 10.0, "loaded": 30.0, "peak": 40.0, "average": 35.0, "device_peak": null},
        "energy_j_per_item": null, "energy": null, "efficiency": null, "counters": {}, "series": {}
    })
}

/// A cell that took so long.
fn cell(ms: f64) -> Value {
    json!({
        "index": 0, "plugin": "cpu", "plugin_version": "1.0", "device": "cpu", "skill": "bert-tiny", "family": "embedding",
        "architecture": "encoder-only", "category": "text encoders", "task": "fill-mask", "parameters": null,
        "benchmark": "inference", "benchmark_version": "1", "precision_requested": null, "threads": 2,
        "hardware": {"name": "A device", "kind": "cpu", "vendor": "", "arch": "", "driver": "535.1", "memory_mb": null},
        "batch_size": 1, "sequence_length": 32, "axes": {"batch": 1, "sequence": 32},
        "outcome": "measured", "reason": null, "emulated": false, "stable": true,
        "placement": {"precision": "float32", "device": "cpu", "engine": "an engine 1.0", "nodes_total": null, "nodes_on_device": null, "cache_hit": null},
        "verification": {"status": "passed", "reference": "rten", "same_engine": false, "max_relative_difference": 0.0, "tolerance": 1e-3, "elements_compared": 1},
        "fixes": [], "pool": null, "phases": null, "profile": null,
        "metrics": metrics(ms)
    })
}

/// The same, ended otherwise.
fn failed() -> Value {
    let mut cell = cell(1.0);
    for key in ["metrics", "placement", "verification"] {
        cell[key] = Value::Null;
    }
    cell["outcome"] = "failed".into();
    cell["reason"] = json!({"code": "it", "message": "it failed"});
    cell
}

fn run(number: usize, cells: Vec<Value>) -> Value {
    json!({
        "schema": "skillbench.run/1", "run_id": format!("run-{number:03}"), "started_at": day(number), "command": ["host", "run"],
        "seed": 42, "left_out": {}, "cells": cells,
        "environment": {"host_version": "0.1.0", "os": "linux", "arch": "x86_64", "kernel": "6.1", "hostname": "here",
            "cpu_model": "A processor", "cpus_usable": 2, "cpus_online": 2, "clock": "monotonic", "governor": "performance",
            "plugin_sha256": {}}
    })
}

/// What a run took, by its number: 2 ms and up to 3% more or less, and from one run on so much slower.
fn ms(number: usize, step: f64, at: usize) -> f64 {
    let spread = ((number * 7919 + 13) % 31) as f64 / 31.0 - 0.5;
    2.0 * (1.0 + 0.06 * spread) * if number >= at { 1.0 + step } else { 1.0 }
}

/// Sixty runs with a step, as `change` leaves them.
fn history(step: f64, at: usize, change: impl Fn(usize, &mut Value)) -> Vec<Value> {
    let one = |number: usize| {
        let mut run = run(number, vec![cell(ms(number, step, at))]);
        change(number, &mut run);
        run
    };
    (0..60).map(one).collect()
}

fn bring_in(world: &World, runs: &[Value]) {
    for run in runs {
        let name = format!("history/{}/run.json", run["run_id"].as_str().unwrap());
        world.write(&name, run.to_string());
    }
    world.host(&["db", "import", "history", "--quiet"]).exits_with(0);
    std::fs::remove_dir_all(world.path().join("history")).unwrap();
}

fn document(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout()).unwrap_or_else(|error| panic!("{error}:\n{}\n{}", ran.stdout(), ran.stderr()))
}

fn trend(world: &World, arguments: &[&str]) -> Ran {
    world.host(&[&["trend"], arguments].concat())
}

#[test]
fn metrics_that_plugins_add_have_histories_of_their_own_by_their_direction() {
    let world = World::default();
    let series = |value: f64| {
        json!({"unit": "cycles", "kind": "count", "higher_is_better": false, "items_per_sample": 1.0, "rounds": 20, "stable": true,
            "stopped_by": null, "stats": stats(value)})
    };
    let runs = history(0.0, 60, |number, run| {
        let of = ms(number, 0.2, 40);
        let metrics = &mut run["cells"][0]["metrics"];
        metrics["series"]["acme.cycles"] = series(1e6 * of);
        metrics["counters"]["acme.misses"] =
            json!({"unit": "1", "n": 20, "first": of, "last": of, "mean": of, "min": of, "max": of});
    });
    bring_in(&world, &runs);
    for (metric, direction, worse) in [("acme.cycles", "more", true), ("acme.misses", "more", false)] {
        let found = document(&trend(&world, &["--metric", metric, "--format", "json"]));
        let history = &found["histories"][0];
        assert_eq!((&history["metric"], &history["runs"]), (&json!(metric), &json!(60)));
        let change = &history["changes"][0];
        assert_eq!((&change["run"], &change["direction"]), (&json!("run-040"), &json!(direction)), "{change:#}");
        assert_eq!(change["worse"], worse, "of a counter nobody says which way is better");
    }
    let listed = trend(&world, &["--metric", "list", "--format", "csv"]).stdout();
    assert!(listed.contains("acme.cycles,cycles,less,") && listed.contains("acme.misses,1,,"), "{listed}");
    let slip = trend(&world, &["--metric", "acme.cycle"]);
    slip.exits_with(2);
    assert!(slip.stderr().contains("did you mean acme.cycles"), "{}", slip.stderr());
}

#[test]
fn a_planted_step_is_found_at_its_run_with_what_changed_there() {
    let world = World::default();
    let driver = |number: usize, run: &mut Value| {
        if number >= 45 {
            run["cells"][0]["hardware"]["driver"] = "550.2".into();
            run["environment"]["governor"] = "powersave".into();
        }
    };
    bring_in(&world, &history(0.12, 45, driver));
    let found = trend(&world, &["--format", "json"]);
    found.exits_with(0);
    let found = document(&found);
    assert_eq!(found["schema"], "skillbench.trend/2");
    let history = &found["histories"][0];
    assert_eq!((&history["runs"], &history["metric"]), (&json!(60), &json!("latency_ms")));
    let changes = history["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 1, "{changes:#?}");
    let change = &changes[0];
    assert_eq!((&change["run"], &change["run_before"]), (&json!("run-045"), &json!("run-044")));
    assert_eq!(
        (&change["direction"], &change["worse"], &change["newest"]),
        (&json!("slower"), &json!(true), &json!(true))
    );
    assert_eq!((&change["before"]["runs"], &change["after"]["runs"]), (&json!(45), &json!(15)));
    assert!((change["ratio"].as_f64().unwrap() - 1.12).abs() < 0.03 && change["p"].as_f64().unwrap() <= 0.01);
    assert_eq!(
        change["changed"],
        json!([{"what": "driver_version", "before": "535.1", "after": "550.2"},
            {"what": "governor", "before": "performance", "after": "powersave"}])
    );
    let table = trend(&world, &["--fail-on-change"]);
    table.exits_with(1).tells("slower").tells("driver: 535.1 -> 550.2; governor: performance -> powersave");
    // Throughput moves the other way, which is just as bad; memory did not move.
    trend(&world, &["--fail-on-change", "--metric", "throughput_per_s"]).exits_with(1).tells("slower");
    trend(&world, &["--fail-on-change", "--metric", "memory_mb"]).exits_with(0).tells("no change found in 1 history");
    // What was before is read all the same.
    trend(&world, &["--fail-on-change", "--since", "2026-02-15"]).exits_with(1);
    trend(&world, &["--fail-on-change", "--since", "2026-02-20"]).exits_with(0).tells("no change found in 1 history");
    let text = trend(&world, &["--format", "markdown"]).stdout();
    assert!(
        text.starts_with("### Trend: 1 change in 1 history\n\n**Worse**\n\n| model") && text.len() < 1_500,
        "{text}"
    );
    let csv = trend(&world, &["--format", "csv"]).stdout();
    assert!(csv.starts_with("model,hardware,benchmark,") && csv.lines().count() == 2, "{csv}");
}

#[test]
fn nothing_is_said_where_nothing_changed_and_nobody_is_told() {
    let world = World::default();
    bring_in(&world, &history(0.0, 60, |_, _| {}));
    let ran = trend(&world, &["--fail-on-change", "--alert-file", "alerts.ndjson", "--alert-command", "touch told"]);
    ran.exits_with(0);
    assert_eq!((ran.stdout().as_str(), ran.stderr().as_str()), ("no change found in 1 history\n", ""));
    assert!(!world.path().join("alerts.ndjson").exists() && !world.path().join("told").exists());
}

#[test]
fn faster_is_a_change_too_and_no_failure() {
    let world = World::default();
    bring_in(&world, &history(-0.15, 40, |_, _| {}));
    let ran = trend(&world, &["--fail-on-change", "--alert-command", "touch told"]);
    ran.exits_with(0).tells("faster").tells("nothing changed in what is recorded");
    assert!(!world.path().join("told").exists());
}

#[test]
fn a_history_with_gaps_is_read_over_them_and_they_are_counted() {
    let world = World::default();
    let mut runs = history(0.15, 30, |number, run| match number {
        10 | 31 | 59 => run["cells"][0] = failed(),
        20 => run["cells"] = json!([]),
        _ => {}
    });
    runs.remove(15);
    bring_in(&world, &runs);
    let found = document(&trend(&world, &["--format", "json"]));
    let history = &found["histories"][0];
    assert_eq!((&history["runs"], &history["runs_without"]), (&json!(55), &json!(1)));
    assert_eq!(history["not_measured"], json!({"failed": 3}));
    assert_eq!(history["changes"][0]["run"], "run-030");
}

#[test]
fn what_is_emulated_or_of_another_precision_is_a_history_of_its_own() {
    let world = World::default();
    let mixed = |number: usize, run: &mut Value| {
        if number % 2 == 1 {
            run["cells"][0]["emulated"] = true.into();
            run["cells"][0]["metrics"]["latency_ms"] = stats(9.0);
        }
        if number >= 30 {
            run["cells"][0]["placement"]["precision"] = "bfloat16".into();
            run["cells"][0]["metrics"]["latency_ms"] = stats(1.0);
        }
    };
    bring_in(&world, &history(0.0, 60, mixed));
    let found = document(&trend(&world, &["--format", "json"]));
    let histories = found["histories"].as_array().unwrap();
    assert_eq!(histories.len(), 4);
    assert!(histories.iter().all(|history| history["changes"] == json!([]) && history["runs"] == 15), "{found:#}");
}

#[test]
fn a_history_that_is_too_short_is_told_and_not_judged() {
    let world = World::default();
    bring_in(&world, &history(1.0, 4, |_, _| {})[..8]);
    trend(&world, &[]).exits_with(3).tells("8 of 12 runs").tells("host run");
    let found = trend(&world, &["--format", "json"]);
    found.exits_with(3);
    let history = &document(&found)["histories"][0];
    assert_eq!((&history["judged"], &history["changes"]), (&json!(false), &Value::Null));
}

#[test]
fn a_clock_that_went_backwards_is_told_and_runs_stand_at_their_own_time() {
    let world = World::default();
    let mut runs = history(0.0, 60, |_, _| {});
    runs[59]["started_at"] = "2096-01-01T00:00:00Z".into();
    bring_in(&world, &runs[20..]);
    std::thread::sleep(Duration::from_millis(1_100));
    bring_in(&world, &runs[..20]);
    let ran = trend(&world, &["--format", "json"]);
    let notes = &document(ran.exits_with(0))["notes"];
    assert!(notes[0].as_str().unwrap().starts_with("1 run lies in the future"), "{notes}");
    assert!(notes[1].as_str().unwrap().starts_with("20 runs were stored after runs that began later"), "{notes}");
    trend(&world, &[]).exits_with(0).tells("warning: 20 runs were stored after");
}

#[test]
fn without_a_usable_row_there_is_no_verdict_and_what_to_run_is_told() {
    let world = World::default();
    trend(&world, &[]).exits_with(3).tells("host run");
    world.host(&["db", "init"]).exits_with(0);
    trend(&world, &["--model", "bert-tiny"]).exits_with(3).tells("host run");
    bring_in(&world, &history(0.0, 60, |_, run| run["cells"][0] = failed()));
    trend(&world, &[]).exits_with(3).tells("host run");
    world.write("no.duckdb", "this is no database");
    trend(&world, &["--db", "no.duckdb"]).exits_with(3).tells("no.duckdb");
}

#[test]
fn slips_are_told_with_what_is_near() {
    let world = World::default();
    bring_in(&world, &history(0.0, 60, |_, _| {}));
    trend(&world, &["--model", "bert-tini"]).exits_with(2).tells("bert-tiny");
    trend(&world, &["--metric", "latency"]).exits_with(2).tells("latency_ms");
    trend(&world, &["--where", "no_such_column = 1"]).exits_with(2).tells("no_such_column");
    trend(&world, &["--since", "lately"]).exits_with(2).tells("2026-01-31");
    trend(&world, &["--alert-webhook", "ftp://example.com"]).exits_with(2).tells("https://");
    trend(&world, &["--metric", "list"]).exits_with(0).tells("memory_mb");
}

#[test]
fn an_alert_reaches_a_file_once_a_command_and_a_webhook() {
    let world = World::default();
    bring_in(&world, &history(0.2, 48, |_, _| {}));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/hook/secret", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = String::new();
        let mut piece = [0; 4096];
        while !request.ends_with("}]}") {
            let read = stream.read(&mut piece).unwrap();
            assert!(read > 0, "{request}");
            request += std::str::from_utf8(&piece[..read]).unwrap();
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
        request
    });
    let file = ["--alert-file", "deep/alerts.ndjson", "--format", "json"];
    let all = ["--alert-command", "cat > told.json; echo heard", "--alert-webhook", &address];
    let ran = trend(&world, &[&file[..], &all].concat());
    ran.exits_with(0).tells("heard").tells("received");
    assert!(!ran.stderr().contains("secret"), "{}", ran.stderr());
    document(&ran);
    let request = server.join().unwrap();
    let posted: Value = serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap();
    let told: Value = serde_json::from_slice(&std::fs::read(world.path().join("told.json")).unwrap()).unwrap();
    assert_eq!(posted, told);
    let alert = &told["alerts"][0];
    assert_eq!(
        (&alert["schema"], &alert["kind"], &alert["run"]),
        (&json!("skillbench.alert/2"), &json!("change"), &json!("run-048"))
    );
    assert!(
        told["text"]
            .as_str()
            .unwrap()
            .starts_with("bert-tiny on cpu (inference, batch=1 sequence=32, float32): latency_ms 1.")
    );
    trend(&world, &file).exits_with(0).tells("0 written, 1 stood there already");
    let lines = std::fs::read_to_string(world.path().join("deep/alerts.ndjson")).unwrap();
    assert_eq!(
        lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone()).collect::<Vec<_>>(),
        [alert["id"].clone()]
    );
}

#[test]
fn a_webhook_that_does_not_answer_and_a_command_that_fails_are_told_and_change_no_verdict() {
    let world = World::default();
    bring_in(&world, &history(0.2, 48, |_, _| {}));
    // It accepts connections and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", silent.local_addr().unwrap());
    let ran = trend(&world, &["--fail-on-change", "--alert-webhook", &address, "--alert-command", "exit 7"]);
    ran.exits_with(1).tells("no answer within 5 s, twice").tells("exit code 7").tells("slower");
    trend(&world, &["--alert-file", "/proc/no/such"]).exits_with(0).tells("warning: the alert did not get to");
}

#[test]
fn pages_and_plots_mark_where_it_changed() {
    let world = World::default();
    bring_in(&world, &history(0.2, 48, |_, _| {}));
    world.host(&["plot", "--all", "--kind", "trend", "--image", "svg", "--output-dir", "plots"]).exits_with(0);
    let plot = std::fs::read_dir(world.path().join("plots")).unwrap().flatten().next().unwrap().path();
    let drawn = std::fs::read_to_string(&plot).unwrap();
    assert!(drawn.contains("cpu 1.20x slower") || drawn.contains("cpu 1.19x slower"), "{}", plot.display());
    world.host(&["report", "--dashboard", "--output", "site"]).exits_with(0);
    let page = std::fs::read_to_string(world.path().join("site/index.html")).unwrap();
    assert!(page.contains("nothing changed in what is recorded") && page.contains("run-048"));
}

#[test]
fn every_command_of_the_page_runs() {
    let world = World::default();
    bring_in(&world, &history(0.0, 60, |_, _| {}));
    super::docs::every_command_runs(&super::docs::page("docs/trends.md"), &world);
}
