//! Models: what they are, before anything is loaded.
//!
//! - `manifest`: the form of descriptions and of `skill.json`.
//! - `stages`: how often one inference runs each part of a skill.
//! - `stored`: what the weights of a graph are stored as.
//! - `work`: operations and bytes of an inference.
//! - [`count`]: counts that work in a graph that nobody counted before.
//! - `dims`: dimensions from axes. `fill`: inputs by rule, seeded. `renewal`: other contents for each run.
//! - [`user_models`]: models from files, folders, lists and hubs.
//!
//! Not here: how a skill is built and where it is kept (engine), and loading (worker).

pub mod count;
mod dims;
mod fill;
#[cfg(test)]
mod fuzz;
mod manifest;
mod renewal;
mod stages;
pub mod stored;
pub mod user_models;
mod work;

pub use dims::{evaluate, resolve_port, standard_axis, unreached};
pub use fill::{default_rule, fill};
pub use manifest::{DimRule, Generation, InputRule, Manifest, Moves, Power, SkillDescription};
pub use renewal::Renewal;
pub use stages::StageRule;
pub use work::{FlopCount, FlopCounts};
