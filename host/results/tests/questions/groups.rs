use crate::cells::{Row, ended, frame, measured, near, number, only, text, texts};
use skillbench_results::questions::{by_family, by_hardware, by_model, by_size, by_task, speedups};

/// On cuda `a` is twice as fast as on the CPU at one point and eight times at another, `b` as fast; `c` only the CPU has.
fn rows() -> Vec<Row> {
    vec![
        measured("cpu", "a", 8.0),
        measured("cpu", "a", 8.0).at_batch(2),
        measured("cpu", "b", 100.0),
        measured("cpu", "c", 3.0),
        measured("cuda", "a", 4.0),
        measured("cuda", "a", 1.0).at_batch(2),
        measured("cuda", "b", 100.0),
        ended("cuda", "c", "failed", "no memory"),
    ]
}

#[test]
fn a_family_is_the_geometric_mean_over_its_models_each_counted_once() {
    let cuda = only(&by_family(frame(rows())).unwrap(), "hardware", "cuda");
    // a: sqrt(2 * 8) = 4; b: 1; together sqrt(4 * 1) = 2.
    assert!(near(number(&cuda, "speedup"), 2.0));
    assert_eq!(number(&cuda, "models"), Some(2.0));
    assert_eq!(text(&cuda, "fastest_model").as_deref(), Some("a"));
}

#[test]
fn models_without_a_cell_of_the_cpu_are_counted_and_not_averaged() {
    let cuda = [measured("cuda", "a", 4.0), measured("cuda", "d", 1.0)];
    let found = by_hardware(frame([measured("cpu", "a", 8.0)].into_iter().chain(cuda))).unwrap();
    let cuda = only(&found, "hardware", "cuda");
    assert!(near(number(&cuda, "speedup"), 2.0));
    assert_eq!((number(&cuda, "models_used"), number(&cuda, "models_without_cpu")), (Some(1.0), Some(1.0)));
}

#[test]
fn without_any_cell_of_the_cpu_there_is_no_speedup_and_no_fastest_model() {
    let found = by_hardware(frame([measured("cuda", "a", 4.0)])).unwrap();
    assert_eq!((number(&found, "speedup"), text(&found, "fastest_model")), (None, None));
}

#[test]
fn what_is_emulated_has_a_row_of_its_own() {
    let cells = frame([
        measured("cpu", "a", 8.0),
        measured("qnn", "a", 4.0),
        measured("qnn", "b", 80.0).emulated(),
        measured("cpu", "b", 8.0),
    ]);
    let qnn = only(&by_hardware(cells).unwrap(), "hardware", "qnn");
    assert!(near(number(&only(&qnn, "trust", "hardware"), "speedup"), 2.0));
    assert!(near(number(&only(&qnn, "trust", "emulated"), "speedup"), 0.1));
}

#[test]
fn precisions_are_groups_of_their_own() {
    let half =
        |plugin, ms| measured(plugin, "a", ms).with("precision", "float16").with("precision_requested", "float16");
    let cells = frame([measured("cpu", "a", 8.0), measured("cuda", "a", 4.0), half("cpu", 8.0), half("cuda", 1.0)]);
    let cuda = only(&by_hardware(cells).unwrap(), "hardware", "cuda");
    assert!(near(number(&only(&cuda, "precision", "float32"), "speedup"), 2.0));
    assert!(near(number(&only(&cuda, "precision", "float16"), "speedup"), 8.0));
}

#[test]
fn a_model_has_the_range_of_its_own_figures() {
    let found = by_model(frame(rows())).unwrap();
    let a = only(&only(&found, "hardware", "cuda"), "model_id", "a");
    assert_eq!((number(&a, "latency_least_ms"), number(&a, "latency_most_ms")), (Some(1.0), Some(4.0)));
    assert_eq!(number(&a, "throughput_most_per_sec"), Some(2000.0));
    assert_eq!(number(&a, "cells"), Some(2.0));
}

#[test]
fn sizes_have_published_bounds_and_what_nobody_counted_is_a_group_of_its_own() {
    let of = |model, parameters: i64| measured("cpu", model, 1.0).with("parameter_count", parameters);
    let cells = frame([
        of("a", 20_000_000),
        of("b", 20_000_001),
        of("c", 110_000_000),
        of("d", 7_000_000_000),
        measured("cpu", "e", 1.0),
    ]);
    let names = texts(&by_size(cells).unwrap(), "size");
    assert_eq!(
        names,
        [Some("tiny"), Some("small"), Some("base"), Some("large"), None].map(|name| name.map(String::from))
    );
}

#[test]
fn a_mean_has_no_interval_where_one_of_its_ratios_has_none() {
    let bare = |plugin| measured(plugin, "b", 1.0).without("latency_ci95_low_ms").without("latency_ci95_high_ms");
    let both = [measured("cpu", "a", 2.0), measured("cuda", "a", 1.0), bare("cpu"), bare("cuda")];
    let found = only(&by_hardware(frame(both)).unwrap(), "hardware", "cuda");
    assert_eq!((number(&found, "speedup_low"), number(&found, "speedup_high")), (None, None));
}

#[test]
fn tasks_are_told_apart() {
    let cells = frame([
        measured("cpu", "a", 1.0).with("task", "fill-mask"),
        measured("cpu", "b", 1.0).with("task", "image-classification"),
    ]);
    assert_eq!(by_task(cells).unwrap().height(), 2);
}

#[test]
fn the_mean_of_speedups_says_what_it_leaves_out() {
    let found = speedups(frame(rows())).unwrap();
    let cuda = only(&found, "hardware", "cuda");
    assert!(near(number(&cuda, "speedup_all"), 2.0));
    // Each ratio is known to within 1% on either side.
    assert!(near(number(&cuda, "speedup_all_low"), 2.0 * 0.99 / 1.01));
    assert!(near(number(&cuda, "speedup_all_high"), 2.0 * 1.01 / 0.99));
    assert_eq!((number(&cuda, "models_used"), number(&cuda, "models_missing")), (Some(2.0), Some(1.0)));
    assert_eq!((number(&cuda, "workloads_used"), number(&cuda, "workloads_missing")), (Some(3.0), Some(1.0)));
}

#[test]
fn only_workloads_that_all_measured_hardware_has_are_common() {
    let mut rows = rows();
    rows.push(measured("openvino", "b", 50.0));
    rows.push(measured("qnn", "a", 800.0).emulated());
    let found = speedups(frame(rows)).unwrap();
    let cuda = only(&found, "hardware", "cuda");
    assert!(near(number(&cuda, "speedup_common"), 1.0), "b alone is common, and as fast as on the CPU");
    assert_eq!(number(&cuda, "models_common"), Some(1.0));
    assert!(near(number(&only(&found, "hardware", "openvino"), "speedup_common"), 2.0));
    let qnn = only(&found, "hardware", "qnn");
    assert!(near(number(&qnn, "speedup_all"), 0.01) && number(&qnn, "speedup_common").is_none());
}

#[test]
fn no_cells_make_no_groups() {
    assert_eq!(by_family(frame([])).unwrap().height(), 0);
    assert_eq!(speedups(frame([])).unwrap().height(), 0);
    assert_eq!(by_model(frame([ended("cpu", "a", "failed", "x")])).unwrap().height(), 0);
}
