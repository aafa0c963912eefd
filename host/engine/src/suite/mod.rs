//! Suite files: a run that is written down, in JSON or TOML, to be made again.
//!
//! - `file`: what stands in one, which is what can be asked of a run. `read`, `keys`: from a text to that; every error names file, line and
//!   key. `schema`: the same as a JSON Schema.
//! - `generate`: a suite for each skill of a folder, and one to begin with.
//! - `over`: what is named next to a suite. `request`: a suite as a request for a run, and what this host leaves undone of it.
//!
//! Not here: running one ([`crate::run`]), the command line.

mod file;
#[cfg(test)]
mod fuzz;
mod generate;
mod keys;
mod over;
mod read;
mod request;
mod schema;

pub use file::{Format, Schedule, SuiteFile};
pub use generate::{Generated, Offered, generate, list_of, offered, starter};
pub use read::{SuiteError, parse, read};
pub use request::{FAMILIES, how, left_undone, serving, to_request};
pub use schema::suite_schema;
