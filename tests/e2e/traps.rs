//! Plugins that do less work than they claim: none of their numbers passes as verified.
//!
//! The shim in C stands before another backend, here the fixture in Rust, which computes by itself and does what it does by its own
//! options too; `scripts/traps` puts it before ONNX Runtime. Benchmarks that report what they did not measure
//! are in C.

use serde_json::Value;
use skillbench_tests::{World, built_library, cells, without_sums, workspace};
use std::path::PathBuf;
use std::process::Command;

/// A library of tests/fixtures/trap, compiled against the header alone.
fn compiled(world: &World, name: &str) -> PathBuf {
    let source = workspace().join(format!("tests/fixtures/trap/{name}.c"));
    let library = world.path().join(format!("lib{name}.so"));
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-I"]);
    cc.arg(workspace().join("plugin-api/include")).arg("-o").arg(&library).arg(source).args([
        "-ldl",
        "-lm",
        "-lpthread",
    ]);
    assert!(cc.status().expect("a C compiler is there").success(), "{name}.c");
    library
}

fn registry(world: &World, plugins: &[(&str, PathBuf)]) {
    let entries: Vec<String> =
        plugins.iter().map(|(id, library)| format!("[[plugin]]\nid = \"{id}\"\nlibrary = {library:?}\n")).collect();
    world.write("config/registry.toml", format!("version = 1\n{}", entries.concat()));
}

const ASKED: [&str; 6] = ["--bench", "inference", "--batch-sizes", "1", "--iterations", "100"];

/// The one cell of a shim before a backend that behaves.
fn through_a_shim(trap: &str, from: u32) -> (Option<i32>, Value) {
    let world = World::default();
    registry(&world, &[("shim", compiled(&world, "shim"))]);
    let inner = built_library("misbehave_fixture");
    let options = [format!("shim:inner={}", inner.display()), format!("shim:trap={trap}"), format!("shim:from={from}")];
    let mut asked = vec!["--plugin", "shim", "--model", "probe-mlp"];
    options.iter().for_each(|option| asked.extend(["--option", option]));
    asked.extend(ASKED);
    let (ran, document) = world.run(&asked);
    (ran.code(), cells(&document)[0].clone())
}

/// The one cell of the fixture in Rust.
fn of_the_fixture(how: &str, from: u32) -> (Option<i32>, Value) {
    let world = World::default();
    registry(&world, &[("misbehave", built_library("misbehave_fixture"))]);
    let (how, from) = (format!("misbehave:how={how}"), format!("misbehave:from={from}"));
    let mut asked = vec!["--plugin", "misbehave", "--model", "probe-mlp", "--option", &how, "--option", &from];
    asked.extend(ASKED.map(|word| if word == "1" { "4" } else { word }));
    let (ran, document) = world.run(&asked);
    (ran.code(), cells(&document)[0].clone())
}

#[track_caller]
fn is_wrong((code, cell): (Option<i32>, Value), text: &str) {
    assert_eq!((code, cell["outcome"].as_str()), (Some(6), Some("wrong")), "{cell:#}");
    assert_eq!(cell["metrics"], Value::Null, "nothing of the series counts");
    let message = cell["reason"]["message"].as_str().unwrap_or_default();
    assert!(message.contains(text), "'{text}' is not in: {message}");
}

/// Which of both is seen first, chance decides.
#[track_caller]
fn has_other_contents((code, cell): (Option<i32>, Value)) {
    let message = cell["reason"]["message"].as_str().unwrap_or_default().to_string();
    is_wrong((code, cell), "of 'latency'");
    let known = ["differs from the reference", "outputs are those of the run before"];
    assert!(known.iter().any(|text| message.contains(text)), "{message}");
}

#[test]
fn a_plugin_that_stops_working_is_wrong_with_the_round() {
    for trap in ["nothing", "drop"] {
        is_wrong(through_a_shim(trap, 21), "was not written by the run");
    }
    for trap in ["zeros", "stale", "skip"] {
        has_other_contents(through_a_shim(trap, 21));
    }
    is_wrong(through_a_shim("nan", 21), "not finite");
    is_wrong(through_a_shim("pointer", 2), "of 'latency'");
    is_wrong(of_the_fixture("nothing", 30), "was not written by the run");
    for how in ["zeros", "stale", "skip"] {
        has_other_contents(of_the_fixture(how, 30));
    }
}

