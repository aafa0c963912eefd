//! Samples become figures: percentiles with their sample-size rule, intervals, spread. Pure functions.

mod binomial;
pub mod e_divisive;
mod percentile;
mod summary;

pub use percentile::{least_samples, percentile};
pub use summary::{median, median_interval, summarize};
