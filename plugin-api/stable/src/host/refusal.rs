//! Why a root module is not taken.

use abi_stable::library::{AbiHeader, LibraryError};
use skillbench_plugin_api::Error;
use std::fmt;

#[derive(Debug)]
pub enum Refusal {
    /// Another version of `abi_stable` itself.
    AbiStable { theirs: (u32, u32) },
    /// Another major version of the door.
    Version { theirs: String, ours: String },
    /// The library says nothing of its layout.
    NoLayout,
    /// What `abi_stable` found that differs.
    Layout(String),
    /// The root could not be made.
    Root(String),
    /// The plugin behind a root that fits is not as it should be.
    Plugin(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Refusal {
        Refusal::Plugin(error)
    }
}

impl Refusal {
    pub(super) fn of_header(error: &LibraryError, theirs: (u32, u32)) -> Refusal {
        match error {
            LibraryError::InvalidAbiHeader(_) => Refusal::AbiStable { theirs },
            other => Refusal::Root(short(&other.to_string())),
        }
    }

    pub(super) fn of_root(error: &LibraryError) -> Refusal {
        match error {
            LibraryError::IncompatibleVersionNumber { expected_version, actual_version, .. } => {
                Refusal::Version { theirs: actual_version.to_string(), ours: expected_version.to_string() }
            }
            LibraryError::AbiInstability(found) => Refusal::Layout(short(&found.to_string())),
            other => Refusal::Root(short(&other.to_string())),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let again = "build it with the skillbench-plugin-stable of this host";
        match self {
            Refusal::AbiStable { theirs: (major, minor) } => write!(
                f,
                "its abi_stable root module is of abi_stable {major}.{minor}, this host's of {}.{}: {again}",
                AbiHeader::VALUE.abi_major,
                AbiHeader::VALUE.abi_minor
            ),
            Refusal::Version { theirs, ours } => write!(
                f,
                "its abi_stable root module is of version {theirs}, this host takes {ours}: {again}, or use a host of that version"
            ),
            Refusal::NoLayout => {
                write!(f, "its abi_stable root module leaves its layout out, so that it cannot be checked")
            }
            Refusal::Layout(found) => {
                write!(f, "the layout of its abi_stable root module does not match this host's: {found}: {again}")
            }
            Refusal::Root(why) => write!(f, "its abi_stable root module could not be made: {why}"),
            Refusal::Plugin(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for Refusal {}

/// What `abi_stable` says of a root that does not fit is pages long; its last `Error:` block says what is wrong.
fn short(text: &str) -> String {
    let block = text.rsplit("Error:").next().unwrap_or(text);
    let lines: Vec<&str> = block.lines().map(str::trim).filter(|line| !line.is_empty()).take(4).collect();
    let mut short = lines.join(" ");
    if let Some((end, _)) = short.char_indices().nth(300) {
        short.truncate(end);
        short.push_str(" ...");
    }
    short
}
