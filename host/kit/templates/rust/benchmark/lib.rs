//! @NAME@: a skillbench benchmark in one file. It measures how long one run of a model takes, and how long a burst of runs takes, one
//! after the other, as a service does that works off a queue.
//!
//! The host owns what has to be the same for all benchmarks: it loads the model and times that, fills the inputs, compares the outputs
//! with another engine, says how many samples it wants and when there are enough, and makes figures of them. What is left is the work.

use skillbench_plugin_api::sdk::{Benchmark, Context};
use skillbench_plugin_api::{Error, Result, SeriesInfo, Why, export_plugin};
use std::ffi::CStr;

struct Burst;

impl Benchmark for Burst {
    const ID: &'static CStr = c"@NAME@";
    /// A result of one version is never compared with one of another: change it whenever the work changes.
    const VERSION: &'static CStr = c"1";
    const CATEGORY: &'static CStr = c"performance";
    const SUMMARY: &'static CStr = c"Time of a run, and of a burst of runs";
    /// The host holds options against it before the benchmark sees them.
    const OPTIONS_SCHEMA: &'static CStr = cr#"{
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "runs": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 10, "description": "How many runs a burst has"}
        }
    }"#;
    const NEEDS_TARGET: bool = true;
    /// No figure tells of loading, so that the host may lend a model that is there already.
    const SHARES_MODELS: bool = true;

    /// Called on the control thread, once for each cell. An error is the cell's outcome, and no sample of it counts then.
    fn run(context: &Context<'_>) -> Result<()> {
        let (target, reporter) = (context.target()?, &context.reporter);
        let [part] = target.parts() else {
            let text = "this benchmark measures models of one part: take `inference` for others";
            return Err(Error::unimplemented(Why::MODEL, text));
        };
        let runs: u64 = context.options.parse("runs")?.unwrap_or(10);
        let batch = target.batch_size() as f64;

        let model = target.load(part)?;
        let mut request = model.request()?;
        model.prepare(&mut request, 0)?;
        request.run()?;
        // Before it no round is measured: there is no figure of a model that computes the wrong thing.
        model.verify(&mut request)?;

        // `latency` is a name that the host knows, so that it fills the usual columns. Any other name stands among the series. `time` does
        // the work in every round that the host asks for. In a round nothing is done that stands in no sample: the host times it, too.
        let latency = reporter.series(&SeriesInfo::duration("latency", batch))?;
        reporter.time(latency, || request.run())?;
        let burst = reporter.series(&SeriesInfo::duration("burst", batch * runs as f64))?;
        reporter.time(burst, || (0..runs).try_for_each(|_| request.run()))
    }
}

export_plugin! {
    id: "@NAME@",
    name: "@NAME@",
    vendor: "",
    benchmarks: [Burst],
}
