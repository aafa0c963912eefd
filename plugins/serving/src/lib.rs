//! Requests that arrive when they are due, whether or not the last one is done: for items (the benchmark `serving`), and for tokens
//! (`generation-serving`). And what issues them, alone (`generator`).
//!
//! - `items`, `tokens` and `generator`: the benchmarks. `options`: what can be asked of each. `mix`: requests of several sizes. `engine`: workers that make tokens.
//!
//! Arrivals, sessions and searches are in the library `load`. Not here: percentiles, and the capacity that the trials of a search show: the host has every sample and makes
//! them.

#![deny(unsafe_code)]

mod engine;
mod generator;
mod items;
mod mix;
mod options;
mod tokens;

pub use generator::Generator;
pub use items::Serving;
pub use tokens::GenerationServing;

skillbench_plugin_api::export_plugin! {
    id: "serving",
    name: "Serving",
    vendor: "skillbench",
    benchmarks: [Serving, GenerationServing, Generator],
}
