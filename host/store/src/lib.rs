//! What is kept of results, and where.
//!
//! - [`journal`]: the truth, one line for each cell, flushed as it ends.
//! - [`database`]: all runs in one DuckDB file, filled from journals and refilled from them at any time.
//!
//! What a cell, a key and a column are is said by `skillbench-record`.
//!
//! Not here: questions asked of results (`skillbench-results`), drawing (`skillbench-report`).

pub mod database;
#[cfg(test)]
mod fuzz;
pub mod journal;

pub use database::{Database, DatabaseError};
pub use journal::{Journal, JournalError, Recorded};
