//! A plugin that comes through the `abi_stable` door alone: its library exports no C symbol.
//!
//! All that differs from a plugin of the C door is the macro at the end of this file, and the crate that it is of. The traits are the
//! SDK's, and so are the rules of `host plugin check`. One of each kind is here:
//!
//! - a backend with a small engine of its own: put your own runtime there;
//! - `skill`: a skillset of one small model;
//! - `latency`: a benchmark of a target;
//! - `run_sum`: a benchmark that is a plain function.

mod latency;
mod model;
mod net;
mod onnx;
mod operators;
mod protobuf;
mod request;
mod skill;
mod weights;

use latency::Latency;
use model::{DEVICE, Loaded};
use skill::Skills;
use skillbench_plugin_api::sdk::{Backend, Host, Level, Metrics, Offers};
use skillbench_plugin_api::{Device, DeviceKind, Load, Options, Result};
use std::ffi::CStr;

struct Runtime {
    host: Host,
}

impl Backend for Runtime {
    const ID: &'static CStr = c"stable-example";
    const OPTIONS_SCHEMA: &'static CStr = cr#"{"type":"object","additionalProperties":false,"properties":{}}"#;
    const OFFERS: Offers = Offers { supports: true, ..Offers::NONE };
    type Model = Loaded;

    fn open(host: Host, _options: &Options) -> Result<Runtime> {
        host.evidence("engine", "built into the plugin");
        host.log(Level::Debug, "opened");
        Ok(Runtime { host })
    }

    fn devices(&self) -> Vec<Device> {
        vec![Device::new(DEVICE, "The CPU, in plain Rust", DeviceKind::Cpu)]
    }

    fn supports(&self, load: &Load) -> Result<()> {
        model::supports(load)
    }

    fn load(&self, load: &Load) -> Result<Loaded> {
        Loaded::new(self.host, load)
    }
}

fn run_sum() -> Metrics {
    let sum: u64 = std::hint::black_box(0..10_000).sum();
    std::hint::black_box(sum);
    Metrics::new().items(10_000)
}

skillbench_plugin_stable::export_plugin! {
    id: "stable-example",
    name: "An example behind the abi_stable door",
    vendor: "skillbench",
    backend: Runtime,
    skillset: Skills,
    benchmarks: [Latency],
    functions: [run_sum { category: "unit", summary: "Sums ten thousand numbers" }],
}
