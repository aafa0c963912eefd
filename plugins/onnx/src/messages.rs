//! The messages of onnx.proto that are decoded and written whole, with the fields that they are used for here. A message
//! that is decoded and written again loses the others, so whoever changes a graph decodes no more than it replaces.

pub use prost::Message;
use std::ops::Range;

// Where the messages are.
pub const MODEL_FORMAT: u64 = 1;
pub const MODEL_PRODUCER: u64 = 2;
pub const MODEL_GRAPH: u64 = 7;
pub const MODEL_OPERATORS: u64 = 8;
pub const MODEL_FUNCTION: u64 = 25;
pub const OPERATORS_DOMAIN: u64 = 1;
pub const OPERATORS_VERSION: u64 = 2;
pub const FUNCTION_NAME: u64 = 1;
pub const FUNCTION_NODE: u64 = 7;
pub const FUNCTION_OPERATORS: u64 = 9;
pub const FUNCTION_DOMAIN: u64 = 10;
pub const GRAPH_NODE: u64 = 1;
pub const GRAPH_NAME: u64 = 2;
pub const GRAPH_INITIALIZER: u64 = 5;
pub const GRAPH_INPUT: u64 = 11;
pub const GRAPH_OUTPUT: u64 = 12;
pub const GRAPH_VALUE_INFO: u64 = 13;
pub const GRAPH_SPARSE: u64 = 15;
pub const NODE_INPUT: u64 = 1;
pub const NODE_OUTPUT: u64 = 2;
pub const NODE_NAME: u64 = 3;
pub const NODE_OPERATOR: u64 = 4;
pub const NODE_ATTRIBUTE: u64 = 5;
pub const NODE_DOMAIN: u64 = 7;
pub const ATTRIBUTE_NAME: u64 = 1;
pub const ATTRIBUTE_NUMBER: u64 = 3;
pub const ATTRIBUTE_TEXT: u64 = 4;
pub const ATTRIBUTE_TENSOR: u64 = 5;
pub const ATTRIBUTE_GRAPH: u64 = 6;
pub const ATTRIBUTE_NUMBERS: u64 = 8;
pub const ATTRIBUTE_TENSORS: u64 = 10;
pub const ATTRIBUTE_GRAPHS: u64 = 11;
pub const ATTRIBUTE_KIND: u64 = 20;
pub const SPARSE_VALUES: u64 = 1;
pub const TENSOR_DIMS: u64 = 1;
pub const TENSOR_TYPE: u64 = 2;
pub const TENSOR_FLOATS: u64 = 4;
pub const TENSOR_INT32S: u64 = 5;
pub const TENSOR_INT64S: u64 = 7;
pub const TENSOR_NAME: u64 = 8;
pub const TENSOR_RAW: u64 = 9;
pub const TENSOR_ELSEWHERE: u64 = 13;
pub const TENSOR_LOCATION: u64 = 14;

pub const VALUE_NAME: u64 = 1;
pub const VALUE_TYPE: u64 = 2;
pub const TYPE_TENSOR: u64 = 1;
pub const TENSOR_TYPE_ELEMENT: u64 = 1;

/// Element types.
pub const FLOAT: i32 = 1;
pub const UINT8: i32 = 2;
pub const INT8: i32 = 3;
pub const INT32: i32 = 6;
pub const INT64: i32 = 7;
pub const BOOL: i32 = 9;
pub const FLOAT16: i32 = 10;
pub const DOUBLE: i32 = 11;
pub const BFLOAT16: i32 = 16;

/// The name of an element type.
pub fn type_name(element: i32) -> Option<&'static str> {
    const NAMES: &str = "float uint8 int8 uint16 int16 int32 int64 string bool float16 double uint32 uint64 complex64 \
                         complex128 bfloat16 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1 \
                         float8e8m0";
    NAMES.split(' ').nth(usize::try_from(element).ok()?.checked_sub(1)?)
}

/// Where the data of a tensor is.
pub const EXTERNAL: i32 = 1;

#[derive(Clone, PartialEq, Message)]
pub struct Tensor {
    #[prost(int64, repeated, packed = "false", tag = "1")]
    pub dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    pub data_type: i32,
    #[prost(int64, repeated, tag = "7")]
    pub int64_data: Vec<i64>,
    #[prost(string, tag = "8")]
    pub name: String,
    #[prost(bytes = "vec", tag = "9")]
    pub raw_data: Vec<u8>,
    #[prost(message, repeated, tag = "13")]
    pub external_data: Vec<Entry>,
    #[prost(int32, tag = "14")]
    pub data_location: i32,
}

#[derive(Clone, PartialEq, Message)]
pub struct Entry {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(string, tag = "2")]
    pub value: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct Node {
    #[prost(string, repeated, tag = "1")]
    pub input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub output: Vec<String>,
    #[prost(string, tag = "3")]
    pub name: String,
    #[prost(string, tag = "4")]
    pub op_type: String,
    #[prost(message, repeated, tag = "5")]
    pub attribute: Vec<Attribute>,
    #[prost(string, tag = "7")]
    pub domain: String,
}

/// An attribute that is a whole number, or several.
#[derive(Clone, PartialEq, Message)]
pub struct Attribute {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(int64, tag = "3")]
    pub i: i64,
    #[prost(int64, repeated, packed = "false", tag = "8")]
    pub ints: Vec<i64>,
    #[prost(int32, tag = "20")]
    pub kind: i32,
}

