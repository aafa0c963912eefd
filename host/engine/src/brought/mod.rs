//! Models that a user brings: files, folders, lists and ids of a model hub.
//!
//! - [`examine`]: what is wrong with a model's file, found before any engine sees it.
//! - [`opset`]: a copy of a model marked with an opset that an engine knows, where that changes nothing.
//! - [`classify`]: what kind of model it is, with the evidence.
//! - [`local`]: a file or a folder becomes a described skill: its parts, axes, and rules for its inputs.
//! - [`custom`]: lists of models, in JSON or one id on a line.
//! - [`hub`]: a model id becomes a folder, from the cache or over the network.
//!
//! Not here: the skills of skillsets, engines, and what a request does with a model.

pub mod classify;
pub mod custom;
pub mod examine;
pub mod hub;
pub mod local;
pub mod opset;

#[cfg(test)]
mod samples;
