//! An engine's libraries that are not there, or not what they should be: for tests in a process of their own, which never
//! loads a right one.

use crate::open;
use skillbench_plugin_api::client::Instance;
use skillbench_plugin_api::sdk::Backend;
use skillbench_plugin_api::{Code, Error, Why};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The error of a library that must not be taken; it is told of by its path, with a driver and without.
pub fn refused<B: Backend>(library: &Path) -> Error {
    let library = library.to_str().unwrap();
    let error = open::<B>(&[("library", library)]).err().expect("the library to be refused");
    assert!(error.message.contains(library), "{error}");
    assert_eq!(error.code, Code::Unavailable);
    assert!(error.why.0 & Why::RUNTIME.0 != 0, "{error}");
    assert!(error.message.len() < 490, "it fits the contract's buffer: {error}");
    error
}

pub fn a_file_that_is_no_library_is_refused_by_name<B: Backend>() -> Vec<Error> {
    let folder = tempfile::tempdir().unwrap();
    let (text, cut) = (folder.path().join("text.so"), folder.path().join("cut.so"));
    std::fs::write(&text, "this is a text").unwrap();
    let whole = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    std::fs::write(&cut, &whole[..65536]).unwrap();
    let files = [text, cut, folder.path().join("nowhere.so"), folder.path().into()];
    files.iter().map(|library| refused::<B>(library)).collect()
}

/// For backends on ONNX Runtime; on Linux.
pub fn an_older_onnx_runtime_is_refused_with_the_version_that_is_needed<B: Backend>() {
    let folder = tempfile::tempdir().unwrap();
    let error = refused::<B>(&stub(folder.path(), "1.20.0"));
    assert!(error.message.contains("1.20.0") && error.message.contains("1.24"), "{error}");
}

/// A library that says it is ONNX Runtime of a version, and is nothing more.
fn stub(folder: &Path, version: &str) -> PathBuf {
    let (source, library) = (folder.join("stub.c"), folder.join("libonnxruntime.so"));
    let text = format!(
        "static const char *version(void) {{ return \"{version}\"; }}\n\
         static struct {{ void *api; const char *(*version)(void); }} base = {{ 0, version }};\n\
         void *OrtGetApiBase(void) {{ return &base; }}\n"
    );
    std::fs::write(&source, text).unwrap();
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status();
    assert!(built.expect("a C compiler").success());
    library
}

/// With a backend that is open on the right library: for tests in another process than the others here.
pub fn one_process_has_one_runtime<B: Backend>(_opened: &Instance) {
    assert!(open::<B>(&[]).is_ok(), "opened again");
    let error = open::<B>(&[("library", "another/library.so")]).err().expect("the other library to be refused");
    assert_eq!((error.code, error.why), (Code::FailedPrecondition, Why::RUNTIME));
    assert!(error.message.contains("another/library.so"), "{error}");
}
