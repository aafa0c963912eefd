//! The other side of the comparison: a plain loop over the C API, as a program that knows the model would have it. What a step
//! leaves in `present.*` goes into `past_key_values.*` of the next one as it is.

use ort::sys::{
    ONNXTensorElementDataType, OrtAllocatorType, OrtMemType, OrtMemoryInfo, OrtSession, OrtStatusPtr, OrtValue,
};
use skillbench_plugin_api::{Error, Result};
use skillbench_sequences::largest;
use std::ffi::{CString, c_char};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::time::Instant;

/// Of a sequence.
pub struct Times {
    /// Nanoseconds to its first token.
    pub first: f64,
    /// Nanoseconds to its last.
    pub all: f64,
    /// Milliseconds of CPU time, where somebody looks.
    pub cpu: f64,
}

/// A session, and the names of what goes in and comes out: tokens, mask, positions, and then the cache in the same order on
/// both sides, after the logits. Released with the process.
pub struct Plain {
    session: *mut OrtSession,
    memory: *mut OrtMemoryInfo,
    inputs: Vec<*const c_char>,
    outputs: Vec<*const c_char>,
    _texts: Vec<CString>,
    /// Of an empty cache.
    shapes: Vec<[i64; 4]>,
}

// SAFETY: a session has no thread, and pointers to names point into the strings beside them, which never change.
unsafe impl Send for Plain {}

fn check(status: OrtStatusPtr) -> Result<()> {
    match status.0.is_null() {
        true => Ok(()),
        false => Err(Error::internal("a call of the C API failed")),
    }
}

/// A value that is released when it goes.
struct Value(*mut OrtValue);

impl Drop for Value {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: owned, and released once.
            unsafe { (ort::api().ReleaseValue)(self.0) }
        }
    }
}

impl Plain {
    /// The library is loaded already; a process has one environment, and creating it again returns the same.
    ///
    /// `states` are the pairs of names of the cache, with the shape of an empty one.
    pub fn open(path: &Path, threads: i32, states: &[(String, String, [i64; 4])]) -> Result<Plain> {
        let text = |bytes: &[u8]| CString::new(bytes).map_err(|error| Error::invalid(error.to_string()));
        let path = text(path.as_os_str().as_bytes())?;
        let mut texts = vec![];
        let mut keep = |name: &str| -> Result<*const c_char> {
            texts.push(text(name.as_bytes())?);
            Ok(texts[texts.len() - 1].as_ptr())
        };
        let mut inputs =
            ["input_ids", "attention_mask", "position_ids"].map(&mut keep).into_iter().collect::<Result<Vec<_>>>()?;
        let mut outputs = vec![keep("logits")?];
        for (from, to, _) in states {
            inputs.push(keep(to)?);
            outputs.push(keep(from)?);
        }
        let api = ort::api();
        let (mut env, mut options, mut session) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        let mut memory = ptr::null_mut();
        // SAFETY: pointers to locals are writable, strings end with NUL and are copied.
        unsafe {
            let level = ort::sys::OrtLoggingLevel::ORT_LOGGING_LEVEL_WARNING;
            check((api.CreateEnv)(level, c"plain".as_ptr(), &raw mut env))?;
            check((api.CreateSessionOptions)(&raw mut options))?;
            check((api.SetIntraOpNumThreads)(options, threads))?;
            check((api.AddFreeDimensionOverrideByName)(options, c"batch".as_ptr(), 1))?;
            check((api.CreateSession)(env, path.as_ptr(), options, &raw mut session))?;
            let (allocator, kind) = (OrtAllocatorType::OrtDeviceAllocator, OrtMemType::OrtMemTypeDefault);
            check((api.CreateCpuMemoryInfo)(allocator, kind, &raw mut memory))?;
        }
        let shapes = states.iter().map(|(.., shape)| *shape).collect();
        Ok(Plain { session, memory, inputs, outputs, _texts: texts, shapes })
    }

    /// A value over numbers that outlive it.
    fn over<T>(&self, data: &mut [T], shape: &[i64], element: ONNXTensorElementDataType) -> Result<Value> {
        let mut value = ptr::null_mut();
        // SAFETY: the memory holds as many bytes as said, and the caller keeps it while the value is used.
        check(unsafe {
            (ort::api().CreateTensorWithDataAsOrtValue)(
                self.memory,
                data.as_mut_ptr().cast(),
                size_of_val(data),
                shape.as_ptr(),
                shape.len(),
                element,
                &raw mut value,
            )
        })?;
        Ok(Value(value))
    }

    /// Reads a prompt and makes `new_tokens`, one sequence.
    pub fn sequence(&mut self, prompt: &[i64], new_tokens: usize) -> Result<Times> {
        let start = Instant::now();
        let mut nothing = [0_f32; 1];
        let float = ONNXTensorElementDataType::ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
        let mut cache: Vec<Value> =
            self.shapes.iter().map(|shape| self.over(&mut nothing[..0], shape, float)).collect::<Result<_>>()?;
        let mut tokens = prompt.to_vec();
        let (mut past, mut first) = (0, 0.0);
        for step in 0..new_tokens {
            let token = self.step(&mut tokens, past, &mut cache)?;
            past += tokens.len();
            tokens = vec![token];
            if step == 0 {
                first = start.elapsed().as_nanos() as f64;
            }
        }
        Ok(Times { first, all: start.elapsed().as_nanos() as f64, cpu: 0.0 })
    }

    fn step(&mut self, tokens: &mut [i64], past: usize, cache: &mut Vec<Value>) -> Result<i64> {
        let (count, total) = (tokens.len(), past + tokens.len());
        let mut mask = vec![1_i64; total];
        let mut positions: Vec<i64> = (past as i64..total as i64).collect();
        let int = ONNXTensorElementDataType::ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64;
        let given = [
            self.over(tokens, &[1, count as i64], int)?,
            self.over(&mut mask, &[1, total as i64], int)?,
            self.over(&mut positions, &[1, count as i64], int)?,
        ];
        let inputs: Vec<*const OrtValue> = given.iter().chain(&*cache).map(|value| value.0.cast_const()).collect();
        let mut outputs = vec![ptr::null_mut::<OrtValue>(); self.outputs.len()];
        let mut data = ptr::null_mut();
        let (mut shape, mut elements) = (ptr::null_mut(), 0);
        let api = ort::api();
        // SAFETY: a live session; as many names as values; null outputs are made by the run and are ours.
        unsafe {
            check((api.Run)(
                self.session,
                ptr::null(),
                self.inputs.as_ptr(),
                inputs.as_ptr(),
                inputs.len(),
                self.outputs.as_ptr(),
                outputs.len(),
                outputs.as_mut_ptr(),
            ))?;
        }
        let logits = Value(outputs[0]);
        *cache = outputs[1..].iter().map(|value| Value(*value)).collect();
        // SAFETY: a live float tensor; as many elements as it says.
        let all = unsafe {
            check((api.GetTensorTypeAndShape)(logits.0, &raw mut shape))?;
            check((api.GetTensorShapeElementCount)(shape, &raw mut elements))?;
            (api.ReleaseTensorTypeAndShapeInfo)(shape);
            check((api.GetTensorMutableData)(logits.0, &raw mut data))?;
            std::slice::from_raw_parts(data.cast::<f32>(), elements)
        };
        let last = &all[elements / count * (count - 1)..];
        largest(last).map(|token| token as i64).ok_or_else(|| Error::internal("no largest logit"))
    }
}
