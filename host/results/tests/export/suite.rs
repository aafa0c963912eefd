use crate::made::{at_batch, cell, ended, measured, run, stats, with};
use serde_json::{Value, json};
use skillbench_results::export::suite;

fn of<'a>(suite: &'a Value, model: &str, hardware: &str) -> &'a Value {
    &suite["benchmarks"]["embedding"][model][hardware]
}

#[test]
fn times_are_in_seconds_and_the_summary_is_over_the_points() {
    let suite = suite(&run(
        "a",
        0,
        vec![measured("cpu", "m", 20.0, 18.0, 500.0), at_batch(measured("cpu", "m", 40.0, 36.0, 700.0), 4)],
    ));
    assert_eq!(suite["timestamp"], "2026-11-21T12:00:00Z");
    let target = of(&suite, "m", "cpu");
    assert_eq!((&target["status"], &target["model_load_time"]), (&json!("success"), &json!(0.6)));
    let point = &target["benchmark_results"]["batch_1_seq_32"];
    assert_eq!(
        (&point["status"], &point["avg_latency"], &point["throughput"]),
        (&json!("success"), &json!(0.02), &json!(50.0))
    );
    let summary = &target["performance_summary"];
    assert_eq!(summary["latency"], json!({"min": 0.02, "max": 0.04, "mean": 0.03}));
    assert_eq!(summary["throughput"], json!({"min": 25.0, "max": 50.0, "mean": 37.5}));
}

#[test]
fn a_cell_that_is_not_measured_says_what_happened_and_has_no_number() {
    for outcome in ["failed", "crashed", "timed-out", "unavailable", "unsupported", "wrong", "skipped"] {
        let suite = suite(&run("a", 0, vec![ended("cuda", "m", outcome, "it went so; do this")]));
        let target = of(&suite, "m", "cuda");
        assert_eq!((&target["status"], &target["error"]), (&json!(outcome), &json!("it went so; do this")));
        let point = target["benchmark_results"]["batch_1_seq_32"].as_object().unwrap();
        assert_eq!((&point["status"], &point["error"]), (&json!(outcome), &json!("it went so; do this")));
        assert!(point.get("avg_latency").is_none() && point.get("throughput").is_none(), "{point:?}");
        assert!(target["model_load_time"].is_null());
        assert_eq!(target["performance_summary"]["latency"], json!({"min": null, "max": null, "mean": null}));
    }
}

#[test]
fn a_model_of_which_some_points_failed_is_partial_with_the_reason() {
    let cells = vec![measured("cpu", "m", 20.0, 18.0, 500.0), at_batch(ended("cpu", "m", "failed", "no memory"), 8)];
    let suite = suite(&run("a", 0, cells));
    assert_eq!(
        (&of(&suite, "m", "cpu")["status"], &of(&suite, "m", "cpu")["error"]),
        (&json!("partial"), &json!("no memory"))
    );
}

#[test]
fn emulated_and_unverified_points_say_so_and_unverified_ones_are_not_summed_up_with_others() {
    let loose = with(at_batch(measured("qnn", "m", 90.0, 90.0, 1.0), 2), json!({"verification": {"status": "off"}}));
    let cells = vec![
        with(measured("qnn", "m", 20.0, 18.0, 1.0), json!({"emulated": true})),
        with(loose, json!({"emulated": true})),
    ];
    let suite = suite(&run("a", 0, cells));
    let target = of(&suite, "m", "qnn");
    assert_eq!(target["emulated"], true);
    let points = &target["benchmark_results"];
    assert_eq!(
        (&points["batch_1_seq_32"]["verified"], &points["batch_2_seq_32"]["verified"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(
        (&target["performance_summary"]["points"], &target["performance_summary"]["latency"]["max"]),
        (&json!(1), &json!(0.02))
    );
}

#[test]
fn what_other_benchmarks_measured_stands_under_their_names() {
    let load = with(measured("cpu", "m", 1.0, 1.0, 1.0), json!({"benchmark": "throughput-load"}));
    let suite = suite(&run("a", 0, vec![measured("cpu", "m", 20.0, 18.0, 500.0), load]));
    let target = of(&suite, "m", "cpu");
    assert_eq!(target["benchmark_results"].as_object().unwrap().len(), 1);
    assert_eq!(target["other_benchmarks"]["throughput-load"]["batch_1_seq_32"]["status"], "success");
    assert_eq!(target["performance_summary"]["points"], 1);
}

#[test]
fn several_devices_of_one_backend_are_told_apart() {
    let second = with(measured("cuda", "m", 1.0, 1.0, 1.0), json!({"device": "1"}));
    let suite = suite(&run("a", 0, vec![with(measured("cuda", "m", 2.0, 2.0, 1.0), json!({"device": "0"})), second]));
    assert!(of(&suite, "m", "cuda:0").is_object() && of(&suite, "m", "cuda:1").is_object(), "{suite:#}");
}

#[test]
fn two_cells_of_one_name_are_both_there() {
    let suite = suite(&run(
        "a",
        0,
        vec![measured("cpu", "m", 2.0, 2.0, 1.0), with(measured("cpu", "m", 3.0, 3.0, 1.0), json!({"threads": 1}))],
    ));
    let points = of(&suite, "m", "cpu")["benchmark_results"].as_object().unwrap();
    assert_eq!(points.keys().collect::<Vec<_>>(), ["batch_1_seq_32", "batch_1_seq_32_cell_1"]);
}

#[test]
fn cuda_is_available_absent_or_not_known() {
    let told = |cells| suite(&run("a", 0, cells))["system_info"]["cuda_available"].clone();
    assert_eq!(told(vec![measured("cuda", "m", 2.0, 2.0, 1.0)]), true);
    assert_eq!(told(vec![ended("cuda", "m", "unavailable", "no driver")]), false);
    assert_eq!(told(vec![measured("cpu", "m", 2.0, 2.0, 1.0)]), Value::Null);
    let mut left_out = run("a", 0, vec![]);
    left_out.left_out.insert("cuda".into(), "no driver".into());
    assert_eq!(suite(&left_out)["system_info"]["cuda_available"], false);
    assert_eq!(told(vec![cell("cuda", "m")]), Value::Null, "what a rule skipped tells nothing");
}

#[test]
fn a_mean_that_is_no_number_is_null() {
    let mut odd = measured("cpu", "m", 2.0, 2.0, 1.0);
    odd["metrics"]["latency_ms"] = Value::Null;
    odd["metrics"]["cpu_ms"] = stats(1, 1.0, 1.0, None);
    let suite = suite(&run("a", 0, vec![odd]));
    assert!(of(&suite, "m", "cpu")["benchmark_results"]["batch_1_seq_32"]["avg_latency"].is_null());
}
