//! Copies that a driver does between the host's memory and a device's.

use skillbench_plugin_api::Result;

/// A dense row of bytes, and where it goes. One side is the host's memory, the other one the device's.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    pub from: *const u8,
    pub to: *mut u8,
    pub bytes: usize,
}

/// A driver that copies between the host's memory and one device's.
pub trait Copier: Send + Sync {
    /// Copies all pieces, and returns when they are where they belong. Several threads may copy at once, and none waits for another.
    ///
    /// # Errors
    /// What the driver says.
    ///
    /// # Safety
    /// Both sides of each piece have so many bytes until this returns, and nobody else writes there.
    unsafe fn copy(&self, pieces: &[Piece]) -> Result<()>;
}
