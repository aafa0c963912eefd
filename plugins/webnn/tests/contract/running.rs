//! Models that load and run.

use super::opened;
use skillbench_onnx::Graph;
use skillbench_onnx::messages::{INT64, Node};
use skillbench_plugin_api::{Code, DType, DeviceKind, Direction, Why};
use skillbench_testkit::Sizes::Fixed;
use skillbench_testkit::graphs::{port, write};
use skillbench_testkit::{close, integers, probe, running, taken};

#[test]
fn the_probe_model_answers_as_computed_by_hand() {
    running::the_probe_model_answers_as_computed_by_hand(&opened(), Fixed);
}

#[test]
fn the_device_is_one_that_the_browser_really_builds_for() {
    let devices = opened().devices().unwrap();
    let cpu = &devices[0];
    assert_eq!((cpu.id.as_str(), cpu.kind, cpu.why, cpu.emulated), ("cpu", DeviceKind::Browser, Why::NONE, false));
    assert!(cpu.name.contains("Chrom") && cpu.name.ends_with("WebNN cpu"), "{}", cpu.name);
    for device in devices.iter().filter(|device| device.why != Why::NONE) {
        assert!(device.reason.contains("Chrom") && device.reason.contains(&device.id), "{}", device.reason);
    }
}

#[test]
fn what_ran_is_told() {
    let placement = running::what_ran_is_told(&opened(), Fixed);
    assert_eq!(placement.device, "cpu");
    assert!(placement.engine.starts_with("ONNX Runtime Web 1.") && placement.engine.contains("WebNN cpu"));
    assert_eq!((placement.nodes_total, placement.nodes_on_device), (Some(3), Some(3)));
}

#[test]
fn requests_of_one_model_do_not_mix() {
    running::requests_run_at_once_and_do_not_mix(&opened(), Fixed, 50);
}

#[test]
fn two_instances_have_two_browsers() {
    let (one, two) = (opened(), opened());
    let (x, y) = probe::expected();
    let load = Fixed.load(&probe::path(), &[("batch", 2)]);
    let first = one.load(&load).unwrap();
    let second = two.load(&load).unwrap();
    drop(first);
    drop(one);
    assert!(close(&probe::run(&second, &x), &y), "closing one leaves the other alone");
}

#[test]
fn integers_of_64_bits_come_and_go() {
    let folder = tempfile::tempdir().unwrap();
    let graph = Graph {
        node: vec![Node::new("Add", &["ids", "ids"], "twice")],
        input: vec![port("ids", INT64)],
        output: vec![port("twice", INT64)],
        ..Graph::default()
    };
    let instance = opened();
    let model = instance.load(&Fixed.load(&write(folder.path(), graph), &[("n", 3)])).unwrap();
    assert_eq!(model.inputs()[0].dtype, DType::I64);
    assert_eq!(model.placement().unwrap().precision, "", "nothing shows that it computes in float32");
    let mut request = model.request().unwrap();
    request.bind(Direction::Input, 0, integers(&[3], &[1, -2, 1 << 40])).unwrap();
    request.run().unwrap();
    assert_eq!(taken::<i64>(&mut request, 0), [2, -4, 1 << 41]);
    assert_eq!(request.take_output(0).err().unwrap().code, Code::FailedPrecondition, "an output is taken once");
}

#[test]
fn weights_are_read_from_the_file_beside_the_graph() {
    running::weights_are_read_from_the_file_beside_the_graph(&opened(), Fixed);
}

#[test]
fn the_browser_counts_the_cpu_time_of_its_processes() {
    let instance = opened();
    let model = instance.load(&Fixed.load(&probe::path(), &[("batch", 1)])).unwrap();
    let read = || instance.counters(0).unwrap().into_iter().find(|counter| counter.name == "browser_cpu").unwrap();
    let before = read();
    let (x, _) = probe::expected();
    (0..500).for_each(|_| drop(probe::run(&model, &x[..64])));
    let after = read();
    assert_eq!(after.unit, "s");
    assert!(before.value > 0.0 && after.value > before.value, "{before:?} {after:?}");
}
