//! The real binary, from the command line to the files it leaves.
//!
//! `backends`: the hardware backends on what is here. `docs`: what the documents say. `run`: measuring. `faults`: plugins that misbehave. `registry`: entries and libraries that are wrong. `usage`: slips at the
//! keyboard. `vendor`: a plugin of one's own, in C and in Rust. `workers`: processes that end when they should.

mod backends;
mod docs;
mod faults;
mod models;
mod registry;
mod run;
mod usage;
mod vendor;
mod workers;
