//! Libraries of ONNX Runtime that are not what they should be; in a process of its own, which never loads a right one.

use skillbench_cuda::CudaBackend;
use skillbench_testkit::{errors, library};

#[test]
fn a_text_file_and_a_truncated_library_are_refused_by_name() {
    library::a_file_that_is_no_library_is_refused_by_name::<CudaBackend>();
}

#[test]
#[cfg(target_os = "linux")]
fn an_older_onnx_runtime_is_refused_with_the_version_that_is_needed() {
    library::an_older_onnx_runtime_is_refused_with_the_version_that_is_needed::<CudaBackend>();
}

#[test]
fn a_wrong_option_is_no_matter_of_the_machine() {
    let wrong = [("use_tf32", "perhaps"), ("gpu_mem_limit", "lots"), ("threads", "x")];
    errors::options_are_named_where_they_do_not_parse::<CudaBackend>(&wrong);
}
