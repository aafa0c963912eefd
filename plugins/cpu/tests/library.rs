//! Libraries that are not there, or not what they should be; in a process of its own, which never loads a right one.

use skillbench_cpu::CpuBackend;
use skillbench_plugin_api::Why;
use skillbench_testkit::library;

#[test]
fn a_file_that_is_no_library_is_refused_by_name() {
    let errors = library::a_file_that_is_no_library_is_refused_by_name::<CpuBackend>();
    assert!(errors.iter().all(|error| error.why == Why::RUNTIME), "{errors:?}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_library_of_something_else_is_not_onnx_runtime() {
    let error = library::refused::<CpuBackend>("libc.so.6".as_ref());
    assert_eq!(error.why, Why::RUNTIME);
    assert!(error.message.contains("not ONNX Runtime"), "{error}");
}
