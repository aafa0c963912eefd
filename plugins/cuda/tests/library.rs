//! Libraries of ONNX Runtime that are not what they should be; in a process of its own, which never loads a right one.

use skillbench_cuda::CudaBackend;
use skillbench_plugin_api::client::BackendRef;
use skillbench_plugin_api::provide::{HostServices, HostTable};
use skillbench_plugin_api::{Code, Error, Options, Why};
use std::path::{Path, PathBuf};
use std::process::Command;

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

fn open(options: &[(&str, &str)]) -> Error {
    let options = Options(options.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect());
    let backend = BackendRef::linked::<CudaBackend>().unwrap();
    backend.open(HostTable::leak(&Quiet), &options).err().expect("it to be refused")
}

/// With a driver and without: the library is told of by its path.
fn refused(library: &Path) -> Error {
    let error = open(&[("library", library.to_str().unwrap())]);
    assert!(error.message.contains(library.to_str().unwrap()), "{error}");
    assert_eq!(error.code, Code::Unavailable);
    assert!(error.why.0 & Why::RUNTIME.0 != 0, "{error}");
    error
}

#[test]
fn a_text_file_and_a_truncated_library_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let (text, cut) = (folder.path().join("text.so"), folder.path().join("cut.so"));
    std::fs::write(&text, "this is a text").unwrap();
    let whole = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    std::fs::write(&cut, &whole[..65536]).unwrap();
    for library in [text, cut, folder.path().join("nowhere.so")] {
        refused(&library);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_older_onnx_runtime_is_refused_with_the_version_that_is_needed() {
    let folder = tempfile::tempdir().unwrap();
    let library = stub(folder.path(), "1.20.0");
    let error = refused(&library);
    assert!(error.message.contains("1.20.0") && error.message.contains("1.24"), "{error}");
}

/// A library that says it is ONNX Runtime of a version, and is nothing more.
#[cfg(target_os = "linux")]
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

#[test]
fn a_wrong_option_is_no_matter_of_the_machine() {
    for (key, value) in [("use_tf32", "perhaps"), ("gpu_mem_limit", "lots"), ("threads", "x")] {
        let error = open(&[(key, value)]);
        assert_eq!(error.code, Code::InvalidArgument);
        assert!(error.message.contains(key), "{error}");
    }
}
