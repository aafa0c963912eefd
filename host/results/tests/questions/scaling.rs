use crate::cells::{ended, frame, measured, near, number, numbers, only};
use skillbench_results::questions::{Along, memory_by_parameters, memory_scaling, scaling};

#[test]
fn a_larger_batch_is_held_against_the_smallest_that_was_measured() {
    let cells = frame([
        measured("cpu", "a", 20.0).at_batch(8),
        measured("cpu", "a", 10.0).at_batch(2),
        ended("cpu", "a", "failed", "x").with("batch_size", 1i64),
    ]);
    let found = scaling(cells, Along::Batch).unwrap();
    assert_eq!(numbers(&found, "point"), [Some(2.0), Some(8.0)]);
    assert_eq!(numbers(&found, "growth"), [Some(1.0), Some(4.0)]);
    assert_eq!(numbers(&found, "latency_ratio"), [Some(1.0), Some(2.0)]);
    assert_eq!(numbers(&found, "gain"), [Some(1.0), Some(2.0)]);
    assert_eq!(numbers(&found, "throughput_ratio"), [Some(1.0), Some(2.0)]);
    assert_eq!(numbers(&found, "efficiency"), [Some(1.0), Some(0.5)]);
    let ends = ["gain_low", "gain_high"].map(|end| numbers(&found, end));
    assert_eq!([ends[0][0], ends[1][0]], [None, None], "the smallest is held against itself");
    assert!(near(ends[0][1], 2.0 * 0.99 / 1.01) && near(ends[1][1], 2.0 * 1.01 / 0.99));
}

#[test]
fn points_of_other_axes_precisions_and_standing_are_on_lines_of_their_own() {
    let at =
        |axes: &'static str, batch: i64, ms: f64| measured("cpu", "a", ms).with("axes", axes).with("batch_size", batch);
    let cells = frame([
        at("batch=1 sequence=32 text_batch=1", 1, 1.0),
        at("batch=4 sequence=32 text_batch=1", 4, 2.0),
        at("batch=4 sequence=128 text_batch=1", 4, 8.0),
        at("batch=8 sequence=32 text_batch=1", 8, 3.0).with("precision", "float16"),
        at("batch=16 sequence=32 text_batch=1", 16, 3.0).emulated(),
    ]);
    let found = scaling(cells, Along::Batch).unwrap();
    assert_eq!(numbers(&found, "points"), [Some(2.0), Some(2.0), Some(1.0), Some(1.0), Some(1.0)]);
    let text_batch = found.column("other_axes").unwrap().str().unwrap().get(0).unwrap().to_string();
    assert_eq!(text_batch, "sequence=32 text_batch=1");
}

#[test]
fn a_sequence_gains_where_time_grows_slower_than_it() {
    let at = |axes: &'static str, length: i64, ms: f64| {
        measured("cpu", "a", ms).with("axes", axes).with("sequence_length", length)
    };
    let cells = frame([at("batch=1 sequence=32", 32, 1.0), at("batch=1 sequence=128", 128, 8.0)]);
    let found = scaling(cells, Along::Sequence).unwrap();
    assert_eq!(numbers(&found, "gain"), [Some(1.0), Some(0.5)]);
    assert_eq!(numbers(&found, "efficiency"), [Some(1.0), Some(0.125)]);
}

#[test]
fn a_benchmark_without_a_latency_scales_by_its_throughput() {
    let at = |batch, per_sec: f64| {
        measured("cpu", "a", 1.0)
            .at_batch(batch)
            .without("latency_median_ms")
            .with("throughput_samples_per_sec", per_sec)
    };
    let found = scaling(frame([at(1, 100.0), at(4, 200.0)]), Along::Batch).unwrap();
    assert_eq!(numbers(&found, "latency_ratio"), [None, None]);
    assert_eq!(numbers(&found, "efficiency"), [Some(1.0), Some(0.5)]);
}

#[test]
fn no_line_no_row() {
    assert_eq!(scaling(frame([]), Along::Batch).unwrap().height(), 0);
    assert_eq!(scaling(frame([measured("cpu", "a", 1.0)]), Along::Sequence).unwrap().height(), 0);
}

#[test]
fn memory_is_held_against_the_smallest_batch_and_what_nobody_measured_is_left_out() {
    let at = |batch, peak: f64| {
        measured("cpu", "a", 1.0).at_batch(batch).with("peak_memory_mb", peak).with("memory_usage_mb", 50.0)
    };
    let cells = frame([at(1, 100.0), at(4, 150.0), measured("cpu", "a", 1.0).at_batch(2)]);
    let found = memory_scaling(cells, Along::Batch).unwrap();
    assert_eq!(numbers(&found, "peak_ratio"), [Some(1.0), Some(1.5)]);
    assert_eq!(numbers(&found, "loaded_ratio"), [Some(1.0), Some(1.0)]);
    assert_eq!(numbers(&found, "peak_more_mb"), [Some(0.0), Some(50.0)]);
}

#[test]
fn a_model_takes_what_was_there_after_loading_and_not_before() {
    let cells = frame([
        measured("cpu", "a", 1.0)
            .with("memory_before_mb", 10.0)
            .with("memory_usage_mb", 14.0)
            .with("peak_memory_mb", 20.0)
            .with("parameter_count", 1_048_576i64),
        measured("cpu", "b", 1.0).with("peak_memory_mb", 20.0),
    ]);
    let found = memory_by_parameters(cells).unwrap();
    let a = only(&found, "model_id", "a");
    assert!(near(number(&a, "model_mb"), 4.0) && near(number(&a, "bytes_per_parameter"), 4.0));
    let b = only(&found, "model_id", "b");
    assert_eq!((number(&b, "model_mb"), number(&b, "bytes_per_parameter")), (None, None));
}
