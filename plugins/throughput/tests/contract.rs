//! The benchmarks as a host sees them: through the C table alone.

#[path = "../../inference/tests/stand/mod.rs"]
mod stand;

use skillbench_plugin_api::Code;
use skillbench_throughput as _;
use stand::{Plan, Record, benchmark, run};

const BOTH: [&str; 2] = ["throughput-load", "throughput-inference"];

fn plan() -> Plan {
    Plan { load_ms: 12, run_ms: 12, batch: 2, iterations: 2, ..Plan::default() }
}

/// The shortest sample: what other work on this machine disturbed least.
fn best(record: &Record, series: &str) -> f64 {
    let values = record.values(series);
    assert_eq!(values.len(), 2 * 2, "{:?}", record.outcome);
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn rounds(record: &Record) -> Vec<&str> {
    record.events.iter().filter_map(|event| event.strip_prefix("round ")).collect()
}

#[test]
fn both_need_a_target_and_take_a_number_of_workers() {
    for id in BOTH {
        let benchmark = benchmark(id);
        assert!(benchmark.needs_target() && !benchmark.cold_start());
        assert!(benchmark.options_schema().contains("workers"));
    }
}

#[test]
fn work_that_waits_is_done_four_times_as_fast_by_four() {
    for id in BOTH {
        let record = run(id, &plan());
        let (sequential, concurrent) = (best(&record, "sequential"), best(&record, "concurrent"));
        assert!(sequential >= 4.0 * 12e6, "{id}: {sequential}");
        assert!(concurrent >= 12e6, "{id}: {concurrent}");
        let gain = sequential / concurrent;
        assert!(gain > 2.5, "{id}: {gain}");
    }
}

#[test]
fn a_sample_stands_for_all_that_was_done_in_it() {
    let items = |id| -> Vec<f64> { run(id, &plan()).series.iter().map(|(info, _)| info.items_per_sample).collect() };
    assert_eq!(items("throughput-load"), [4.0, 4.0]);
    // Runs of 12 ms are long enough to have one for each worker; each does a batch of 2.
    assert_eq!(items("throughput-inference"), [8.0, 8.0]);
}

#[test]
fn short_inferences_are_repeated_until_a_sample_is_long_enough() {
    let record = run("throughput-inference", &Plan { run_ms: 1, ..plan() });
    record.outcome.as_ref().unwrap();
    let runs = record.series[0].0.items_per_sample / (4.0 * 2.0);
    assert!((5.0..=10.0).contains(&runs), "{runs}");
    assert!(record.values("concurrent").iter().all(|value| *value >= 9e6), "{:?}", record.values("concurrent"));
}

#[test]
fn rounds_alternate_so_that_drift_hits_both_alike() {
    for id in BOTH {
        let record = run(id, &plan());
        assert_eq!(rounds(&record), ["sequential", "concurrent"].repeat(4), "{id}");
    }
}

#[test]
fn every_request_is_checked_before_anything_is_timed() {
    let record = run("throughput-inference", &Plan { options: vec![("workers", "3")], ..plan() });
    let timed = record.first("round sequential");
    let checks = record.events[..timed].iter().filter(|event| *event == "verify").count();
    assert_eq!((checks, record.count("verify")), (3, 3));
    let record = run("throughput-load", &plan());
    assert!(record.first("verify") < record.first("round sequential"));
}

#[test]
fn all_loads_of_a_sample_are_alive_at_its_end_and_unloaded_after_it() {
    let record = run("throughput-load", &plan());
    assert_eq!(record.count("load"), record.count("unload"));
    let mut alive = 0;
    let mut most = 0;
    for event in &record.events {
        alive += i32::from(event == "load") - i32::from(event == "unload");
        most = most.max(alive);
    }
    assert_eq!((alive, most), (0, 4));
}

#[test]
fn one_worker_gains_nothing() {
    let one = Plan { options: vec![("workers", "1")], ..plan() };
    let record = run("throughput-inference", &one);
    let gain = best(&record, "sequential") / best(&record, "concurrent");
    assert!((0.7..1.4).contains(&gain), "{gain}");
}

#[test]
fn a_wrong_output_is_never_timed() {
    for id in BOTH {
        let record = run(id, &Plan { wrong_output: true, ..plan() });
        assert_eq!(record.outcome.unwrap_err().code, Code::WrongOutput);
        assert!(record.series.is_empty());
    }
}

#[test]
fn a_failure_inside_a_worker_ends_the_benchmark_with_its_reason_and_gives_no_time() {
    // One load to verify and twelve of the sequential warm-up: the fifteenth is a worker's.
    let record = run("throughput-load", &Plan { failing_load: 1 + 12 + 2, ..plan() });
    assert_eq!(record.outcome.as_ref().unwrap_err().message, "load 15 failed");
    assert!(record.values("concurrent").is_empty());
    // Four runs to verify, eight trials, and twelve of the sequential warm-up: after them it is a worker's.
    let record = run("throughput-inference", &Plan { failing_run: 4 + 8 + 12 + 3, ..plan() });
    assert_eq!(record.outcome.as_ref().unwrap_err().message, "run 27 failed");
    assert!(record.values("concurrent").is_empty());
}

#[test]
fn a_number_of_workers_that_cannot_be_is_refused() {
    for workers in ["0", "257", "many", "-1"] {
        let record = run("throughput-load", &Plan { options: vec![("workers", workers)], ..plan() });
        assert_eq!(record.outcome.unwrap_err().code, Code::InvalidArgument, "{workers}");
    }
}

/// A model in two parts, as [`plan`] otherwise.
fn two_parts() -> Plan {
    Plan { parts: vec!["encoder", "decoder"], ..plan() }
}

#[test]
fn loading_a_model_of_several_parts_loads_them_all() {
    let record = run("throughput-load", &two_parts());
    record.outcome.as_ref().unwrap();
    // To verify, and for each worker in each of three rounds of two samples and one to settle, of either series.
    assert_eq!(record.count("load"), 2 * (1 + 2 * 3 * 3 * 4));
    assert!(best(&record, "sequential") >= 2.0 * 4.0 * 12e6, "two loads for each worker");
    assert!(record.series.iter().all(|(info, _)| info.items_per_sample == 4.0), "four models, not eight parts");
}

#[test]
fn an_inference_of_several_parts_runs_them_all() {
    let record = run("throughput-inference", &two_parts());
    record.outcome.as_ref().unwrap();
    assert!(best(&record, "sequential") >= 2.0 * 4.0 * 12e6, "two runs for each worker");
    assert!(record.series.iter().all(|(info, _)| info.items_per_sample == 8.0), "four batches of two");
    assert_eq!(record.count("verify"), 2 * 4, "each request of each part");
}
