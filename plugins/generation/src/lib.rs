//! The benchmark `generation`: how long the first token takes, and each one after it.
//!
//! One iteration is one whole sequence for the batch: what runs once before it (an encoder, an image), the prompt, and then
//! token after token, greedily, with a cache that grows. How many tokens there are is fixed: skills have seeded weights, so no
//! model has an end to come to. How a skill generates, its `skill.json` says under `generation`.
//!
//! - `benchmark`: the order of it all, and the series. What a sequence is, and its checks, are in `plugins/sequences`.
//!
//! Not here: loading, inputs of the other parts, verification and statistics, which are the host's.

#![deny(unsafe_code)]

mod benchmark;

pub use benchmark::Generation;

skillbench_plugin_api::export_plugin! {
    id: "generation",
    name: "Generation",
    vendor: "skillbench",
    benchmarks: [Generation],
}
