//! Two things measured in turns and held against each other.
//!
//! - `live`: measuring both sides (`run::Interleave`), judging, and measuring once more what differs. `paired`: what they had, pair by pair.
//! - `side`: what a live comparison is told to measure.
//!
//! Not here: verdicts (`skillbench-stats`), reading stored runs (the results crate), drawing.

mod live;
mod paired;
mod side;

pub use live::{Live, SIDES, Stopped, apart, blank};
pub use paired::{Paired, paired};
pub use side::Side;
