//! Requests that arrive: at a rate, all at once, and at the largest rate that keeps a limit.

use serde_json::Value;
use skillbench_tests::World;

const CELL: [&str; 6] = ["--plugin", "rten", "--model", "probe-mlp", "--threads", "1"];

/// The cell of a run.
fn cell(world: &World, asked: &[&str]) -> Value {
    let batch: &[&str] = if asked.contains(&"--batch-sizes") { &[] } else { &["--batch-sizes", "1"] };
    let run = world.host(&[&["run", "--format", "json"], &CELL[..], batch, asked].concat());
    let document: Value =
        serde_json::from_str(&run.stdout()).unwrap_or_else(|error| panic!("no document: {error}\n{}", run.stderr()));
    document["cells"][0].clone()
}

#[test]
fn all_requests_at_once_show_how_many_a_second_are_served() {
    let world = World::default();
    let cell = cell(&world, &["--scenario", "offline", "--budget", "0.6"]);
    assert_eq!(cell["outcome"], "measured", "{cell:#}");
    let metrics = &cell["metrics"];
    let rate = metrics["throughput_per_s"].as_f64().unwrap();
    let busy = metrics["serving"]["utilization"].as_f64().unwrap();
    assert!(rate > 100.0 && busy > 0.5, "{metrics:#}");
    assert_eq!(cell["options"]["scenario"], "offline");
}

#[test]
fn requests_of_one_item_are_served_together_as_far_as_the_batch_has_room() {
    let world = World::default();
    // So slow that the lateness of a busy machine is nothing against the waits.
    let load = ["--rate", "40", "--arrivals", "constant", "--batch-sizes", "8", "--batch-wait", "100", "--budget", "3"];
    let cell = cell(&world, &load);
    assert_eq!(cell["outcome"], "measured", "{cell:#}");
    assert_eq!((&cell["axes"]["batch"], &cell["axes"]["batch_wait_us"]), (&Value::from(8), &Value::from(100_000)));
    let metrics = &cell["metrics"];
    let together = metrics["serving"]["requests_per_run"].as_f64().unwrap();
    // Four come in 100 ms, and the first of them is there already.
    assert!((3.0..=8.0).contains(&together), "{metrics:#}");
    let per_s = metrics["throughput_per_s"].as_f64().unwrap();
    assert!((25.0..=45.0).contains(&per_s), "a request is one item, however large the batch: {per_s}");
    let waited = metrics["latency_ms"]["median"].as_f64().unwrap();
    assert!((20.0..=150.0).contains(&waited), "the wait for others is in the latency: {waited}");
}

#[test]
fn a_limit_that_no_rate_keeps_gives_no_figure_and_says_what_was_seen() {
    let world = World::default();
    let cell = cell(&world, &["--slo", "latency.p99<=1ns", "--budget", "2"]);
    assert_eq!(cell["outcome"], "failed", "{cell:#}");
    let told = cell["reason"].to_string();
    assert!(told.contains("no rate keeps the limit") || told.contains("void"), "{told}");
}

#[test]
fn what_says_nothing_is_refused_before_or_told_as_the_reason() {
    let world = World::default();
    for asked in [&["--bench", "inference", "--rate", "5"][..], &["--rate", "0"], &["--rate", "0.0001"]] {
        world.host(&[&["run"], &CELL[..], asked].concat()).exits_with(2);
    }
    for asked in
        [&["--bench", "inference", "--batch-wait", "5"][..], &["--batch-wait", "-1"], &["--batch-wait", "0.0001"]]
    {
        world.host(&[&["run"], &CELL[..], asked].concat()).exits_with(2);
    }
    let together = cell(&world, &["--scenario", "offline", "--batch-wait", "2", "--budget", "0.5"]);
    assert!(together["reason"].to_string().contains("arrive one by one"), "{together:#}");
    let limit = world.host(&[&["run"], &CELL[..], &["--slo", "latency.p99<=20parsecs"]].concat());
    limit.exits_with(2).tells("such as latency.p99<=20ms");
    world.host(&[&["run"], &CELL[..], &["--rate", "9", "--arrivals", "now and then"]].concat()).exits_with(2);
    let cell = cell(&world, &["--bench", "serving", "--scenario", "server", "--budget", "0.5"]);
    assert!(cell["reason"].to_string().contains("needs a rate"), "{cell:#}");
}
