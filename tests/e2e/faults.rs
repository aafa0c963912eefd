//! Plugins that misbehave: each costs its own cell, with the right outcome, and nothing else.

use serde_json::Value;
use skillbench_tests::{World, built_library, cells};

fn world() -> World {
    let world = World::default();
    let library = built_library("misbehave_fixture");
    world
        .write("config/registry.toml", format!("version = 1\n[[plugin]]\nid = \"misbehave\"\nlibrary = {library:?}\n"));
    world
}

/// Runs a plugin that misbehaves beside one that does not.
#[track_caller]
fn misbehaving(how: &str, when: &str, outcome: &str, code: &str, text: &str, exit: i32) {
    let (how, when) = (format!("misbehave:how={how}"), format!("misbehave:when={when}"));
    let world = world();
    let (ran, document) = world.run(&[
        "--plugin",
        "misbehave,rten",
        "--model",
        "probe-mlp",
        "--bench",
        "inference",
        "--batch-sizes",
        "1",
        "--timeout",
        "4",
        "--memory-limit",
        "600",
        "--option",
        &how,
        "--option",
        &when,
    ]);
    ran.exits_with(exit);
    let [bad, good] = &cells(&document)[..] else { panic!("{document:#}") };
    assert_eq!((bad["outcome"].as_str(), bad["reason"]["code"].as_str()), (Some(outcome), Some(code)), "{bad:#}");
    let message = bad["reason"]["message"].as_str().unwrap_or("");
    assert!(message.contains(text), "'{text}' is not in: {message}");
    assert_eq!(bad["metrics"], Value::Null, "a cell that failed has no number");
    assert_eq!(good["outcome"], "measured", "the other plugin is measured");
}

#[test]
fn one_that_dereferences_null_crashes_alone() {
    misbehaving("null", "run", "crashed", "signal", "SIGSEGV", 4);
}

#[test]
fn one_that_aborts_crashes_alone() {
    misbehaving("abort", "run", "crashed", "signal", "SIGABRT", 4);
    misbehaving("abort", "load", "crashed", "signal", "during load", 4);
    misbehaving("abort", "open", "crashed", "signal", "during open", 4);
}

#[test]
fn one_that_panics_fails_with_the_panics_text() {
    misbehaving("panic", "run", "failed", "internal", "told to panic", 4);
}

#[test]
fn one_that_loops_for_ever_is_timed_out() {
    misbehaving("loop", "run", "timed-out", "timeout", "--timeout", 4);
}

#[test]
fn one_that_allocates_without_end_is_stopped_at_the_limit() {
    misbehaving("alloc", "run", "crashed", "memory-limit", "the limit is 600 MiB", 4);
}

#[test]
fn one_that_calls_exit_did_not_succeed() {
    misbehaving("exit", "run", "crashed", "exit", "exit code 0", 4);
}

#[test]
fn one_that_floods_its_output_is_timed_out_and_told_apart() {
    misbehaving("flood", "run", "timed-out", "timeout", "flooded its output", 4);
}

#[test]
fn outputs_that_are_not_finite_are_wrong() {
    misbehaving("nan", "run", "wrong", "wrong-output", "not finite", 6);
}

#[test]
fn outputs_that_are_off_are_wrong_and_say_by_how_much() {
    misbehaving("wrong", "run", "wrong", "wrong-output", "differs from the reference by 1.00e-1", 6);
}

#[test]
fn outputs_that_do_not_depend_on_inputs_are_wrong() {
    misbehaving("constant", "run", "wrong", "wrong-output", "differs from the reference", 6);
}

#[test]
fn a_batch_that_memory_does_not_hold_is_tried_smaller_and_the_cell_says_so() {
    let world = world();
    let asked =
        ["--plugin", "misbehave", "--option", "misbehave:how=small", "--model", "probe-mlp", "--bench", "inference"];
    let (ran, document) = world.run(&[&asked[..], &["--batch-sizes", "8"]].concat());
    ran.exits_with(4);
    let batches: Vec<i64> = cells(&document).iter().map(|cell| cell["axes"]["batch"].as_i64().unwrap()).collect();
    assert_eq!(batches, [8, 4, 2]);
    assert_eq!(skillbench_tests::outcomes(&document), ["failed", "failed", "measured"]);
    let message = cells(&document)[0]["reason"]["message"].as_str().unwrap();
    assert!(message.contains("a batch of 4 is tried next"), "{message}");
}

#[test]
fn a_fallback_to_another_device_is_refused() {
    misbehaving("fallback", "run", "failed", "failed-precondition", "fallback refused", 4);
}

#[test]
fn an_error_keeps_its_text_and_the_vendors_code() {
    misbehaving("error", "run", "failed", "out-of-memory", "(code -42)", 4);
}

#[test]
fn one_that_behaves_is_measured() {
    let (ran, document) =
        world().run(&["--plugin", "misbehave", "--model", "probe-mlp", "--bench", "inference", "--batch-sizes", "1"]);
    ran.exits_with(0);
    assert_eq!(cells(&document)[0]["outcome"], "measured");
}

#[test]
fn a_submitted_run_that_calls_back_before_its_outputs_are_there_is_wrong() {
    let queue = ["--bench", "throughput-inference", "--dim", "queue_depth=2", "--batch-sizes", "2"];
    for (how, outcome) in [("well", "measured"), ("early", "wrong")] {
        let how = format!("misbehave:how={how}");
        let asked = ["--plugin", "misbehave", "--option", &how, "--model", "probe-mlp"];
        let (_, document) = world().run(&[&asked[..], &queue[..]].concat());
        assert_eq!(cells(&document)[0]["outcome"], outcome, "{document}");
    }
}

#[test]
fn the_check_says_which_rules_are_broken() {
    let world = world();
    world.host(&["plugin", "check", "misbehave"]).exits_with(0).tells("0 broken");
    let told = world.host(&["plugin", "check", "misbehave", "--option", "how=constant", "--format", "json"]);
    told.exits_with(1);
    let rows: Vec<Value> = serde_json::from_str(&told.stdout()).unwrap();
    let broken: Vec<&str> =
        rows.iter().filter(|row| row["verdict"] == "BROKEN").filter_map(|row| row["id"].as_str()).collect();
    assert_eq!(broken, ["right", "inputs-matter"]);
    for (how, rule) in [("stale", "keeps-working"), ("first-only", "rows-apart")] {
        let how = format!("how={how}");
        let asked = ["plugin", "check", "misbehave", "--option", &how, "--option", "from=1000", "--format", "json"];
        let told = world.host(&asked);
        told.exits_with(1);
        let rows: Vec<Value> = serde_json::from_str(&told.stdout()).unwrap();
        assert!(rows.iter().any(|row| row["verdict"] == "BROKEN" && row["id"] == rule), "{rows:#?}");
    }
}

#[test]
fn a_plugin_that_crashes_in_a_check_breaks_its_rules_and_the_check_goes_on() {
    let told = world().host(&["plugin", "check", "misbehave", "--option", "how=null"]);
    told.exits_with(1).tells("SIGSEGV").tells("no-leak");
}
