//! How the files of a plugin package lie in one file, and how they are taken out of what somebody else made.
//!
//! - `write`: the same files always give the same bytes.
//! - `read`: plain files and folders inside the package, of a bounded size, and nothing else.
//! - `carrier`: what other package managers carry: a wheel, npm's archive.

mod carrier;
mod read;
mod write;

pub(crate) use carrier::unpack_carrier;
pub(crate) use read::unpack;
pub(crate) use write::write;

use std::path::{Component, Path};

/// How much may come out of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Of all files together.
    pub bytes: u64,
    /// Bytes that come out for one that went in; small archives may have [`Limits::FREE`] in any case.
    pub ratio: u64,
    pub files: usize,
}

impl Limits {
    /// Bytes that every archive may have.
    pub const FREE: u64 = 64 << 20;

    /// For an archive of this size.
    fn of(&self, archive: u64) -> u64 {
        self.bytes.min(archive.saturating_mul(self.ratio).saturating_add(Limits::FREE))
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { bytes: 4 << 30, ratio: 50, files: 10_000 }
    }
}

/// Why a path cannot stand in a plugin package; `None`: it can.
pub(crate) fn outside(path: &str) -> Option<&'static str> {
    const LONGEST: usize = 200;
    if path.is_empty() || path.len() > LONGEST {
        return Some("whose name is empty or too long");
    }
    if path.contains(['\\', ':']) || path.chars().any(char::is_control) {
        return Some("whose name has a character that is no part of names everywhere");
    }
    let parts = Path::new(path).components();
    match parts.into_iter().all(|part| matches!(part, Component::Normal(_))) && !path.contains("//") {
        true => None,
        false => Some("which does not stay inside the package"),
    }
}
