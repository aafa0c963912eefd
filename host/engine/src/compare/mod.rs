//! Two things held against each other, and whether one of them is really slower.
//!
//! - `metric`: what is compared, and which direction is better; `evidence`: ratio, interval, test.
//! - `verdict`: faster, slower, same or unclear, with the reason. `noise`: what this machine does to the same code.
//! - `live`: measuring both sides in turns (`run::Ring`), judging, and measuring once more what differs.
//! - `limit`: figures that have to be kept. `side`: what a live comparison is told to measure.
//! - `document`: a comparison as data.
//!
//! Not here: reading stored runs (the results crate), drawing.

mod document;
mod evidence;
mod limit;
mod live;
mod metric;
mod noise;
mod side;
mod verdict;

pub use document::{COMPARISON_SCHEMA, ComparedCell, ComparedMetric, Comparison, Mode, Party, Subject};
pub use evidence::{Evidence, of_apart, of_pairs};
pub use limit::{Checked, Limit, LimitError};
pub use live::{Live, Stopped, standing_of};
pub use metric::{Metric, Paired, paired};
pub use noise::{Deviations, Floor, FloorFrom, Noise};
pub use side::Side;
pub use verdict::{Bar, Gate, Verdict, gate, judge};
