use crate::cells::{ended, frame, measured, number, only, text};
use skillbench_results::questions::{compatibility, fixes, not_measured, problems};

#[test]
fn failed_unavailable_and_not_tried_are_three_different_things() {
    let cells = frame([
        measured("cpu", "a", 1.0),
        measured("cpu", "b", 1.0),
        ended("cuda", "a", "unavailable", "no driver"),
        ended("openvino", "b", "crashed", "signal 11"),
    ]);
    let found = compatibility(cells).unwrap();
    let state =
        |model: &str, hardware: &str| text(&only(&only(&found, "model_id", model), "hardware", hardware), "state");
    assert_eq!(state("a", "cpu").as_deref(), Some("measured"));
    assert_eq!(state("a", "cuda").as_deref(), Some("unavailable"));
    assert_eq!(state("b", "cuda").as_deref(), Some("not-tried"));
    assert_eq!(state("b", "openvino").as_deref(), Some("failed"));
    let crashed = only(&only(&found, "model_id", "b"), "hardware", "openvino");
    assert_eq!((number(&crashed, "crashed"), text(&crashed, "reason").as_deref()), (Some(1.0), Some("signal 11")));
    assert_eq!(found.height(), 6);
}

#[test]
fn the_furthest_that_was_reached_is_the_state_and_every_outcome_is_counted() {
    let cells = frame([
        measured("cpu", "a", 1.0),
        ended("cpu", "a", "timed-out", "600 s").with("axes", "batch=8"),
        ended("cpu", "a", "skipped", "rule").with("axes", "batch=16"),
        measured("qnn", "a", 1.0).emulated(),
        ended("qnn", "a", "wrong", "outputs").with("axes", "batch=8"),
    ]);
    let found = compatibility(cells).unwrap();
    let cpu = only(&found, "hardware", "cpu");
    assert_eq!(text(&cpu, "state").as_deref(), Some("measured"));
    let counts = ["measured", "timed_out", "skipped", "failed", "emulated"].map(|name| number(&cpu, name));
    assert_eq!(counts, [Some(1.0), Some(1.0), Some(1.0), Some(0.0), Some(0.0)]);
    let qnn = only(&found, "hardware", "qnn");
    assert_eq!((text(&qnn, "state").as_deref(), number(&qnn, "measured")), (Some("emulated"), Some(0.0)));
}

#[test]
fn problems_with_the_same_reason_are_one_row_with_how_many() {
    let cells = frame([
        ended("cuda", "a", "unavailable", "no driver"),
        ended("cuda", "b", "unavailable", "no driver"),
        ended("cuda", "b", "unavailable", "no driver").with("axes", "batch=4"),
        ended("cpu", "a", "failed", "no memory"),
        measured("cpu", "b", 1.0),
    ]);
    let found = problems(cells).unwrap();
    assert_eq!(found.height(), 2);
    let cuda = only(&found, "hardware", "cuda");
    assert_eq!((number(&cuda, "cells"), number(&cuda, "models")), (Some(3.0), Some(2.0)));
    assert_eq!(text(&cuda, "model_ids").as_deref(), Some("a, b"));
    assert_eq!(found.column("hardware").unwrap().str().unwrap().get(0), Some("cuda"), "the most frequent come first");
}

#[test]
fn every_cell_that_was_not_measured_has_a_row_with_its_reason() {
    let cells = frame([ended("cuda", "a", "unavailable", "no driver"), measured("cpu", "a", 1.0)]);
    let found = not_measured(cells).unwrap();
    assert_eq!(
        (text(&found, "hardware").as_deref(), text(&found, "reason").as_deref()),
        (Some("cuda"), Some("no driver"))
    );
}

#[test]
fn ways_around_are_counted_with_what_they_led_to() {
    let fixed = "precision: that of the graph in place of int8";
    let cells = frame([
        measured("cpu", "a", 1.0).with("fixes", fixed),
        ended("cpu", "b", "failed", "x").with("fixes", fixed),
        measured("cpu", "c", 1.0),
    ]);
    let found = fixes(cells).unwrap();
    assert_eq!((number(&found, "cells"), number(&found, "measured")), (Some(2.0), Some(1.0)));
}

#[test]
fn nothing_asked_nothing_told() {
    for found in [compatibility(frame([])), problems(frame([])), not_measured(frame([])), fixes(frame([]))] {
        assert_eq!(found.unwrap().height(), 0);
    }
}
