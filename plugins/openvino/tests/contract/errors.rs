//! What goes wrong says whose fault it is, and what to do.

use super::real;
use skillbench_openvino::OpenVinoBackend;
use skillbench_plugin_api::{Code, Why};
use skillbench_testkit::Sizes::Open;
use skillbench_testkit::{errors, library};

#[test]
fn an_operator_that_is_not_there_is_named() {
    errors::an_operator_that_is_not_there_is_named(&real(&[]), Open);
}

#[test]
fn a_truncated_file_is_not_a_whole_model() {
    let errors = errors::a_truncated_file_is_not_a_whole_model(&real(&[]), Open);
    assert!(errors.iter().all(|error| error.why == Why::MODEL), "{errors:?}");
}

#[test]
fn missing_files_are_named() {
    assert_eq!(errors::missing_files_are_named(&real(&[]), Open).code, Code::NotFound);
}

#[test]
fn a_graph_reads_no_file_but_those_beside_it() {
    errors::a_graph_reads_no_file_but_those_beside_it(&real(&[]), Open);
}

#[test]
fn weights_that_are_cut_off_are_no_time() {
    errors::weights_that_are_too_short_are_refused(&real(&[]), Open);
}

#[test]
fn a_format_that_is_not_onnx_is_refused() {
    errors::a_format_that_is_not_onnx_is_refused(&real(&[]));
}

#[test]
fn a_request_refuses_what_does_not_fit_and_stays_as_it_was() {
    errors::a_request_refuses_what_does_not_fit_and_stays_as_it_was(&real(&[]));
}

#[test]
fn options_are_named_where_they_do_not_parse() {
    let wrong = [("threads", "many"), ("dynamic_shapes", "perhaps"), ("performance_hint", "most")];
    errors::options_are_named_where_they_do_not_parse::<OpenVinoBackend>(&wrong);
}

#[test]
fn one_process_has_one_runtime() {
    library::one_process_has_one_runtime::<OpenVinoBackend>(&real(&[]));
}
