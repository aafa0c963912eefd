//! Models that load and run.

use super::opened;
use skillbench_plugin_api::{Code, DType, Direction};
use skillbench_testkit::Sizes::Open;
use skillbench_testkit::graphs::{twice_and_inverse, write};
use skillbench_testkit::{booleans, integers, load_of, running, taken};

#[test]
fn the_probe_model_answers_as_computed_by_hand() {
    running::the_probe_model_answers_as_computed_by_hand(&opened(&[("threads", "1")]), Open);
}

#[test]
fn what_ran_is_told_and_what_is_unknown_is_not() {
    let instance = opened(&[]);
    let placement = running::what_ran_is_told(&instance, Open);
    assert_eq!(placement.device, instance.devices().unwrap()[0].id);
    assert_eq!(placement.nodes_total, None);

    let lock = include_str!("../../../../Cargo.lock");
    let version = lock.split("name = \"rten\"\nversion = \"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    assert_eq!(placement.engine, format!("rten {version}"));
}

#[test]
fn requests_run_at_once_and_do_not_mix() {
    running::requests_run_at_once_and_do_not_mix(&opened(&[("threads", "2")]), Open, 100);
}

#[test]
fn types_that_rten_has_not_come_and_go_as_the_file_declares_them() {
    let folder = tempfile::tempdir().unwrap();
    let instance = opened(&[]);
    let model = instance.load(&load_of(&write(folder.path(), twice_and_inverse()))).unwrap();
    let mut request = model.request().unwrap();
    request.bind(Direction::Input, 0, integers(&[3], &[1, -2, 2_000_000])).unwrap();
    request.bind(Direction::Input, 1, booleans(&[2], &[true, false])).unwrap();
    request.run().unwrap();
    assert_eq!(taken::<i64>(&mut request, 0), [2, -4, 4_000_000]);
    assert_eq!(request.take_output(0).err().unwrap().code, Code::FailedPrecondition, "an output is taken once");
    let inverse = request.take_output(1).unwrap();
    assert_eq!((inverse.dtype(), inverse.bytes()), (DType::Bool, &[0, 1][..]));

    let error = request.bind(Direction::Input, 0, integers(&[1], &[1 << 40])).unwrap_err();
    assert_eq!(error.code, Code::InvalidArgument);
    request.run().unwrap();
    assert_eq!(taken::<i64>(&mut request, 0), [2, -4, 4_000_000], "a refused tensor leaves the port as it was");
}

#[test]
fn weights_are_read_from_the_file_beside_the_graph() {
    running::weights_are_read_from_the_file_beside_the_graph(&opened(&[]), Open);
}
