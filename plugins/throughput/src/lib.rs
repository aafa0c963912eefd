//! The benchmarks `throughput-load` and `throughput-inference`: what is gained by doing things at once.
//!
//! Each measures the same work in two ways, one after the other and by many workers at once, and reports both. The gain is
//! their ratio; it is never worked out from a latency.
//!
//! - `load`, `inference`: the two kinds of work.
//! - `crew`: threads that wait between samples. `queue`: one thread that keeps an engine's queue full. `turns`: whose round it is. `workers`: how many.
//!
//! Not here: statistics, and the ratio itself. The host has both series and makes them.

#![deny(unsafe_code)]

mod crew;
mod inference;
mod load;
mod queue;
mod turns;
mod workers;

pub use inference::ThroughputInference;
pub use load::ThroughputLoad;

skillbench_plugin_api::export_plugin! {
    id: "throughput",
    name: "Throughput",
    vendor: "skillbench",
    benchmarks: [ThroughputLoad, ThroughputInference],
}
