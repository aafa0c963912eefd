use crate::cells::{Row, ended, frame, measured, texts};
use polars::prelude::*;
use skillbench_results::questions::standing::{latest, placed};

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
    assert_eq!(texts(&placed_rows(rows), "standing"), expected.map(|word| word.map(String::from)));
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
fn of_a_cell_that_ran_twice_the_newest_counts_even_if_it_failed() {
    let rows = [
        measured("cpu", "a", 5.0).on_day("new", 9),
        measured("cpu", "a", 7.0).on_day("old", 3),
        measured("cpu", "b", 7.0).on_day("old", 3),
        ended("cpu", "b", "crashed", "signal 11").on_day("new", 9).with("device_id", "cpu").with("threads", 2i64),
    ];
    let newest = latest(frame(rows).lazy()).unwrap().collect().unwrap();
    assert_eq!(texts(&newest, "run"), [Some("new".to_string()), Some("new".to_string())]);
    assert_eq!(texts(&newest, "outcome"), [Some("measured".to_string()), Some("crashed".to_string())]);
}
