//! What each system has of its own: the channel between host and worker, a child with all that it starts, and where a plugin prints.
//!
//! - `unix`: a pair of sockets, of which the child inherits one, and process groups.
//! - `windows`: job objects, and the channel of `sockets`: a connection over the machine's own network, which a secret proves.

#[cfg(any(windows, test))]
mod sockets;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::*;
#[cfg(windows)]
pub use windows::*;

/// The system's clock that only goes forward, the same in every process; `None` where there is no such one.
pub fn monotonic_ns() -> Option<u64> {
    #[cfg(unix)]
    {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        Some(now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64)
    }
    #[cfg(not(unix))]
    None
}
