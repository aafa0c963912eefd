//! The webnn backend: WebNN in a real browser.
//!
//! Here is what is particular to it: its options, and the device types of WebNN; the rest is `skillbench-browser`. Not here:
//! `unsafe`, and anything that another backend in a browser needs too.

#![deny(unsafe_code)]

use skillbench_browser::{Accelerator, BrowserEngine, BrowserModel, Settings};
use skillbench_plugin_api::sdk::{Backend, Counters, Host, Offers};
use skillbench_plugin_api::{Device, Load, Options, Result};
use std::ffi::CStr;

pub struct WebnnBackend(BrowserEngine);

const DEVICES: [(&str, Accelerator); 3] =
    [("cpu", Accelerator::WebNn("cpu")), ("gpu", Accelerator::WebNn("gpu")), ("npu", Accelerator::WebNn("npu"))];

impl Backend for WebnnBackend {
    const ID: &'static CStr = c"webnn";
    const OPTIONS_SCHEMA: &'static CStr = cr#"{
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "browser": {
                "type": "string",
                "format": "path",
                "description": "Path of a Chromium built with WebNN. Default: a Chromium, Chrome or Edge on the PATH."
            },
            "ort_web": {
                "type": "string",
                "format": "path",
                "description": "Folder with ONNX Runtime Web: `dist` of the npm package onnxruntime-web."
            },
            "browser_user": {
                "type": "string",
                "default": "nobody",
                "description": "User that the browser runs as where root runs the host; root for none. Default: nobody."
            },
            "launch_timeout_s": {
                "type": "number",
                "exclusiveMinimum": 0,
                "default": 30,
                "description": "Seconds that the browser may take to start and to open the page. Default: 30."
            },
            "call_timeout_s": {
                "type": "number",
                "exclusiveMinimum": 0,
                "default": 600,
                "description": "Seconds that a load or a run may take in the page. Default: 600."
            }
        }
    }"#;

    const OFFERS: Offers = Offers { supports: true, ..Offers::NONE };

    type Model = BrowserModel;

    fn open(host: Host, options: &Options) -> Result<WebnnBackend> {
        let settings = Settings::read(host, options, "webnn")?;
        BrowserEngine::open(host, settings, &DEVICES).map(WebnnBackend)
    }

    fn devices(&self) -> Vec<Device> {
        self.0.devices()
    }

    fn supports(&self, load: &Load) -> Result<()> {
        self.0.supports(load)
    }

    fn load(&self, load: &Load) -> Result<BrowserModel> {
        self.0.load(load)
    }

    fn counters(&self) -> Option<&dyn Counters> {
        Some(&self.0)
    }
}

skillbench_plugin_api::export_plugin! {
    id: "webnn",
    name: "WebNN in a browser",
    vendor: "skillbench",
    backend: WebnnBackend,
}
