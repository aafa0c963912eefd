use crate::cells::{ended, flags, frame, measured, near, number, numbers, only, texts};
use skillbench_results::questions::{before_after, trend};

#[test]
fn a_trend_is_in_the_order_of_time_and_has_every_run() {
    let cells = frame([
        measured("cpu", "a", 5.0).on_day("c", 3),
        measured("cpu", "a", 7.0).on_day("a", 1),
        ended("cpu", "a", "failed", "x").on_day("b", 2),
    ]);
    let found = trend(cells).unwrap();
    assert_eq!(numbers(&found, "latency_median_ms"), [Some(7.0), Some(5.0)]);
}

#[test]
fn after_is_faster_above_one_and_clear_where_intervals_are_apart() {
    let before = frame([measured("cpu", "a", 10.0), measured("cpu", "b", 10.0), measured("cpu", "gone", 1.0)]);
    let after = frame([measured("cpu", "a", 5.0), measured("cpu", "b", 10.1), measured("cpu", "new", 1.0)]);
    let found = before_after(before, after).unwrap();
    let a = only(&found, "model_id", "a");
    assert!(near(number(&a, "faster"), 2.0) && flags(&a, "clear") == [Some(true)]);
    assert_eq!(flags(&only(&found, "model_id", "b"), "clear"), [Some(false)]);
    let gone = only(&found, "model_id", "gone");
    assert_eq!((number(&gone, "latency_median_ms_after"), number(&gone, "faster")), (None, None));
    assert_eq!(number(&only(&found, "model_id", "new"), "latency_median_ms_before"), None);
    assert_eq!(found.height(), 4);
}

#[test]
fn an_emulated_cell_is_not_held_against_a_measured_one() {
    let found =
        before_after(frame([measured("qnn", "a", 10.0)]), frame([measured("qnn", "a", 5.0).emulated()])).unwrap();
    assert_eq!(numbers(&found, "faster"), [None, None]);
    assert_eq!(texts(&found, "trust"), [Some("emulated".into()), Some("hardware".into())]);
}
