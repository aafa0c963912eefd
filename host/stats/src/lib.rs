//! Statistics, in one place. Functions of samples: no clock, and chance only from a seed.
//!
//! - `summary`, `percentile`, `fences`: the figures of one set of samples. Early stopping, MLPerf's bound, is in `percentile`.
//! - `batches`: intervals of samples that came one after the other.
//! - `bootstrap`, `mann_whitney`: two sets held against each other. [`compare`]: what that says of two things.
//! - `outliers`: which of some values are not like the others.
//! - `capacity`: how much load a target bears, from trials at many rates.
//! - [`e_divisive`]: where a history changed. [`rules`]: the thresholds, from `data/rules.toml`.
//!
//! Not here: measuring, reading what is stored, drawing.

mod batches;
mod binomial;
mod bootstrap;
mod capacity;
pub mod compare;
#[cfg(test)]
mod coverage;
pub mod e_divisive;
mod fences;
mod mann_whitney;
mod outliers;
mod percentile;
mod rules;
mod summary;

pub use batches::{HalfWidths, Launches, between_launches, half_widths, of_launches, student};
pub use bootstrap::{grouped_median_interval, ratio_interval};
pub use capacity::{Capacity, capacity};
pub use fences::fences;
pub use mann_whitney::{MannWhitney, mann_whitney};
pub use outliers::outliers;
pub use percentile::{is_kept, least_samples, percentile};
pub use rules::{CompareRules, Rules, TrendRules, rules};
pub use summary::{median, median_interval, summarize, summarize_rounds};
