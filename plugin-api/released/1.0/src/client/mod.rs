//! A loaded plugin's tables behind safe types: what the worker, and a benchmark, call.
//!
//! Tables are copied as far as they reach, so a plugin built against an older contract has `None` where it knows no slot.
//! What comes through another door than the table (`plugin-api/stable`) is a value behind the same types: `of`.
//! Lifetimes hold the order of destruction: requests borrow from models, models from instances.

/// Calls a slot that `BackendRef::new` has found to be there.
macro_rules! slot {
    ($table:expr, $name:ident) => {
        $table.$name.ok_or_else(|| $crate::client::missing(stringify!($name)))?
    };
}

mod backend;
mod benchmark;
mod model;
mod plugin;
mod recording;
mod skillset;

pub use backend::{BackendFacts, BackendRef, Instance};
pub use benchmark::{BenchmarkFacts, BenchmarkRef};
pub use model::{Model, Output, Request};
pub use plugin::{Initialize, Plugin, PluginParts};
pub use recording::Recording;
pub use skillset::{SkillsetRef, SkillsetValue};

use crate::{Error, Why};

fn missing(slot: &str) -> Error {
    Error::unimplemented(Why::NONE, format!("the backend has no `{slot}`"))
}
