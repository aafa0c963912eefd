//! Benchmarks that need no target: plain functions of plugins, found, chosen, run, and told.
//!
//! - `discover`: which there are, in plugins and in folders named after a category or a model; what was rejected, and why.
//! - `choose`: those that are asked for. `execute`: each in a worker of its own.
//! - `document`: what came of it, as data. `flat`: the same as the flat JSON and the CSV that other tools read.
//!
//! Not here: benchmarks of a model on a backend ([`crate::run`]), the command line, files.

mod choose;
mod discover;
mod document;
mod execute;
mod flat;
mod folders;

pub use choose::BenchRequest;
pub use discover::{Discovery, Found};
pub use document::{BENCH_SCHEMA, BenchResult, BenchRun, FunctionMemory, FunctionMetrics, Summary};
pub use execute::{Progress, execute};
pub use flat::{csv, json, json_by_model};

/// A name with `-` and `_`, upper and lower case alike.
fn folded(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}
