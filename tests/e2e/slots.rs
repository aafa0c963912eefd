//! What backends offer beside plain runs: a queue, times of their own, and operators one by one.

use skillbench_tests::{World, outcomes};

#[test]
fn a_queue_of_the_backend_takes_the_place_of_workers_and_is_an_axis() {
    let world = World::default();
    let asked =
        ["--plugin", "openvino", "--model", "probe-mlp", "--batch-sizes", "2", "--bench", "throughput-inference"];
    let (ran, document) = world.run(&[&asked[..], &["--dim", "queue_depth=4"]].concat());
    if outcomes(&document) == ["unavailable"] {
        eprintln!("skipped: OpenVINO is not installed; scripts/test installs it");
        return;
    }
    ran.exits_with(0);
    let cell = &document["cells"][0];
    assert_eq!((&cell["axes"]["queue_depth"], cell["workers"].as_u64()), (&4.into(), None));
    assert!(cell["metrics"]["concurrent_per_s"].as_f64() > Some(0.0), "{cell}");
}

#[test]
fn a_backend_without_a_queue_says_so_and_a_number_that_no_benchmark_takes_is_refused() {
    let world = World::default();
    let asked = ["--plugin", "rten", "--model", "probe-mlp", "--batch-sizes", "2", "--bench", "throughput-inference"];
    let (ran, document) = world.run(&[&asked[..], &["--dim", "queue_depth=4"]].concat());
    ran.exits_with(4);
    assert_eq!(outcomes(&document), ["unsupported"]);
    world
        .host(&[&["run"], &asked[..], &["--dim", "queue_depths=4"]].concat())
        .exits_with(2)
        .tells("no dimension 'queue_depths'");
    world.host(&[&["run"], &asked[..], &["--dim", "queue_depth=999"]].concat()).exits_with(2).tells("queue_depth");
    world.host(&[&["run"], &asked[..], &["--dim", "workers=2"]].concat()).exits_with(2).tells("--concurrent-workers");
}

#[test]
fn a_backend_that_computes_within_the_call_tells_its_device_time() {
    let (ran, document) = World::default().run(&[
        "--plugin",
        "rten",
        "--model",
        "probe-mlp",
        "--batch-sizes",
        "2",
        "--bench",
        "inference",
    ]);
    ran.exits_with(0);
    let measured = &document["cells"][0]["metrics"];
    // Of a round the mean is told, which may be more than the median of its runs and never more than the longest.
    let (longest, device) = (&measured["latency_ms"]["max"], &measured["device_ms"]["median"]);
    assert!(device.as_f64() > Some(0.0) && device.as_f64() <= longest.as_f64(), "{device} of {longest}");
}

#[test]
fn operators_are_climbed_one_by_one_and_an_unknown_one_is_refused_with_the_nearest() {
    let world = World::default();
    let text = world.host(&["plugin", "ladder", "rten", "--operators", "Add,Relu", "--format", "json"]).stdout();
    let told: serde_json::Value = serde_json::from_str(&text).unwrap();
    let cases = told[0]["cases"].as_array().unwrap();
    let is = |name: &str, verdict: &str| cases.iter().any(|case| case["case"] == name && case["verdict"] == verdict);
    assert!(is("add_f32", "right") && is("relu_f16", "refused"), "{text}");
    world.host(&["plugin", "ladder", "rten", "--operators", "Convv"]).exits_with(2).tells("did you mean Conv");
    world.host(&["plugin", "ladder", "rten", "--operators", "If"]).exits_with(2).tells("no case of If");
}
