//! Which DuckDB this program runs with: it is a library beside it.

use duckdb::Connection;

/// "v1.5.6"; `None` where the library does not work.
pub fn engine_version() -> Option<String> {
    let asked = || Connection::open_in_memory().ok()?.query_row("SELECT version()", [], |row| row.get(0)).ok();
    skillbench_record::caught(asked).ok().flatten()
}
