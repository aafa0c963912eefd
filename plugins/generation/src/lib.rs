//! The benchmark `generation`: how long the first token takes, and each one after it.
//!
//! One iteration is one whole sequence for the batch: what runs once before it (an encoder, an image), the prompt, and then
//! token after token, greedily, with a cache that grows. How many tokens there are is fixed: skills have seeded weights, so no
//! model has an end to come to. How a skill generates, its `skill.json` says under `generation`.
//!
//! - `manifest`: that part of `skill.json`; `sizes`: dimensions, and which of them stay open.
//! - `fill`: tokens of the prompt, positions, masks, first states. `greedy`: the next token.
//! - `parts`: what runs beside the decoder. `decoder`: its requests, and the cache. `sequence`: all of one iteration, timed.
//! - `check`: the cache against a run without it. `benchmark`: the order of it all, and the series.
//!
//! Not here: loading, inputs of the other parts, verification and statistics, which are the host's.

#![deny(unsafe_code)]

mod benchmark;
mod check;
mod decoder;
mod fill;
mod greedy;
mod manifest;
mod parts;
mod sequence;
mod sizes;

pub use benchmark::Generation;
pub use greedy::largest;

skillbench_plugin_api::export_plugin! {
    id: "generation",
    name: "Generation",
    vendor: "skillbench",
    benchmarks: [Generation],
}
