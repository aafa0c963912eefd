//! Statistics, in one place. Pure functions of samples: no clock, no file, and chance only from a seed.
//!
//! - `summary`, `percentile`, `fences`: the figures of one set of samples. Early stopping, MLPerf's bound, is in `percentile`.
//! - `bootstrap`, `mann_whitney`: two sets held against each other.

mod binomial;
mod bootstrap;
pub mod e_divisive;
mod fences;
mod mann_whitney;
mod percentile;
mod summary;

pub use bootstrap::{grouped_median_interval, ratio_interval};
pub use fences::fences;
pub use mann_whitney::{MannWhitney, mann_whitney};
pub use percentile::{least_samples, percentile};
pub use summary::{median, median_interval, summarize};
