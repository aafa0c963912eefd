//! The page as readers get it: its text, its size, and what it does in the real browser that `scripts/test` names.
//!
//! Every figure on these pages is made up (`sample`, `crowd`); none of them is a measurement.

mod browser;
mod crowd;
mod decisions;
mod looks;
mod markup;
mod sample;
mod share;
mod views;
