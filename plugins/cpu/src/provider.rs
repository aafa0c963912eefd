//! ONNX Runtime's CPU execution provider.

use skillbench_onnxruntime::{Arithmetic, Configuration, Hardware, OrtProvider, Provider, Runtime, options_schema};
use skillbench_plugin_api::sdk::{Host, processor};
use skillbench_plugin_api::{Device, Error, Load, Options, Result, Why};
use std::ffi::CStr;

pub struct Cpu;

impl OrtProvider for Cpu {
    const ID: &'static CStr = c"cpu";
    const OPTIONS_SCHEMA: &'static CStr = options_schema!();

    fn open(_host: &Host, _options: &Options, _runtime: &'static Runtime) -> Result<Cpu> {
        Ok(Cpu)
    }
}

impl Provider for Cpu {
    fn name(&self) -> &str {
        "CPUExecutionProvider"
    }

    fn describe(&self, hardware: &Hardware) -> Device {
        Device { vendor: hardware.vendor.clone(), ..processor() }
    }

    fn configure(&self, load: &Load, _device: &Device) -> Result<Configuration> {
        match load.precision.as_deref() {
            // A graph with points where to quantize computes in int8, if its kernels then do: that is read back.
            None | Some("float32" | "int8") => Ok(Configuration::default()),
            Some(other) => {
                let text = format!(
                    "the CPU provider computes as the graph says, not in {other} on demand: load a graph in it"
                );
                Err(Error::unimplemented(Why::PRECISION, text))
            }
        }
    }

    fn shows_integers(&self) -> bool {
        true
    }

    /// Graphs in float16 and bfloat16 are stored so, but most kernels cast to float32 and back, and which ones do cannot be
    /// told from outside: unknown.
    fn precision(&self, _load: &Load, _device: &Device, graph: Option<Arithmetic>) -> Option<&'static str> {
        match graph? {
            Arithmetic::Float16 | Arithmetic::BFloat16 => None,
            other => other.precision(),
        }
    }
}
