//! States that stay with the engine from one run to the next.

use super::real;
use skillbench_testkit::states;

#[test]
fn states_are_the_next_runs_inputs() {
    let Some(instance) = real(&[]) else { return };
    states::states_are_the_next_runs_inputs(&instance);
}

#[test]
fn requests_keep_their_own_states() {
    let Some(instance) = real(&[]) else { return };
    states::requests_keep_their_own_states(&instance);
}

#[test]
fn without_a_beginning_there_is_no_run() {
    let Some(instance) = real(&[]) else { return };
    states::without_a_beginning_there_is_no_run(&instance);
}