#[test]
fn one_that_changes_after_a_thousand_runs_is_wrong() {
    let world = World::default();
    registry(&world, &[("misbehave", built_library("misbehave_fixture"))]);
    let asked = ["--plugin", "misbehave", "--model", "probe-mlp", "--option", "misbehave:how=stale", "--option"];
    let asked = [&asked[..], &["misbehave:from=1000", "--bench", "inference", "--batch-sizes", "1"]].concat();
    let (ran, document) = world.run(&asked);
    has_other_contents((ran.code(), cells(&document)[0].clone()));
}

#[test]
fn writing_beside_an_output_is_seen() {
    is_wrong(through_a_shim("beside", 10), "written beside the memory of output 0");
}

#[test]
fn a_lower_precision_does_not_pass_for_float32() {
    is_wrong(through_a_shim("half", 2), "differs from the reference");
    is_wrong(of_the_fixture("half", 2), "differs from the reference");
}

#[test]
fn rows_that_were_not_computed_are_wrong() {
    is_wrong(of_the_fixture("first-only", 2), "differs from the reference");
}

#[test]
fn a_memo_that_ends_when_something_is_bound_gains_nothing() {
    let median = |trap: &str| {
        let (code, cell) = through_a_shim(trap, 2);
        assert_eq!((code, cell["outcome"].as_str()), (Some(0), Some("measured")), "{cell:#}");
        cell["metrics"]["latency_ms"]["median"].as_f64().unwrap()
    };
    let (honest, memo) = (median("none"), median("memo"));
    assert!(memo > honest / 3.0, "{memo} ms beside {honest} ms");
}

#[test]
fn work_done_while_inputs_are_bound_counts_or_is_wrong() {
    let (code, cell) = through_a_shim("bind", 2);
    match cell["outcome"].as_str() {
        Some("wrong") => assert_eq!(code, Some(6)),
        _ => {
            assert_eq!(cell["audit"]["binding_counts"], true, "{cell:#}");
        }
    }
}

#[test]
fn an_honest_engine_is_audited_and_the_cell_says_how() {
    let (code, cell) = through_a_shim("none", 2);
    assert_eq!(code, Some(0), "{cell:#}");
    let audit = &cell["audit"];
    let number = |name: &str| audit[name].as_u64().unwrap();
    assert!(number("inputs") >= 4 && number("after_last") >= 1 && number("rounds") >= 1, "{audit:#}");
    assert!(number("rounds") <= number("rounds_of") && number("runs") >= 100, "{audit:#}");
    assert_eq!((audit["repeat_difference"].as_f64(), &audit["weak"]), (Some(0.0), &Value::Null), "{audit:#}");
    assert!(cell["implausible"].is_null(), "{cell:#}");
}

#[test]
fn memory_of_a_child_process_is_seen() {
    let (code, cell) = through_a_shim("child", 2);
    assert_eq!(code, Some(0), "work in a child process is no fault: {cell:#}");
    let memory = &cell["metrics"]["memory_mb"];
    assert!(memory["children_peak"].as_f64().unwrap() > 450.0, "{memory:#}");
    assert!(memory["peak"].as_f64().unwrap() > 500.0, "{memory:#}");
}

#[test]
fn peak_memory_is_never_below_the_average_and_has_the_load_in_it() {
    let (_, cell) = through_a_shim("none", 2);
    let figure = |name: &str| cell["metrics"]["memory_mb"][name].as_f64().unwrap();
    assert!(figure("peak") >= figure("average") && figure("peak") >= figure("load_peak"), "{cell:#}");
    assert!(figure("peak") >= figure("rounds_peak"), "{cell:#}");
}