/// `AttributeProto.INT`.
pub const ATTRIBUTE_INT: i32 = 2;
/// `AttributeProto.STRING`.
pub const ATTRIBUTE_IS_TEXT: i32 = 3;
/// `AttributeProto.TENSOR`.
pub const ATTRIBUTE_IS_TENSOR: i32 = 4;
/// `AttributeProto.INTS`.
pub const ATTRIBUTE_INTS: i32 = 7;

/// A port or an inner value: its name, type and shape.
#[derive(Clone, PartialEq, Message)]
pub struct ValueInfo {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(message, optional, tag = "2")]
    pub of: Option<Type>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Type {
    #[prost(message, optional, tag = "1")]
    pub tensor: Option<TensorType>,
}

#[derive(Clone, PartialEq, Message)]
pub struct TensorType {
    #[prost(int32, tag = "1")]
    pub element: i32,
    #[prost(message, optional, tag = "2")]
    pub shape: Option<Shape>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Shape {
    #[prost(message, repeated, tag = "1")]
    pub dim: Vec<Dim>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Dim {
    #[prost(oneof = "Size", tags = "1, 2")]
    pub size: Option<Size>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Size {
    #[prost(int64, tag = "1")]
    Fixed(i64),
    #[prost(string, tag = "2")]
    Named(String),
}

impl Dim {
    /// The size, where the file fixes it.
    pub fn fixed(&self) -> Option<usize> {
        match self.size {
            Some(Size::Fixed(size)) => usize::try_from(size).ok(),
            _ => None,
        }
    }

    /// The name of an open size, where it has one.
    pub fn name(&self) -> Option<&str> {
        match &self.size {
            Some(Size::Named(name)) if !name.is_empty() => Some(name),
            _ => None,
        }
    }
}

impl ValueInfo {
    /// The element type of a tensor, where the file says it.
    pub fn element(&self) -> Option<i32> {
        Some(self.of.as_ref()?.tensor.as_ref()?.element).filter(|element| *element != 0)
    }

    /// The dimensions of a tensor, where the file says them.
    pub fn dims(&self) -> Option<&[Dim]> {
        Some(&self.of.as_ref()?.tensor.as_ref()?.shape.as_ref()?.dim)
    }

    /// The name of each dimension that has one; empty where the file says no dimensions.
    pub fn dim_names(&self) -> Vec<Option<String>> {
        self.dims().unwrap_or_default().iter().map(|dim| dim.name().map(str::to_string)).collect()
    }

    /// The element type and the shape of a tensor; a dynamic dimension by its name, "" where it has none.
    pub fn tensor(&self) -> Option<(i32, Vec<Size>)> {
        let tensor = self.of.as_ref()?.tensor.as_ref()?;
        let size = |dim: &Dim| dim.size.clone().unwrap_or(Size::Named(String::new()));
        Some((tensor.element, tensor.shape.as_ref()?.dim.iter().map(size).collect()))
    }

    /// A tensor of this type and shape.
    pub fn of_tensor(name: &str, element: i32, shape: Vec<Size>) -> ValueInfo {
        let shape = Shape { dim: shape.into_iter().map(|size| Dim { size: Some(size) }).collect() };
        let tensor = TensorType { element, shape: Some(shape) };
        ValueInfo { name: name.into(), of: Some(Type { tensor: Some(tensor) }) }
    }
}

impl Node {
    pub fn new(op_type: &str, input: &[&str], output: &str) -> Node {
        Node {
            input: input.iter().map(|name| name.to_string()).collect(),
            output: vec![output.into()],
            name: format!("{op_type} of {output}"),
            op_type: op_type.into(),
            ..Node::default()
        }
    }

    pub fn with(mut self, name: &str, i: i64) -> Node {
        self.attribute.push(Attribute { name: name.into(), i, kind: ATTRIBUTE_INT, ..Attribute::default() });
        self
    }

    pub fn with_several(mut self, name: &str, ints: &[i64]) -> Node {
        let (name, ints) = (name.into(), ints.into());
        self.attribute.push(Attribute { name, ints, kind: ATTRIBUTE_INTS, ..Attribute::default() });
        self
    }
}

impl Tensor {
    /// A constant of whole numbers.
    pub fn of_int64(name: &str, dims: &[i64], values: &[i64]) -> Tensor {
        let raw_data = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Tensor { dims: dims.into(), data_type: INT64, name: name.into(), raw_data, ..Tensor::default() }
    }

    /// A constant in the graph itself, of little-endian elements.
    pub fn of_bytes(name: &str, data_type: i32, dims: &[i64], raw_data: Vec<u8>) -> Tensor {
        Tensor { dims: dims.into(), data_type, name: name.into(), raw_data, ..Tensor::default() }
    }

    /// A constant whose elements lie in a file beside the graph.
    pub fn in_file(name: &str, data_type: i32, dims: &[i64], file: &str, place: Range<u64>) -> Tensor {
        let entry = |key: &str, value: String| Entry { key: key.into(), value };
        let external_data = vec![
            entry("location", file.into()),
            entry("offset", place.start.to_string()),
            entry("length", (place.end - place.start).to_string()),
        ];
        let (dims, name) = (dims.into(), name.into());
        Tensor { dims, data_type, name, external_data, data_location: EXTERNAL, ..Tensor::default() }
    }

    /// The values of a constant of whole numbers that stands in the graph itself.
    pub fn int64s(&self) -> Option<Vec<i64>> {
        if self.data_type != INT64 || self.data_location == EXTERNAL {
            return None;
        }
        match self.raw_data.is_empty() {
            true => Some(self.int64_data.clone()),
            false => {
                let (values, rest) = self.raw_data.as_chunks::<8>();
                rest.is_empty().then(|| values.iter().map(|value| i64::from_le_bytes(*value)).collect())
            }
        }
    }
}
