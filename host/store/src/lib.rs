//! What is kept of results, and where.
//!
//! - [`journal`]: the truth, one line for each cell, flushed as it ends.
//! - [`columns`]: what is known of a cell, as one flat row. The database, data frames and the documents have their columns from there.
//! - [`database`]: all runs in one DuckDB file, filled from journals and refilled from them at any time.
//!
//! Not here: questions asked of results (`skillbench-results`), drawing (`skillbench-report`).

pub mod columns;
pub mod database;
pub mod journal;

pub use database::{Database, DatabaseError};
pub use journal::{Journal, JournalError, Recorded};
