//! The ports of a session, read back from it.

use ort::sys::ONNXTensorElementDataType;
use ort::value::{Outlet, TensorElementType, ValueType};
use skillbench_plugin_api::{DType, Error, Port, Result, Why};

const TYPES: [(TensorElementType, DType); 13] = [
    (TensorElementType::Float16, DType::F16),
    (TensorElementType::Bfloat16, DType::BF16),
    (TensorElementType::Float32, DType::F32),
    (TensorElementType::Float64, DType::F64),
    (TensorElementType::Int8, DType::I8),
    (TensorElementType::Int16, DType::I16),
    (TensorElementType::Int32, DType::I32),
    (TensorElementType::Int64, DType::I64),
    (TensorElementType::Uint8, DType::U8),
    (TensorElementType::Uint16, DType::U16),
    (TensorElementType::Uint32, DType::U32),
    (TensorElementType::Uint64, DType::U64),
    (TensorElementType::Bool, DType::Bool),
];

pub(crate) fn to_dtype(element: TensorElementType) -> Option<DType> {
    TYPES.iter().find(|(known, _)| *known == element).map(|(_, dtype)| *dtype)
}

pub(crate) fn to_element(dtype: DType) -> ONNXTensorElementDataType {
    let found = TYPES.iter().find(|(_, known)| *known == dtype);
    found.map_or(TensorElementType::Undefined, |(element, _)| *element).into()
}

/// # Errors
/// `Unimplemented` for what is no tensor, or one of a type that the contract has not.
pub(crate) fn read(outlet: &Outlet) -> Result<Port> {
    let name = outlet.name();
    let refuse =
        |what: String| Error::unimplemented(Why::MODEL, format!("'{name}' is {what}: export the model without it"));
    let ValueType::Tensor { ty, shape, dimension_symbols } = outlet.dtype() else {
        return Err(refuse(format!("{}, not a tensor", outlet.dtype())));
    };
    let dtype = to_dtype(*ty).ok_or_else(|| refuse(format!("a tensor of {ty}")))?;
    let named = |symbol: &String| (!symbol.is_empty()).then(|| symbol.clone());
    Ok(Port {
        name: name.into(),
        dtype,
        shape: shape.iter().map(|size| usize::try_from(*size).ok()).collect(),
        dim_names: dimension_symbols.iter().map(named).collect(),
    })
}
