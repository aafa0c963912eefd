use crate::made::{at_batch, cell, ended, measured, run, stats, with};
use serde_json::{Value, json};
use skillbench_results::export::{skillset, skillset_inference, skillset_throughput};

fn close(value: &Value, wanted: f64) -> bool {
    value.as_f64().is_some_and(|value| (value - wanted).abs() < 1e-9)
}

#[test]
fn loading_is_told_for_each_batch() {
    let second = with(measured("cpu", "m", 2.0, 2.0, 300.0), json!({"threads": 1}));
    let cells = vec![measured("cpu", "m", 2.0, 2.0, 100.0), second, at_batch(measured("cpu", "m", 2.0, 2.0, 400.0), 4)];
    let results = skillset_inference(&run("a", 0, cells));
    let [result] = &results[..] else { panic!("one model on one hardware") };
    assert_eq!((&result["success"], &result["model"], &result["hardware"]), (&json!(true), &json!("m"), &json!("cpu")));
    assert_eq!((&result["import_time"], &result["instantiation_time"]), (&json!(0.004), &json!(0.002)));
    let one = &result["batch_results"]["batch_size_1"];
    assert_eq!(
        (&one["success"], &one["batch_size"], &one["mean_init_time_ms"]),
        (&json!(true), &json!(1), &json!(200.0))
    );
    assert!(close(&one["std_init_time_ms"], 20_000f64.sqrt()), "{one}");
    let four = &result["batch_results"]["batch_size_4"];
    assert!(four["std_init_time_ms"].is_null(), "one load has no deviation");
    assert_eq!((&result["fastest_init_time_ms"], &result["mean_init_time_ms"]), (&json!(200.0), &json!(300.0)));
}

#[test]
fn deviations_of_several_sets_are_those_of_all_their_samples() {
    // 1, 2, 3 and 5, 7: mean 3.6, squares 6.76 + 2.56 + 0.36 + 1.96 + 11.56 = 23.2.
    let loads = |n, mean, std| {
        let mut cell = measured("cpu", "m", 2.0, 2.0, 1.0);
        cell["metrics"]["init_ms"]["load"] = stats(n, mean, mean, Some(std));
        cell
    };
    let result = &skillset_inference(&run("a", 0, vec![loads(3, 2.0, 1.0), loads(2, 6.0, 2f64.sqrt())]))[0];
    let batch = &result["batch_results"]["batch_size_1"];
    assert!(
        close(&batch["mean_init_time_ms"], 3.6) && close(&batch["std_init_time_ms"], (23.2f64 / 4.0).sqrt()),
        "{batch}"
    );
}

#[test]
fn a_model_that_did_not_load_is_no_success_wherever_it_stands() {
    for outcome in ["failed", "crashed", "timed-out", "unavailable", "unsupported", "wrong"] {
        let cells =
            vec![measured("cpu", "m", 2.0, 2.0, 100.0), at_batch(ended("cpu", "m", outcome, "it did not load"), 4)];
        let whole = skillset(&run("a", 0, cells));
        assert_eq!(whole["success"], false);
        let result = &whole["inference"][0];
        assert_eq!((&result["success"], &result["error"]), (&json!(false), &json!("it did not load")));
        assert_eq!(result["batch_results"]["batch_size_1"]["success"], true);
        let failed = result["batch_results"]["batch_size_4"].as_object().unwrap();
        assert_eq!((&failed["success"], &failed["status"]), (&json!(false), &json!(outcome)));
        assert!(failed.get("mean_init_time_ms").is_none() && failed.get("std_init_time_ms").is_none());
    }
}

#[test]
fn what_a_rule_skipped_is_no_failure_and_no_success_by_itself() {
    let cells = vec![measured("cpu", "m", 2.0, 2.0, 100.0), at_batch(cell("cpu", "m"), 64)];
    assert_eq!(skillset_inference(&run("a", 0, cells))[0]["success"], true);
    assert_eq!(skillset_inference(&run("a", 0, vec![cell("cpu", "m")]))[0]["success"], false);
    assert_eq!(skillset(&run("a", 0, vec![]))["success"], false);
}

#[test]
fn a_model_out_of_the_pool_was_not_loaded_and_has_no_time() {
    let mut pooled = measured("cpu", "m", 2.0, 2.0, 1.0);
    pooled["metrics"]["init_ms"]["load"] = Value::Null;
    let result = &skillset_inference(&run("a", 0, vec![pooled]))[0];
    assert_eq!(result["success"], true);
    assert!(
        result["batch_results"]["batch_size_1"]["mean_init_time_ms"].is_null()
            && result["fastest_init_time_ms"].is_null()
    );
}

#[test]
fn models_loaded_at_once_are_counted_by_the_second() {
    let mut load = with(measured("cpu", "m", 2.0, 2.0, 1.0), json!({"benchmark": "throughput-load"}));
    load["metrics"]["concurrent_workers"] = json!(4);
    load["metrics"]["concurrent_per_s"] = json!(8.0);
    load["metrics"]["speedup_over_sequential"] = json!(1.6);
    load["metrics"]["series"] = json!({"concurrent": {"unit": "ns", "kind": "duration", "higher_is_better": false,
        "items_per_sample": 4.0, "rounds": 1, "stable": true, "stopped_by": null, "stats": stats(3, 5e8, 5e8, None)}});
    let results = skillset_throughput(&run(
        "a",
        0,
        vec![load, with(ended("cuda", "m", "failed", "no memory"), json!({"benchmark": "throughput-load"}))],
    ));
    let [good, bad] = &results[..] else { panic!("two cells") };
    assert_eq!(
        (&good["success"], &good["concurrent_workers"], &good["total_time_ms"]),
        (&json!(true), &json!(4), &json!(500.0))
    );
    assert_eq!((&good["throughput_models_per_second"], &good["speedup_over_sequential"]), (&json!(8.0), &json!(1.6)));
    assert_eq!((&bad["success"], &bad["error"]), (&json!(false), &json!("no memory")));
    assert!(bad.get("throughput_models_per_second").is_none() && bad.get("total_time_ms").is_none());
}
