//! Benchmarks that need no target: plain functions of plugins, found, chosen, run, and told.
//!
//! - `discover`: which there are, in plugins and in folders named after a category or a model; what was rejected, and why.
//! - `choose`: those that are asked for. `plan`: with their options, in order. `execute`: each in a worker of its own.
//! - `metrics`: what a worker reported, as the figures of a cell. `flat`: cells as the flat JSON and the CSV that other tools read.
//!
//! Not here: benchmarks of a model on a backend ([`crate::run`]), the command line, files.

mod choose;
mod discover;
mod execute;
mod flat;
mod folders;
mod metrics;
mod plan;

pub use choose::not_taken;
pub use discover::{Discovery, Found};
pub use execute::{execute, measure};
pub use flat::{Summary, csv, json, json_by_model};
pub use plan::{FunctionPlan, PlannedFunction};

/// A name with `-` and `_`, upper and lower case alike.
fn folded(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}
