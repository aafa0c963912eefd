//! Constants in float16.

use super::{NotConverted, refused};
use crate::fields::{put, put_number, without};
use crate::messages::*;
use prost::Message;

/// A constant in float32, as far as it is read here.
#[derive(Clone, PartialEq, Message)]
struct Floats {
    #[prost(float, repeated, tag = "4")]
    listed: Vec<f32>,
    #[prost(string, tag = "8")]
    name: String,
    #[prost(bytes = "vec", tag = "9")]
    raw: Vec<u8>,
}

/// An attribute that is a number, or several.
#[derive(Clone, PartialEq, Message)]
struct FloatAttribute {
    #[prost(float, tag = "2")]
    one: f32,
    #[prost(float, repeated, tag = "7")]
    several: Vec<f32>,
}

/// The nearest float16, of two that are as near the even one. Large numbers become the largest finite one and small ones the
/// smallest that is not 0: masks would become infinities, and what keeps a divisor from 0 would become it.
pub fn half(value: f32) -> u16 {
    const LARGEST: f32 = 65504.0;
    const LEAST_NORMAL: f32 = 1.0 / 16384.0;
    const STEPS: f32 = 16_777_216.0;
    let (bits, size) = (value.to_bits(), value.abs());
    let magnitude = if value.is_nan() {
        0x7E00
    } else if value.is_infinite() {
        0x7C00
    } else if size >= LARGEST {
        0x7BFF
    } else if size >= LEAST_NORMAL {
        // Halfway, less one where the number below is even; then the exponents' difference.
        let bits = size.to_bits();
        (((bits + 0x0FFF + (bits >> 13 & 1)) >> 13) - (112 << 10)) as u16
    } else if size > 0.0 {
        ((size * STEPS).round_ties_even() as u16).max(1)
    } else {
        0
    };
    (bits >> 16) as u16 & 0x8000 | magnitude
}

fn halves(values: impl Iterator<Item = f32>) -> Vec<u8> {
    values.flat_map(|value| half(value).to_le_bytes()).collect()
}

/// A tensor whose data is in the graph, in float16.
///
/// # Errors
/// Data that is no list of float32.
pub(super) fn tensor(bytes: &[u8]) -> Result<Vec<u8>, NotConverted> {
    let broken = |name: &str| refused(format!("the data of '{name}' is no list of float32"));
    let floats = Floats::decode(bytes).map_err(|_| broken("a constant"))?;
    let (raw, rest) = floats.raw.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(broken(&floats.name));
    }
    let raw = match floats.raw.is_empty() {
        true => halves(floats.listed.into_iter()),
        false => halves(raw.iter().map(|value| f32::from_le_bytes(*value))),
    };
    let mut tensor = without(bytes, &[TENSOR_TYPE, TENSOR_FLOATS, TENSOR_RAW])?;
    put_number(&mut tensor, TENSOR_TYPE, FLOAT16 as u64);
    put(&mut tensor, TENSOR_RAW, &raw);
    Ok(tensor)
}

/// The same tensor by another name.
///
/// # Errors
/// Bytes that are no message.
pub(super) fn renamed(tensor: &[u8], name: &str) -> Result<Vec<u8>, NotConverted> {
    let mut tensor = without(tensor, &[TENSOR_NAME])?;
    put(&mut tensor, TENSOR_NAME, name.as_bytes());
    Ok(tensor)
}

/// The attribute `value` that says in float16 what an attribute of a constant says in float32.
///
/// # Errors
/// An attribute that is no number.
pub(super) fn attribute(name: &str, bytes: &[u8]) -> Result<Vec<u8>, NotConverted> {
    let floats = FloatAttribute::decode(bytes).map_err(|_| refused(format!("its attribute {name} is no number")))?;
    Ok(match name {
        "value_float" => value(&[], &halves([floats.one].into_iter())),
        _ => value(&[floats.several.len() as i64], &halves(floats.several.into_iter())),
    })
}

/// The attribute `value` of the operator that gives zeros where it has none.
pub(super) fn zero() -> Vec<u8> {
    value(&[1], &[0, 0])
}

fn value(dims: &[i64], raw: &[u8]) -> Vec<u8> {
    let tensor = Tensor::of_bytes("", FLOAT16, dims, raw.into()).encode_to_vec();
    let mut attribute = vec![];
    put(&mut attribute, ATTRIBUTE_NAME, b"value");
    put(&mut attribute, ATTRIBUTE_TENSOR, &tensor);
    put_number(&mut attribute, ATTRIBUTE_KIND, ATTRIBUTE_IS_TENSOR as u64);
    attribute
}

#[cfg(test)]
mod tests {
    use super::half;

    /// The number that 16 bits stand for.
    fn number(half: u16) -> f32 {
        let (exponent, mantissa) = (i32::from(half >> 10 & 0x1F), f32::from(half & 0x3FF));
        let size = match exponent {
            0 => mantissa * 2f32.powi(-24),
            31 if mantissa == 0.0 => f32::INFINITY,
            31 => f32::NAN,
            _ => (1.0 + mantissa / 1024.0) * 2f32.powi(exponent - 15),
        };
        if half & 0x8000 == 0 { size } else { -size }
    }

    #[test]
    fn every_float16_stays_itself_and_what_lies_between_goes_to_the_nearest_even_one() {
        for bits in 0..0x7C00u16 {
            assert_eq!((half(number(bits)), half(-number(bits))), (bits, bits | 0x8000));
            if bits + 1 < 0x7C00 && bits > 0 {
                let middle = f32::midpoint(number(bits), number(bits + 1));
                assert_eq!(half(middle), bits + (bits & 1), "{middle}");
                assert_eq!((half(middle.next_down()), half(middle.next_up())), (bits, bits + 1));
            }
        }
    }

    #[test]
    fn large_numbers_stay_finite_and_small_ones_stay_apart_from_zero() {
        assert_eq!((half(f32::MIN), half(65_519.9), half(1e30)), (0xFBFF, 0x7BFF, 0x7BFF));
        assert_eq!((half(1e-12), half(-1e-45), half(0.0), half(-0.0)), (1, 0x8001, 0, 0x8000));
        assert_eq!((half(f32::INFINITY), half(f32::NEG_INFINITY)), (0x7C00, 0xFC00), "as the author wrote them");
        assert!(number(half(f32::NAN)).is_nan());
    }
}
