use crate::cells::{Row, ended, frame, measured, texts};
use polars::prelude::*;
use skillbench_results::questions::latest::{latest, placed};

fn placed_rows(rows: impl IntoIterator<Item = Row>) -> DataFrame {
    placed(frame(rows)).unwrap().collect().unwrap()
}

#[test]
fn only_measured_hardware_with_outputs_that_were_held_against_an_engine_is_comparable() {
    let cell = || measured("cpu", "a", 1.0);
    let rows = [
        cell(),
        cell().with("verified", "yes, against rten"),
        cell().with("verified", "itself"),
        cell().unverified(),
        cell().with("verified", "off"),
        cell().without("verified"),
        cell().emulated(),
        cell().emulated().unverified(),
        ended("cpu", "a", "failed", "no memory"),
    ];
    let expected = [
        Some("hardware"),
        Some("hardware"),
        Some("hardware"),
        Some("unverified"),
        Some("unverified"),
        Some("unverified"),
        Some("emulated"),
        Some("emulated"),
        None,
    ];
    assert_eq!(texts(&placed_rows(rows), "trust"), expected.map(|word| word.map(String::from)));
}

#[test]
fn hardware_has_its_device_only_where_there_are_several_of_the_backend() {
    let rows = [
        measured("cpu", "a", 1.0),
        measured("cuda", "a", 1.0).with("device_id", "0"),
        measured("cuda", "a", 1.0).with("device_id", "1"),
        ended("qnn", "a", "unavailable", "no device"),
    ];
    let names: Vec<String> = texts(&placed_rows(rows), "hardware").into_iter().flatten().collect();
    assert_eq!(names, ["cpu", "cuda:0", "cuda:1", "qnn"]);
}

#[test]
fn a_machine_without_a_name_is_the_run_itself() {
    let rows = [measured("cpu", "a", 1.0).with("cpu_model", "X1"), measured("cpu", "a", 1.0).without("hostname")];
    let names: Vec<String> = texts(&placed_rows(rows), "machine").into_iter().flatten().collect();
    assert_eq!(names, ["lab, X1", "r1"]);
}

#[test]
fn figures_come_from_the_newest_measured_cell_and_a_newer_failure_stands_beside_it() {
    let rows = [
        measured("cpu", "a", 5.0).on_day("new", 9),
        measured("cpu", "a", 7.0).on_day("old", 3),
        measured("cpu", "b", 7.0).on_day("old", 3),
        ended("cpu", "b", "crashed", "signal 11").on_day("new", 9).with("device_id", "cpu").with("threads", 2i64),
    ];
    let newest = latest(frame(rows)).unwrap();
    assert_eq!(texts(&newest, "run"), [Some("new".to_string()), Some("old".to_string())]);
    assert_eq!(texts(&newest, "outcome"), [Some("measured".to_string()), Some("measured".to_string())]);
    assert_eq!(texts(&newest, "newer_outcome"), [None, Some("crashed".to_string())]);
    assert_eq!(texts(&newest, "newer_reason"), [None, Some("signal 11".to_string())]);
}

#[test]
fn options_company_and_requests_at_once_are_told_with_the_hardware() {
    let load = |workers: i64| measured("rten", "a", 1.0).with("benchmark", "throughput-load").with("workers", workers);
    let rows = [
        measured("cpu", "a", 1.0),
        measured("cpu", "a", 1.0).with("options", "graph_optimization=disable"),
        measured("cpu", "a", 1.0).with("beside", "rten"),
        load(4),
        load(8),
    ];
    let names: Vec<String> = texts(&placed_rows(rows), "hardware").into_iter().flatten().collect();
    let expected =
        ["cpu", "cpu (graph_optimization=disable)", "cpu (beside rten)", "rten (4 at once)", "rten (8 at once)"];
    assert_eq!(names, expected);
}

#[test]
fn a_model_whose_content_changed_is_another_model() {
    let rows = [
        measured("cpu", "a", 5.0).with("model_content", "older").on_day("one", 3),
        measured("cpu", "a", 7.0).with("model_content", "newer").on_day("two", 9),
    ];
    let names: Vec<String> = texts(&placed_rows(rows), "model_id").into_iter().flatten().collect();
    assert_eq!(names[1], "a");
    assert!(names[0].starts_with("a [") && names[0].len() == "a [12345678]".len(), "{names:?}");
}
