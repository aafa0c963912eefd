//! Libraries that are not there, or not what they should be; in a process of its own, which never loads a right one.

use skillbench_openvino::OpenVinoBackend;
use skillbench_plugin_api::client::BackendRef;
use skillbench_plugin_api::provide::{HostServices, HostTable};
use skillbench_plugin_api::{Code, Error, Options, Why};
use std::path::{Path, PathBuf};

struct Quiet;

impl HostServices for Quiet {
    fn log(&self, _: i32, _: &str, _: &str) {}
    fn phase(&self, _: &str, _: f64) {}
    fn now_ns(&self) -> u64 {
        0
    }
    fn stopping(&self) -> bool {
        false
    }
}

fn refused(library: &Path) -> Error {
    let library = library.to_str().unwrap();
    let options = Options([("library".to_string(), library.to_string())].into());
    let backend = BackendRef::linked::<OpenVinoBackend>().unwrap();
    let error = backend.open(HostTable::leak(&Quiet), &options).err().expect("the library to be refused");
    assert!(error.message.contains(library), "{error}");
    assert!(error.message.contains("host runtime install openvino"), "{error}");
    assert!(error.message.len() < 490, "it fits the contract's buffer: {error}");
    assert_eq!((error.code, error.why), (Code::Unavailable, Why::RUNTIME));
    error
}

fn real_library() -> PathBuf {
    let path = std::env::var_os("OPENVINO_LIB_PATH");
    path.expect("OPENVINO_LIB_PATH names no libopenvino_c: run scripts/test, which installs it and sets this").into()
}

#[test]
fn a_file_that_is_no_library_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("libopenvino_c.so");
    std::fs::write(&text, "this is a text").unwrap();
    for library in [&*text, &folder.path().join("nowhere.so"), folder.path()] {
        refused(library);
    }
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
