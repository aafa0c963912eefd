//! The ONNX file format, for plugins that read, change or write graphs.
//!
//! - `fields`: a protobuf message field by field: looking into it, and copying it with some fields changed, so that nothing
//!   is lost that this code does not know;
//! - `messages`: the messages that are decoded and written whole, and the numbers of the fields that lead to them;
//! - `declared`: what a file says of itself, for whoever loads it, read without its data (`walk`);
//! - `outline`: the whole structure of a file, node by node, for whoever checks or classifies it;
//! - `float16`: a graph in float32 put in float16;
//! - `model`: a whole model, for graphs that are made from nothing.
//!
//! Not here: any engine, and what a graph computes.

#![deny(unsafe_code)]

mod declared;
pub mod fields;
mod float16;
#[cfg(test)]
mod fuzz;
pub mod messages;
pub mod model;
mod outline;
mod walk;

pub use declared::{Declared, Elsewhere, Stored};
pub use fields::{Broken, edit, messages_of, numbers_of};
pub use float16::{NotConverted, half, to_float16};
pub use model::{Graph, Model};
pub use outline::{
    Attribute, External, Function, OperatorSet, Outline, OutlinedGraph, OutlinedNode, OutlinedTensor, Version,
};
