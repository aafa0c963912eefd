//! Requests that arrive: at a rate, all at once, and at the largest rate that keeps a limit.

use serde_json::Value;
use skillbench_tests::World;

const CELL: [&str; 8] = ["--plugin", "rten", "--model", "probe-mlp", "--batch-sizes", "1", "--threads", "1"];

/// The cell of a run.
fn cell(world: &World, asked: &[&str]) -> Value {
    let run = world.host(&[&["run", "--format", "json"], &CELL[..], asked].concat());
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
    let limit = world.host(&[&["run"], &CELL[..], &["--slo", "latency.p99<=20parsecs"]].concat());
    limit.exits_with(2).tells("such as latency.p99<=20ms");
    world.host(&[&["run"], &CELL[..], &["--rate", "9", "--arrivals", "now and then"]].concat()).exits_with(2);
    let cell = cell(&world, &["--bench", "serving", "--scenario", "server", "--budget", "0.5"]);
    assert!(cell["reason"].to_string().contains("needs a rate"), "{cell:#}");
}
