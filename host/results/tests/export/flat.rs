use crate::made::{at_batch, cell, ended, measured, run, with};
use serde_json::json;
use skillbench_results::export::{flat, flat_csv};

#[test]
fn every_cell_has_a_name_and_its_numbers_in_seconds_and_mebibytes() {
    let flat = flat(&run("a", 0, vec![measured("cpu", "m", 20.0, 18.0, 500.0)]));
    let result = &flat["results"]["m/cpu/inference/batch_1_seq_32"];
    assert_eq!((&result["execution_time"], &result["memory_used_mb"]), (&json!(0.018), &json!(30.0)));
    assert_eq!((&result["throughput"], &result["model_load_time"]), (&json!(50.0), &json!(0.5)));
    assert!(result["cpu_time"].is_null() && result.get("cpu_time").is_some());
    assert_eq!(flat["model"], "m");
}

#[test]
fn the_summary_counts_what_was_tried_and_keeps_apart_how_it_ended() {
    let cells = vec![
        measured("cpu", "m", 20.0, 18.0, 500.0),
        at_batch(ended("cpu", "m", "failed", "no memory"), 8),
        ended("cuda", "n", "unavailable", "no driver"),
        cell("cpu", "n"),
    ];
    let flat = flat(&run("a", 0, cells));
    let summary = &flat["summary"];
    assert_eq!(
        (&summary["total_benchmarks"], &summary["successful_runs"], &summary["failed_runs"]),
        (&json!(2), &json!(1), &json!(1))
    );
    assert_eq!(summary["success_rate"], json!(0.5));
    assert_eq!(summary["failed_runs_by_status"], json!({"failed": 1}));
    assert_eq!((&summary["skipped"], &summary["unavailable"]), (&json!(1), &json!(1)));
    assert!(flat.get("model").is_none());
    let failed = flat["results"]["m/cpu/inference/batch_8_seq_32"].as_object().unwrap();
    assert!(failed.get("execution_time").is_none() && failed["error"] == "no memory");
}

#[test]
fn nothing_tried_has_no_rate() {
    assert!(flat(&run("a", 0, vec![cell("cpu", "m")]))["summary"]["success_rate"].is_null());
}

#[test]
fn the_table_has_a_row_for_each_model_of_each_run() {
    let first = run("a", 0, vec![measured("cpu", "m", 20.0, 18.0, 500.0), ended("cuda", "m", "failed", "no memory")]);
    let second = run("b", 1, vec![measured("cpu", "odd, name", 2.0, 2.0, 5.0), with(cell("cpu", "k"), json!({}))]);
    let wanted = "Model,Total Benchmarks,Successful Runs,Failed Runs,Success Rate,Timestamp\n\
        m,2,1,1,0.5000,2026-11-21T12:00:00Z\n\
        k,0,0,0,,2026-11-21T12:00:01Z\n\
        \"odd, name\",1,1,0,1.0000,2026-11-21T12:00:01Z\n";
    assert_eq!(flat_csv([&first, &second]).unwrap(), wanted);
}
