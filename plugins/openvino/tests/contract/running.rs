//! Models that load and run.

use super::real;
use skillbench_plugin_api::Dim;
use skillbench_testkit::Sizes::Open;
use skillbench_testkit::running;

#[test]
fn the_probe_model_answers_as_computed_by_hand() {
    running::the_probe_model_answers_as_computed_by_hand(&real(&[("threads", "1")]), Open);
}

#[test]
fn outputs_go_where_they_are_bound() {
    for dims in [vec![], vec![Dim::fixed("batch", 2)]] {
        running::outputs_go_where_they_are_bound(&real(&[]), dims);
    }
}

#[test]
fn what_ran_is_told() {
    let placement = running::what_ran_is_told(&real(&[]), Open);
    assert_eq!(placement.device, "CPU");
    let version = placement.engine.strip_prefix("OpenVINO 20").expect("name and version");
    assert!(version.split('.').all(|part| part.parse::<u32>().is_ok()), "{}", placement.engine);
    assert!(placement.nodes_total.is_some_and(|nodes| nodes > 0) && placement.nodes_total == placement.nodes_on_device);
}

#[test]
fn requests_run_at_once_and_do_not_mix() {
    for hint in ["latency", "throughput"] {
        let instance = real(&[("threads", "2"), ("performance_hint", hint)]);
        running::requests_run_at_once_and_do_not_mix(&instance, Open, 100);
    }
}

#[test]
fn integers_booleans_and_nothing_at_all() {
    running::integers_booleans_and_nothing_at_all(&real(&[]), 1 << 20);
}

#[test]
fn weights_are_read_from_the_file_beside_the_graph() {
    running::weights_are_read_from_the_file_beside_the_graph(&real(&[]), Open);
}
