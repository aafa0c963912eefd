use crate::cells::{Row, flags, frame, measured, near, number, numbers, only, text, texts};
use skillbench_results::questions::{
    Goal, clocks, efficiency, init_phases, optimal_per_architecture, optimal_per_model, outlier_models, peaks,
};

fn six(last: f64) -> Vec<Row> {
    let times = [("a", 5.0), ("b", 5.1), ("c", 4.9), ("d", 5.2), ("e", 4.8), ("f", last)];
    times.into_iter().flat_map(|(model, ms)| [measured("cpu", model, 10.0), measured("cuda", model, ms)]).collect()
}

#[test]
fn a_model_far_from_the_others_of_its_hardware_is_an_outlier() {
    let cuda = only(&outlier_models(frame(six(100.0))).unwrap(), "hardware", "cuda");
    let f = only(&cuda, "model_id", "f");
    assert_eq!(flags(&f, "outlier"), [Some(true)]);
    assert_eq!(text(&f, "told").as_deref(), Some("below the others"));
    assert!(number(&f, "z").unwrap() < -3.5);
    assert_eq!(flags(&only(&cuda, "model_id", "a"), "outlier"), [Some(false)]);
}

#[test]
fn the_robust_z_is_what_a_hand_works_out() {
    let rows = [1.0, 2.0, 4.0, 8.0, 64.0].into_iter().zip(["a", "b", "c", "d", "e"]);
    let rows = rows.flat_map(|(ratio, model)| [measured("cpu", model, 64.0), measured("cuda", model, 64.0 / ratio)]);
    let cuda = only(&outlier_models(frame(rows)).unwrap(), "hardware", "cuda");
    // In powers of two: 0 1 2 3 6; median 2; distances 2 1 0 1 4, their median 1.
    assert!(near(number(&only(&cuda, "model_id", "e"), "z"), 0.6745 * 4.0));
    assert!(near(number(&only(&cuda, "model_id", "a"), "z"), -0.6745 * 2.0));
    assert!(near(number(&only(&cuda, "model_id", "a"), "group_median"), 4.0));
}

#[test]
fn with_few_models_or_without_spread_no_outlier_can_be_told() {
    let few = only(&outlier_models(frame(six(100.0).split_off(4))).unwrap(), "hardware", "cuda");
    assert_eq!(flags(&few, "outlier"), [None; 4]);
    assert_eq!(texts(&few, "told")[0].as_deref(), Some("fewer than 5 models"));
    let cpu = only(&outlier_models(frame(six(100.0))).unwrap(), "hardware", "cpu");
    assert_eq!(texts(&cpu, "told")[0].as_deref(), Some("no spread"));
}

#[test]
fn emulated_models_are_no_outliers_and_do_not_count() {
    let rows = six(100.0).into_iter().map(|row| row.emulated());
    assert_eq!(outlier_models(frame(rows)).unwrap().height(), 0);
}

#[test]
fn clocks_part_in_two_directions() {
    let cell = |model, cpu: f64| measured("cpu", model, 10.0).with("cpu_median_ms", cpu);
    let cells = frame([cell("waits", 8.0), cell("agrees", 19.0), cell("exceeds", 40.0), measured("cpu", "none", 1.0)]);
    let found = clocks(cells).unwrap();
    assert_eq!(texts(&found, "direction"), [Some("waits".into()), None, Some("exceeds".into())]);
    assert_eq!(numbers(&found, "busy"), [Some(0.4), Some(0.95), Some(2.0)]);
}

#[test]
fn without_a_number_of_threads_clocks_have_no_direction() {
    let found = clocks(frame([measured("cpu", "a", 10.0).with("cpu_median_ms", 1.0).without("threads")])).unwrap();
    assert_eq!((number(&found, "cpu_over_wall"), text(&found, "direction")), (Some(0.1), None));
}

#[test]
fn the_best_hardware_is_the_fastest_and_says_by_how_much() {
    let cells = frame([
        measured("cpu", "a", 10.0),
        measured("cuda", "a", 2.0),
        measured("openvino", "a", 5.0),
        measured("qnn", "a", 0.1).emulated(),
        measured("webnn", "a", 0.1).unverified(),
    ]);
    let found = optimal_per_model(cells, Goal::Latency).unwrap();
    assert_eq!((text(&found, "best").as_deref(), text(&found, "second").as_deref()), (Some("cuda"), Some("openvino")));
    assert!(near(number(&found, "ahead"), 2.5));
    assert_eq!((flags(&found, "clear"), number(&found, "compared")), (vec![Some(true)], Some(3.0)));
}

