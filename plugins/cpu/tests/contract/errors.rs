//! What goes wrong says whose fault it is, and what to do.

use super::real;
use skillbench_cpu::CpuBackend;
use skillbench_onnx::messages::FLOAT16;
use skillbench_plugin_api::{Code, Load, Why};
use skillbench_testkit::Sizes::Open;
use skillbench_testkit::graphs::{graph, write};
use skillbench_testkit::{errors, library, load_of, refused};

#[test]
fn an_operator_that_is_not_there_is_named() {
    let Some(instance) = real(&[]) else { return };
    errors::an_operator_that_is_not_there_is_named(&instance, Open);
}

#[test]
fn a_truncated_file_is_not_a_whole_model() {
    let Some(instance) = real(&[]) else { return };
    errors::a_truncated_file_is_not_a_whole_model(&instance, Open);
}

#[test]
fn missing_files_are_named() {
    let Some(instance) = real(&[]) else { return };
    errors::missing_files_are_named(&instance, Open);
}

#[test]
fn a_precision_is_applied_or_refused() {
    let Some(instance) = real(&[]) else { return };
    errors::a_precision_is_not_replaced_by_another(&instance, Open);

    let folder = tempfile::tempdir().unwrap();
    let half = load_of(&write(folder.path(), graph("Relu", FLOAT16)));
    let model = instance.load(&half).unwrap();
    assert_eq!(model.placement().unwrap().precision, "", "stored in float16; what kernels compute in cannot be told");
    let error = refused(&instance, &Load { precision: Some("float32".into()), ..half });
    assert_eq!((error.code, error.why), (Code::Unimplemented, Why::PRECISION));
}

#[test]
fn a_format_that_is_not_onnx_is_refused() {
    let Some(instance) = real(&[]) else { return };
    errors::a_format_that_is_not_onnx_is_refused(&instance);
}

#[test]
fn a_request_refuses_what_does_not_fit_and_stays_as_it_was() {
    let Some(instance) = real(&[]) else { return };
    errors::a_request_refuses_what_does_not_fit_and_stays_as_it_was(&instance);
}

#[test]
fn options_are_named_where_they_do_not_parse() {
    let wrong = [("threads", "many"), ("dynamic_shapes", "perhaps"), ("graph_optimization", "most")];
    errors::options_are_named_where_they_do_not_parse::<CpuBackend>(&wrong);
}

#[test]
fn one_process_has_one_runtime() {
    let Some(first) = real(&[]) else { return };
    library::one_process_has_one_runtime::<CpuBackend>(&first);
}
