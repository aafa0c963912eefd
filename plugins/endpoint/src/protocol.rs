//! What a server says of itself and of its models: the Open Inference Protocol, version 2, over HTTP.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use skillbench_plugin_api::{DType, Port};

/// `GET /v2`.
#[derive(Debug, Deserialize)]
pub struct Server {
    pub name: String,
    #[serde(default)]
    pub version: String,
    #[serde(default)]
    pub extensions: Vec<String>,
}

impl Server {
    pub fn takes_bytes(&self) -> bool {
        self.extensions.iter().any(|extension| extension == "binary_tensor_data")
    }

    /// Name and version.
    pub fn describe(&self) -> String {
        format!("{} {}", self.name, self.version).trim().to_string()
    }
}

/// One line of `POST /v2/repository/index`.
#[derive(Debug, Deserialize)]
pub struct Served {
    pub name: String,
    /// "READY".
    #[serde(default)]
    pub state: String,
}

/// `GET /v2/models/NAME`. A server that does not know the ports of a model names none.
#[derive(Debug, Default, Deserialize)]
pub struct Described {
    #[serde(default)]
    pub platform: String,
    #[serde(default)]
    pub inputs: Vec<Tensor>,
    #[serde(default)]
    pub outputs: Vec<Tensor>,
}

#[derive(Debug, Deserialize)]
pub struct Tensor {
    pub name: String,
    pub datatype: String,
    /// -1: any.
    #[serde(default)]
    pub shape: Vec<i64>,
}

/// Servers do not agree on whether a name in a path is decoded: what need not be encoded is not.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The path of a served model.
pub fn path_of(model: &str, version: Option<&str>) -> String {
    let part = |text: &str| match text.chars().all(|char| char == '.') {
        // These would lead elsewhere.
        true => utf8_percent_encode(text, NON_ALPHANUMERIC).to_string(),
        false => utf8_percent_encode(text, ENCODED).to_string(),
    };
    match version {
        None => format!("/v2/models/{}", part(model)),
        Some(version) => format!("/v2/models/{}/versions/{}", part(model), part(version)),
    }
}

/// Each type as ONNX and as the protocol calls it.
const TYPES: [(DType, &str, &str); 13] = [
    (DType::F16, "float16", "FP16"),
    (DType::BF16, "bfloat16", "BF16"),
    (DType::F32, "float", "FP32"),
    (DType::F64, "double", "FP64"),
    (DType::I8, "int8", "INT8"),
    (DType::I16, "int16", "INT16"),
    (DType::I32, "int32", "INT32"),
    (DType::I64, "int64", "INT64"),
    (DType::U8, "uint8", "UINT8"),
    (DType::U16, "uint16", "UINT16"),
    (DType::U32, "uint32", "UINT32"),
    (DType::U64, "uint64", "UINT64"),
    (DType::Bool, "bool", "BOOL"),
];

/// What the protocol calls a type.
pub fn datatype(dtype: DType) -> &'static str {
    TYPES.iter().find(|(of, ..)| *of == dtype).map_or("", |(.., name)| name)
}

/// The type that ONNX calls so; `None`: its elements are no numbers that go over the wire.
pub fn of_onnx(name: &str) -> Option<DType> {
    TYPES.iter().find(|(_, of, _)| *of == name).map(|(dtype, ..)| *dtype)
}

impl Described {
    /// In what its ports are others than these; `None`: in nothing, as far as the server says.
    pub fn differs(&self, inputs: &[Port], outputs: &[Port]) -> Option<String> {
        let among = |ports: &[Port], served: &[Tensor], what: &str| {
            if served.is_empty() {
                return None;
            }
            ports.iter().find_map(|port| match served.iter().find(|tensor| tensor.name == port.name) {
                None => Some(format!("it has no {what} '{}'", port.name)),
                Some(tensor) => differs(port, tensor).map(|how| format!("its {what} '{}' {how}", port.name)),
            })
        };
        let lacks = || {
            let unknown = self.inputs.iter().find(|tensor| inputs.iter().all(|port| port.name != tensor.name))?;
            Some(format!("it wants an input '{}', which the graph has not", unknown.name))
        };
        among(inputs, &self.inputs, "input").or_else(|| among(outputs, &self.outputs, "output")).or_else(lacks)
    }
}

fn differs(port: &Port, tensor: &Tensor) -> Option<String> {
    let wanted = datatype(port.dtype);
    if tensor.datatype != wanted {
        return Some(format!("is {}, not {wanted}", tensor.datatype));
    }
    // Some servers name no shape.
    if tensor.shape.is_empty() {
        return None;
    }
    if tensor.shape.len() != port.shape.len() {
        return Some(format!("has {} dimensions, not {}", tensor.shape.len(), port.shape.len()));
    }
    let fixed = |size: &i64| usize::try_from(*size).ok();
    let other =
        |(port, there): (&Option<usize>, &i64)| port.zip(fixed(there)).is_some_and(|(port, there)| port != there);
    port.shape.iter().zip(&tensor.shape).any(other).then(|| format!("has the shape {:?}", tensor.shape))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(name: &str, dtype: DType, shape: &[Option<usize>]) -> Port {
        Port { name: name.into(), dtype, shape: shape.to_vec(), dim_names: vec![None; shape.len()] }
    }

    fn described(text: &str) -> Described {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_model_with_other_ports_is_told_by_the_first_that_differs() {
        let (inputs, outputs) =
            ([port("ids", DType::I64, &[None, None])], [port("scores", DType::F32, &[None, Some(4)])]);
        let told = |text| described(text).differs(&inputs, &outputs).unwrap_or_default();
        assert_eq!(told(r#"{"inputs":[{"name":"ids","datatype":"INT64","shape":[-1,8]}]}"#), "");
        assert_eq!(told("{}"), "", "a server that names no ports contradicts nothing");
        assert_eq!(told(r#"{"inputs":[{"name":"x","datatype":"INT64"}]}"#), "it has no input 'ids'");
        assert_eq!(told(r#"{"inputs":[{"name":"ids","datatype":"INT32"}]}"#), "its input 'ids' is INT32, not INT64");
        let narrow = r#"{"outputs":[{"name":"scores","datatype":"FP32","shape":[-1,5]}]}"#;
        assert_eq!(told(narrow), "its output 'scores' has the shape [-1, 5]");
        let flat = r#"{"outputs":[{"name":"scores","datatype":"FP32","shape":[4]}]}"#;
        assert_eq!(told(flat), "its output 'scores' has 1 dimensions, not 2");
        let more = r#"{"inputs":[{"name":"ids","datatype":"INT64"},{"name":"mask","datatype":"INT64"}]}"#;
        assert_eq!(told(more), "it wants an input 'mask', which the graph has not");
    }

    #[test]
    fn a_name_cannot_lead_out_of_its_place_in_the_path() {
        assert_eq!(path_of("a/../b?c", None), "/v2/models/a%2F..%2Fb%3Fc");
        assert_eq!(path_of("..", None), "/v2/models/%2E%2E");
        assert_eq!(path_of("bert-tiny_2.1", None), "/v2/models/bert-tiny_2.1", "not every server decodes names");
        assert_eq!(path_of("m", Some("1")), "/v2/models/m/versions/1");
    }
}