#[test]
fn the_best_by_throughput_may_be_another() {
    let cells = frame([
        measured("cpu", "a", 1.0).with("throughput_samples_per_sec", 10.0),
        measured("cuda", "a", 2.0).with("throughput_samples_per_sec", 40.0),
    ]);
    let found = optimal_per_model(cells, Goal::Throughput).unwrap();
    assert_eq!((text(&found, "best").as_deref(), number(&found, "ahead")), (Some("cuda"), Some(4.0)));
}

#[test]
fn the_best_by_energy_and_by_memory_takes_the_least_of_it() {
    let of = |plugin, energy: f64, memory: f64| {
        measured(plugin, "a", 1.0).with("energy_j_per_item", energy).with("peak_memory_mb", memory)
    };
    let cells = || frame([of("cpu", 3.0, 100.0), of("cuda", 1.5, 400.0), measured("rocm", "a", 0.1)]);
    let energy = optimal_per_model(cells(), Goal::Energy).unwrap();
    assert_eq!((text(&energy, "best").as_deref(), number(&energy, "ahead")), (Some("cuda"), Some(2.0)));
    assert_eq!(number(&energy, "compared"), Some(2.0), "what nobody measured is not compared");
    let memory = optimal_per_model(cells(), Goal::Memory).unwrap();
    assert_eq!((text(&memory, "best").as_deref(), number(&memory, "ahead")), (Some("cpu"), Some(4.0)));
}

#[test]
fn one_hardware_is_not_ahead_of_anything() {
    let found = optimal_per_model(frame([measured("cpu", "a", 1.0)]), Goal::Latency).unwrap();
    assert_eq!((number(&found, "compared"), number(&found, "ahead"), text(&found, "second")), (Some(1.0), None, None));
}

#[test]
fn an_architecture_ranks_hardware_over_the_workloads_that_all_have() {
    let cells = frame([
        measured("cpu", "a", 10.0),
        measured("cuda", "a", 5.0),
        measured("cpu", "b", 4.0),
        measured("cuda", "b", 8.0),
        measured("cpu", "c", 1.0),
    ]);
    let found = optimal_per_architecture(cells, Goal::Latency).unwrap();
    let (cpu, cuda) = (only(&found, "hardware", "cpu"), only(&found, "hardware", "cuda"));
    assert!(near(number(&cpu, "share_of_best"), 0.5f64.sqrt()) && near(number(&cuda, "share_of_best"), 0.5f64.sqrt()));
    assert_eq!((number(&cpu, "wins"), number(&cuda, "wins")), (Some(1.0), Some(1.0)), "alone is no win");
    assert_eq!((number(&cuda, "workloads_missing"), number(&cpu, "workloads_common")), (Some(1.0), Some(2.0)));
}

#[test]
fn efficiency_says_which_peak_is_nearer_and_leaves_null_what_has_none() {
    let cell = |model, flops: Option<f64>, bytes: Option<f64>| {
        let row = measured("cpu", model, 1.0).with("flops_per_sec", 1e9);
        let row = if let Some(share) = flops { row.with("share_of_peak_flops", share) } else { row };
        if let Some(share) = bytes { row.with("share_of_peak_bandwidth", share) } else { row }
    };
    let cells = frame([cell("a", Some(0.5), Some(0.1)), cell("b", Some(0.1), Some(0.9)), cell("c", None, None)]);
    assert_eq!(
        texts(&efficiency(cells).unwrap(), "nearer_to"),
        [Some("arithmetic".into()), Some("memory".into()), None]
    );
}

#[test]
fn a_peak_is_the_highest_that_was_measured() {
    let roof = |peak: f64, axes: &'static str| {
        measured("cpu", "square", 1.0)
            .with("benchmark", "roofline")
            .with("axes", axes)
            .with("peak_float32_per_sec", peak)
    };
    let found = peaks(frame([roof(1e9, "n=1"), roof(2e9, "n=2")])).unwrap();
    assert_eq!((text(&found, "of").as_deref(), number(&found, "per_sec")), (Some("float32"), Some(2e9)));
}

#[test]
fn the_rest_of_a_load_is_what_reading_and_compiling_leave() {
    let cell = measured("cpu", "a", 1.0)
        .with("import_ms", 1.0)
        .with("instantiate_ms", 2.0)
        .with("load_ms", 10.0)
        .with("read_ms", 3.0)
        .with("compile_cold_ms", 5.0)
        .with("first_inference_ms", 4.0);
    let untold = cell.clone().with("model_id", "b").without("read_ms").without("compile_cold_ms").without("import_ms");
    let over = cell.clone().with("model_id", "c").with("read_ms", 9.0);
    let found = init_phases(frame([cell, untold, over])).unwrap();
    assert_eq!(numbers(&found, "load_rest_ms"), [Some(2.0), None, None]);
    assert_eq!(numbers(&found, "total_ms"), [Some(17.0), None, Some(17.0)]);
}
