//! Outputs as numbers, and the file in which a reference keeps them.

use serde::{Deserialize, Serialize};
use skillbench_plugin_api::client::Output;
use skillbench_plugin_api::{DType, HostTensor, Port};
use std::io::{Read, Write};
use std::path::Path;

/// What a reference file begins with, on one line.
#[derive(Serialize, Deserialize)]
struct Header {
    outputs: Vec<OutputHeader>,
}

#[derive(Serialize, Deserialize)]
struct OutputHeader {
    name: String,
    shape: Vec<usize>,
    /// The first element that is kept, and how far it is to the next.
    offset: usize,
    stride: usize,
    count: usize,
    whole: bool,
}

/// One output of the reference.
pub(super) struct Reference {
    pub name: String,
    pub shape: Vec<usize>,
    pub offset: usize,
    pub stride: usize,
    pub values: Values,
}

/// Elements, as a reference keeps them.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Values {
    Floats(Vec<f32>),
    /// Of integers and truth values; of those without a sign the same bits.
    Integers(Vec<i64>),
}

impl Values {
    pub fn len(&self) -> usize {
        match self {
            Values::Floats(values) => values.len(),
            Values::Integers(values) => values.len(),
        }
    }

    /// As a number, of whichever kind.
    pub fn number(&self, index: usize) -> f64 {
        match self {
            Values::Floats(values) => values[index].into(),
            Values::Integers(values) => values[index] as f64,
        }
    }
}

/// A dense tensor to be read, whoever holds it.
#[derive(Clone, Copy)]
pub(crate) struct View<'t> {
    pub dtype: DType,
    pub shape: &'t [usize],
    pub bytes: &'t [u8],
}

impl<'t> View<'t> {
    pub fn of_output(output: &'t Output) -> View<'t> {
        View { dtype: output.dtype(), shape: output.shape(), bytes: output.bytes() }
    }

    pub fn of_tensor(tensor: &'t HostTensor, shape: &'t [usize]) -> View<'t> {
        View { dtype: tensor.dtype(), shape, bytes: tensor.bytes() }
    }

    pub fn elements(&self) -> usize {
        self.bytes.len() / self.dtype.bytes()
    }

    pub fn is_float(&self) -> bool {
        matches!(self.dtype, DType::F16 | DType::BF16 | DType::F32 | DType::F64)
    }

    /// The `index`-th element as a number.
    pub fn number(&self, index: usize) -> f64 {
        element(self.dtype, self.bytes, index)
    }

    /// The `index`-th element of integers and truth values, exactly.
    pub fn integer(&self, index: usize) -> i64 {
        match self.dtype {
            DType::I64 | DType::U64 => i64::from_le_bytes(at(self.bytes, index)),
            _ => self.number(index) as i64,
        }
    }
}

fn at<const N: usize>(bytes: &[u8], index: usize) -> [u8; N] {
    let mut element = [0; N];
    element.copy_from_slice(&bytes[index * N..][..N]);
    element
}

fn element(dtype: DType, bytes: &[u8], index: usize) -> f64 {
    match dtype {
        DType::F32 => f32::from_le_bytes(at(bytes, index)).into(),
        DType::F64 => f64::from_le_bytes(at(bytes, index)),
        DType::F16 => half(u16::from_le_bytes(at(bytes, index))),
        DType::BF16 => f32::from_bits(u32::from(u16::from_le_bytes(at(bytes, index))) << 16).into(),
        DType::I8 => i8::from_le_bytes(at(bytes, index)).into(),
        DType::I16 => i16::from_le_bytes(at(bytes, index)).into(),
        DType::I32 => i32::from_le_bytes(at(bytes, index)).into(),
        DType::I64 => i64::from_le_bytes(at(bytes, index)) as f64,
        DType::U8 | DType::Bool => bytes[index].into(),
        DType::U16 => u16::from_le_bytes(at(bytes, index)).into(),
        DType::U32 => u32::from_le_bytes(at(bytes, index)).into(),
        DType::U64 => u64::from_le_bytes(at(bytes, index)) as f64,
    }
}

