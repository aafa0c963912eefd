//! Results: kept as they come, read again, and asked.
//!
//! - [`Journal`]: the truth, one line for each cell, flushed as it ends. [`read`] brings it back.
//! - [`files`]: what a finished run leaves: `run.json`, `samples.parquet`, `summary.csv`.
//! - [`frames`] and [`questions`]: results as data frames, and each question asked of them as a named function.
//!
//! Not here: measuring (engine), drawing (report).

pub mod files;
pub mod frames;
mod journal;
pub mod questions;

pub use journal::{Journal, JournalError, Recorded, read};
