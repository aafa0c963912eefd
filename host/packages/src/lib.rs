//! Plugin packages: a plugin as one file that a vendor ships and a user installs, verified.
//!
//! - [`Manifest`]: what a plugin package says of itself; `archive`: how its files lie in one; [`Home`]: where it is installed.
//! - [`pack`](mod@pack): makes one. [`TrustedKeys`]: whose are believed.
//! - [`Source`]: what a user names; `fetch` and [`clients`] bring it; [`Index`]: a list of packages that anybody can host.
//! - [`stage`](mod@stage): brings, unpacks and verifies; [`Staged::install`] puts it in its place; [`Receipt`]: what is remembered of that.
//!
//! Nothing here opens a library, prints, or reads a registry: whether a library says the same of itself as its manifest is asked by
//! whoever may start a worker, between staging and installing. What is in a package is data of others: no name in it becomes a path
//! outside of its folder. Not here: what plugins need from outside (engine's runtimes).

mod archive;
mod brought;
pub mod clients;
mod error;
mod fetch;
mod glibc;
mod home;
mod index;
mod install;
mod manifest;
pub mod pack;
mod platform;
mod receipt;
mod source;
pub mod stage;
mod trusted;
mod version;

pub use archive::Limits;
pub use error::PackageError;
pub use home::Home;
pub use index::{Index, Indexed, write_index};
pub use install::{Installed, remove};
pub use manifest::{Checked, Contract, Library, MANIFEST, Manifest, OtherFile, Reach, Requirement};
pub use platform::Here;
pub use receipt::{Receipt, SignedBy};
pub use source::Source;
pub use stage::{Staged, Wishes, stage};
pub use trusted::{TrustedKey, TrustedKeys};

/// How the file of a plugin package ends.
pub const ENDING: &str = ".skillbench.tar.gz";

/// The name of a plugin package's file: `acme-1.0.0.skillbench.tar.gz`.
pub fn file_name(id: &str, version: &str) -> String {
    format!("{id}-{version}{ENDING}")
}
