//! What a worker may reach, decided by the host and applied in the worker before any library is opened.
//!
//! - `reach`: which files a command needs. `environment`: which variables go along.
//! - `confine`: how a process gives up the rest, on Linux: Landlock, seccomp, no new privileges. `system`: its two calls that no safe
//!   library has.
//!
//! Not here: ending whatever a plugin starts (`keeper`), and time and memory (`limits`).

#[cfg(target_os = "linux")]
mod confine;
mod environment;
mod reach;
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
// Closing descriptors that nobody owns, and installing a filter, are unsafe; nothing else here is.
mod system;

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[cfg(target_os = "linux")]
pub(crate) use confine::{confine, support};
#[cfg(target_os = "linux")]
pub(crate) use system::close_inherited;

pub(crate) use environment::{PASS, Passed, choose};
pub(crate) use reach::Reach;

/// How much a worker gives up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Nothing: a plugin may do whatever its user may.
    Off,
    /// Writing elsewhere than in its own folders, signals to other processes, system calls that no engine needs, most variables of
    /// the environment.
    #[default]
    Default,
    /// Also reading elsewhere than it has to, and the network.
    Strict,
}

impl Mode {
    pub const NAMES: [&'static str; 3] = ["off", "default", "strict"];

    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// What a plugin's worker may reach beyond its own folders.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sandbox {
    pub mode: Mode,
    /// Variables of the environment: names, or beginnings of names with `*` after them.
    pub environment: Vec<String>,
    /// Under `strict`, where others have none.
    pub network: bool,
    /// Devices that it opens for writing; `*` stands for any characters of a name.
    pub devices: Vec<String>,
}

impl Sandbox {
    /// Both in one process.
    fn and(mut self, other: &Sandbox) -> Sandbox {
        self.mode = self.mode.max(other.mode);
        self.network |= other.network;
        self.environment.extend_from_slice(&other.environment);
        self.devices.extend_from_slice(&other.devices);
        self
    }
}

/// What a worker is to apply to itself. The first message on its channel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Confinement {
    pub mode: Mode,
    /// Below these it may write.
    pub writable: Vec<PathBuf>,
    /// Below these it may read, under `strict`.
    pub readable: Vec<PathBuf>,
    pub network: bool,
}

/// What the system of this machine can enforce, in words for results: "Landlock 7, seccomp". Empty: nothing.
pub fn enforced() -> Vec<String> {
    #[cfg(target_os = "linux")]
    return support();
    #[cfg(not(target_os = "linux"))]
    vec![]
}