fn half(bits: u16) -> f64 {
    let (sign, exponent, mantissa) = (bits >> 15, i32::from(bits >> 10 & 31), f64::from(bits & 0x3FF));
    let magnitude = match exponent {
        0 => mantissa * 2f64.powi(-24),
        31 if mantissa == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + mantissa / 1024.0) * 2f64.powi(exponent - 15),
    };
    if sign == 1 { -magnitude } else { magnitude }
}

/// Which elements of an output are kept: no more than `most`, evenly spread, from a first one that `seed` chooses.
#[derive(Clone, Copy)]
pub(super) struct Sampling {
    pub most: usize,
    pub seed: u64,
}

impl Sampling {
    /// Offset and stride.
    fn of(self, elements: usize) -> (usize, usize) {
        let stride = elements.div_ceil(self.most).max(1);
        ((self.seed % stride as u64) as usize, stride)
    }
}

/// Writes outputs as a reference.
///
/// # Errors
/// The file cannot be written.
pub(super) fn keep(ports: &[Port], outputs: &[View<'_>], sampling: Sampling, file: &Path) -> std::io::Result<()> {
    let header = |(port, output): (&Port, &View<'_>)| {
        let (offset, stride) = sampling.of(output.elements());
        OutputHeader {
            name: port.name.clone(),
            shape: output.shape.to_vec(),
            offset,
            stride,
            count: output.elements().saturating_sub(offset).div_ceil(stride),
            whole: !output.is_float(),
        }
    };
    let header = Header { outputs: ports.iter().zip(outputs).map(header).collect() };
    let mut writer = std::io::BufWriter::new(std::fs::File::create(file)?);
    serde_json::to_writer(&mut writer, &header)?;
    writer.write_all(b"\n")?;
    for (output, kept) in outputs.iter().zip(&header.outputs) {
        for index in (0..kept.count).map(|index| kept.offset + index * kept.stride) {
            match kept.whole {
                true => writer.write_all(&output.integer(index).to_le_bytes())?,
                false => writer.write_all(&(output.number(index) as f32).to_le_bytes())?,
            }
        }
    }
    writer.flush()
}

/// Reads a reference.
///
/// # Errors
/// The file is not there, or not whole.
pub(super) fn read(file: &Path) -> std::io::Result<Vec<Reference>> {
    let mut bytes = vec![];
    std::fs::File::open(file)?.read_to_end(&mut bytes)?;
    let broken = || std::io::Error::other("the reference file is not whole");
    let end = bytes.iter().position(|byte| *byte == b'\n').ok_or_else(broken)?;
    let header: Header = serde_json::from_slice(&bytes[..end])?;
    let mut rest = &bytes[end + 1..];
    let mut references = vec![];
    for OutputHeader { name, shape, offset, stride, count, whole } in header.outputs {
        let size = if whole { 8 } else { 4 };
        let (values, after) = rest.split_at_checked(size * count).ok_or_else(broken)?;
        rest = after;
        let values = match whole {
            true => Values::Integers((0..count).map(|index| i64::from_le_bytes(at(values, index))).collect()),
            false => Values::Floats((0..count).map(|index| f32::from_le_bytes(at(values, index))).collect()),
        };
        references.push(Reference { name, shape, offset, stride, values });
    }
    Ok(references)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_is_read_as_the_number_it_is() {
        assert_eq!([0x3C00, 0xC000, 0x3800, 0x0001].map(half), [1.0, -2.0, 0.5, 2f64.powi(-24)]);
        assert!(half(0x7E00).is_nan());
    }

    #[test]
    fn large_integers_are_kept_exactly() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("kept");
        let port = Port { name: "y".into(), dtype: DType::I64, shape: vec![Some(2)], dim_names: vec![None] };
        let large = [(1i64 << 53) + 1, -7];
        let bytes: Vec<u8> = large.iter().flat_map(|value| value.to_le_bytes()).collect();
        let view = View { dtype: DType::I64, shape: &[2], bytes: &bytes };
        keep(&[port], &[view], Sampling { most: 8, seed: 0 }, &file).unwrap();
        assert_eq!(read(&file).unwrap()[0].values, Values::Integers(large.to_vec()));
    }
}
