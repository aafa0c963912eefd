//! The forms that other tools read: whole files of a small real run, and cells worked out by hand.

#![recursion_limit = "256"]

#[path = "../made/mod.rs"]
mod made;

mod files;
mod flat;
mod followed;
mod keys;
mod rebuilt;
mod skillset;
mod suite;
