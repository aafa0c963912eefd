//! What goes wrong says whose fault it is, and what to do.

use super::opened;
use skillbench_onnx::messages::FLOAT16;
use skillbench_plugin_api::Code;
use skillbench_rten::RtenBackend;
use skillbench_testkit::Sizes::Open;
use skillbench_testkit::graphs::{graph, write};
use skillbench_testkit::{errors, load_of, refused};

#[test]
fn an_operator_that_rten_lacks_is_named() {
    let error = errors::an_operator_that_is_not_there_is_named(&opened(&[]), Open);
    assert!(error.message.contains("Frobnicate of y"), "the node too: {error}");
}

#[test]
fn a_truncated_file_is_not_a_whole_model() {
    errors::a_truncated_file_is_not_a_whole_model(&opened(&[]), Open);
}

#[test]
fn missing_files_are_named() {
    assert_eq!(errors::missing_files_are_named(&opened(&[]), Open).code, Code::NotFound);
}

#[test]
fn a_graph_reads_no_file_but_those_beside_it() {
    errors::a_graph_reads_no_file_but_those_beside_it(&opened(&[]), Open);
}

#[test]
fn weights_that_are_too_short_are_refused() {
    let error = errors::weights_that_are_too_short_are_refused(&opened(&[]), Open);
    assert_eq!(error.code, Code::InvalidArgument);
    assert!(error.message.contains("weights"), "{error}");
}

#[test]
fn a_precision_is_applied_or_refused() {
    let instance = opened(&[]);
    errors::a_precision_is_not_replaced_by_another(&instance, Open);

    let folder = tempfile::tempdir().unwrap();
    let error = refused(&instance, &load_of(&write(folder.path(), graph("Relu", FLOAT16))));
    assert_eq!(error.code, Code::Unimplemented);
    assert!(error.message.contains("'x' is float16"), "{error}");
}

#[test]
fn a_format_that_rten_does_not_read_is_refused() {
    errors::a_format_that_is_not_onnx_is_refused(&opened(&[]));
}

#[test]
fn a_request_refuses_what_does_not_fit() {
    errors::a_request_refuses_what_does_not_fit(&opened(&[]), Open);
}

#[test]
fn options_are_named_where_they_do_not_parse() {
    errors::options_are_named_where_they_do_not_parse::<RtenBackend>(&[("threads", "many")]);
}
