//! The database of all runs: filled, refilled, held by others, and not ours.

#![recursion_limit = "256"]

mod faults;
mod made;
mod older;
mod stored;
