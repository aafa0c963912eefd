//! The benchmark `serving`: requests for items.

use crate::options::OF_ITEMS;
use skillbench_load::crew::Crew;
use skillbench_load::options::{Asked, Load, Of};
use skillbench_load::server::{Server, Tokens};
use skillbench_pipeline::{self as pipeline, Prepared};
use skillbench_plugin_api::sdk::{Benchmark, Context};
use skillbench_plugin_api::{Error, Result, SeriesInfo};
use std::ffi::CStr;

pub struct Serving;

impl Benchmark for Serving {
    const ID: &'static CStr = c"serving";
    const VERSION: &'static CStr = c"1";
    const CATEGORY: &'static CStr = c"performance";
    const SUMMARY: &'static CStr =
        c"Latency of requests that arrive at a rate, and the largest rate that keeps a limit";
    const OPTIONS_SCHEMA: &'static CStr = OF_ITEMS;
    const NEEDS_TARGET: bool = true;
    const SHARES_MODELS: bool = true;

    fn run(context: &Context<'_>) -> Result<()> {
        let target = context.target()?;
        let asked = Asked::read(&context.options, target.batch_size(), Of::Items)?;
        let order = pipeline::order(target)?;
        let models = pipeline::load(target, &order)?;
        let mut lanes: Vec<Prepared<'_>> = (0..asked.workers)
            .map(|_| {
                let mut lane = pipeline::prepared(target, &order, &models)?;
                lane.run()?;
                lane.verify(target, &models)?;
                Ok(lane)
            })
            .collect::<Result<_>>()?;
        let items = asked.items;
        if asked.load == Load::Stream {
            let latency = context.reporter.series(&SeriesInfo::duration("latency", items))?;
            let lane = lanes.first_mut().ok_or_else(|| Error::internal("a benchmark without a worker"))?;
            return context.reporter.time(latency, || lane.run());
        }
        std::thread::scope(|scope| {
            let crew = Crew::hire(scope, lanes.iter_mut().map(|lane| || lane.run()))?;
            Server::new(context, asked, Tokens::default(), crew, target.seed())?.serve()
        })
    }
}
