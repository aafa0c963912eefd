//! The compatibility matrix: worked out by hand, written, read back, and told in the words of its rule.

#![recursion_limit = "256"]

#[path = "../made/mod.rs"]
mod made;

mod build;
mod documented;
mod files;
mod read;
mod rule;
