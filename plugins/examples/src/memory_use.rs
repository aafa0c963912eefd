//! Memory use. The host looks at the process from outside and reports `memory_used_mb`; what the function counts itself stands
//! beside it under a name of its own, so that the two can be compared.

use skillbench_plugin_api::sdk::Metrics;
use skillbench_plugin_api::{Error, Result};
use std::hint::black_box;

const COLUMNS: usize = 8;
const ROWS: usize = 1 << 18;

/// Turns columns into rows. Both are alive at once: 32 MiB.
///
/// # Errors
/// The rows are not what the columns were. A benchmark that fails has no figures, so that wrong work is never fast work.
pub fn benchmark_columns_to_rows() -> Result<Metrics> {
    let column = |at: usize| (0..ROWS).map(|row| (at * ROWS + row) as f64).collect();
    let columns: Vec<Vec<f64>> = (0..COLUMNS).map(column).collect();
    let rows: Vec<[f64; COLUMNS]> = (0..ROWS).map(|row| std::array::from_fn(|at| columns[at][row])).collect();
    let (columns, rows) = (black_box(columns), black_box(rows));
    let (first, last) = (rows[0][0], rows[ROWS - 1][COLUMNS - 1]);
    if (first, last) != (0.0, (COLUMNS * ROWS - 1) as f64) {
        return Err(Error::internal(format!("the corners of the rows are {first} and {last}")));
    }
    let bytes = |capacity: usize, size: usize| (capacity * size) as u64;
    let of_columns: u64 = columns.iter().map(|column| bytes(column.capacity(), size_of::<f64>())).sum();
    let of_rows = bytes(rows.capacity(), size_of::<[f64; COLUMNS]>());
    Ok(Metrics::new().items(ROWS as u64).bytes("columns", of_columns).bytes("rows", of_rows))
}
