//! What the contract tests of backends stand on. For tests alone: what is not as it should be panics.
//!
//! - `opening`: hosts that keep quiet or take notes, and opening a linked backend through its C table;
//! - `served`: real model servers;
//! - `tensors`, `graphs`, `probe`: numbers to bind, small graphs, and the model whose answer is known;
//! - `running`, `states`, `errors`, `shapes`, `library`, `profile`, `hardware`: tests that hold for every backend of a kind. A backend's own tests call
//!   them by name, with its opened instance, and add what is particular to it.
//!
//! Not here: any plugin, because two of them in one binary export the same symbol; and anything that only one backend does.

#![deny(unsafe_code)]

pub mod errors;
pub mod graphs;
pub mod hardware;
pub mod library;
mod opening;
pub mod probe;
pub mod profile;
pub mod running;
pub mod served;
pub mod shapes;
pub mod states;
mod tensors;

pub use opening::{Listening, Quiet, Sizes, load_of, open, part, refused, skipped};
pub use tensors::{apart, booleans, close, floats, integers, taken};
