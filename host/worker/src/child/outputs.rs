//! Outputs as numbers: kept as a reference, and held against one.

use serde::{Deserialize, Serialize};
use skillbench_models::Manifest;
use skillbench_plugin_api::client::Output;
use skillbench_plugin_api::{DType, Port};
use skillbench_record::defaults::defaults;
use std::io::{Read, Write};
use std::path::Path;

/// No more elements of one output are kept; of a larger one every k-th is.
const KEPT: usize = 4 << 20;

/// What a reference file begins with, on one line.
#[derive(Serialize, Deserialize)]
struct Header {
    outputs: Vec<OutputHeader>,
}

#[derive(Serialize, Deserialize)]
struct OutputHeader {
    name: String,
    shape: Vec<usize>,
    stride: usize,
    count: usize,
}

/// One output of the reference.
pub(super) struct Reference {
    name: String,
    shape: Vec<usize>,
    stride: usize,
    values: Vec<f32>,
}

/// What a comparison found.
#[derive(Debug, PartialEq)]
pub(super) struct Comparison {
    pub max_relative: f64,
    pub elements: u64,
}

/// The `index`-th element as a number.
fn element(dtype: DType, bytes: &[u8], index: usize) -> f64 {
    fn at<const N: usize>(bytes: &[u8], index: usize) -> [u8; N] {
        let mut element = [0; N];
        element.copy_from_slice(&bytes[index * N..][..N]);
        element
    }
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

fn elements(output: &Output) -> usize {
    output.bytes().len() / output.dtype().bytes()
}

/// Whether every element is a finite number.
///
/// # Errors
/// How many are not, and the first.
pub(super) fn finite(port: &Port, output: &Output) -> Result<(), String> {
    let bad = |index: &usize| !element(output.dtype(), output.bytes(), *index).is_finite();
    let count = elements(output);
    let mut bad = (0..count).filter(bad);
    match bad.next() {
        None => Ok(()),
        Some(first) => Err(format!(
            "output '{}' has {} of {count} elements that are not finite; the first is element {first}",
            port.name,
            1 + bad.count()
        )),
    }
}

/// Keeps outputs as a reference, whole or not at all.
///
/// # Errors
/// The file cannot be written.
pub(super) fn keep(ports: &[Port], outputs: &[Output], file: &Path) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut scratch = tempfile::NamedTempFile::new_in(folder)?;
    let header = |(port, output): (&Port, &Output)| {
        let stride = elements(output).div_ceil(KEPT).max(1);
        OutputHeader {
            name: port.name.clone(),
            shape: output.shape().to_vec(),
            stride,
            count: elements(output).div_ceil(stride),
        }
    };
    let header = Header { outputs: ports.iter().zip(outputs).map(header).collect() };
    let mut writer = std::io::BufWriter::new(&mut scratch);
    serde_json::to_writer(&mut writer, &header)?;
    writer.write_all(b"\n")?;
    for (output, kept) in outputs.iter().zip(&header.outputs) {
        for index in (0..kept.count).map(|index| index * kept.stride) {
            writer.write_all(&(element(output.dtype(), output.bytes(), index) as f32).to_le_bytes())?;
        }
    }
    writer.flush()?;
    drop(writer);
    scratch.persist(file)?;
    Ok(())
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
    for output in header.outputs {
        let (values, after) = rest.split_at_checked(4 * output.count).ok_or_else(broken)?;
        rest = after;
        let values = values.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        references.push(Reference { name: output.name, shape: output.shape, stride: output.stride, values });
    }
    Ok(references)
}

