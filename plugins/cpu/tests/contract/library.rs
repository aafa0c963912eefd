//! Libraries that are not there, or not what they should be.

use super::{open, real};
use skillbench_plugin_api::{Code, Error, Why};
use std::path::Path;

fn refused(library: &Path) -> Error {
    let library = library.to_str().unwrap();
    let error = open(&[("library", library)]).err().expect("the library to be refused");
    assert!(error.message.contains(library), "{error}");
    error
}

#[test]
fn a_library_that_is_none_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("libonnxruntime.so");
    std::fs::write(&text, "this is a text").unwrap();
    for library in [&*text, &folder.path().join("nowhere.so"), folder.path()] {
        let error = refused(library);
        assert_eq!((error.code, error.why), (Code::Unavailable, Why::RUNTIME));
        assert!(error.message.len() < 490, "{error}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_library_of_something_else_is_not_onnx_runtime() {
    let error = refused(Path::new("libc.so.6"));
    assert_eq!(error.code, Code::Unavailable);
    assert!(error.message.contains("not ONNX Runtime"), "{error}");
}

#[test]
fn one_process_has_one_runtime() {
    let Some(_first) = real(&[]) else { return };
    assert!(open(&[]).is_ok(), "opened again");
    let error = refused(Path::new("another/libonnxruntime.so"));
    assert_eq!((error.code, error.why), (Code::FailedPrecondition, Why::RUNTIME));
}
