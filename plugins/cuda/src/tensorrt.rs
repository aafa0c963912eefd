//! ONNX Runtime's TensorRT execution provider.

use crate::cuda::{gpu, may_use_tf32, memory_of};
use skillbench_drivers::cuda::Gpu;
use skillbench_onnxruntime::{Arithmetic, Configuration, NamedMemory, Provider};
use skillbench_plugin_api::{Device, Error, Load, Result, Why};

pub(crate) const NAME: &str = "TensorrtExecutionProvider";

pub(crate) struct TensorRt {
    pub gpus: Vec<Gpu>,
    pub devices: Vec<Device>,
}

impl Provider for TensorRt {
    fn name(&self) -> &str {
        NAME
    }

    fn by_name(&self) -> Option<&[Device]> {
        Some(&self.devices)
    }

    fn named_memory(&self, device: usize) -> Option<NamedMemory> {
        memory_of(&self.gpus, device)
    }

    fn configure(&self, load: &Load, _device: &Device) -> Result<Configuration> {
        if let Some(other) = load.precision.as_deref().filter(|asked| *asked != "float32") {
            let text =
                format!("TensorRT may, but need not compute in {other} where it is allowed to: use the CUDA device");
            return Err(Error::unimplemented(Why::PRECISION, text));
        }
        let mut provider = vec![("device_id".to_string(), gpu(&self.gpus, load)?.ordinal.to_string())];
        if let Some(folder) = &load.cache_dir {
            let folder = folder.to_string_lossy().into_owned();
            provider.extend(
                [
                    ("trt_engine_cache_enable", "1".to_string()),
                    ("trt_engine_cache_path", folder.clone()),
                    ("trt_timing_cache_enable", "1".to_string()),
                    ("trt_timing_cache_path", folder),
                ]
                .map(|(key, value)| (key.to_string(), value)),
            );
        }
        Ok(Configuration { provider, session: vec![] })
    }

    /// TensorRT takes TF32 by itself where the GPU has it, and ONNX Runtime has no option against it. Of lower ones nobody tells.
    fn precision(&self, load: &Load, _device: &Device, graph: Option<Arithmetic>) -> Option<&'static str> {
        match graph? {
            Arithmetic::Float32 if may_use_tf32(gpu(&self.gpus, load).ok()?) => Some("tf32"),
            Arithmetic::Float32 => Some("float32"),
            _ => None,
        }
    }
}
