//! A loaded plugin's tables behind safe types: what the worker, and a benchmark, call.
//!
//! Tables are copied as far as they reach, so a plugin built against an older contract has `None` where it knows no slot.
//! Lifetimes hold the order of destruction: requests borrow from models, models from instances.

mod backend;
mod benchmark;
mod plugin;
mod skillset;

pub use backend::{BackendRef, Instance, Model, Output, Request};
pub use benchmark::BenchmarkRef;
pub use plugin::Plugin;
pub use skillset::SkillsetRef;
