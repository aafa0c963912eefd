//! The next token: the one with the largest logit at the last position.

use skillbench_plugin_api::client::Output;
use skillbench_plugin_api::{Code, DType, Error, Result, Why};
use std::borrow::Cow;
use std::ops::Range;

/// How many maxima are carried side by side, so that the compiler can use vectors.
const LANES: usize = 16;

/// Where the largest number is; the first, where several are. `None` where there is no finite largest.
pub fn largest(row: &[f32]) -> Option<usize> {
    let mut most = [f32::NEG_INFINITY; LANES];
    let (chunks, rest) = row.as_chunks::<LANES>();
    for chunk in chunks {
        for (most, value) in most.iter_mut().zip(chunk) {
            *most = if *value > *most { *value } else { *most };
        }
    }
    let most = most.iter().chain(rest).copied().fold(f32::NEG_INFINITY, f32::max);
    row.iter().position(|value| *value == most).filter(|_| most.is_finite())
}

/// How many positions logits are of.
///
/// # Errors
/// `Internal` for a shape that is none of logits.
pub fn positions(logits: &Output, batch: usize) -> Result<usize> {
    match *logits.shape() {
        [rows, positions, _] if rows == batch && positions > 0 => Ok(positions),
        [rows, _] if rows == batch => Ok(1),
        ref other => {
            Err(Error::internal(format!("logits of the shape {other:?}: expected [{batch}, tokens, vocabulary]")))
        }
    }
}

/// The logits of one position, `back` before the last, of each sequence of the batch.
///
/// # Errors
/// `Internal` for a shape that is none of logits, `Unimplemented` for a type that is none of floats.
pub fn rows(logits: &Output, batch: usize, back: usize) -> Result<Vec<Cow<'_, [f32]>>> {
    let (length, vocabulary) = (positions(logits, batch)?, logits.shape().last().copied().unwrap_or(0));
    let position = length.checked_sub(back + 1).ok_or_else(|| Error::internal("logits of too few positions"))?;
    let row = |index: usize| {
        let start = (index * length + position) * vocabulary;
        start..start + vocabulary
    };
    if let Some(all) = logits.as_slice::<f32>() {
        return Ok((0..batch).map(|index| Cow::Borrowed(&all[row(index)])).collect());
    }
    let bytes = logits.bytes();
    let of = |range: Range<usize>| -> Result<Vec<f32>> {
        let halves = || bytes[range.start * 2..range.end * 2].as_chunks::<2>().0.iter().map(|b| u16::from_ne_bytes(*b));
        Ok(match logits.dtype() {
            DType::F16 => halves().map(half).collect(),
            DType::BF16 => halves().map(|bits| f32::from_bits(u32::from(bits) << 16)).collect(),
            DType::F64 => {
                let doubles = bytes[range.start * 8..range.end * 8].as_chunks::<8>().0;
                doubles.iter().map(|bytes| f64::from_ne_bytes(*bytes) as f32).collect()
            }
            other => return Err(Error::unimplemented(Why::MODEL, format!("logits of the type {}", other.name()))),
        })
    };
    (0..batch).map(|index| of(row(index)).map(Cow::Owned)).collect()
}

/// A half-precision float.
fn half(bits: u16) -> f32 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (exponent, mantissa) = (i32::from(bits >> 10 & 0x1F), f32::from(bits & 0x3FF));
    sign * match exponent {
        0 => mantissa * 2_f32.powi(-24),
        31 if mantissa == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1024.0 + mantissa) * 2_f32.powi(exponent - 25),
    }
}

/// The next token of each sequence.
///
/// # Errors
/// `WrongOutput` where no logit is a number.
pub fn greedy(logits: &Output, batch: usize) -> Result<Vec<i64>> {
    let token = |row: &Cow<'_, [f32]>| {
        let found = largest(row).map(|index| index as i64);
        found.ok_or_else(|| Error::new(Code::WrongOutput, "the logits of a token have no finite maximum"))
    };
    rows(logits, batch, 0)?.iter().map(token).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_is_found_wherever_it_is() {
        for length in [1, 15, 16, 17, 100] {
            for place in 0..length {
                let row: Vec<f32> =
                    (0..length).map(|index| if index == place { 2.0 } else { -(index as f32) }).collect();
                assert_eq!(largest(&row), Some(place));
            }
        }
    }

    #[test]
    fn of_equal_ones_the_first_is_taken() {
        let mut row = [1.0; 40];
        (row[7], row[30]) = (3.0, 3.0);
        assert_eq!(largest(&row), Some(7));
        assert_eq!(largest(&[0.0, -0.0]), Some(0));
    }

    #[test]
    fn a_number_is_larger_than_none_and_without_one_there_is_no_token() {
        let mut row = [f32::NAN; 33];
        row[20] = -5.0;
        assert_eq!(largest(&row), Some(20));
        assert_eq!(largest(&[f32::NAN; 20]), None);
        assert_eq!(largest(&[]), None);
        assert_eq!(largest(&[1.0, f32::INFINITY]), None);
        assert_eq!(largest(&[f32::NEG_INFINITY; 3]), None);
    }

    #[test]
    fn half_precision_is_read_as_it_is() {
        let read = [0x3C00, 0xC000, 0x3800, 0x7BFF, 0x0001, 0x8000].map(half);
        assert_eq!(read, [1.0, -2.0, 0.5, 65504.0, 2_f32.powi(-24), 0.0]);
        assert!(half(0x7E00).is_nan() && half(0x7C00).is_infinite());
    }
}
