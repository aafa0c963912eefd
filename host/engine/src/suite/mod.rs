//! Suite files: a run that is written down, in JSON or TOML, to be made again.
//!
//! - `file`: what stands in one. `read`: from a text to that; every error names file, line and key.
//! - `generate`: a suite for each skill of a folder, and one to begin with.
//! - `request`: a suite as a request for a run, and what this host leaves undone of it.
//!
//! Not here: running one ([`crate::run`]), the command line.

mod file;
#[cfg(test)]
mod fuzz;
mod generate;
mod read;
mod request;

pub use file::{Format, Schedule, SuiteFile};
pub use generate::{Generated, Offered, generate, offered, starter};
pub use read::{SuiteError, parse, read};
pub use request::to_request;
