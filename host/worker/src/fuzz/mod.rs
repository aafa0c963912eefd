//! A backend used at random, from seeds: models that were changed, options, ports, types and shapes that fit or do not, slots in any
//! order that the contract allows. It may refuse whatever it likes; it may not crash, hang, or write where nothing is its own.
//!
//! - `random`: numbers from a seed, and bytes that are changed with them.
//! - `play`: what one seed does, inside a worker. `asked`: what it asks for.
//! - `hunt`: seed after seed from outside, and which seed shows a fault again. `told`: what was found, in words.
//!
//! Not here: whether outputs are right, which rules and the ladder ask.

mod asked;
mod hunt;
mod play;
mod random;
mod told;

pub use hunt::{Fault, Found, Hunt, Hunted};
pub(crate) use play::serve;

use serde::{Deserialize, Serialize};

/// What became of one seed in whose use the worker survived.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Played {
    /// What was asked of the backend, and how much of it was refused.
    pub asked: u64,
    pub refused: u64,
    /// What was found: memory that was written beside what is the backend's.
    pub fault: Option<String>,
}
