//! Two things held against each other, and whether one of them is really slower.
//!
//! - `metric`: what is compared, and which direction is better; `evidence`: ratio, interval, test.
//! - `verdict`: faster, slower, same or unclear, with the reason. `noise`: what a machine does to the same code.
//! - `document`: a comparison as data.

mod document;
mod evidence;
mod metric;
mod noise;
mod verdict;

pub use document::{COMPARISON_SCHEMA, ComparedCell, ComparedMetric, Comparison, Mode, Party, Subject};
pub use evidence::{Estimate, Evidence, of_apart, of_estimates, of_pairs};
pub use metric::Metric;
pub use noise::{Deviations, Floor, FloorFrom, Noise};
pub use verdict::{Bar, Gate, Verdict, gate, judge};
