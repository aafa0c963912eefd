//! Questions asked of the cells' frame: each a function with a name, a lazy pipeline, and a test on a frame worked out by hand.
//!
//! Which rows count, and what may be compared, is said in one place, [`latest`](mod@latest). What was not measured is null and is
//! counted, never filled in.

mod added;
mod clocks;
mod compat;
mod distribution;
mod efficiency;
mod groups;
mod init;
pub mod latest;
mod load;
mod math;
mod opportunities;
mod optimal;
mod outliers;
mod over_time;
mod problems;
mod relative;
pub mod rules;
mod scaling;
mod summary;
mod time;
mod timeline;

pub use added::{Added, added};
pub use clocks::clocks;
pub use compat::compatibility;
pub use distribution::{histogram, of_cells, quantiles};
pub use efficiency::{efficiency, peaks};
pub use groups::{by_architecture, by_category, by_family, by_hardware, by_model, by_size, by_task, size, speedups};
pub use init::init_phases;
pub use load::{capacities, latency_by_load};
pub(crate) use math::in_order;
pub use opportunities::opportunities;
pub use optimal::{Goal, optimal_per_architecture, optimal_per_model};
pub use outliers::outlier_models;
pub use over_time::over_time;
pub use problems::{fixes, not_measured, problems};
pub use relative::{BASELINE, relative_to_cpu};
pub use scaling::{Along, memory_by_parameters, memory_scaling, scaling};
pub use summary::summary;
pub use time::{before_after, trend};
pub use timeline::timeline;
