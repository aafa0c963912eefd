//! Results asked.
//!
//! - [`Stored`]: results out of folders, files and the database.
//! - [`files`]: what a finished run leaves: `run.json`, `samples.parquet`, `summary.csv`.
//! - [`frames`] and [`questions`]: results as data frames, and each question asked of them as a named function.
//! - [`current`]: which measurements still hold, on the machine and with the plugins of now.
//! - [`forms`] and [`matrix`]: results as the files that other tools read, and what runs where.
//!
//! Not here: measuring (engine), keeping (store), drawing (report).

pub mod current;
pub mod files;
pub mod forms;
pub mod frames;
pub mod matrix;
pub mod questions;
mod stored;

pub use stored::{Stored, StoredError, find, read};
