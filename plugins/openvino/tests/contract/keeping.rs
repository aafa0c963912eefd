//! States that stay with the engine from one run to the next.

use super::real;
use skillbench_stand::keeping;

#[test]
fn states_are_the_next_runs_inputs() {
    let instance = real(&[]);
    keeping::states_are_the_next_runs_inputs(&instance);
}

#[test]
fn requests_keep_their_own_states() {
    let instance = real(&[]);
    keeping::requests_keep_their_own_states(&instance);
}

#[test]
fn without_a_beginning_there_is_no_run() {
    let instance = real(&[]);
    keeping::without_a_beginning_there_is_no_run(&instance);
}
