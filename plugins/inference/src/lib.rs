//! The benchmark `inference`: how long the first inference takes, and how long those after it.
//!
//! This is a whole benchmark plugin, and a good place to start one of your own: the work is here, and nothing else. The host
//! loads the model (and times that), fills the inputs, compares the outputs, says how many runs a round has and when there
//! are enough, and makes statistics of the samples. A benchmark that did one of these itself would do it differently from
//! all others, so that its numbers could not be held against theirs.
//!
//! Of a skill in several parts, one inference runs each part once, one after the other; then each part is measured alone too.

#![deny(unsafe_code)]

use skillbench_pipeline::{self as pipeline, Stage};
use skillbench_plugin_api::sdk::{Benchmark, Context};
use skillbench_plugin_api::{Result, SeriesInfo};
use std::ffi::CStr;
use std::time::Instant;

pub struct Inference;

impl Benchmark for Inference {
    const ID: &'static CStr = c"inference";
    const VERSION: &'static CStr = c"1";
    const CATEGORY: &'static CStr = c"performance";
    const SUMMARY: &'static CStr = c"Time of the first inference, and of each one after it";
    const OPTIONS_SCHEMA: &'static CStr = cr#"{
        "type": "object",
        "properties": {
            "cold_start": {
                "type": "boolean",
                "default": false,
                "description": "Return after the first inference, which can be cold only once in a process"
            }
        },
        "additionalProperties": false
    }"#;
    const NEEDS_TARGET: bool = true;
    const COLD_START: bool = true;

    fn run(context: &Context<'_>) -> Result<()> {
        let (target, reporter) = (context.target()?, &context.reporter);
        let cold_start = context.options.parse("cold_start")?.unwrap_or(false);
        let items = target.batch_size() as f64;

        let order = pipeline::order(target)?;
        let models = pipeline::load(target, &order)?;
        let mut prepared = pipeline::prepared(target, &order, &models)?;

        // Only the first run of all can be cold, so it is timed before its outputs are checked. Where they turn out to be
        // wrong, the whole cell fails, and this figure with it.
        let first = reporter.series(&SeriesInfo::duration("first_inference", items))?;
        let start = Instant::now();
        let mut ends = Vec::with_capacity(order.len());
        for (request, times) in &mut prepared.stages {
            (0..*times).try_for_each(|_| request.run())?;
            ends.push(start.elapsed().as_nanos() as f64);
        }
        reporter.single(first, ends[ends.len() - 1])?;
        for (index, name) in each(&order).enumerate() {
            let first = reporter.series(&SeriesInfo::duration(&format!("first_inference.{name}"), items))?;
            reporter.single(first, ends[index] - if index == 0 { 0.0 } else { ends[index - 1] })?;
        }
        if cold_start {
            return Ok(());
        }

        prepared.verify(target, &models)?;
        let latency = reporter.series(&SeriesInfo::duration("latency", items))?;
        reporter.time(latency, || prepared.run())?;
        for (name, (request, _)) in each(&order).zip(&mut prepared.stages) {
            let latency = reporter.series(&SeriesInfo::duration(&format!("latency.{name}"), items))?;
            reporter.time(latency, || request.run())?;
        }
        Ok(())
    }
}

/// The parts that have figures of their own, each of one run: none, where there is only one.
fn each(order: &[Stage]) -> impl Iterator<Item = &String> {
    order.iter().filter(|_| order.len() > 1).map(|stage| &stage.part)
}

skillbench_plugin_api::export_plugin! {
    id: "inference",
    name: "Inference",
    vendor: "skillbench",
    benchmarks: [Inference],
}
