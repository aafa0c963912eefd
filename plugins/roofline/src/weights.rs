//! The files of numbers beside the graphs, one for each matrix. Engines that read files whole read no more than they need.
//!
//! An element depends on its matrix's size and its own index alone, so that every build writes the same. Values are close to
//! a normal distribution whose deviation is 1/√rows: what a product makes of a tensor is as large as the tensor was.

use crate::parts::{READ, SIZES};
use skillbench_plugin_api::sdk::Host;
use skillbench_plugin_api::{Code, Error, Result};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// Deviations that an int8 weight can be from zero; the numbers below never go further than 3.4642.
pub const REACH: f32 = 3.5;

/// Elements that are written at once.
const PIECE: u64 = 1 << 18;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    Float32,
    Float16,
    /// In steps of [`step`].
    Int8,
}

/// A matrix in a file of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matrix {
    pub store: Store,
    pub rows: u64,
    pub columns: u64,
}

impl Matrix {
    pub fn square(store: Store, size: u64) -> Matrix {
        Matrix { store, rows: size, columns: size }
    }

    /// The one that is only read.
    pub const READ: Matrix = Matrix { store: Store::Float32, rows: READ[0], columns: READ[1] };

    pub fn all() -> impl Iterator<Item = Matrix> {
        let stores = [Store::Float32, Store::Float16, Store::Int8].into_iter();
        stores.flat_map(|store| SIZES.map(|size| Matrix::square(store, size))).chain([Matrix::READ])
    }

    /// Some engines take nothing that ends otherwise.
    pub fn file(self) -> String {
        let store = match self.store {
            Store::Float32 => "float32",
            Store::Float16 => "float16",
            Store::Int8 => "int8",
        };
        format!("{store}-{}x{}.data", self.rows, self.columns)
    }

    pub fn bytes(self) -> u64 {
        let element = match self.store {
            Store::Float32 => 4,
            Store::Float16 => 2,
            Store::Int8 => 1,
        };
        self.rows * self.columns * element
    }

    /// Writes the file, and tells `progress` of every piece's bytes.
    ///
    /// # Errors
    /// `Cancelled`, and a disk that does not take it.
    pub fn write(self, host: &Host, folder: &Path, progress: &mut dyn FnMut(u64)) -> Result<()> {
        let path = folder.join(self.file());
        let failed = |error: io::Error| unwritable(&path, &error);
        let mut file = File::create(&path).map_err(failed)?;
        let count = self.rows * self.columns;
        let mut bytes = Vec::new();
        for first in (0..count).step_by(PIECE as usize) {
            if host.stopping() {
                return Err(Error::new(Code::Cancelled, "the run is being stopped"));
            }
            bytes.clear();
            (first..count.min(first + PIECE)).for_each(|index| self.store.put(self.rows, index, &mut bytes));
            file.write_all(&bytes).map_err(failed)?;
            progress(bytes.len() as u64);
        }
        Ok(())
    }
}

impl Store {
    fn put(self, rows: u64, index: u64, out: &mut Vec<u8>) {
        let unit = normal(rows, index);
        let value = unit / (rows as f32).sqrt();
        match self {
            Store::Float32 => out.extend_from_slice(&value.to_le_bytes()),
            Store::Float16 => out.extend_from_slice(&half(value).to_le_bytes()),
            Store::Int8 => out.push((unit * 127.0 / REACH).round() as i8 as u8),
        }
    }
}

/// What one step of an int8 weight is worth, so that it stands for what the float files hold.
pub fn step(rows: u64) -> f32 {
    REACH / 127.0 / (rows as f32).sqrt()
}

pub fn unwritable(path: &Path, error: &io::Error) -> Error {
    let code = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            Code::ResourceExhausted
        }
        io::ErrorKind::NotFound => Code::NotFound,
        _ => Code::Internal,
    };
    Error::new(code, format!("cannot write {}: {error}", path.display()))
}

/// Four 16-bit numbers of a splitmix64 number added: near enough to a normal distribution, and the same on every machine.
fn normal(stream: u64, index: u64) -> f32 {
    let mut x = stream.wrapping_mul(0xD134_2543_DE82_EF95);
    x = x.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^= x >> 31;
    let sum = (x & 0xFFFF) + (x >> 16 & 0xFFFF) + (x >> 32 & 0xFFFF) + (x >> 48);
    (sum as f32 - 131_070.0) / 37_837.227
}

/// The bits of a half-precision float, towards zero. What is too small to be a normal one is zero: denormals are slow on
/// some machines, and these are one weight in a thousand.
fn half(value: f32) -> u16 {
    let bits = value.to_bits();
    let (sign, exponent, mantissa) = ((bits >> 16) & 0x8000, ((bits >> 23) & 0xFF) as i32 - 112, bits & 0x7F_FFFF);
    let magnitude = match exponent {
        ..=0 => 0,
        1..=30 => ((exponent as u32) << 10) | (mantissa >> 13),
        _ => 0x7BFF,
    };
    (sign | magnitude) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_matrix_has_a_file_of_its_own() {
        let files: std::collections::BTreeSet<String> = Matrix::all().map(Matrix::file).collect();
        assert_eq!(files.len(), Matrix::all().count());
        assert!(files.contains("float32-8192x4096.data"), "{files:?}");
    }

    #[test]
    fn weights_are_normal_and_as_wide_as_keeps_products_in_size() {
        let values: Vec<f32> = (0..100_000).map(|index| normal(1024, index)).collect();
        let mean = values.iter().sum::<f32>() / 1e5;
        let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f32>() / 1e5).sqrt();
        assert!(mean.abs() < 0.02 && (deviation - 1.0).abs() < 0.02, "{mean} {deviation}");
        assert!(values.iter().all(|value| value.abs() < REACH));
    }

    #[test]
    fn every_file_holds_the_same_numbers_as_near_as_its_type_can() {
        for index in 0..1000 {
            let bytes = |store: Store| {
                let mut bytes = vec![];
                store.put(1024, index, &mut bytes);
                bytes
            };
            let float = f32::from_le_bytes(bytes(Store::Float32).try_into().unwrap());
            let integer = f32::from(bytes(Store::Int8)[0] as i8) * step(1024);
            assert!((float - integer).abs() <= 0.51 * step(1024), "{float} {integer}");
            let bits = u16::from_le_bytes(bytes(Store::Float16).try_into().unwrap());
            let exponent = f32::from_bits(u32::from(bits & 0x7FFF) << 13) * 2f32.powi(112);
            assert!((float.abs() - exponent).abs() <= float.abs() / 1024.0 + 6.2e-5, "{float} {exponent}");
        }
    }
}
