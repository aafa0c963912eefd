//! Three benchmarks that are plain functions: time, memory, and how both grow.
//!
//! This is a whole plugin, and a good place to start one of your own. A benchmark function has no arguments, a name that begins
//! with `run_` or `benchmark_`, and a line in the list below. It does its work once and returns: how often it is called, how
//! long it warms up and when there are enough samples is the host's affair, as is the clock. What it may return is told by the
//! three modules:
//!
//! - `execution_time`: nothing but how many items one call worked on.
//! - `memory_use`: a figure of its own, beside what the host sees of the process.
//! - `scalability`: one series for each size of the input, and a figure that is computed from them.
//!
//! Build it as a library, put that into a search path (or a folder named after a category or a model in there), and run
//! `host bench run`. `host bench list` says what was found, and what was not taken and why.
//!
//! Not here: benchmarks of a model on a backend; `plugins/inference` is one.

#![deny(unsafe_code)]

mod execution_time;
mod memory_use;
mod numbers;
mod scalability;

pub use execution_time::run_hash_join;
pub use memory_use::benchmark_columns_to_rows;
pub use scalability::{SIZES, exponent, run_scalability};

skillbench_plugin_api::export_plugin! {
    id: "examples",
    name: "Example benchmarks",
    vendor: "skillbench",
    functions: [
        run_hash_join {
            category: "unit",
            version: "1",
            summary: "Execution time: joins two tables by a hash of the smaller one",
        },
        benchmark_columns_to_rows {
            category: "integration",
            version: "1",
            summary: "Memory use: turns columns of numbers into rows of them",
        },
        run_scalability {
            category: "performance",
            version: "1",
            summary: "Scalability: sorts 100, 1,000 and 10,000 numbers",
        },
    ],
}
