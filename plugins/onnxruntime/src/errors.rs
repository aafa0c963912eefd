//! ONNX Runtime's errors, as the contract tells them.

use crate::assignment::Assignment;
use ort::ErrorCode;
use ort::sys::{OrtErrorCode, OrtStatusPtr};
use skillbench_plugin_api::{Code, Error, Result, Why};
use std::error::Error as _;
use std::path::Path;

/// An error of ONNX Runtime, without knowing what it was doing.
pub(crate) fn of<R>(error: &ort::Error<R>) -> Error {
    let code = match error.code() {
        ErrorCode::InvalidArgument | ErrorCode::InvalidProtobuf | ErrorCode::InvalidGraph => Code::InvalidArgument,
        ErrorCode::NoSuchFile | ErrorCode::NotFound => Code::NotFound,
        ErrorCode::NotImplemented => Code::Unimplemented,
        ErrorCode::ModelLoadCanceled => Code::Cancelled,
        _ => Code::Internal,
    };
    let text = error.message();
    // What a shader needs, and this device has not, shows in its first run.
    let code = if text.contains(NO_FEATURE) { Code::Unimplemented } else { code };
    // Memory that ends in a run is told like any other failure, but for the reason: a smaller batch may do.
    let (code, why) = match NO_MEMORY.iter().any(|said| text.contains(said)) {
        true => (Code::ResourceExhausted, Why::MEMORY),
        false => (code, Why::NONE),
    };
    Error { vendor_code: number(error.code()), ..Error::new(code, short(text)).because(why) }
}

/// What the WebGPU provider says of an operator in float16 on a device without.
const NO_FEATURE: &str = "but the device does not support it";

/// What ONNX Runtime, CUDA and C++ say where memory does not suffice.
const NO_MEMORY: [&str; 4] = ["bad_alloc", "Failed to allocate memory", "out of memory", "OUT_OF_MEMORY"];

/// What a load says that was refused because nodes would have gone to the CPU.
const FALLBACK: &str = "the device cannot run all of it";

/// Whether a load was refused for that.
pub(crate) fn is_fallback(error: &Error) -> bool {
    error.message.contains(FALLBACK)
}

/// The same, with the operators that the device lacks.
pub(crate) fn lacking(path: &Path, found: &Assignment) -> Error {
    let operators: Vec<String> =
        found.elsewhere.iter().map(|(operator, count)| format!("{count} {operator}")).collect();
    let elsewhere = found.total - found.on_provider.min(found.total);
    let text = format!(
        "{}: {FALLBACK}: {elsewhere} of {} nodes would run on the CPU ({}): use another backend for this model",
        path.display(),
        found.total,
        operators.join(", ")
    );
    Error::unimplemented(Why::MODEL, text)
}

/// Why a model does not load.
pub(crate) fn loading<R>(path: &Path, error: &ort::Error<R>) -> Error {
    let (path, text) = (path.display(), error.message());
    let says = |part: &str| text.contains(part);
    let plain = of(error);
    let (code, why, message) = if says("fallback to CPU EP has been explicitly disabled") {
        (Code::Unimplemented, Why::MODEL, format!("{path}: {FALLBACK}: use another backend for this model"))
    } else if says("is not a registered function/op")
        || says("No Op registered for")
        || says("Could not find an implementation")
    {
        let text = format!("ONNX Runtime cannot run {path}: {}: use another backend for this model", plain.message);
        (Code::Unimplemented, Why::MODEL, text)
    } else if error.code() == ErrorCode::InvalidProtobuf || says("No graph was found") {
        let text = format!("{path} is not a whole ONNX model ({}): copy or export it again", plain.message);
        (Code::InvalidArgument, Why::MODEL, text)
    } else if plain.code == Code::ResourceExhausted {
        let text = format!("no memory to load {path} ({}): use a smaller model or batch", plain.message);
        (Code::ResourceExhausted, Why::MEMORY, text)
    } else {
        let why = if SAID.iter().any(|said| says(said)) { Why::DEVICE } else { Why::MODEL };
        (plain.code, why, format!("ONNX Runtime does not load {path}: {}", plain.message))
    };
    Error { code, why, message, ..plain }
}

fn number(code: ErrorCode) -> i32 {
    OrtErrorCode::from(code) as i32
}

/// The status of a call of the C API; taken over and freed.
///
/// # Errors
/// What the status says.
///
/// # Safety
/// `status` was just returned by the C API.
pub(crate) unsafe fn check(status: OrtStatusPtr) -> Result<()> {
    // SAFETY: the caller promises it.
    unsafe { ort::Error::result_from_status(status) }.map_err(|error| of(&error))
}

/// What a GPU's library said stands behind the signatures of the functions that heard it: "... CUDA failure 2: out of memory".
const SAID: [&str; 5] = ["CUDA failure ", "CUBLAS failure ", "CUDNN failure ", "CUFFT failure ", "HIP failure "];

/// The first part of a text, on one line: messages of ONNX Runtime and of loaders can be pages.
pub(crate) fn short(text: &str) -> String {
    let text = SAID.iter().find_map(|said| text.find(said).map(|start| &text[start..])).unwrap_or(text);
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // A place in ONNX Runtime's source and a signature come first there, and what is wrong comes last.
    if line.contains(".cc:")
        && let Some((start, _)) = line.char_indices().rev().nth(220)
    {
        line = format!("... {}", &line[start..]);
    }
    if let Some((end, _)) = line.char_indices().nth(240) {
        line.truncate(end);
        line.push_str(" ...");
    }
    line
}

/// Why a library does not open: the error itself only says that it does not; its source says why.
pub(crate) fn loader_words(error: &libloading::Error) -> String {
    short(&error.source().map_or_else(|| error.to_string(), ToString::to_string))
}

#[cfg(test)]
mod tests {
    use super::{Code, Why, of, short};

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let text = short(&"ä\n".repeat(500));
        assert!(text.ends_with(" ...") && text.chars().count() == 244);
        assert_eq!(short(" one\n two "), "one two");
    }

    #[test]
    fn memory_that_ends_is_named_as_the_reason_in_a_run_too() {
        let reason = |text: &str| {
            let error = of(&ort::Error::<()>::new(text));
            (error.code, error.why)
        };

        assert_eq!(reason("CUDA failure 2: out of memory ; GPU=0"), (Code::ResourceExhausted, Why::MEMORY));
        assert_eq!(reason("Failed to allocate memory for requested buffer"), (Code::ResourceExhausted, Why::MEMORY));
        assert_eq!(reason("CUDNN_STATUS_EXECUTION_FAILED"), (Code::Internal, Why::NONE));
    }

    #[test]
    fn what_a_gpus_library_says_stands_first() {
        let signatures = "std::conditional_t<THRW, void> CudaCall(ERRTYPE) ".repeat(20);
        assert!(
            short(&(signatures + "CUDA failure 2: out of memory ; GPU=0")).starts_with("CUDA failure 2: out of memory")
        );
    }
}
