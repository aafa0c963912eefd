//! Where memory lies.

use crate::raw::*;

/// A kind of memory, numbered as DLPack numbers devices (`DLDeviceType`), and which one of that kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub kind: i32,
    pub id: i32,
}

impl Place {
    pub const HOST: Place = Place { kind: SB_HOST_MEMORY, id: 0 };
    /// `kDLCUDA`.
    pub const CUDA: i32 = 2;
    /// `kDLWebGPU`.
    pub const WEBGPU: i32 = 15;

    /// Whether this side can read and write there.
    pub fn is_host(self) -> bool {
        self.kind == SB_HOST_MEMORY
    }

    pub(crate) fn to_raw(self) -> sb_place {
        sb_place { r#type: self.kind, id: self.id }
    }

    pub(crate) fn from_raw(raw: sb_place) -> Place {
        Place { kind: raw.r#type, id: raw.id }
    }
}
