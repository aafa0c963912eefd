use crate::cells::{ended, frame, measured, near, number, numbers, only, text};
use skillbench_results::questions::relative_to_cpu;

#[test]
fn a_ratio_above_one_is_faster_than_the_cpu_and_carries_its_interval() {
    let cells = frame([measured("cpu", "a", 10.0), measured("cuda", "a", 2.0)]);
    let found = relative_to_cpu(cells).unwrap();
    let cuda = only(&found, "hardware", "cuda");
    assert!(near(number(&cuda, "speedup"), 5.0));
    assert!(near(number(&cuda, "speedup_low"), 10.0 * 0.99 / (2.0 * 1.01)));
    assert!(near(number(&cuda, "speedup_high"), 10.0 * 1.01 / (2.0 * 0.99)));
    let cpu = only(&found, "hardware", "cpu");
    assert!(near(number(&cpu, "speedup"), 1.0));
    assert_eq!(number(&cpu, "speedup_low"), None, "nothing is uncertain about a cell against itself");
}

#[test]
fn there_is_no_ratio_without_a_cell_of_the_cpu_that_is_alike() {
    let cells = frame([
        measured("cpu", "a", 10.0),
        measured("cuda", "b", 2.0),
        measured("cuda", "a", 2.0).with("precision", "float16"),
        measured("cuda", "a", 2.0).at_batch(4),
        measured("cuda", "a", 2.0).with("hostname", "other"),
        measured("cuda", "a", 2.0).with("benchmark", "other"),
        measured("cuda", "a", 2.0).without("precision").with("precision_requested", "x"),
    ]);
    let cuda = only(&relative_to_cpu(cells).unwrap(), "hardware", "cuda");
    assert_eq!(numbers(&cuda, "speedup"), [None; 6]);
}

#[test]
fn neither_a_failed_nor_an_emulated_nor_an_unverified_cpu_is_held_against() {
    for cpu in [
        ended("cpu", "a", "failed", "no memory"),
        measured("cpu", "a", 10.0).emulated(),
        measured("cpu", "a", 10.0).unverified(),
    ] {
        let found = relative_to_cpu(frame([cpu, measured("cuda", "a", 2.0)])).unwrap();
        assert_eq!(number(&only(&found, "hardware", "cuda"), "speedup"), None);
    }
}

#[test]
fn emulated_and_unverified_cells_have_a_ratio_and_say_what_they_are() {
    let cells = frame([
        measured("cpu", "a", 10.0),
        measured("qnn", "a", 100.0).emulated(),
        measured("webnn", "a", 5.0).unverified(),
    ]);
    let found = relative_to_cpu(cells).unwrap();
    let (qnn, webnn) = (only(&found, "hardware", "qnn"), only(&found, "hardware", "webnn"));
    assert!(near(number(&qnn, "speedup"), 0.1) && text(&qnn, "trust").as_deref() == Some("emulated"));
    assert!(near(number(&webnn, "speedup"), 2.0) && text(&webnn, "trust").as_deref() == Some("unverified"));
}

#[test]
fn a_backend_on_the_cpu_is_held_against_as_many_threads_and_another_device_against_the_most() {
    let cells = frame([
        measured("cpu", "a", 10.0).with("threads", 1i64),
        measured("cpu", "a", 6.0).with("threads", 4i64),
        measured("openvino", "a", 5.0).with("threads", 1i64),
        measured("cuda", "a", 2.0).with("device_kind", "gpu").with("threads", 1i64),
        measured("rten", "a", 2.0).with("threads", 8i64),
    ]);
    let found = relative_to_cpu(cells).unwrap();
    assert!(near(number(&only(&found, "hardware", "openvino"), "speedup"), 2.0));
    assert!(near(number(&only(&found, "hardware", "cuda"), "speedup"), 3.0));
    assert_eq!(number(&only(&found, "hardware", "rten"), "speedup"), None);
}

#[test]
fn the_cpu_of_the_same_run_goes_before_a_newer_one() {
    let cells = frame([
        measured("cpu", "a", 10.0).on_day("old", 1),
        measured("cuda", "a", 2.0).on_day("old", 1),
        measured("cpu", "a", 8.0).on_day("new", 2),
        measured("openvino", "a", 4.0).on_day("newest", 3),
    ]);
    let found = relative_to_cpu(cells).unwrap();
    assert!(near(number(&only(&found, "hardware", "cuda"), "speedup"), 5.0));
    assert!(near(number(&only(&found, "hardware", "openvino"), "speedup"), 2.0));
    assert_eq!(text(&only(&found, "hardware", "openvino"), "cpu_run").as_deref(), Some("new"));
}

#[test]
fn without_a_latency_throughput_is_compared() {
    let cell = |plugin, per_sec: f64| {
        measured(plugin, "a", 1.0)
            .without("latency_median_ms")
            .without("latency_ci95_low_ms")
            .without("latency_ci95_high_ms")
            .with("throughput_samples_per_sec", per_sec)
    };
    let cuda = only(&relative_to_cpu(frame([cell("cpu", 10.0), cell("cuda", 40.0)])).unwrap(), "hardware", "cuda");
    assert!(near(number(&cuda, "speedup"), 4.0));
    assert_eq!(text(&cuda, "by").as_deref(), Some("throughput"));
}

#[test]
fn nothing_measured_gives_no_row() {
    assert_eq!(relative_to_cpu(frame([])).unwrap().height(), 0);
    assert_eq!(relative_to_cpu(frame([ended("cpu", "a", "skipped", "by rule")])).unwrap().height(), 0);
}

#[test]
fn a_generation_is_held_against_the_cpu_by_its_time_per_token() {
    let cell = |plugin, ms: f64| {
        measured(plugin, "a", 1.0)
            .with("benchmark", "generation")
            .without("latency_median_ms")
            .without("latency_ci95_low_ms")
            .without("latency_ci95_high_ms")
            .with("time_per_output_token_ms", ms)
            .with("time_per_output_token_ci95_low_ms", ms * 0.9)
            .with("time_per_output_token_ci95_high_ms", ms * 1.1)
            .with("throughput_samples_per_sec", 1.0)
    };
    let found = relative_to_cpu(frame([cell("cpu", 40.0), cell("cuda", 10.0)])).unwrap();
    let cuda = only(&found, "hardware", "cuda");
    assert_eq!(text(&cuda, "by").as_deref(), Some("time per token"));
    assert!(near(number(&cuda, "speedup"), 4.0));
    assert!(near(number(&cuda, "speedup_low"), 40.0 * 0.9 / (10.0 * 1.1)));
    assert!(near(number(&cuda, "speedup_high"), 40.0 * 1.1 / (10.0 * 0.9)));
}
