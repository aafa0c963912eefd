//! Inputs on their way to the server.

use crate::protocol::datatype;
use crate::settings::Encoding;
use serde::Serialize;
use skillbench_plugin_api::sdk::{Bindings, Bound};
use skillbench_plugin_api::{DType, Error, Port, Result, Why};

/// Puts a request into `body`, and tells how much of it is JSON where bytes come behind that.
///
/// # Errors
/// `Unimplemented` for a type that JSON cannot carry.
pub fn encode(
    encoding: Encoding,
    inputs: &[Port],
    outputs: &[Port],
    bound: &Bindings,
    body: &mut Vec<u8>,
) -> Result<Option<usize>> {
    body.clear();
    body.extend(b"{\"inputs\":[");
    for (index, port) in inputs.iter().enumerate() {
        let tensor = bound.input(index)?;
        separate(index, body);
        body.extend(b"{\"name\":");
        put(&port.name, body)?;
        body.extend(b",\"shape\":");
        put(tensor.shape(), body)?;
        body.extend(b",\"datatype\":");
        put(datatype(port.dtype), body)?;
        match encoding {
            Encoding::Binary => {
                let parameters = format!(",\"parameters\":{{\"binary_data_size\":{}}}}}", tensor.byte_len());
                body.extend(parameters.bytes());
            }
            Encoding::Json => {
                body.extend(b",\"data\":");
                put_elements(&port.name, tensor, body)?;
                body.push(b'}');
            }
        }
    }
    body.extend(b"],\"outputs\":[");
    for (index, port) in outputs.iter().enumerate() {
        separate(index, body);
        body.extend(b"{\"name\":");
        put(&port.name, body)?;
        if encoding == Encoding::Binary {
            body.extend(b",\"parameters\":{\"binary_data\":true}");
        }
        body.push(b'}');
    }
    body.extend(b"]}");
    if encoding == Encoding::Json {
        return Ok(None);
    }
    let header = body.len();
    for (index, port) in inputs.iter().enumerate() {
        let tensor = bound.input(index)?;
        body.extend(tensor.as_bytes().ok_or_else(|| unreadable(&port.name))?);
    }
    Ok(Some(header))
}

fn separate(index: usize, body: &mut Vec<u8>) {
    if index > 0 {
        body.push(b',');
    }
}

fn put<T: Serialize + ?Sized>(value: &T, body: &mut Vec<u8>) -> Result<()> {
    serde_json::to_writer(body, value).map_err(|error| Error::internal(format!("a request cannot be written: {error}")))
}

fn put_elements(name: &str, tensor: &Bound, body: &mut Vec<u8>) -> Result<()> {
    macro_rules! elements {
        ($type:ty) => {
            put(tensor.as_slice::<$type>().ok_or_else(|| unreadable(name))?, body)
        };
    }
    // JSON has no word for what is no number: it would go as null.
    let no_number = || Error::invalid(format!("input '{name}' has elements that are no numbers; JSON carries none"));
    match tensor.dtype() {
        DType::F32 if tensor.as_slice::<f32>().is_some_and(|all| all.iter().any(|one| !one.is_finite())) => {
            Err(no_number())
        }
        DType::F64 if tensor.as_slice::<f64>().is_some_and(|all| all.iter().any(|one| !one.is_finite())) => {
            Err(no_number())
        }
        DType::F32 => elements!(f32),
        DType::F64 => elements!(f64),
        DType::I8 => elements!(i8),
        DType::I16 => elements!(i16),
        DType::I32 => elements!(i32),
        DType::I64 => elements!(i64),
        DType::U8 => elements!(u8),
        DType::U16 => elements!(u16),
        DType::U32 => elements!(u32),
        DType::U64 => elements!(u64),
        DType::Bool => {
            let bytes = tensor.as_bytes().ok_or_else(|| unreadable(name))?;
            put(&bytes.iter().map(|byte| *byte != 0).collect::<Vec<bool>>(), body)
        }
        half @ (DType::F16 | DType::BF16) => {
            let text = format!(
                "input '{name}' is {}, which JSON cannot carry: set `--option endpoint:encoding=binary`",
                half.name()
            );
            Err(Error::unimplemented(Why::MODEL, text))
        }
    }
}

fn unreadable(name: &str) -> Error {
    Error::invalid(format!("input '{name}' is not in host memory, or not aligned to its elements"))
}
