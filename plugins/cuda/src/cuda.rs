//! ONNX Runtime's CUDA execution provider.

use crate::choices::Choices;
use skillbench_drivers::cuda::{Copies, Gpu};
use skillbench_onnxruntime::{Arithmetic, Configuration, NamedMemory, Provider};
use skillbench_plugin_api::{Device, DeviceKind, Error, Load, Result, Why};
use std::sync::Arc;

pub(crate) const NAME: &str = "CUDAExecutionProvider";

pub(crate) struct Cuda {
    pub gpus: Vec<Gpu>,
    pub devices: Vec<Device>,
    pub choices: Choices,
    /// "CUDA 13.0, cuDNN 9.19.0".
    pub versions: Option<String>,
}

impl Provider for Cuda {
    fn name(&self) -> &str {
        NAME
    }

    /// ONNX Runtime can list this provider's devices too, but finds them in /sys/class/drm, which many servers and containers
    /// do not have, and numbers them without regard to CUDA_VISIBLE_DEVICES. CUDA itself knows better.
    fn by_name(&self) -> Option<&[Device]> {
        Some(&self.devices)
    }

    fn beneath(&self) -> Option<String> {
        self.versions.clone()
    }

    fn named_memory(&self, device: usize) -> Option<NamedMemory> {
        memory_of(&self.gpus, device)
    }

    fn leaves_shapes(&self) -> bool {
        true
    }

    /// The tensor cores multiply float16, and nearly every operator has kernels for it; the others keep float32.
    fn converts_to(&self, precision: &str) -> bool {
        precision == "float16"
    }

    fn configure(&self, load: &Load, _device: &Device) -> Result<Configuration> {
        if let Some(other) = load.precision.as_deref().filter(|asked| !COMPUTED.contains(asked)) {
            let text =
                format!("the CUDA provider computes as the graph says, not in {other} on demand: load a graph in it");
            return Err(Error::unimplemented(Why::PRECISION, text));
        }
        let mut provider = self.choices.provider();
        provider.push(("device_id".into(), gpu(&self.gpus, load)?.ordinal.to_string()));
        Ok(Configuration { provider, session: vec![] })
    }

    /// Kernels exist for each type of float, and no other type is put in its place; float32 is multiplied as such unless TF32
    /// is allowed.
    fn precision(&self, load: &Load, _device: &Device, graph: Option<Arithmetic>) -> Option<&'static str> {
        match graph? {
            Arithmetic::Float32 if self.choices.tf32 && may_use_tf32(gpu(&self.gpus, load).ok()?) => Some("tf32"),
            other => other.precision(),
        }
    }
}

/// What a graph may be written in; one in float32 is put in float16 where that is asked for.
const COMPUTED: [&str; 4] = ["float32", "float16", "bfloat16", "int8"];

/// The GPU that a load means.
pub(crate) fn gpu<'g>(gpus: &'g [Gpu], load: &Load) -> Result<&'g Gpu> {
    let index = load.devices.first().copied().unwrap_or(0) as usize;
    gpus.get(index).ok_or_else(|| Error::not_found(format!("GPU {index} of {}", gpus.len())))
}

/// A GPU's memory, which both providers allocate by the same name. TensorRT's devices are the same GPUs again, and come after CUDA's.
pub(crate) fn memory_of(gpus: &[Gpu], index: usize) -> Option<NamedMemory> {
    let device = gpus.get(index)?.ordinal;
    let places = [index, gpus.len() + index].map(|number| number as i32).to_vec();
    Some(NamedMemory { name: c"Cuda", device, places, copier: Arc::new(Copies::of(device)) })
}

/// GPUs since Ampere have TF32; the variable by which NVIDIA switches it off goes before any option.
pub(crate) fn may_use_tf32(gpu: &Gpu) -> bool {
    let switched_off = std::env::var_os("NVIDIA_TF32_OVERRIDE").is_some_and(|value| value == "0");
    !switched_off && gpu.capability.is_none_or(|(major, _)| major >= 8)
}

/// The GPU as the host is to know it, under one of the providers.
pub(crate) fn describe(gpu: &Gpu, id: &str, driver: &str) -> Device {
    Device {
        vendor: "NVIDIA".into(),
        arch: gpu.capability.map(|(major, minor)| format!("sm_{major}{minor}")).unwrap_or_default(),
        driver: driver.into(),
        memory_bytes: gpu.memory_bytes,
        ..Device::new(id, &gpu.name, DeviceKind::Gpu)
    }
}

#[cfg(test)]
mod tests {
    use super::{Cuda, describe};
    use crate::choices::Choices;
    use skillbench_drivers::cuda::Gpu;
    use skillbench_onnxruntime::{Arithmetic, Provider};
    use skillbench_plugin_api::{Device, DeviceKind, Load, Options, Source, Why};
    use std::path::Path;

    fn provider(tf32: bool, major: i32) -> Cuda {
        let gpu =
            |ordinal| Gpu { ordinal, name: "GPU".into(), uuid: None, memory_bytes: None, capability: Some((major, 0)) };
        let gpus = vec![gpu(0), gpu(1)];
        let devices = gpus.iter().map(|gpu| describe(gpu, "gpu0", "580")).collect();
        let options = Options([("use_tf32".to_string(), tf32.to_string())].into());
        Cuda { gpus, devices, choices: Choices::read(&options).unwrap(), versions: None }
    }

    fn load(precision: Option<&str>, device: u32) -> Load {
        let source = Source::onnx(Path::new("model.onnx"));
        Load { precision: precision.map(Into::into), devices: vec![device], ..Load::new(source) }
    }

    #[test]
    fn float32_with_tf32_is_a_precision_of_its_own() {
        let told = |tf32, major| {
            provider(tf32, major).precision(
                &load(None, 0),
                &Device::new("", "", DeviceKind::Gpu),
                Some(Arithmetic::Float32),
            )
        };
        assert_eq!(told(false, 9), Some("float32"));
        assert_eq!(told(true, 7), Some("float32"), "GPUs before Ampere have no TF32");
        assert_eq!(told(true, 9), Some("tf32"));
    }

    #[test]
    fn a_load_goes_to_the_gpu_it_names() {
        let device = provider(false, 9).devices[1].clone();
        let configuration = provider(false, 9).configure(&load(None, 1), &device).unwrap();
        assert!(configuration.provider.contains(&("device_id".into(), "1".into())));
        assert!(provider(false, 9).configure(&load(None, 2), &device).is_err());
    }

    #[test]
    fn a_graph_is_put_in_float16_and_in_nothing_else() {
        let provider = provider(false, 9);
        assert!(provider.converts_to("float16"));
        assert!(!provider.converts_to("bfloat16") && !provider.converts_to("int8"));
        let told = provider.precision(&load(Some("float16"), 0), &provider.devices[0], Some(Arithmetic::Float16));
        assert_eq!(told, Some("float16"));
    }

    #[test]
    fn a_precision_that_no_graph_is_written_in_is_refused() {
        let error = provider(false, 9).configure(&load(Some("float8"), 0), &provider(false, 9).devices[0]).unwrap_err();
        assert_eq!(error.why, Why::PRECISION);
    }
}
