//! What operators cost, by ONNX Runtime's own profile.

use super::real;
use skillbench_plugin_api::{Code, Load};
use skillbench_testkit::Sizes::Open;
use skillbench_testkit::profile::RUNS;
use skillbench_testkit::{load_of, probe, profile};

#[test]
fn the_products_of_the_probe_are_told_with_their_kernels_run_by_run() {
    for threads in ["1", "2"] {
        let Some(instance) = real(&[("threads", threads)]) else { return };
        let recorded = profile::the_products_of_the_probe_are_told_and_fit_into_its_runs(&instance, Open);
        assert_eq!(recorded.operators.len() % RUNS, 0, "as many in each run");
        for operator in &recorded.operators {
            assert!(operator.start_ns.is_some() && operator.run.is_some(), "{operator:?}");
            assert!(operator.kernel == "CPUExecutionProvider" && !operator.name.is_empty(), "{operator:?}");
        }
    }
}

#[test]
fn a_model_that_is_measured_records_nothing() {
    let Some(instance) = real(&[]) else { return };
    profile::a_model_that_is_measured_records_nothing(&instance);
}

#[test]
fn a_load_is_recorded_once() {
    let Some(instance) = real(&[]) else { return };
    let model = instance.load(&Load { profile: true, ..load_of(&probe::path()) }).unwrap();
    let recording = instance.recording(&model).unwrap();
    assert_eq!(recording.end().unwrap_err().code, Code::FailedPrecondition, "nothing was begun");
    recording.begin().unwrap();
    assert!(recording.end().unwrap().is_empty(), "nothing ran");
    let error = recording.begin().unwrap_err();
    assert_eq!(error.code, Code::FailedPrecondition);
    assert!(error.message.contains("load the model again"), "{error}");
}
