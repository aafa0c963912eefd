//! Skills that can be measured: found by name, and built once.
//!
//! - `catalog`: all skills there are, found by name or alias.
//! - `build`: a skill becomes files, once. `cache`: where they are kept, and for how long.

mod build;
mod cache;
mod catalog;

pub use build::{BuiltModel, build};
pub use cache::{Freed, Held, Kept, ModelCache, clean_references};
pub use catalog::{Catalog, Skill, SkillSource, Tell, Unavailable};