/// Holds outputs against a reference, output by output. Differences are relative to the output's largest magnitude.
///
/// # Errors
/// What differs: a missing output, another shape, a value by how much and where.
pub(super) fn compare(
    ports: &[Port],
    outputs: &[Output],
    references: &[Reference],
    tolerance: f64,
) -> Result<Comparison, String> {
    let mut found = Comparison { max_relative: 0.0, elements: 0 };
    for reference in references {
        let index = ports.iter().position(|port| port.name == reference.name);
        let output = index.and_then(|index| outputs.get(index));
        let output = output.ok_or_else(|| format!("output '{}' of the reference is missing", reference.name))?;
        if output.shape() != reference.shape {
            return Err(format!(
                "output '{}' has shape {:?}, the reference {:?}",
                reference.name,
                output.shape(),
                reference.shape
            ));
        }
        let scale = reference.values.iter().fold(0f64, |most, value| most.max(f64::from(value.abs()))).max(1e-6);
        let (mut worst, mut at) = (0f64, 0);
        for (index, want) in reference.values.iter().enumerate() {
            let have = element(output.dtype(), output.bytes(), index * reference.stride);
            let difference = (have - f64::from(*want)).abs() / scale;
            if difference > worst {
                (worst, at) = (difference, index);
            }
        }
        found.elements += reference.values.len() as u64;
        found.max_relative = found.max_relative.max(worst);
        if worst > tolerance {
            let (want, index) = (reference.values[at], at * reference.stride);
            let have = element(output.dtype(), output.bytes(), index);
            return Err(format!(
                "output '{}' differs from the reference by {worst:.2e} of its largest magnitude, more than {tolerance:.0e}: \
                 element {index} is {have}, not {want}",
                reference.name
            ));
        }
    }
    Ok(found)
}

/// How two references stand to each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Agreement {
    /// The largest difference, relative to the larger one of an output's largest magnitudes. `None`: one of them lacks a part, or
    /// they have other outputs or shapes.
    pub apart: Option<f64>,
    /// Every part is within the tolerance of the coarser precision of both.
    pub agree: bool,
}

/// Holds two references of a model against each other.
pub fn agreement(one: &Path, other: &Path, manifest: &Manifest) -> Agreement {
    let ran = |file: &Path| super::reference::Index::read(file).map(|index| index.ran(file)).unwrap_or_default();
    let (one, other) = (ran(one), ran(other));
    let mut all = Agreement { apart: (!one.is_empty()).then_some(0.0), agree: !one.is_empty() };
    for mine in &one {
        let theirs = other.iter().find(|theirs| theirs.part == mine.part);
        let apart = theirs.and_then(|theirs| most(&read(&mine.file).ok()?, &read(&theirs.file).ok()?));
        let coarser = theirs.map_or(0.0, |theirs| {
            let manifest = manifest.of_part(&mine.part);
            tolerance(&manifest, &mine.precision).max(tolerance(&manifest, &theirs.precision))
        });
        all.agree &= apart.is_some_and(|apart| apart <= coarser);
        all.apart = all.apart.zip(apart).map(|(all, apart)| all.max(apart));
    }
    all
}

fn most(one: &[Reference], other: &[Reference]) -> Option<f64> {
    one.iter().try_fold(0f64, |most, have| {
        let want = other.iter().find(|want| want.name == have.name && want.shape == have.shape)?;
        Some(most.max(difference(have, want)?))
    })
}

/// How far outputs may be from the reference; for a precision that nobody can tell, as far as for the coarsest.
pub(super) fn tolerance(manifest: &Manifest, precision: &str) -> f64 {
    let known = manifest.tolerance.get(precision).or_else(|| defaults().tolerance.get(precision));
    known.copied().unwrap_or_else(|| defaults().tolerance.values().copied().fold(0.0, f64::max))
}

fn difference(one: &Reference, other: &Reference) -> Option<f64> {
    let same = one.stride == other.stride && one.values.len() == other.values.len();
    let largest = |values: &[f32]| values.iter().fold(0f64, |most, value| most.max(f64::from(value.abs())));
    let scale = largest(&one.values).max(largest(&other.values)).max(1e-6);
    let pairs = one.values.iter().zip(&other.values);
    same.then(|| pairs.fold(0f64, |most, (a, b)| most.max((f64::from(*a) - f64::from(*b)).abs() / scale)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_is_read_as_the_number_it_is() {
        assert_eq!([0x3C00, 0xC000, 0x3800, 0x0001].map(half), [1.0, -2.0, 0.5, 2f64.powi(-24)]);
        assert!(half(0x7E00).is_nan());
    }
}
