//! Outputs on their way back. Nothing that a server says of a tensor is believed: type, shape and size have to fit together.

use crate::numbers::Numbers;
use crate::protocol::datatype;
use serde::Deserialize;
use skillbench_plugin_api::{Code, Error, HostTensor, Port, Result};

/// An answer: its JSON, and the bytes behind it.
pub struct Outputs<'a> {
    outputs: Vec<Output>,
    /// Behind the JSON, in the order of those outputs that have their bytes there.
    bytes: &'a [u8],
}

#[derive(Deserialize)]
struct Reply {
    outputs: Vec<Output>,
}

#[derive(Deserialize)]
struct Output {
    name: String,
    datatype: String,
    shape: Vec<u64>,
    #[serde(default)]
    parameters: Parameters,
    #[serde(default)]
    data: Option<Numbers>,
}

#[derive(Default, Deserialize)]
struct Parameters {
    #[serde(default)]
    binary_data_size: Option<usize>,
}

/// The elements of an output, as they lie in this machine's memory.
pub enum Elements<'a> {
    /// In the answer itself.
    Bytes(&'a [u8]),
    Tensor(HostTensor),
}

impl<'a> Outputs<'a> {
    /// `header`: how much of `body` is JSON; `None`: all of it.
    ///
    /// # Errors
    /// `WrongOutput` for an answer that is not one.
    pub fn of(body: &'a [u8], header: Option<usize>) -> Result<Outputs<'a>> {
        let (json, bytes) = match header {
            None => (body, &[][..]),
            Some(length) => body.split_at_checked(length).ok_or_else(|| wrong("the answer ends within its JSON"))?,
        };
        let reply: Reply =
            serde_json::from_slice(json).map_err(|error| wrong(&format!("the answer is no answer: {error}")))?;
        Ok(Outputs { outputs: reply.outputs, bytes })
    }

    /// An output's shape and elements.
    ///
    /// # Errors
    /// `WrongOutput` where it is not there, or is none of the port.
    pub fn take(&mut self, port: &Port) -> Result<(Vec<usize>, Elements<'a>)> {
        let name = &port.name;
        let missing = || wrong(&format!("the answer has no output '{name}'"));
        let place = self.outputs.iter().position(|output| output.name == *name).ok_or_else(missing)?;
        let wanted = datatype(port.dtype);
        if self.outputs[place].datatype != wanted {
            return Err(wrong(&format!("output '{name}' came as {}, not {wanted}", self.outputs[place].datatype)));
        }
        let sizes = &self.outputs[place].shape;
        let fits = sizes.len() == port.shape.len()
            && sizes.iter().zip(&port.shape).all(|(size, fixed)| fixed.is_none_or(|fixed| fixed as u64 == *size));
        let bytes =
            sizes.iter().try_fold(port.dtype.bytes(), |all, size| all.checked_mul(usize::try_from(*size).ok()?));
        let (true, Some(bytes)) = (fits, bytes) else {
            return Err(wrong(&format!("output '{name}' came with the shape {sizes:?}, declared {:?}", port.shape)));
        };
        let shape: Vec<usize> = sizes.iter().map(|size| *size as usize).collect();
        if let Some(size) = self.outputs[place].parameters.binary_data_size {
            let text = || format!("output '{name}' came as {size} bytes with the shape {shape:?}");
            let slice = self.behind(place, size).filter(|slice| slice.len() == bytes);
            return slice.map(|slice| (shape.clone(), Elements::Bytes(slice))).ok_or_else(|| wrong(&text()));
        }
        let numbers =
            self.outputs[place].data.take().ok_or_else(|| wrong(&format!("output '{name}' came without data")))?;
        let count = bytes / port.dtype.bytes();
        if numbers.count() != count {
            return Err(wrong(&format!(
                "output '{name}' came with {} elements, its shape is {shape:?}",
                numbers.count()
            )));
        }
        // Its length is that of what was read, so that no shape makes this large.
        let mut tensor = HostTensor::zeroed(port.dtype, &shape)?;
        numbers.write(port.dtype, tensor.bytes_mut()).map_err(|what| wrong(&format!("output '{name}' {what}")))?;
        Ok((shape, Elements::Tensor(tensor)))
    }

    /// The bytes of an output, behind those of the outputs before it.
    fn behind(&self, place: usize, size: usize) -> Option<&'a [u8]> {
        let sizes = self.outputs[..place].iter().filter_map(|output| output.parameters.binary_data_size);
        let from = sizes.into_iter().try_fold(0usize, |all, size| all.checked_add(size))?;
        self.bytes.get(from..from.checked_add(size)?)
    }
}

