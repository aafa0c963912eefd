//! Models: what skillsets describe, how they are built into a cache, and the inputs they are run on.
//!
//! - `manifest`: the form of descriptions and of `skill.json`.
//! - `catalog`: all skills there are, found by name or alias.
//! - `build`: a skill becomes files, once. `cache`: where they are kept, and for how long.
//! - `work`: operations and bytes of an inference.
//! - `dims`: dimensions from axes. `fill`: inputs by rule, seeded.

mod build;
mod cache;
mod catalog;
mod dims;
mod fill;
mod manifest;
mod work;

pub use build::{BuiltModel, build};
pub use cache::{Freed, Held, Kept, ModelCache, clean_references};
pub use catalog::{Catalog, Skill, SkillSource, Tell, Unavailable};
pub use dims::{evaluate, resolve_port, standard_axis, unreached};
pub use fill::{default_rule, fill};
pub use manifest::{DimRule, Generation, InputRule, Manifest, SkillDescription};
pub use work::{FlopCount, FlopCounts};
