//! The forms for services that follow benchmarks over time.

use crate::made::{at_batch, cell, ended, measured, run, with};
use serde_json::{Value, json};
use skillbench_record::catalog::Better;
use skillbench_results::export::{action, bencher, openmetrics};

fn with_interval() -> Value {
    let mut cell = measured("cpu", "m", 20.0, 18.0, 500.0);
    cell["metrics"]["latency_ms"]["ci95"] = json!([17.5, 18.5]);
    cell
}

#[test]
fn bencher_gets_nanoseconds_and_bytes_with_intervals_under_a_name_that_says_what_was_measured() {
    let all = bencher(&run("a", 0, vec![with_interval()])).unwrap();
    let figures = &all["m/float32/cpu:cpu (2 threads)/inference/batch_1_seq_32"];
    assert_eq!(figures["latency"], json!({"value": 18e6, "lower_value": 17.5e6, "upper_value": 18.5e6}));
    assert_eq!(figures["throughput"], json!({"value": 50.0}));
    assert_eq!(figures["peak-memory"], json!({"value": 40.0 * 1_048_576.0}));
    assert!(figures.get("capacity").is_none(), "what was not measured is left out: {figures}");
}

#[test]
fn the_action_gets_a_list_for_each_direction_with_units() {
    let run = run("a", 0, vec![with_interval()]);
    let name = |figure: &str| format!("m/float32/cpu:cpu (2 threads)/inference/batch_1_seq_32: {figure}");
    let smaller = action(&run, Better::Lower).unwrap();
    let latency = &smaller.as_array().unwrap()[0];
    assert_eq!((&latency["name"], &latency["unit"]), (&json!(name("median latency")), &json!("ms")));
    assert_eq!((&latency["value"], &latency["range"]), (&json!(18.0), &json!("17.5 to 18.5 (95%)")));
    assert_eq!(latency["extra"], "trust: hardware\nstable\nrun: a");
    let bigger = action(&run, Better::Higher).unwrap();
    let names: Vec<&str> = bigger.as_array().unwrap().iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, [name("throughput")]);
}

#[test]
fn figures_that_are_worth_less_stand_in_a_line_of_their_own_and_those_that_cannot_be_in_none() {
    let emulated = with(measured("qnn", "m", 2.0, 2.0, 5.0), json!({"emulated": true}));
    let unverified = with(measured("cuda", "m", 2.0, 2.0, 5.0), json!({"verification": null}));
    let wrong = with(measured("acme", "m", 2.0, 2.0, 5.0), json!({"implausible": ["faster than memory"]}));
    let run = run("a", 0, vec![emulated, unverified, wrong]);
    let all = bencher(&run).unwrap();
    let names: Vec<&String> = all.as_object().unwrap().keys().collect();
    assert!(names[0].starts_with("m/float32/qnn:qnn ") && names[0].ends_with(" [emulated]"), "{names:?}");
    assert!(names[1].starts_with("m/float32/cuda:cuda ") && names[1].ends_with(" [unverified]"), "{names:?}");
    assert_eq!(names.len(), 2);
    let text = openmetrics(&run);
    assert!(!text.lines().any(|line| line.contains("latency") && line.contains("acme")), "{text}");
    assert!(text.contains(r#"trust="emulated"} 0.002 "#), "{text}");
}

#[test]
fn what_has_no_figure_has_no_line_there_and_says_in_openmetrics_how_it_ended() {
    let cells = vec![ended("cuda", "m", "unavailable", "no driver"), cell("cpu", "m")];
    let run = run("a", 0, cells);
    assert_eq!((bencher(&run), action(&run, Better::Lower), action(&run, Better::Higher)), (None, None, None));
    let text = openmetrics(&run);
    assert!(text.contains(r#"outcome="unavailable",reason_code="it"} 1 1795262400"#), "{text}");
    assert!(text.ends_with("# EOF\n") && !text.contains("gauge"), "{text}");
}

#[test]
fn openmetrics_has_seconds_and_bytes_and_no_sample_twice() {
    let odd = with(measured("cpu", "a \"b\\c\"\nd", 20.0, 18.0, 500.0), json!({}));
    let twice = at_batch(measured("cpu", "m", 1.0, 1.0, 1.0), 4);
    let text = openmetrics(&run("a", 0, vec![odd, twice.clone(), twice]));
    let family = "# TYPE skillbench_latency_median_seconds gauge\n# UNIT skillbench_latency_median_seconds seconds\n\
        # HELP skillbench_latency_median_seconds median latency.\n\
        skillbench_latency_median_seconds{machine=\"here\",model=\"a \\\"b\\\\c\\\"\\nd\",plugin=\"cpu\",device=\"cpu\",benchmark=\"inference\",\
        point=\"batch_1_seq_32\",precision=\"float32\",threads=\"2\",trust=\"hardware\"} 0.018 1795262400\n";
    assert!(text.contains(family), "{text}");
    assert!(text.contains("skillbench_peak_memory_bytes{") && text.contains("} 41943040 1795262400\n"), "{text}");
    let samples: Vec<&str> =
        text.lines().filter(|line| line.starts_with("skillbench_latency_median_seconds{")).collect();
    assert_eq!(samples.len(), 3);
    assert!(samples[2].contains(",cell=\"2\"}") && !samples[1].contains("cell="), "{samples:?}");
}
