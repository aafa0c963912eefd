//! A loaded plugin's tables behind safe types: what the worker, and a benchmark, call.
//!
//! Tables are copied as far as they reach, so a plugin built against an older contract has `None` where it knows no slot.
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

pub use backend::{BackendRef, Instance};
pub use benchmark::BenchmarkRef;
pub use model::{Model, Output, Request};
pub use plugin::Plugin;
pub use recording::Recording;
pub use skillset::SkillsetRef;

use crate::{Error, Why};

fn missing(slot: &str) -> Error {
    Error::unimplemented(Why::NONE, format!("the backend has no `{slot}`"))
}
