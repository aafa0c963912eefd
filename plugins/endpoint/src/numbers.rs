//! The elements of a tensor as JSON has them.

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};
use skillbench_plugin_api::DType;
use std::fmt;

/// In rows or in one row. What is whole stays whole: a 64-bit integer is not in every double.
#[derive(Debug)]
pub enum Numbers {
    Whole(Vec<i64>),
    Real(Vec<f64>),
}

impl Numbers {
    pub fn count(&self) -> usize {
        match self {
            Numbers::Whole(all) => all.len(),
            Numbers::Real(all) => all.len(),
        }
    }

    fn push_whole(&mut self, number: i64) {
        match self {
            Numbers::Whole(all) => all.push(number),
            Numbers::Real(all) => all.push(number as f64),
        }
    }

    fn push_real(&mut self, number: f64) {
        if let Numbers::Whole(all) = self {
            *self = Numbers::Real(all.iter().map(|number| *number as f64).collect());
        }
        if let Numbers::Real(all) = self {
            all.push(number);
        }
    }

    /// As they lie in this machine's memory, into room that has their size.
    ///
    /// # Errors
    /// What is wrong with them, as the end of a sentence about the output.
    pub fn write(self, dtype: DType, into: &mut [u8]) -> Result<(), &'static str> {
        const FRACTION: &str = "has fractions, or more than 63 bits, where whole numbers are declared";
        const RANGE: &str = "has a number that its type does not hold";
        macro_rules! whole {
            ($type:ty) => {{
                let Numbers::Whole(all) = self else { return Err(FRACTION) };
                for (room, number) in into.chunks_exact_mut(size_of::<$type>()).zip(all) {
                    room.copy_from_slice(&<$type>::try_from(number).map_err(|_| RANGE)?.to_ne_bytes());
                }
            }};
        }
        macro_rules! real {
            ($type:ty) => {{
                let all = match self {
                    Numbers::Whole(all) => all.into_iter().map(|number| number as f64).collect(),
                    Numbers::Real(all) => all,
                };
                for (room, number) in into.chunks_exact_mut(size_of::<$type>()).zip(all) {
                    room.copy_from_slice(&(number as $type).to_ne_bytes());
                }
            }};
        }
        match dtype {
            DType::F32 => real!(f32),
            DType::F64 => real!(f64),
            DType::I8 => whole!(i8),
            DType::I16 => whole!(i16),
            DType::I32 => whole!(i32),
            DType::I64 => whole!(i64),
            DType::U8 => whole!(u8),
            DType::U16 => whole!(u16),
            DType::U32 => whole!(u32),
            DType::U64 => whole!(u64),
            DType::Bool => {
                let Numbers::Whole(all) = self else { return Err(FRACTION) };
                for (room, number) in into.iter_mut().zip(all) {
                    *room = u8::from(number != 0);
                }
            }
            DType::F16 | DType::BF16 => return Err("came as JSON, which has no halves: use the encoding binary"),
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Numbers, D::Error> {
        let mut numbers = Numbers::Whole(vec![]);
        deserializer.deserialize_seq(Rows(&mut numbers))?;
        Ok(numbers)
    }
}

/// Reads a list, whose elements are numbers or lists again.
struct Rows<'n>(&'n mut Numbers);

impl<'de> Visitor<'de> for Rows<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("numbers, or lists of them")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(Rows(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        self.0.push_whole(number);
        Ok(())
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        // A large float may be written without a fraction.
        match i64::try_from(number) {
            Ok(number) => self.0.push_whole(number),
            Err(_) => self.0.push_real(number as f64),
        }
        Ok(())
    }

    fn visit_f64<E>(self, number: f64) -> Result<(), E> {
        self.0.push_real(number);
        Ok(())
    }

    fn visit_bool<E>(self, is: bool) -> Result<(), E> {
        self.0.push_whole(i64::from(is));
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Rows<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}
