//! Results asked.
//!
//! - [`Stored`]: results out of folders, files and the database.
//! - [`files`]: what a finished run leaves: `run.json`, `samples.parquet`, `summary.csv`.
//! - [`frames`] and [`questions`]: results as data frames, and each question asked of them as a named function.
//! - [`compared`]: two runs held against each other.
//! - [`freshness`]: which measurements still hold, on the machine and with the plugins of now.
//! - [`export`] and [`matrix`]: results as the files that other tools read, and what runs where.
//! - [`threads`]: those that Polars works with, tried before it needs them.
//! - [`trend`]: since when something is slower, and what changed then.
//!
//! Not here: measuring (engine), keeping (store), drawing (report).

pub mod compared;
mod csv;
pub mod export;
pub mod files;
pub mod frames;
pub mod freshness;
pub mod matrix;
pub mod questions;
mod stored;
pub mod threads;
pub mod trend;

/// A question whose frames did not fit each other.
pub use polars::error::PolarsError as FrameError;
pub use stored::{Stored, StoredError, StoredMetric, find, read};
