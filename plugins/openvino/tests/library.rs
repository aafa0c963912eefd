//! Libraries that are not there, or not what they should be; in a process of its own, which never loads a right one.

use skillbench_openvino::OpenVinoBackend;
use skillbench_plugin_api::{Error, Why};
use skillbench_testkit::{library, part};
use std::path::{Path, PathBuf};

fn refused(library: &Path) -> Error {
    looked_at(library::refused::<OpenVinoBackend>(library))
}

fn looked_at(error: Error) -> Error {
    assert!(error.message.contains("host runtime install openvino"), "{error}");
    assert_eq!(error.why, Why::RUNTIME);
    error
}

fn real_library() -> PathBuf {
    part("OPENVINO_LIB_PATH").into()
}

#[test]
fn a_file_that_is_no_library_is_refused_by_name() {
    let errors = library::a_file_that_is_no_library_is_refused_by_name::<OpenVinoBackend>();
    errors.into_iter().for_each(|error| drop(looked_at(error)));
}

#[test]
#[cfg(target_os = "linux")]
fn a_truncated_library_is_unavailable_with_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let cut = folder.path().join("libopenvino_c.so");
    let whole = std::fs::read(real_library()).unwrap();
    for length in [3, 64, 4096, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&cut, &whole[..length]).unwrap();
        refused(&cut);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_truncated_library_beside_it_is_named_too() {
    let folder = tempfile::tempdir().unwrap();
    let (library, beside) = (folder.path().join("libopenvino_c.so"), folder.path().join("libopenvino_plugin.so"));
    let whole = std::fs::read(real_library()).unwrap();
    std::fs::write(&library, &whole).unwrap();
    std::fs::write(&beside, &whole[..whole.len() / 2]).unwrap();
    let error = refused(&library);
    assert!(error.message.contains("libopenvino_plugin.so is cut off"), "{error}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_library_without_those_it_needs_is_refused_with_their_name() {
    let folder = tempfile::tempdir().unwrap();
    let alone = folder.path().join("libopenvino_c.so");
    std::fs::copy(real_library(), &alone).unwrap();
    let error = refused(&alone);
    assert!(error.message.contains("libopenvino.so"), "{error}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_library_of_something_else_is_not_openvino() {
    let error = refused(Path::new("libc.so.6"));
    assert!(error.message.contains("not OpenVINO"), "{error}");
    // Where a test run has ONNX Runtime too, it is the likeliest mistake.
    if let Some(path) = std::env::var_os("ORT_DYLIB_PATH").filter(|path| Path::new(path).exists()) {
        let error = refused(Path::new(&path));
        assert!(error.message.contains("not OpenVINO"), "{error}");
    }
}
