//! `throughput-inference`: requests of one model that run at once. A sample is the same number of runs for each worker;
//! each has a request of its own (on each part, where the model has several: a run is one of each part, in their order), and the
//! sequential samples use the very same requests. With a queue depth, one thread submits them to the backend in place of the workers.

use crate::crew::Crew;
use crate::queue::Queue;
use crate::{turns, workers};
use skillbench_pipeline::{self as pipeline, Prepared, Stage};
use skillbench_plugin_api::client::Request;
use skillbench_plugin_api::sdk::{Benchmark, Context, TargetModel};
use skillbench_plugin_api::{Code, Error, Result, Why};
use std::ffi::CStr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a sample takes at least, so that waking the workers does not count.
const SAMPLE: Duration = Duration::from_millis(10);

/// How many runs are timed before the samples are given their length.
const TRIALS: usize = 8;

pub struct ThroughputInference;

impl Benchmark for ThroughputInference {
    const ID: &'static CStr = c"throughput-inference";
    const VERSION: &'static CStr = c"1";
    const CATEGORY: &'static CStr = c"performance";
    const SUMMARY: &'static CStr = c"Inferences per second, at once and one after the other";
    const OPTIONS_SCHEMA: &'static CStr = workers::WITH_QUEUE;
    const NEEDS_TARGET: bool = true;
    const SHARES_MODELS: bool = true;

    fn run(context: &Context<'_>) -> Result<()> {
        let target = context.target()?;
        let depth = workers::queue_depth(&context.options)?;
        let workers = depth.map_or_else(|| workers::count(&context.options), Ok)?;
        let order = pipeline::order(target)?;
        if depth.is_some() && !matches!(order[..], [Stage { times: 1, .. }]) {
            let text = "a queue takes one run after the other, and this skill has several parts: leave queue_depth out";
            return Err(Error::unimplemented(Why::MODEL, text));
        }
        let models = pipeline::load(target, &order)?;
        let requests = (0..workers).map(|_| verified(context, &order, &models)).collect::<Result<Vec<_>>>()?;
        let runs = runs_per_sample(&requests)?;
        let items = (workers as u64 * runs) as f64 * target.batch_size() as f64;
        let mut sequential = || {
            let start = Instant::now();
            requests.iter().try_for_each(|request| run(request, runs))?;
            Ok(start.elapsed())
        };
        if depth.is_some() {
            let queue = Queue::new();
            let mut concurrent = || queued(&queue, &requests, runs);
            return turns::take(&context.reporter, items, &mut sequential, &mut concurrent);
        }
        std::thread::scope(|scope| {
            let crew = Crew::assemble(scope, requests.iter().map(|request| move || run(request, runs)))?;
            let mut concurrent = || crew.work().map(|(duration, _)| duration);
            turns::take(&context.reporter, items, &mut sequential, &mut concurrent)
        })
    }
}

/// A lane, locked by whoever works on it: its worker, or the control thread for a sequential sample. Never both.
type Lane<'m> = Mutex<Prepared<'m>>;

fn verified<'m>(context: &Context<'_>, order: &[Stage], models: &'m [TargetModel<'_>]) -> Result<Lane<'m>> {
    if context.host.stopping() {
        return Err(Error::new(Code::Cancelled, "the run is being stopped"));
    }
    let target = context.target()?;
    let mut prepared = pipeline::prepared(target, order, models)?;
    prepared.run()?;
    prepared.verify(target, models)?;
    Ok(Mutex::new(prepared))
}

fn run(lane: &Lane<'_>, times: u64) -> Result<()> {
    let mut prepared = lane.lock().unwrap_or_else(PoisonError::into_inner);
    (0..times).try_for_each(|_| prepared.run())
}

/// The same runs, all lanes at once, through the queue of the backend.
fn queued(queue: &Queue, lanes: &[Lane<'_>], times: u64) -> Result<Duration> {
    let mut held: Vec<_> = lanes.iter().map(|lane| lane.lock().unwrap_or_else(PoisonError::into_inner)).collect();
    let mut requests: Vec<&mut Request<'_>> =
        held.iter_mut().filter_map(|prepared| prepared.stages.first_mut().map(|(request, _)| request)).collect();
    queue.work(&mut requests, times)
}

/// So many that even the fastest run seen, and a perfect gain, fill the time of a sample.
fn runs_per_sample(lanes: &[Lane<'_>]) -> Result<u64> {
    let mut fastest = SAMPLE;
    for lane in lanes.iter().cycle().take(TRIALS) {
        let start = Instant::now();
        run(lane, 1)?;
        fastest = fastest.min(start.elapsed());
    }
    Ok(SAMPLE.as_nanos().div_ceil(fastest.as_nanos().max(1)) as u64)
}
