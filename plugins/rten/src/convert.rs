//! Between the types a file declares and those rten computes in: it keeps `i64` and `bool` as `i32`.

use rten::{Value, ValueView};
use rten_tensor::{Layout, Tensor};
use skillbench_onnx::Declared;
use skillbench_onnx::messages::*;
use skillbench_plugin_api::sdk::Bound;
use skillbench_plugin_api::{DType, Element, Error, OwnedTensor, Result, Why};

/// What the arithmetic is done in: int8 where the graph multiplies integers, int4 where its products read weights in 4 bits, else
/// float32, into which rten turns every other float.
pub(crate) fn precision(declared: &Declared) -> &'static str {
    let multiplies_integers =
        |name: &str| name.starts_with("QLinear") || matches!(name, "MatMulInteger" | "ConvInteger");
    // rten has this product for 4 bits alone.
    let reads_4_bits = |name: &str| name == "MatMulNBits";
    match () {
        () if declared.all_operators().any(multiplies_integers) => "int8",
        () if declared.all_operators().any(reads_4_bits) => "int4",
        () => "float32",
    }
}

/// The type of a port, as every other engine tells it too.
///
/// # Errors
/// `Unimplemented` for a type that rten has not, or only pretends to have (it computes float16 in float32).
pub(crate) fn port_type(name: &str, declared: Option<i32>) -> Result<DType> {
    match declared {
        Some(FLOAT) => Ok(DType::F32),
        Some(INT64) => Ok(DType::I64),
        Some(INT32) => Ok(DType::I32),
        Some(BOOL) => Ok(DType::Bool),
        Some(INT8) => Ok(DType::I8),
        Some(UINT8) => Ok(DType::U8),
        other => {
            let found = other.map_or("no tensor", |of| type_name(of).unwrap_or("an unknown type"));
            let text = format!("'{name}' is {found}; rten takes and gives float32, int64, int32, bool, int8 and uint8");
            Err(Error::unimplemented(Why::MODEL, text))
        }
    }
}

/// An input, ready for rten.
pub(crate) enum Feed {
    /// As it lies in the memory that is bound.
    InPlace,
    /// Read at bind and kept: rten has no such type.
    Narrowed(Vec<i32>),
}

impl Feed {
    /// # Errors
    /// `InvalidArgument` for a number that does not fit 32 bits: cutting it would compute something else.
    pub fn bind(name: &str, tensor: &Bound) -> Result<Feed> {
        match tensor.dtype() {
            DType::I64 => {
                let narrow = |value: &i64| i32::try_from(*value).map_err(|_| too_large(name, *value));
                elements::<i64>(tensor)?.iter().map(narrow).collect::<Result<_>>().map(Feed::Narrowed)
            }
            DType::Bool => {
                Ok(Feed::Narrowed(elements::<u8>(tensor)?.iter().map(|byte| i32::from(*byte != 0)).collect()))
            }
            _ => Ok(Feed::InPlace),
        }
    }

    /// The input as rten reads it in a run: nothing is copied.
    ///
    /// # Errors
    /// `InvalidArgument` for memory that is not aligned to its elements.
    pub fn view<'t>(&'t self, tensor: &'t Bound) -> Result<ValueView<'t>> {
        let shape = tensor.shape();
        match (self, tensor.dtype()) {
            (Feed::Narrowed(data), _) => view(shape, data),
            (_, DType::F32) => view(shape, elements::<f32>(tensor)?),
            (_, DType::I32) => view(shape, elements::<i32>(tensor)?),
            (_, DType::I8) => view(shape, elements::<i8>(tensor)?),
            (_, DType::U8) => view(shape, elements::<u8>(tensor)?),
            (_, other) => Err(Error::internal(format!("a port of type {}", other.name()))),
        }
    }
}

fn too_large(name: &str, value: i64) -> Error {
    Error::invalid(format!("'{name}' holds {value}; rten keeps 64-bit integers in 32 bits"))
}

fn elements<T: Element>(tensor: &Bound) -> Result<&[T]> {
    tensor.as_slice().ok_or_else(|| Error::invalid(format!("the tensor is not aligned to {} bytes", size_of::<T>())))
}

fn view<'t, T>(shape: &[usize], data: &'t [T]) -> Result<ValueView<'t>>
where
    ValueView<'t>: From<rten_tensor::TensorView<'t, T>>,
{
    ValueView::from_shape(shape, data).map_err(|error| Error::internal(error.to_string()))
}

/// An output in the type that its port has.
///
/// # Errors
/// `Internal` where rten gave another type than the file declares.
pub(crate) fn output(name: &str, dtype: DType, value: Value) -> Result<OwnedTensor> {
    match dtype {
        DType::F32 => give(tensor::<f32>(name, dtype, value)?, |data| data),
        DType::I32 => give(tensor::<i32>(name, dtype, value)?, |data| data),
        DType::I8 => give(tensor::<i8>(name, dtype, value)?, |data| data),
        DType::U8 => give(tensor::<u8>(name, dtype, value)?, |data| data),
        DType::I64 => give(tensor::<i32>(name, dtype, value)?, |data| data.into_iter().map(i64::from).collect()),
        _ => {
            let bits = tensor::<i32>(name, dtype, value)?;
            let shape = bits.shape().to_vec();
            OwnedTensor::from_bools(&shape, bits.into_data().into_iter().map(|bit| bit != 0).collect())
        }
    }
}

fn tensor<T>(name: &str, dtype: DType, value: Value) -> Result<Tensor<T>>
where
    Tensor<T>: TryFrom<Value, Error = rten::TryFromValueError>,
{
    value.try_into().map_err(|error| Error::internal(format!("output '{name}' is declared {}: {error}", dtype.name())))
}

fn give<T: Element, U: Element>(tensor: Tensor<T>, convert: impl FnOnce(Vec<T>) -> Vec<U>) -> Result<OwnedTensor> {
    let shape = tensor.shape().to_vec();
    OwnedTensor::from_vec(&shape, convert(tensor.into_data()))
}
