//! Models that load and run.

use super::real;
use skillbench_testkit::Sizes::Open;
use skillbench_testkit::running;

#[test]
fn the_probe_model_answers_as_computed_by_hand() {
    let Some(instance) = real(&[("threads", "1")]) else { return };
    running::the_probe_model_answers_as_computed_by_hand(&instance, Open);
}

#[test]
fn outputs_go_where_they_are_bound() {
    let Some(instance) = real(&[]) else { return };
    running::outputs_go_where_they_are_bound(&instance, vec![]);
}

#[test]
fn what_ran_is_told() {
    let Some(instance) = real(&[]) else { return };
    let placement = running::what_ran_is_told(&instance, Open);
    assert_eq!(placement.device, "cpu");
    let version = placement.engine.strip_prefix("ONNX Runtime 1.").unwrap();
    assert!(version.ends_with(" CPUExecutionProvider"), "{}", placement.engine);
    assert!(placement.nodes_total.is_some_and(|nodes| nodes > 0) && placement.nodes_total == placement.nodes_on_device);
    assert_eq!(instance.devices().unwrap()[0].id, "cpu");
}

#[test]
fn requests_run_at_once_and_do_not_mix() {
    let Some(instance) = real(&[("threads", "2")]) else { return };
    running::requests_run_at_once_and_do_not_mix(&instance, Open, 100);
}

#[test]
fn integers_booleans_and_nothing_at_all() {
    let Some(instance) = real(&[]) else { return };
    running::integers_booleans_and_nothing_at_all(&instance, 1 << 40);
}

#[test]
fn weights_are_read_from_the_file_beside_the_graph() {
    let Some(instance) = real(&[]) else { return };
    running::weights_are_read_from_the_file_beside_the_graph(&instance, Open);
}
