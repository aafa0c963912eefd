//! Questions, asked of frames that were worked out by hand.

mod cells;
mod changes;
mod compat;
mod describe;
mod distribution;
mod groups;
mod latest;
mod models;
mod relative;
mod scaling;
