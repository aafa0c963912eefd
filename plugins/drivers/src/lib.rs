//! Loading and asking vendors' driver libraries, safely, for the backends that need one.
//!
//! - `evidence`: what was looked at, and what was found there;
//! - `library`: opening a vendor's library for good, from the folders that an option names or from the system's; `whole`: not
//!   one that is cut short, of which the process would die;
//! - `cuda` (with the feature of that name): NVIDIA's driver; `hip`: AMD's runtime; `amdgpu`: AMD's kernel driver, read from sysfs;
//! - `copies`: what a driver does that copies between the host's memory and a device's.
//!
//! Each of them answers on a machine that has nothing of the vendor: nothing missing panics. Nothing is linked: all of it is
//! loaded at run time. `unsafe` is allowed, with its reason. Not here: engines, policy, and what an answer means for a backend.

pub mod amdgpu;
mod copies;
#[cfg(feature = "cuda")]
pub mod cuda;
mod evidence;
pub mod hip;
mod library;
mod whole;

pub use copies::{Copier, Piece};
pub use evidence::{Evidence, both};
pub use library::{Library, beginning, folders};
pub use whole::missing_bytes;
