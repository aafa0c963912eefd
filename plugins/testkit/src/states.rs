//! States that stay with the engine from one run to the next. For backends that can keep them.

use crate::graphs::{two_states, write};
use crate::{floats, load_of, taken};
use skillbench_plugin_api::client::{Instance, Model, Request};
use skillbench_plugin_api::{Code, Direction};

const X: u32 = 0;
const PAST: u32 = 1;
const TOTAL: u32 = 2;
const PRESENT: u32 = 0;
const SEEN: u32 = 1;
const SUM: u32 = 2;
const TOLD: u32 = 3;

/// A request on the graph with two states, in which nothing is yet.
fn begun<'m>(model: &'m Model) -> Request<'m> {
    let mut request = model.request().unwrap();
    begin(&mut request);
    request
}

fn begin(request: &mut Request) {
    request.bind(Direction::Input, PAST, floats(&[2, 0], &[])).unwrap();
    request.bind(Direction::Input, TOTAL, floats(&[2, 1], &[0.0, 0.0])).unwrap();
}

/// A run with one more number: the numbers that there are after it, and their sum. The second row has the other sign.
fn add(request: &mut Request, value: f32) -> (Vec<f32>, f32) {
    request.bind(Direction::Input, X, floats(&[2, 1], &[value, -value])).unwrap();
    request.run().unwrap();
    let (seen, told) = (taken::<f32>(request, SEEN), taken::<f32>(request, TOLD));
    let (other, row) = seen.split_at(seen.len() / 2);
    assert!(row.iter().zip(other).all(|(one, other)| *one == -other), "{seen:?}");
    assert_eq!(told[0], -told[1]);
    (row.to_vec(), told[1])
}

/// One that grows from nothing, and one of fixed size; for several sequences.
pub fn states_are_the_next_runs_inputs(instance: &Instance) {
    let folder = tempfile::tempdir().unwrap();
    let model = instance.load(&load_of(&write(folder.path(), two_states()))).unwrap();
    let mut request = begun(&model);
    request.alias(PRESENT, PAST).unwrap();
    request.alias(SUM, TOTAL).unwrap();
    for sequence in 0..3 {
        begin(&mut request);
        let mut all = vec![];
        for step in 0..20 {
            all.push((sequence * 100 + step) as f32);
            assert_eq!(add(&mut request, all[step]), (all.clone(), all.iter().sum()));
        }
    }
    let error = request.take_output(PRESENT).err().unwrap();
    assert_eq!(error.code, Code::FailedPrecondition, "it is kept: {error}");
    request.leave_output(PRESENT).unwrap();
    begin(&mut request);
    add(&mut request, 5.0);
    assert_eq!(taken::<f32>(&mut request, PRESENT), [5.0, -5.0], "the alias has ended");
    assert_eq!(add(&mut request, 6.0), (vec![6.0], 11.0), "that one alone");
}

/// Two sequences in turns on one model, and one whose state is taken and bound.
pub fn requests_keep_their_own_states(instance: &Instance) {
    let folder = tempfile::tempdir().unwrap();
    let model = instance.load(&load_of(&write(folder.path(), two_states()))).unwrap();
    let (mut one, mut other, mut by_hand) = (begun(&model), begun(&model), begun(&model));
    for request in [&mut one, &mut other] {
        request.alias(PRESENT, PAST).unwrap();
        request.alias(SUM, TOTAL).unwrap();
    }
    let (mut odd, mut even) = (vec![], vec![]);
    for step in 0..6 {
        odd.push((2 * step + 1) as f32);
        even.push((2 * step) as f32);
        assert_eq!(add(&mut one, odd[step]), (odd.clone(), odd.iter().sum()));
        assert_eq!(add(&mut other, even[step]), (even.clone(), even.iter().sum()));
        assert_eq!(add(&mut by_hand, odd[step]), (odd.clone(), odd.iter().sum()));
        for (output, input) in [(PRESENT, PAST), (SUM, TOTAL)] {
            let state = by_hand.take_output(output).unwrap();
            by_hand.bind_taken(input, state.into()).unwrap();
        }
    }
}

pub fn without_a_beginning_there_is_no_run(instance: &Instance) {
    let folder = tempfile::tempdir().unwrap();
    let model = instance.load(&load_of(&write(folder.path(), two_states()))).unwrap();
    let mut request = begun(&model);
    request.alias(PRESENT, PAST).unwrap();
    add(&mut request, 1.0);
    request.reset().unwrap();
    assert_eq!(request.run().unwrap_err().code, Code::FailedPrecondition);
    request.bind(Direction::Input, PAST, floats(&[2, 0], &[])).unwrap();
    assert_eq!(add(&mut request, 2.0), (vec![2.0], 2.0));
    assert_eq!(add(&mut request, 3.0), (vec![2.0, 3.0], 3.0));
}
