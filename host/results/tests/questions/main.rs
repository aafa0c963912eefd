//! Questions, asked of frames that were worked out by hand.

mod cells;
mod changes;
mod compat;
mod distribution;
mod groups;
mod latest;
mod models;
mod relative;
mod scaling;
mod told;
