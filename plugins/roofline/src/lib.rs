//! The benchmark `roofline`, and the skill it measures: a device's peaks, found by graphs that do one thing only. Matrix
//! products give operations per second in each precision, a copy and a read of large tensors give bytes per second.
//!
//! The graphs run on any backend through the ordinary contract, so a peak is what an engine gets out of the device, not
//! what its data sheet says: efficiency is held against what was reached here.
//!
//! - `parts`: which graphs there are, and how much work each is.
//! - `graphs`: their ONNX. `weights`: the files of numbers beside them. `skill`: describing and building.
//! - `benchmark`: measuring part after part. `copies`: of tensors to the device's memory and back. `peaks`: the best rates, by the precision that ran.
//!
//! Not here: loading, inputs, verification, the length of rounds. The host does these for every benchmark.

#![deny(unsafe_code)]

mod benchmark;
mod copies;
mod graphs;
mod parts;
mod peaks;
mod skill;
mod weights;

pub use benchmark::Roofline;
pub use skill::RooflineSkill;

skillbench_plugin_api::export_plugin! {
    id: "roofline",
    name: "Roofline",
    vendor: "skillbench",
    skillset: RooflineSkill,
    benchmarks: [Roofline],
}
