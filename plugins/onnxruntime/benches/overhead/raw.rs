//! The other side of the comparison: the C API alone, as a program in C would use it.

use ort::sys::{
    ONNXTensorElementDataType, OrtAllocatorType, OrtLoggingLevel, OrtMemType, OrtSession, OrtStatusPtr, OrtValue,
};
use skillbench_plugin_api::{Error, Result};
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

/// A session with one float input `x` and one float output `y`, and values over this side's memory. Released with the process.
pub struct RawSession {
    session: *mut OrtSession,
    inputs: [*const OrtValue; 1],
    outputs: [*mut OrtValue; 1],
}

fn check(status: OrtStatusPtr) -> Result<()> {
    match status.0.is_null() {
        true => Ok(()),
        false => Err(Error::internal("a call of the C API failed")),
    }
}

impl RawSession {
    /// The library is loaded already; a process has one environment, and creating it again returns the same.
    pub fn open(path: &Path, dims: &[(&str, i64)], input: [i64; 2], output: [i64; 2]) -> Result<RawSession> {
        let text = |bytes: &[u8]| CString::new(bytes).map_err(|error| Error::invalid(error.to_string()));
        let path = text(path.as_os_str().as_bytes())?;
        let api = ort::api();
        let (mut env, mut options, mut session) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        // SAFETY: pointers to locals are writable, strings end with NUL and are copied.
        unsafe {
            check((api.CreateEnv)(OrtLoggingLevel::ORT_LOGGING_LEVEL_WARNING, c"raw".as_ptr(), &raw mut env))?;
            check((api.CreateSessionOptions)(&raw mut options))?;
            check((api.SetIntraOpNumThreads)(options, 1))?;
            for (name, size) in dims {
                let name = text(name.as_bytes())?;
                check((api.AddFreeDimensionOverrideByName)(options, name.as_ptr(), *size))?;
            }
            check((api.CreateSession)(env, path.as_ptr(), options, &raw mut session))?;
        }
        Ok(RawSession { session, inputs: [value(&input)?.cast_const()], outputs: [value(&output)?] })
    }

    pub fn run(&mut self) -> Result<()> {
        let (x, y) = ([c"x".as_ptr()], [c"y".as_ptr()]);
        // SAFETY: a live session with these two ports, and values that fit them.
        check(unsafe {
            (ort::api().Run)(
                self.session,
                ptr::null(),
                x.as_ptr(),
                self.inputs.as_ptr(),
                1,
                y.as_ptr(),
                1,
                self.outputs.as_mut_ptr(),
            )
        })
    }
}

/// A float value over memory of its own.
fn value(shape: &[i64; 2]) -> Result<*mut OrtValue> {
    let api = ort::api();
    let memory = vec![0f32; (shape[0] * shape[1]) as usize].leak();
    let (mut info, mut value) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: pointers to locals are writable; the memory is leaked, so it outlives the value.
    unsafe {
        let (allocator, kind) = (OrtAllocatorType::OrtDeviceAllocator, OrtMemType::OrtMemTypeDefault);
        check((api.CreateCpuMemoryInfo)(allocator, kind, &raw mut info))?;
        check((api.CreateTensorWithDataAsOrtValue)(
            info,
            memory.as_mut_ptr().cast(),
            size_of_val(memory),
            shape.as_ptr(),
            shape.len(),
            ONNXTensorElementDataType::ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT,
            &raw mut value,
        ))?;
    }
    Ok(value)
}
