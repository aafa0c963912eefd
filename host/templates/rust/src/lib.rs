//! @NAME@: a skillbench backend.
//!
//! This file holds the opened runtime with its devices, and exports the plugin. `model` loads, `request` runs, and the
//! engine behind them is in `net`: put your own runtime there. The SDK owns every pointer, so nothing here is `unsafe`.

mod model;
mod net;
mod onnx;
mod operators;
mod protobuf;
mod request;
mod weights;

use model::{DEVICE, Loaded};
use skillbench_plugin_api::sdk::{Backend, Host, Offers};
use skillbench_plugin_api::{Device, DeviceKind, Load, Options, Result, export_plugin};
use std::ffi::CStr;

struct Runtime {
    host: Host,
}

impl Backend for Runtime {
    const ID: &'static CStr = c"@NAME@";
    const OPTIONS_SCHEMA: &'static CStr = cr#"{"type":"object","additionalProperties":false,"properties":{}}"#;
    const OFFERS: Offers = Offers { supports: true, ..Offers::NONE };
    type Model = Loaded;

    /// A real plugin loads its vendor's runtime here, with `dlopen`, and says `Unavailable` where there is none: what was
    /// looked for, where, and how to install it.
    fn open(host: Host, _options: &Options) -> Result<Runtime> {
        Ok(Runtime { host })
    }

    /// A device that is known of but cannot be used is told too: with `why`, and what was looked at in `reason`.
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

export_plugin! {
    id: "@NAME@",
    name: "@NAME@",
    vendor: "",
    backend: Runtime,
}
