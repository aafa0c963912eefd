//! Element types as ONNX Runtime Web names them.

use skillbench_plugin_api::DType;

const NAMES: [(&str, DType); 12] = [
    ("float16", DType::F16),
    ("float32", DType::F32),
    ("float64", DType::F64),
    ("int8", DType::I8),
    ("int16", DType::I16),
    ("int32", DType::I32),
    ("int64", DType::I64),
    ("uint8", DType::U8),
    ("uint16", DType::U16),
    ("uint32", DType::U32),
    ("uint64", DType::U64),
    ("bool", DType::Bool),
];

pub(crate) fn from_name(name: &str) -> Option<DType> {
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, dtype)| *dtype)
}

/// Empty for a type that the page has not (bfloat16); ports of such a type do not get that far.
pub(crate) fn to_name(dtype: DType) -> &'static str {
    NAMES.iter().find(|(_, known)| *known == dtype).map_or("", |(name, _)| name)
}
