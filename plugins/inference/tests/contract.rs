//! The benchmark as a host sees it: through the C table alone.

mod stand;

use skillbench_inference as _;
use skillbench_plugin_api::Code;
use stand::{Plan, Record, benchmark, run};

fn plan() -> Plan {
    Plan { run_ms: 2, batch: 8, iterations: 3, ..Plan::default() }
}

#[test]
fn it_says_what_it_needs() {
    let inference = benchmark("inference");
    assert!(inference.needs_target() && inference.cold_start());
    assert_eq!((inference.version().as_str(), inference.category().as_str()), ("1", "performance"));
    assert!(inference.options_schema().contains("cold_start"));
}

#[test]
fn the_first_inference_is_the_first_run_and_comes_before_the_check() {
    let record = run("inference", &plan());
    record.outcome.as_ref().unwrap();
    let before = |one: &str, two: &str| record.first(one) < record.first(two);
    assert!(before("load", "prepare 0") && before("prepare 0", "run"), "{:?}", record.events);
    assert!(before("run", "verify") && before("verify", "round latency"), "{:?}", record.events);
    assert_eq!(record.events[..record.first("verify")].iter().filter(|event| *event == "run").count(), 1);
    assert_eq!(record.values("first_inference").len(), 1);
}

#[test]
fn each_run_of_a_round_is_a_sample_in_nanoseconds_for_a_whole_batch() {
    let record = run("inference", &plan());
    let values = record.values("latency");
    assert_eq!(values.len(), 2 * 3);
    assert!(values.iter().all(|value| *value >= 2e6), "{values:?}");
    assert!(record.series.iter().all(|(info, _)| info.items_per_sample == 8.0 && info.unit == "ns"));
    // The first, three rounds of three, and what each round runs to settle.
    assert_eq!(record.count("run"), 1 + 3 * (3 + 1));
}

#[test]
fn a_cold_start_ends_after_the_first_inference() {
    let record = run("inference", &Plan { options: vec![("cold_start", "true")], ..plan() });
    record.outcome.as_ref().unwrap();
    assert_eq!((record.count("run"), record.count("verify")), (1, 0));
    assert_eq!(record.series.len(), 1);
}

#[test]
fn a_wrong_output_is_never_timed() {
    let record = run("inference", &Plan { wrong_output: true, ..plan() });
    assert_eq!(record.outcome.as_ref().unwrap_err().code, Code::WrongOutput);
    assert!(record.values("latency").is_empty());
}

#[test]
fn a_load_or_a_run_that_fails_ends_it_with_the_reason() {
    let record = run("inference", &Plan { failing_load: 1, ..plan() });
    assert_eq!(record.outcome.unwrap_err().message, "load 1 failed");
    assert!(record.series.is_empty());
    let record = run("inference", &Plan { failing_run: 3, ..plan() });
    assert_eq!(record.outcome.as_ref().unwrap_err().message, "run 3 failed");
    assert!(record.values("latency").is_empty());
}

/// A model in two parts, of which one inference runs the second one first.
fn two_parts() -> Plan {
    Plan { parts: vec!["decoder", "encoder"], manifest: r#"{ "pipeline": ["encoder", "decoder"] }"#, ..plan() }
}

fn names(record: &Record) -> Vec<&str> {
    record.series.iter().map(|(info, _)| info.name.as_str()).collect()
}

#[test]
fn an_inference_of_several_parts_runs_each_once_in_the_order_of_the_pipeline() {
    let record = run("inference", &two_parts());
    record.outcome.as_ref().unwrap();
    assert!(record.first("part encoder") < record.first("part decoder"), "{:?}", record.events);
    assert!(record.values("latency").iter().all(|value| *value >= 4e6), "both parts, of 2 ms each");
    assert_eq!(record.values("latency").len(), 2 * 3);
    let all = ["first_inference", "first_inference.encoder", "first_inference.decoder", "latency", "latency.encoder"];
    assert_eq!(names(&record), [&all[..], &["latency.decoder"]].concat());
    // The first of each, and three rounds of three and one to settle: of both, then of each alone.
    assert_eq!(record.count("run"), 2 + 2 * 12 + 12 + 12);
}

#[test]
fn a_part_runs_once_for_each_step_of_its_scheduler_within_an_inference() {
    let manifest = r#"{ "pipeline": ["encoder", { "part": "unet", "times": "steps" }] }"#;
    for steps in [1, 3] {
        let record = run(
            "inference",
            &Plan { axes: vec![("steps", steps)], parts: vec!["encoder", "unet"], manifest, ..plan() },
        );
        record.outcome.as_ref().unwrap();
        let whole = 1 + steps as usize;
        // The first of all, and the rounds: those of the whole run each part so often, those of a part run it once.
        assert_eq!(record.count("run"), whole + 12 * whole + 12 + 12);
        assert!(record.values("latency").iter().all(|value| *value >= whole as f64 * 2e6));
        assert!(record.values("first_inference.unet")[0] >= steps as f64 * 2e6);
    }
}

#[test]
fn the_first_inference_of_all_parts_is_the_sum_of_theirs() {
    let record = run("inference", &Plan { options: vec![("cold_start", "true")], ..two_parts() });
    record.outcome.as_ref().unwrap();
    let value = |name| record.values(name)[0];
    let sum = value("first_inference.encoder") + value("first_inference.decoder");
    assert!((value("first_inference") - sum).abs() < 1.0 && sum >= 4e6);
    assert_eq!((record.count("run"), record.count("verify")), (2, 0));
}

#[test]
fn every_part_is_checked_before_any_is_timed() {
    let record = run("inference", &two_parts());
    let timed = record.first("round latency");
    assert_eq!(record.events[..timed].iter().filter(|event| *event == "verify").count(), 2);
}

#[test]
fn without_a_pipeline_the_parts_run_in_their_own_order() {
    let record = run("inference", &Plan { manifest: "", ..two_parts() });
    assert!(record.first("part decoder") < record.first("part encoder"));
    assert!(names(&record).contains(&"latency.decoder"));
}

#[test]
fn a_pipeline_of_parts_that_are_not_there_is_refused_by_name() {
    let record = run("inference", &Plan { manifest: r#"{ "pipeline": ["vision"] }"#, ..two_parts() });
    let error = record.outcome.unwrap_err();
    assert!(error.message.contains("'vision'") && error.message.contains("waiting"), "{error}");
    assert_eq!(error.code, Code::InvalidArgument);
}
