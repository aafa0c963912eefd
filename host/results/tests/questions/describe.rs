use crate::cells::{Row, ended, frame, measured, near, number, only, text};
use polars::prelude::DataFrame;
use skillbench_results::questions::opportunities;

fn describe(rows: impl IntoIterator<Item = Row>, kind: &str) -> DataFrame {
    only(&opportunities(frame(rows)).unwrap(), "kind", kind)
}

#[test]
fn a_larger_batch_is_told_with_both_throughputs() {
    let rows = || {
        [
            measured("cpu", "a", 10.0).at_batch(1),
            measured("cpu", "a", 20.0).at_batch(4),
            measured("cpu", "a", 80.0).at_batch(8),
        ]
    };
    let found = describe(rows(), "larger-batch");
    assert_eq!((text(&found, "from").as_deref(), text(&found, "to").as_deref()), (Some("batch=1"), Some("batch=4")));
    assert_eq!((number(&found, "now"), number(&found, "then")), (Some(100.0), Some(200.0)));
    assert_eq!(number(&found, "factor"), Some(2.0));
    assert_eq!(describe(rows().into_iter().map(Row::emulated), "larger-batch").height(), 0);
    let uncertain = rows().into_iter().map(|row| row.with("latency_ci95_high_ms", 90.0));
    assert_eq!(describe(uncertain, "larger-batch").height(), 0, "intervals of the time of an item overlap");
    let loads = rows().into_iter().map(|row| row.with("benchmark", "throughput-load"));
    assert_eq!(describe(loads, "larger-batch").height(), 0, "a load does not work through a batch");
}

#[test]
fn other_hardware_is_told_only_at_the_same_precision_and_where_intervals_are_apart() {
    let cpu = || measured("cpu", "a", 10.0);
    let found = describe([cpu(), measured("cuda", "a", 2.0)], "other-hardware");
    assert_eq!(text(&found, "to").as_deref(), Some("cuda"));
    assert!(near(number(&found, "factor"), 5.0));
    assert_eq!(
        describe([cpu(), measured("cuda", "a", 2.0).with("precision", "float16")], "other-hardware").height(),
        0
    );
    assert_eq!(describe([cpu(), measured("cuda", "a", 2.0).emulated()], "other-hardware").height(), 0);
    assert_eq!(
        describe([cpu(), measured("cuda", "a", 2.0).with("latency_ci95_high_ms", 11.0)], "other-hardware").height(),
        0
    );
}

#[test]
fn slow_starts_cold_caches_and_useless_concurrency_are_told() {
    let cell = measured("cpu", "a", 2.0)
        .with("first_inference_ms", 20.0)
        .with("compile_cold_ms", 30.0)
        .with("compile_warm_ms", 10.0)
        .with("speedup_over_sequential", 1.02)
        .with("concurrent_workers", 4i64)
        .with("concurrent_per_sec", 102.0)
        .with("sequential_per_sec", 100.0);
    assert_eq!(number(&describe([cell.clone()], "first-inference"), "factor"), Some(10.0));
    assert_eq!(number(&describe([cell.clone()], "warm-cache"), "factor"), Some(3.0));
    assert_eq!(text(&describe([cell.clone()], "concurrency"), "to").as_deref(), Some("4 at once"));
    let fine = measured("cpu", "a", 2.0).with("first_inference_ms", 3.0).with("speedup_over_sequential", 1.9);
    assert_eq!(opportunities(frame([fine])).unwrap().height(), 0);
}

#[test]
fn unstable_cells_and_low_shares_are_told_in_percent() {
    let cell = measured("cpu", "a", 2.0)
        .with("stable", false)
        .with("share_of_peak_flops", 0.02)
        .with("share_of_peak_bandwidth", 0.05);
    assert!(near(number(&describe([cell.clone()], "unstable"), "now"), 1.0));
    assert!(near(number(&describe([cell.clone()], "low-peak-share"), "now"), 5.0));
    let unknown = cell.without("share_of_peak_bandwidth");
    assert_eq!(describe([unknown], "low-peak-share").height(), 0, "a share that nobody measured is not low");
}

#[test]
fn nothing_measured_advises_nothing() {
    assert_eq!(opportunities(frame([])).unwrap().height(), 0);
    assert_eq!(opportunities(frame([ended("cpu", "a", "failed", "x")])).unwrap().height(), 0);
}
