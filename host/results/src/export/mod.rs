//! A run in the forms that other tools read: pure functions from its document to JSON or text.
//!
//! - `suite`: by family, model and hardware. `flat`: one name for each cell, and a table of success rates. `skillset`: what loading
//!   cost, one at a time and at once. The compatibility matrix has a module of its own, [`crate::matrix`].
//! - `bencher`, `action`, `openmetrics`: for services that follow benchmarks over time. `tracked`: which figures they are given, and under which names.
//! - `groups`: the cells of one model on one hardware. `keys`: what a point of the grid is called. `entry`: how a cell ended, and its
//!   figures. `system`: the machine.
//!
//! What was not measured has a `status` that says what happened, an `error` with the reason, and no number. What is not known is null.
//! The keys beside those that other tools know (`emulated`, `remote` where it is so, `verified`, `precision`, `stable`, `axes`) say what the figures are worth.
//!
//! Not here: which runs (`skillbench-store`), where the files go (the command line).

mod action;
mod bencher;
mod entry;
mod flat;
mod groups;
mod keys;
mod openmetrics;
mod skillset;
mod suite;
mod system;
mod tracked;

pub use action::json as action;
pub use bencher::json as bencher;
pub use flat::{csv as flat_csv, json as flat};
pub use keys::key;
pub use openmetrics::text as openmetrics;
pub use skillset::{inference as skillset_inference, json as skillset, throughput as skillset_throughput};
pub use suite::json as suite;

/// The benchmark that tools mean where they name none.
pub(crate) const INFERENCE: &str = "inference";
