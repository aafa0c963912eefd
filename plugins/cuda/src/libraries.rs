//! NVIDIA's libraries that the providers need: none of them is in ONNX Runtime's package.

use skillbench_drivers::{Evidence, Library, beginning, cuda};
use skillbench_plugin_api::{Error, Result, Why};
use std::path::PathBuf;

/// Those of CUDA 13 and cuDNN 9, each after the ones that it needs. The provider's library needs the first four when it is
/// loaded; the others are asked for when an operator needs them.
const CUDA: [&str; 8] = [
    "libcudart.so.13",
    "libcublasLt.so.13",
    "libcublas.so.13",
    "libcurand.so.10",
    "libnvrtc.so.13",
    "libnvJitLink.so.13",
    "libcufft.so.12",
    "libcudnn.so.9",
];
/// Those of TensorRT 10.
const TENSORRT: [&str; 2] = ["libnvinfer.so.10", "libnvonnxparser.so.10"];

/// Opens what there is, so that ONNX Runtime's provider finds it by name; what is missing is told as evidence, and by the
/// provider when it misses it. Returns CUDA's runtime.
pub(crate) fn open_cuda(folders: &[PathBuf], evidence: &mut Evidence) -> Option<&'static Library> {
    let mut runtime = None;
    if cfg!(target_os = "linux") {
        // The compiler's own library has its version in its name, and is asked for when the first kernel is compiled.
        for name in beginning("libnvrtc-builtins.so.", folders) {
            let _ = Library::open(&name, folders, evidence).map(Library::keep);
        }
        for name in CUDA {
            let library = Library::open(name, folders, evidence).ok().map(Library::keep);
            runtime = runtime.or(library.filter(|_| name.starts_with("libcudart")));
        }
    }
    runtime
}

/// Opens TensorRT's libraries.
///
/// # Errors
/// `Unavailable`, with what the loader says of the first one.
pub(crate) fn open_tensorrt(folders: &[PathBuf], evidence: &mut Evidence) -> Result<()> {
    if cfg!(not(target_os = "linux")) {
        return Ok(());
    }
    for name in TENSORRT {
        let library = Library::open(name, folders, evidence).map_err(|words| {
            let text = format!(
                "TensorRT 10 is not installed ({words}): install it, and name its folder in the option cuda_libraries"
            );
            Error::unavailable(Why::RUNTIME, text)
        })?;
        library.keep();
    }
    Ok(())
}

/// Whether the driver is new enough for the CUDA runtime that ONNX Runtime uses.
///
/// # Errors
/// `Unavailable` with the runtime's own number and words.
pub(crate) fn served_by_driver(runtime: Option<&Library>, evidence: &mut Evidence) -> Result<()> {
    let Some(runtime) = runtime else { return Ok(()) };
    match cuda::ask_runtime(runtime) {
        Ok(count) => {
            evidence.add("cudaGetDeviceCount", count);
            Ok(())
        }
        Err((code, words)) => {
            evidence.add("cudaGetDeviceCount", format!("error {code}: {words}"));
            let text = format!(
                "{} cannot work with this driver (error {code}: {words}): install driver 580 or newer, which CUDA 13 needs",
                runtime.path.display()
            );
            Err(Error { vendor_code: code, ..Error::unavailable(Why::DRIVER, text) })
        }
    }
}
