//! The WebGPU execution provider.

use crate::vulkan::Adapter;
use skillbench_onnxruntime::{
    Arithmetic, Configuration, Hardware, OrtProvider, Provider, Runtime, find_provider, options_schema,
};
use skillbench_plugin_api::sdk::Host;
use skillbench_plugin_api::{Device, DeviceKind, Error, Load, Options, Place, Result, Why};
use std::ffi::CStr;
use std::path::{Path, PathBuf};

pub struct WebGpu {
    library: PathBuf,
    adapter: Adapter,
}

impl OrtProvider for WebGpu {
    const ID: &'static CStr = c"webgpu";
    const OPTIONS_SCHEMA: &'static CStr = options_schema!(
        r#""provider": {
                "type": "string",
                "format": "path",
                "description": "Path of the WebGPU execution provider's library. Default: what the host installed."
            }"#,
        r#""adapter": {
                "enum": ["auto", "hardware", "software"],
                "default": "auto",
                "description": "A GPU of the machine, or a rasterizer on the processor. Default: auto, software only where there is no GPU."
            }"#,
        r#""vulkan": {
                "type": "string",
                "format": "path",
                "description": "Path of a Vulkan loader for machines without one. Default: what the host installed."
            }"#,
        r#""software_driver": {
                "type": "string",
                "format": "path",
                "description": "Path of the description (ICD) of a software Vulkan driver. Default: what the host installed."
            }"#,
    );

    const DEVICE_MEMORY: Option<i32> = Some(Place::WEBGPU);

    fn open(host: &Host, options: &Options, _runtime: &'static Runtime) -> Result<WebGpu> {
        let library = find_provider(host, options, Self::ID)?;
        let adapter = Adapter::choose(host, options);
        adapter.prepare(host, options)?;
        Ok(WebGpu { library, adapter })
    }
}

impl Provider for WebGpu {
    fn name(&self) -> &str {
        "WebGpuExecutionProvider"
    }

    fn library(&self) -> Option<&Path> {
        Some(&self.library)
    }

    fn describe(&self, hardware: &Hardware) -> Device {
        let vendor = hardware.vendor.clone();
        match (self.adapter, hardware.kind) {
            (Adapter::Hardware, DeviceKind::Gpu) => {
                Device { vendor, ..Device::new("gpu", "GPU through WebGPU", DeviceKind::Gpu) }
            }
            _ => {
                let name = "software rasterizer on the processor, through WebGPU";
                Device { vendor, emulated: true, ..Device::new("software", name, DeviceKind::Gpu) }
            }
        }
    }

    /// Ids differ where there are several GPUs.
    fn devices(&self, listed: &[Hardware]) -> Vec<(Option<usize>, Device)> {
        let mut devices: Vec<(Option<usize>, Device)> = vec![];
        for (index, hardware) in listed.iter().enumerate() {
            let mut device = self.describe(hardware);
            let same = devices.iter().filter(|(_, known)| known.id.starts_with(&device.id)).count();
            if same > 0 {
                device.id = format!("{}:{same}", device.id);
            }
            devices.push((Some(index), device));
        }
        devices
    }

    fn configure(&self, load: &Load, _device: &Device) -> Result<Configuration> {
        match load.precision.as_deref() {
            // Without int64 kernels the arithmetic on token positions would go to the processor.
            None | Some("float32" | "float16") => {
                Ok(Configuration { provider: vec![("enableInt64".into(), "1".into())], session: vec![] })
            }
            Some(other) => {
                let text =
                    format!("WebGPU has no {other} arithmetic: ask for float32, or for float16 with a graph in it");
                Err(Error::unimplemented(Why::PRECISION, text))
            }
        }
    }

    fn precision(&self, _load: &Load, _device: &Device, graph: Option<Arithmetic>) -> Option<&'static str> {
        graph?.precision()
    }
}
