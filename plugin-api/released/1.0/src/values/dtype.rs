//! Element types.

use crate::raw::*;
use crate::{Error, Result, Why};

/// The element type of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DType {
    F16,
    BF16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    Bool,
}

impl DType {
    const ALL: [(DType, u8, u8, &'static str); 13] = [
        (DType::F16, SB_FLOAT, 16, "f16"),
        (DType::BF16, SB_BFLOAT, 16, "bf16"),
        (DType::F32, SB_FLOAT, 32, "f32"),
        (DType::F64, SB_FLOAT, 64, "f64"),
        (DType::I8, SB_INT, 8, "i8"),
        (DType::I16, SB_INT, 16, "i16"),
        (DType::I32, SB_INT, 32, "i32"),
        (DType::I64, SB_INT, 64, "i64"),
        (DType::U8, SB_UINT, 8, "u8"),
        (DType::U16, SB_UINT, 16, "u16"),
        (DType::U32, SB_UINT, 32, "u32"),
        (DType::U64, SB_UINT, 64, "u64"),
        (DType::Bool, SB_BOOL, 8, "bool"),
    ];

    fn row(self) -> &'static (DType, u8, u8, &'static str) {
        Self::ALL.iter().find(|row| row.0 == self).expect("every type has its row")
    }

    /// "f32", "i64", ...
    pub fn name(self) -> &'static str {
        self.row().3
    }

    pub fn from_name(name: &str) -> Option<DType> {
        Self::ALL.iter().find(|row| row.3 == name).map(|row| row.0)
    }

    /// Bytes of one element.
    pub fn bytes(self) -> usize {
        usize::from(self.row().2) / 8
    }

    /// Its form in the contract.
    pub fn to_raw(self) -> sb_dtype {
        let (_, code, bits, _) = *self.row();
        sb_dtype { code, bits, lanes: 1 }
    }

    /// # Errors
    /// `Unimplemented` for a type that is none of these.
    pub fn from_raw(raw: sb_dtype) -> Result<DType> {
        let found = Self::ALL.iter().find(|row| row.1 == raw.code && row.2 == raw.bits && raw.lanes == 1);
        found.map(|row| row.0).ok_or_else(|| {
            let text = format!(
                "a tensor type with code {}, {} bits, {} lanes is not supported",
                raw.code, raw.bits, raw.lanes
            );
            Error::unimplemented(Why::MODEL, text)
        })
    }
}
