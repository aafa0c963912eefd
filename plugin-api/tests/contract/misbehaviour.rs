//! The misbehaving fixture misbehaves as it is told to, where that does not end this process.

use crate::compile::cargo_library;
use crate::loading::{backend, floats, host};
use crate::model::{distance, example, probe};
use skillbench_plugin_api::{Code, Direction, Error, Load, Options, Placement, Result, Source, Why};

/// Runs the probe's example: its output, and the placement.
fn run(how: &str, when: &str) -> Result<(Vec<f32>, Placement)> {
    let backend = backend(&cargo_library("skillbench-fixture-misbehave"));
    let options = [("how", how), ("when", when)].map(|(key, value)| (key.to_owned(), value.to_owned()));
    let instance = backend.open(host(), &Options(options.into()))?;
    let model = instance.load(&Load::new(Source::onnx(&probe())))?;
    let mut request = model.request()?;
    let (x, _) = example();
    request.bind(Direction::Input, 0, floats(&x.shape, &x.data))?;
    request.run()?;
    let output = request.take_output(0)?.to_host()?;
    Ok((output.as_slice().expect("float32").to_vec(), model.placement()?))
}

fn output(how: &str) -> Vec<f32> {
    run(how, "run").unwrap().0
}

#[test]
fn its_outputs_are_wrong_in_three_ways() {
    let (_, y) = example();
    assert!(distance(&output("well"), &y.data) < 1e-6);
    assert!(output("nan").iter().all(|value| value.is_nan()));
    let off_by_a_tenth: Vec<f32> = y.data.iter().map(|value| value * 1.1).collect();
    assert!(distance(&output("wrong"), &off_by_a_tenth) < 1e-6);
    assert_eq!(output("constant"), vec![0.25; y.data.len()]);
}

#[test]
fn its_placement_tells_of_another_device() {
    let (_, placement) = run("fallback", "run").unwrap();
    assert_eq!((placement.device.as_str(), placement.nodes_on_device), ("another-device", Some(0)));
}

#[test]
fn it_fails_at_the_moment_it_is_told() {
    for when in ["open", "load", "run"] {
        let told =
            Error { code: Code::ResourceExhausted, why: Why::MEMORY, vendor_code: -42, message: "told to fail".into() };
        assert_eq!(run("error", when).unwrap_err(), told);
        assert_eq!(run("panic", when).unwrap_err().message, "panicked: told to panic");
    }
}
