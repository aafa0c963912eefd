//! NVIDIA's libraries that the providers need: none of them is in ONNX Runtime's package.

use skillbench_drivers::{Evidence, Library, beginning, cuda};
use skillbench_plugin_api::{Error, Result, Why};
use std::path::PathBuf;

/// Those of CUDA 13 and cuDNN 9, each after the ones that it needs. Without those that are marked nothing is computed; the
/// others are asked for when an operator needs them.
const CUDA: [(&str, bool); 8] = [
    (RUNTIME, true),
    ("libcublasLt.so.13", true),
    ("libcublas.so.13", true),
    ("libcurand.so.10", true),
    ("libnvrtc.so.13", false),
    ("libnvJitLink.so.13", false),
    ("libcufft.so.12", false),
    (CUDNN, true),
];
const RUNTIME: &str = "libcudart.so.13";
const CUDNN: &str = "libcudnn.so.9";
/// Those of TensorRT 10.
const TENSORRT: [&str; 2] = ["libnvinfer.so.10", "libnvonnxparser.so.10"];

/// What was found of CUDA and cuDNN.
pub(crate) struct Libraries {
    /// CUDA's runtime.
    pub runtime: Option<&'static Library>,
    cudnn: Option<&'static Library>,
    missing: Vec<&'static str>,
}

impl Libraries {
    /// Opens what there is, so that ONNX Runtime's provider finds it by name, and tells it as evidence.
    pub fn open(folders: &[PathBuf], evidence: &mut Evidence) -> Libraries {
        let mut found = Libraries { runtime: None, cudnn: None, missing: vec![] };
        if cfg!(not(target_os = "linux")) {
            return found;
        }
        // The compiler's own library has its version in its name, and is asked for when the first kernel is compiled.
        for name in beginning("libnvrtc-builtins.so.", folders) {
            let _ = Library::open(&name, folders, evidence).map(Library::keep);
        }
        for (name, needed) in CUDA {
            match Library::open(name, folders, evidence).map(Library::keep) {
                Ok(library) if name == RUNTIME => found.runtime = Some(library),
                Ok(library)
                    if name == CUDNN && cuda::cudnn_built_for(library).is_none_or(|version| version >= 13_000) =>
                {
                    found.cudnn = Some(library);
                }
                Ok(library) if name == CUDNN => {
                    // Those for each version of CUDA have the same name.
                    let text = format!("{} is not for CUDA 13, and does not count", library.path.display());
                    evidence.add("cuDNN", text);
                    found.missing.push(name);
                }
                Err(_) if needed => found.missing.push(name),
                _ => {}
            }
        }
        found
    }

    /// # Errors
    /// `Unavailable`: which libraries are missing, and how they get here.
    pub fn complete(self) -> Result<Libraries> {
        if self.missing.is_empty() {
            return Ok(self);
        }
        // The evidence has every name; an error is short.
        let of_cuda: Vec<&str> = self.missing.iter().copied().filter(|name| *name != CUDNN).collect();
        let needed_of_cuda = CUDA.iter().filter(|(name, needed)| *needed && *name != CUDNN).count();
        let mut names = if of_cuda.len() == needed_of_cuda { vec!["CUDA 13"] } else { of_cuda };
        if self.missing.contains(&CUDNN) {
            names.push("cuDNN 9");
        }
        let (names, be) = (names.join(", "), if names.len() == 1 { "is" } else { "are" });
        let text = format!(
            "{names} {be} missing: run `host runtime install cuda`, or carry what `host runtime pack cuda --complete` packs"
        );
        Err(Error::unavailable(Why::RUNTIME, text))
    }

    /// "CUDA 13.0, cuDNN 9.19.0": they compute, so figures tell of them.
    pub fn versions(&self) -> Option<String> {
        let cuda = self.runtime.and_then(cuda::runtime_version).map(|version| format!("CUDA {version}"));
        let cudnn = self.cudnn.and_then(cuda::cudnn_version).map(|version| format!("cuDNN {version}"));
        let versions: Vec<String> = cuda.into_iter().chain(cudnn).collect();
        (!versions.is_empty()).then(|| versions.join(", "))
    }
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
                "{} cannot work with this driver (error {code}: {words}): CUDA 13 needs driver 580 or newer, and no library that is \
                 carried here takes its place: install one",
                runtime.path.display()
            );
            Err(Error { vendor_code: code, ..Error::unavailable(Why::DRIVER, text) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Libraries;

    #[test]
    fn libraries_that_are_missing_are_named_with_the_next_step() {
        let without = |missing: &[&'static str]| Libraries { runtime: None, cudnn: None, missing: missing.to_vec() };
        assert!(without(&[]).complete().is_ok());
        let message = |missing: &[&'static str]| without(missing).complete().err().unwrap().message;
        let text = message(&["libcudnn.so.9"]);
        assert!(text.starts_with("cuDNN 9 is missing") && text.contains("runtime pack"), "{text}");
        assert!(message(&["libcublas.so.13", "libcudnn.so.9"]).starts_with("libcublas.so.13, cuDNN 9 are missing"));
        let all = ["libcudart.so.13", "libcublasLt.so.13", "libcublas.so.13", "libcurand.so.10", "libcudnn.so.9"];
        assert!(message(&all).starts_with("CUDA 13, cuDNN 9 are missing"));
    }
}
