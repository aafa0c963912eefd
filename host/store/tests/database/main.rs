//! The database of all runs: filled, refilled, held by others, not ours, and made to get at other files.

#![recursion_limit = "256"]

mod faults;
mod foreign;
mod made;
mod older;
mod stored;
