//! `throughput-load`: models loaded at once. A sample is one load for each worker, of all parts where the model has several, all
//! of them alive at its end; unloading them again is not part of it.

use crate::crew::Crew;
use crate::{turns, workers};
use skillbench_pipeline::{self as pipeline, Stage};
use skillbench_plugin_api::Result;
use skillbench_plugin_api::sdk::{Benchmark, Context, Target};
use std::ffi::CStr;
use std::time::Instant;

pub struct ThroughputLoad;

impl Benchmark for ThroughputLoad {
    const ID: &'static CStr = c"throughput-load";
    const VERSION: &'static CStr = c"1";
    const CATEGORY: &'static CStr = c"performance";
    const SUMMARY: &'static CStr = c"Models loaded per second, at once and one after the other";
    const OPTIONS_SCHEMA: &'static CStr = workers::OPTIONS_SCHEMA;
    const NEEDS_TARGET: bool = true;

    fn run(context: &Context<'_>) -> Result<()> {
        let target = context.target()?;
        let workers = workers::count(&context.options)?;
        let order = pipeline::order(target)?;
        verify(target, &order)?;
        let load = || pipeline::load(target, &order);
        std::thread::scope(|scope| {
            let crew = Crew::assemble(scope, std::iter::repeat_n(load, workers))?;
            let mut sequential = || {
                let start = Instant::now();
                let models = (0..workers).map(|_| load()).collect::<Result<Vec<_>>>()?;
                let duration = start.elapsed();
                drop(models);
                Ok(duration)
            };
            let mut concurrent = || crew.work().map(|(duration, _models)| duration);
            turns::take(&context.reporter, workers as f64, &mut sequential, &mut concurrent)
        })
    }
}

/// A load counts only of a model that gives right answers.
fn verify(target: &Target<'_>, order: &[Stage]) -> Result<()> {
    let models = pipeline::load(target, order)?;
    let mut prepared = pipeline::prepared(target, order, &models)?;
    prepared.run()?;
    prepared.verify(target, &models)
}
