//! A benchmark of a target: how long one run of the model takes.

use skillbench_plugin_api::sdk::{Benchmark, Context};
use skillbench_plugin_api::{Result, SeriesInfo};
use std::ffi::CStr;

pub struct Latency;

impl Benchmark for Latency {
    const ID: &'static CStr = c"stable-latency";
    const VERSION: &'static CStr = c"1";
    const CATEGORY: &'static CStr = c"performance";
    const SUMMARY: &'static CStr = c"Time of a run";
    const OPTIONS_SCHEMA: &'static CStr = cr#"{"type":"object","additionalProperties":false,"properties":{}}"#;
    const NEEDS_TARGET: bool = true;

    fn run(context: &Context<'_>) -> Result<()> {
        let target = context.target()?;
        let part = target.parts().first().map_or("", String::as_str);
        let model = target.load(part)?;
        let mut request = model.request()?;
        target.prepare(&model, &mut request, 0)?;
        request.run()?;
        target.verify(&model, &mut request)?;
        let latency = context.reporter.series(&SeriesInfo::duration("latency", target.batch_size() as f64))?;
        context.reporter.time(latency, || request.run())
    }
}