#[test]
fn a_library_between_worker_and_host_that_divides_times_is_caught_by_the_hosts_clock() {
    for all in [false, true] {
        let world = World::default();
        registry(&world, &[("relay", compiled(&world, "relay"))]);
        let asked = ["run", "--format", "json", "--budget", "0.1", "--plugin", "relay", "--model", "probe-mlp"];
        let mut command = world.command(&[&asked[..], &ASKED].concat());
        command.env("SKILLBENCH_PASS_ENV", "RELAY_*").env("RELAY_INNER", built_library("misbehave_fixture"));
        if all {
            command.env("RELAY_ALL", "1");
        }
        let ran = command.output().expect("the host can be started");
        let document: Value = serde_json::from_slice(&ran.stdout).expect("a document");
        let cell = &cells(&document)[0];
        assert_eq!((ran.status.code(), cell["outcome"].as_str()), (Some(4), Some("measured")), "{cell:#}");
        let reasons = cell["implausible"].to_string();
        assert!(reasons.contains(if all { "by the host's" } else { "samples add up to" }), "{reasons}");
    }
}

#[test]
fn an_audit_says_which_numbers_of_a_run_stand() {
    let world = World::default();
    let asked = ["--plugin", "rten", "--model", "probe-mlp", "--threads", "1", "--bench", "inference"];
    let (ran, document) = world.run(&[&asked[..], &["--batch-sizes", "1,4"]].concat());
    ran.exits_with(0);
    let id = document["run_id"].as_str().unwrap();
    let audit = || {
        let told = world.host(&["audit", id, "--cells", "2", "--format", "json"]);
        let rows: Vec<Value> = serde_json::from_str(&told.stdout()).unwrap();
        assert_eq!(rows.len(), 2, "{rows:#?}");
        (told.code(), rows)
    };
    // A machine may be half as quick from one moment to the next.
    let stands =
        |(code, rows): (Option<i32>, Vec<Value>)| code == Some(0) && rows.iter().all(|row| row["stands"] == "yes");
    assert!((0..4).any(|_| stands(audit())), "what was measured can be measured again: {:#?}", audit());
    // A number that nobody can repeat: a hundredth of what the audit measured, whatever the run met.
    let again = audit().1.iter().filter_map(|row| row["again_ms"].as_f64()).fold(f64::INFINITY, f64::min);
    let journal = world.path().join("results").join(id);
    let file = std::fs::read_dir(&journal).unwrap().flatten().map(|entry| entry.path());
    let file = file.into_iter().find(|path| path.ends_with("journal.ndjson")).expect("a journal");
    let text = without_sums(&std::fs::read_to_string(&file).unwrap());
    // As it stands in the file: read and written again, its last digit may be another one.
    let (_, latency) = text.split_once("\"latency_ms\":{").unwrap();
    let (_, median) = latency.split_once("\"median\":").unwrap();
    let median = &median[..median.find([',', '}']).unwrap()];
    let faster = again.min(median.parse().unwrap()) / 100.0;
    std::fs::write(&file, text.replace(&format!("\"median\":{median}"), &format!("\"median\":{faster}"))).unwrap();
    let (code, rows) = audit();
    assert_eq!(code, Some(1), "{rows:#?}");
    let changed = rows.iter().find(|row| row["ratio"].as_f64().is_some_and(|ratio| ratio > 20.0));
    let changed = changed.unwrap_or_else(|| panic!("no number is far off: {rows:#?}"));
    assert_eq!(changed["stands"], "no");
    assert!(changed["why_not"].as_str().is_some_and(|why| why.contains("times as slow")), "{changed:#}");
}

#[test]
fn a_benchmark_that_reports_a_nanosecond_is_implausible_and_has_no_rank() {
    for benchmark in ["liar", "idler"] {
        let world = World::default();
        registry(&world, &[("liar", compiled(&world, "liar"))]);
        let asked = ["--plugin", "rten", "--model", "probe-mlp", "--bench", benchmark, "--batch-sizes", "1"];
        let (ran, document) = world.run(&asked);
        ran.exits_with(4);
        let cell = &cells(&document)[0];
        let reasons = cell["implausible"].as_array().map_or(0, Vec::len);
        // More nanoseconds than an empty round took are no samples at all.
        assert!(cell["outcome"] == "failed" || reasons > 0, "{cell:#}");
        assert!(benchmark == "idler" || reasons > 0, "what was run is kept: {cell:#}");
    }
}