fn wrong(text: &str) -> Error {
    Error::new(Code::WrongOutput, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillbench_plugin_api::DType;

    fn port(dtype: DType, shape: &[Option<usize>]) -> Port {
        Port { name: "y".into(), dtype, shape: shape.to_vec(), dim_names: vec![None; shape.len()] }
    }

    fn taken(body: &[u8], header: Option<usize>, port: &Port) -> Result<(Vec<usize>, Vec<u8>), String> {
        let mut outputs = Outputs::of(body, header).map_err(|error| error.message)?;
        let (shape, elements) = outputs.take(port).map_err(|error| error.message)?;
        let bytes = match elements {
            Elements::Bytes(bytes) => bytes.to_vec(),
            Elements::Tensor(tensor) => tensor.bytes().to_vec(),
        };
        Ok((shape, bytes))
    }

    fn json(dtype: DType, shape: &[Option<usize>], output: &str) -> Result<(Vec<usize>, Vec<u8>), String> {
        taken(format!("{{\"outputs\":[{output}]}}").as_bytes(), None, &port(dtype, shape))
    }

    #[test]
    fn rows_and_one_row_are_the_same_tensor() {
        let floats: Vec<u8> = [1f32, 2.5, 3.0, -4.0].iter().flat_map(|number| number.to_ne_bytes()).collect();
        for data in ["[1,2.5,3,-4]", "[[1,2.5],[3,-4.0]]", "[[1],[2.5],[3],[-4e0]]"] {
            let output = format!(r#"{{"name":"y","datatype":"FP32","shape":[2,2],"data":{data}}}"#);
            assert_eq!(json(DType::F32, &[None, Some(2)], &output), Ok((vec![2, 2], floats.clone())), "{data}");
        }
    }

    #[test]
    fn a_large_integer_keeps_all_its_digits() {
        let output = format!(r#"{{"name":"y","datatype":"INT64","shape":[2],"data":[{},{}]}}"#, i64::MAX, i64::MIN);
        let bytes: Vec<u8> = [i64::MAX, i64::MIN].iter().flat_map(|number| number.to_ne_bytes()).collect();
        assert_eq!(json(DType::I64, &[None], &output), Ok((vec![2], bytes)));
    }

    #[test]
    fn what_does_not_fit_together_is_a_wrong_output() {
        let told = |output: &str| json(DType::F32, &[None, Some(2)], output).unwrap_err();
        assert!(told("").contains("no output 'y'"));
        assert!(told(r#"{"name":"y","datatype":"FP64","shape":[1,2],"data":[1,2]}"#).contains("FP64, not FP32"));
        assert!(told(r#"{"name":"y","datatype":"FP32","shape":[1,3],"data":[1,2,3]}"#).contains("shape [1, 3]"));
        assert!(told(r#"{"name":"y","datatype":"FP32","shape":[2],"data":[1,2]}"#).contains("shape [2]"));
        assert!(told(r#"{"name":"y","datatype":"FP32","shape":[2,2],"data":[1,2]}"#).contains("2 elements"));
        assert!(told(r#"{"name":"y","datatype":"FP32","shape":[1,2]}"#).contains("without data"));
        assert!(told(r#"{"name":"y","datatype":"FP32","shape":[1,2],"data":[1,NaN]}"#).contains("no answer"));
        assert!(told(r#"{"name":"y","datatype":"FP32","shape":[1,2],"data":[1,null]}"#).contains("no answer"));
        assert!(
            told(r#"{"name":"y","datatype":"FP32","shape":[9223372036854775807,2],"data":[1,2]}"#).contains("shape")
        );
        assert!(json(DType::I8, &[None], r#"{"name":"y","datatype":"INT8","shape":[1],"data":[300]}"#).is_err());
        assert!(json(DType::I8, &[None], r#"{"name":"y","datatype":"INT8","shape":[1],"data":[1.5]}"#).is_err());
    }

    #[test]
    fn bytes_are_found_behind_the_json_whatever_order_outputs_come_in() {
        let header = r#"{"outputs":[{"name":"x","datatype":"INT8","shape":[3],"parameters":{"binary_data_size":3}},
            {"name":"y","datatype":"INT16","shape":[2],"parameters":{"binary_data_size":4}}]}"#;
        let body = [header.as_bytes(), &[9, 9, 9, 1, 0, 2, 0]].concat();
        let of = |body: &[u8]| taken(body, Some(header.len()), &port(DType::I16, &[Some(2)]));
        assert_eq!(of(&body), Ok((vec![2], vec![1, 0, 2, 0])));
        assert!(of(&body[..body.len() - 1]).unwrap_err().contains("4 bytes"), "cut short");
        assert!(
            taken(&body, Some(body.len() + 1), &port(DType::I16, &[Some(2)])).unwrap_err().contains("within its JSON")
        );
        let huge = r#"{"outputs":[{"name":"x","datatype":"INT8","shape":[1],"parameters":{"binary_data_size":18446744073709551615}},
            {"name":"y","datatype":"INT16","shape":[2],"parameters":{"binary_data_size":4}}]}"#;
        assert!(taken(huge.as_bytes(), Some(huge.len()), &port(DType::I16, &[Some(2)])).is_err());
    }

    #[test]
    fn lists_within_lists_without_end_are_refused() {
        let deep = format!(r#"{{"name":"y","datatype":"FP32","shape":[1,2],"data":{}"#, "[".repeat(100_000));
        assert!(json(DType::F32, &[None, None], &deep).unwrap_err().contains("no answer"));
    }
}
