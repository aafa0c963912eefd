//! Libraries that are not there, or not what they should be; in a process of its own, which never loads a right one.

use skillbench_cpu::CpuBackend;
use skillbench_plugin_api::client::BackendRef;
use skillbench_plugin_api::provide::{HostServices, HostTable};
use skillbench_plugin_api::{Code, Error, Options, Why};
use std::path::Path;

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
    let backend = BackendRef::linked::<CpuBackend>().unwrap();
    let error = backend.open(HostTable::leak(&Quiet), &options).err().expect("the library to be refused");
    assert!(error.message.contains(library), "{error}");
    assert_eq!((error.code, error.why), (Code::Unavailable, Why::RUNTIME));
    error
}

#[test]
fn a_file_that_is_no_library_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("libonnxruntime.so");
    std::fs::write(&text, "this is a text").unwrap();
    for library in [&*text, &folder.path().join("nowhere.so"), folder.path()] {
        let error = refused(library);
        assert!(error.message.len() < 490, "it fits the contract's buffer: {error}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_library_of_something_else_is_not_onnx_runtime() {
    let error = refused(Path::new("libc.so.6"));
    assert!(error.message.contains("not ONNX Runtime"), "{error}");
}
