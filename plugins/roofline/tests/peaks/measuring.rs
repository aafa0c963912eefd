//! What the benchmark makes of a backend that does some of it.

use crate::stand::{Record, benchmark, onnxruntime, rten, run};
use skillbench_plugin_api::{Code, SeriesKind};

/// No product that takes long.
const SHORT: &[(&str, &str)] = &[("longest_run_ms", "30")];

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]) / 2.0
}

/// The best rate of the series that begin so.
fn best(record: &Record, start: &str) -> f64 {
    let series = record.series.iter().filter(|(info, _)| info.name.starts_with(start));
    series.map(|(info, values)| info.items_per_sample / median(values) * 1e9).fold(0.0, f64::max)
}

#[test]
fn it_brings_its_own_skill_and_needs_a_target() {
    let roofline = benchmark();
    assert_eq!((roofline.id().as_str(), roofline.skill().as_deref()), ("roofline", Some("roofline-peaks")));
    assert!(roofline.needs_target() && !roofline.cold_start());
    assert!(roofline.options_schema().contains("longest_run_ms"));
}

#[test]
fn peaks_are_the_best_rates_of_the_samples_by_the_precision_that_ran() {
    let record = run(&rten(), &[], SHORT);
    record.outcome.as_ref().unwrap();
    let single = |name: &str| match record.values(name) {
        [value] => *value,
        other => panic!("{name}: {other:?} in {:?}", record.names()),
    };
    // rten computes the graph with points where to quantize in floats, and says so.
    let floats = best(&record, "matmul.float32").max(best(&record, "matmul.qdq"));
    assert_eq!(single("peak.float32"), floats);
    assert_eq!(single("peak.int8"), best(&record, "matmul.int8"));
    assert_eq!(single("peak.bandwidth"), best(&record, "copy").max(best(&record, "read")));
    assert!(single("peak.float32") > 1e8 && single("peak.bandwidth") > 1e7, "{:?}", record.series);
}

#[test]
fn a_read_that_is_over_at_once_is_done_sixteen_times_in_one_run() {
    let of = |quick: &str| run(&rten(), &["matmul-int8", "float16", "qdq"], &[SHORT[0], ("quick_read_ms", quick)]);
    let slow = of("0");
    assert!(!slow.values("read.128MiB").is_empty() && slow.values("read.128MiB.16.times").is_empty());
    let quick = of("60000");
    let ratio = median(quick.values("read.128MiB.16.times")) / median(quick.values("read.128MiB"));
    assert!((6.0..40.0).contains(&ratio), "{ratio}");
    assert_eq!(quick.values("peak.bandwidth"), [best(&quick, "copy").max(best(&quick, "read"))]);
}

#[test]
fn a_part_that_a_backend_refuses_is_left_out_with_its_reason_and_the_others_are_measured() {
    let record = run(&rten(), &["read"], SHORT);
    record.outcome.as_ref().unwrap();
    assert!(record.values("matmul.float16.256").is_empty() && record.values("peak.float16").is_empty());
    assert!(!record.values("matmul.int8.256").is_empty() && !record.values("copy.64MiB").is_empty());
    for left_out in ["matmul-float16-256: 'x256' is float16", "read-128MiB: fallback refused"] {
        assert!(record.attached.contains(left_out), "{}", record.attached);
        assert!(record.logs.iter().any(|log| log.contains(left_out)), "{:?}", record.logs);
    }
}

#[test]
fn samples_stand_for_the_work_of_the_graph_and_peaks_for_rates() {
    let record = run(&rten(), &["float16", "qdq"], SHORT);
    for (info, values) in &record.series {
        let peak = info.name.starts_with("peak.");
        assert_eq!(info.kind, if peak { SeriesKind::Rate } else { SeriesKind::Duration }, "{}", info.name);
        assert_eq!(values.len(), if peak { 1 } else { 4 }, "{}", info.name);
    }
    let info = |name: &str| &record.series.iter().find(|(info, _)| info.name == name).unwrap().0;
    assert_eq!(info("matmul.float32.256").items_per_sample, 8.0 * 2.0 * 256f64.powi(3));
    assert_eq!(info("copy.64MiB").items_per_sample, f64::from(2 * (64 << 20)));
    assert_eq!((info("peak.int8").unit.as_str(), info("peak.bandwidth").unit.as_str()), ("OP/s", "B/s"));
    assert_eq!((info("peak.float32").unit.as_str(), info("peak.float32").higher_is_better), ("FLOP/s", Some(true)));
}

#[test]
fn larger_products_are_left_out_where_a_smaller_one_takes_long() {
    let record = run(&rten(), &["float16", "int8", "qdq"], &[("longest_run_ms", "1")]);
    record.outcome.as_ref().unwrap();
    assert!(!record.values("matmul.float32.256").is_empty());
    assert!(record.values("matmul.float32.512").is_empty());
    assert!(record.attached.contains("matmul-float32-512: a run would take about"), "{}", record.attached);
}

#[test]
fn a_backend_that_multiplies_nothing_or_copies_nothing_has_no_peaks() {
    for refused in ["matmul", "copy"] {
        let record = run(&rten(), &[refused], SHORT);
        assert_eq!(record.outcome.as_ref().unwrap_err().code, Code::FailedPrecondition, "{refused}");
        assert!(record.names().iter().all(|name| !name.starts_with("peak.")), "{:?}", record.names());
    }
}

#[test]
fn a_product_counts_for_the_peak_of_the_precision_that_is_read_back() {
    // The processor's float16 kernels cast to float32 and back.
    let record = run(&onnxruntime(), &["float16"], SHORT);
    record.outcome.as_ref().unwrap();
    assert!(!record.values("matmul.qdq.256").is_empty());
    let of_integers = best(&record, "matmul.int8").max(best(&record, "matmul.qdq"));
    assert_eq!(record.values("peak.int8"), [of_integers]);
    assert_eq!(record.values("peak.float32"), [best(&record, "matmul.float32")]);
}
