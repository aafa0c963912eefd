//! What benchmarks of skills that make tokens share: how a skill generates, and the sequences that it makes.
//!
//! How many tokens there are is fixed: skills have seeded weights, so no model has an end to come to. How a skill generates, its `skill.json`
//! says under `generation`.
//!
//! - `manifest`: that part of `skill.json`; `sizes`: dimensions, and which of them stay open.
//! - `fill`: tokens of the prompt, positions, masks, first states. `greedy`: the next token.
//! - `parts`: what runs beside the decoder. `decoder`: its requests, and the cache. `sequence`: all of one sequence for a batch, timed.
//! - `slots`: sequences of any length and age side by side in one batch; `cache`: their states in one tensor.
//! - `check`: the cache against a run without it, and sequences side by side against each alone. `sampled`: tokens that were timed, against such a run. `work`: what all of them are made of.
//!
//! Not here: loading, inputs of the other parts, verification and statistics, which are the host's, and what is told of times.

#![deny(unsafe_code)]

mod cache;
pub mod check;
pub mod decoder;
mod fill;
mod greedy;
pub mod manifest;
pub mod parts;
pub mod sampled;
pub mod sequence;
pub mod sizes;
pub mod slots;
mod work;

pub use greedy::largest;
pub use work::{Loads, Work};
