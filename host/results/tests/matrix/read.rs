//! Files of other tools.

use serde_json::{Value, json};
use skillbench_results::matrix::{Rating, Status, json as file, markdown, read};

/// As another tool wrote it, with keys of its own.
fn other() -> Value {
    json!({
        "timestamp": "2025-03-01T08:00:00", "version": 3,
        "hardware_types": ["cpu", "qualcomm", "cuda"],
        "model_families": {"vision": {"notes": "none", "hardware_compatibility": {
            "cpu": {"compatible": true, "performance_rating": "medium", "benchmark_results": [
                {"timestamp": "2025-03-01T08:00:00", "model_name": "vit", "mean_latency": 0.02, "mean_throughput": 50, "seen": true}]},
            "qualcomm": {"compatible": true, "performance_rating": "high", "benchmark_results": []},
            "mps": {"compatible": false, "performance_rating": "n/a"}
        }}}
    })
}

#[test]
fn a_file_of_another_tool_is_read_and_qualcomm_is_qnn() {
    let matrix = read(&other()).unwrap();
    assert_eq!(matrix.hardware, ["cpu", "cuda", "mps", "qnn"]);
    let entries = &matrix.families[0].entries;
    let told: Vec<_> =
        entries.iter().map(|entry| (&*entry.hardware, entry.status, entry.rating, entry.compatible)).collect();
    assert_eq!(
        told,
        [
            ("cpu", Status::Measured, Rating::Medium, Some(true)),
            ("cuda", Status::NotTried, Rating::Unknown, None),
            ("mps", Status::Failed, Rating::None, Some(false)),
            ("qnn", Status::Measured, Rating::High, Some(true)),
        ]
    );
    assert_eq!((entries[0].history[0].mean_latency, entries[0].history[0].mean_throughput), (Some(0.02), Some(50.0)));
    let written = file(&matrix);
    let ids = &written["model_families"]["vision"]["hardware_compatibility"];
    assert!(ids.get("qnn").is_some() && ids.get("qualcomm").is_none());
    assert!(
        markdown(&matrix).contains("| **vision** | medium | unknown, not tried | n/a, failed | high |"),
        "{}",
        markdown(&matrix)
    );
}

#[test]
fn one_hardware_under_two_names_is_one_with_the_runs_of_both() {
    let mut both = other();
    let run =
        json!({"timestamp": "2025-03-02T08:00:00", "model_name": "vit", "mean_latency": 0.01, "mean_throughput": 100});
    both["model_families"]["vision"]["hardware_compatibility"]["qnn"] =
        json!({"compatible": null, "benchmark_results": [run]});
    let matrix = read(&both).unwrap();
    let qnn = matrix.families[0].entries.last().unwrap();
    assert_eq!((qnn.rating, qnn.history.len()), (Rating::High, 1));
}

#[test]
fn a_wrong_type_is_refused_with_its_place() {
    let place = ["model_families", "vision", "hardware_compatibility", "cpu"];
    let cases: [(&[&str], Value, &str, &str); 7] = [
        (&["compatible"], json!("yes"), "model_families.vision.hardware_compatibility.cpu.compatible", "true or false"),
        (
            &["performance_rating"],
            json!("great"),
            "model_families.vision.hardware_compatibility.cpu.performance_rating",
            "one of high, medium-high",
        ),
        (
            &["performance_rating"],
            json!(3),
            "model_families.vision.hardware_compatibility.cpu.performance_rating",
            "one of",
        ),
        (
            &["benchmark_results"],
            json!({}),
            "model_families.vision.hardware_compatibility.cpu.benchmark_results",
            "a list",
        ),
        (
            &["benchmark_results"],
            json!([{"mean_latency": "fast"}]),
            "cpu.benchmark_results[0].mean_latency",
            "a number",
        ),
        (&["status"], json!("fine"), "cpu.status", "one of measured"),
        (&["speedups"], json!([{"value": 2.0}]), "cpu.speedups[0]", "an object with rating"),
    ];
    for (below, wrong, wanted, expected) in cases {
        let mut file = other();
        let mut at = &mut file;
        for key in place.iter().chain(below) {
            at = &mut at[*key];
        }
        *at = wrong;
        let error = read(&file).unwrap_err().to_string();
        assert!(error.contains(wanted) && error.contains(expected), "{error}");
    }
}

#[test]
fn what_is_no_matrix_is_told() {
    for (file, expected) in [
        (json!({}), "has model_families"),
        (json!([1]), "an object"),
        (json!({"model_families": []}), "model_families: expected an object"),
    ] {
        let error = read(&file).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert!(read(&json!({"model_families": {}})).unwrap().families.is_empty());
}
