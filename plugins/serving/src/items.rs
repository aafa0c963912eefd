//! The benchmark `serving`: requests for items.

use crate::mix::Mix;
use crate::options::OF_ITEMS;
use skillbench_load::board::Shift;
use skillbench_load::crew::Crew;
use skillbench_load::options::{Asked, Load, Of};
use skillbench_load::server::{Server, Tokens};
use skillbench_load::session::Serve;
use skillbench_pipeline::{self as pipeline, Prepared, Stage};
use skillbench_plugin_api::sdk::{Benchmark, Context, Target, TargetModel};
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
        let mix = Mix::read(&context.options, asked.trace.as_deref(), target.seed())?;
        if mix.has_several() && asked.load == Load::Stream {
            let text = "option sizes: queries one after the other have one size: ask for a --rate, for users, or for --scenario offline";
            return Err(Error::invalid(text));
        }
        let order = pipeline::order(target)?;
        let models: Vec<Vec<TargetModel<'_>>> =
            mix.dims().map(|size| pipeline::load_for(target, &order, &size)).collect::<Result<_>>()?;
        let worker = |_| {
            let by_size = models.iter().map(|models| checked(target, &order, models)).collect::<Result<_>>()?;
            Ok(Worker { by_size, mix: &mix, turns: 0 })
        };
        let mut workers: Vec<Worker<'_>> = (0..asked.workers).map(worker).collect::<Result<_>>()?;
        let items = asked.items;
        if asked.load == Load::Stream {
            let latency = context.reporter.series(&SeriesInfo::duration("latency", items))?;
            let worker = workers.first_mut().ok_or_else(|| Error::internal("a benchmark without a worker"))?;
            return context.reporter.time(latency, || worker.by_size[0].run());
        }
        std::thread::scope(|scope| {
            let crew = Crew::hire(scope, workers)?;
            Server::new(context, asked, Tokens::default(), crew, target.seed())?.warmed_by(mix.turns()).serve()
        })
    }
}

/// The model at one size, ready to run, with its outputs held against the reference.
fn checked<'m>(target: &Target<'_>, order: &[Stage], models: &'m [TargetModel<'_>]) -> Result<Prepared<'m>> {
    let mut prepared = pipeline::prepared(target, order, models)?;
    prepared.run()?;
    prepared.verify(target, models)?;
    Ok(prepared)
}

/// Has the model at each size of which there are requests.
struct Worker<'m> {
    by_size: Vec<Prepared<'m>>,
    mix: &'m Mix,
    turns: usize,
}

impl Serve for Worker<'_> {
    fn serve(&mut self) -> Result<()> {
        self.turns += 1;
        match self.turns {
            // What an engine makes for this thread is made for every size.
            1 => self.by_size.iter_mut().try_for_each(Prepared::run),
            turn => self.by_size[self.mix.in_turn(turn - 2)].run(),
        }
    }

    /// Requests that are served together are filled up to the largest of them, as servers do it.
    fn attend(&mut self, shift: &Shift<'_>) -> Result<()> {
        shift.batches(|batch| {
            let largest = batch.map(|number| self.mix.of(shift, number)).min().unwrap_or_default();
            self.by_size[largest].run()
        })
    }
}
