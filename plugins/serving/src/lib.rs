//! Requests that arrive when they are due, whether or not the last one is done: for items (the benchmark `serving`), and for tokens
//! (`generation-serving`).
//!
//! - `options`: what is asked for. `limit`: what `slo` says.
//! - `arrivals`: when requests are due, from a seed. `timer`: waits for that moment. `session`: issues requests and has workers serve them, over a `board`. `crew`: their threads.
//! - `search`: which rate to try next. `lateness`: when a session is void. `series`: what is told. `server`: sessions and searches.
//! - `items` and `tokens`: the two benchmarks. `engine`: workers that make tokens.
//!
//! A latency counts from when its request was due, not from when it was issued: a generator that is late makes latencies longer, never
//! shorter, and how late it was is a series of its own.
//!
//! Not here: percentiles, and the capacity that the trials of a search show. The host has every sample and makes them.

#![deny(unsafe_code)]

pub mod arrivals;
mod board;
pub mod crew;
mod engine;
mod items;
mod lateness;
pub mod limit;
mod options;
pub mod search;
mod series;
mod server;
pub mod session;
pub mod timer;
mod tokens;

pub use items::Serving;
pub use tokens::GenerationServing;

skillbench_plugin_api::export_plugin! {
    id: "serving",
    name: "Serving",
    vendor: "skillbench",
    benchmarks: [Serving, GenerationServing],
}
