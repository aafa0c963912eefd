//! ONNX Runtime's Core ML execution provider.

use crate::units::Units;
use skillbench_onnxruntime::{Arithmetic, Configuration, Provider};
use skillbench_plugin_api::{Device, Error, Load, Result, Why};

pub(crate) const NAME: &str = "CoreMLExecutionProvider";

pub(crate) struct CoreMl {
    units: Vec<Units>,
    devices: Vec<Device>,
}

impl CoreMl {
    pub fn new(units: Vec<Units>, processor: &str) -> CoreMl {
        let devices = units.iter().map(|units| units.device(processor)).collect();
        CoreMl { units, devices }
    }

    fn units(&self, load: &Load) -> Result<Units> {
        let index = load.devices.first().copied().unwrap_or(0) as usize;
        self.units.get(index).copied().ok_or_else(|| Error::not_found("there are no such units"))
    }
}

impl Provider for CoreMl {
    fn name(&self) -> &str {
        NAME
    }

    fn by_name(&self) -> Option<&[Device]> {
        Some(&self.devices)
    }

    fn configure(&self, load: &Load, _device: &Device) -> Result<Configuration> {
        if let Some(other) = load.precision.as_deref().filter(|asked| !["float32", "float16"].contains(asked)) {
            let text = format!("Core ML computes as the graph says, in float32 or float16, not in {other} on demand");
            return Err(Error::unimplemented(Why::PRECISION, text));
        }
        let mut provider = vec![
            ("MLComputeUnits", self.units(load)?.for_runtime().to_string()),
            // Programs keep the types of the graph; the older format computes in float16 on GPU and Neural Engine.
            ("ModelFormat", "MLProgram".to_string()),
            ("AllowLowPrecisionAccumulationOnGPU", "0".to_string()),
        ];
        provider
            .extend(load.cache_dir.iter().map(|folder| ("ModelCacheDirectory", folder.to_string_lossy().into_owned())));
        let provider = provider.into_iter().map(|(key, value)| (key.to_string(), value)).collect();
        Ok(Configuration { provider, session: vec![] })
    }

    /// On CPU and GPU a program computes in the types of the graph. With the Neural Engine, which has no float32, Core ML
    /// decides, and nothing tells how.
    fn precision(&self, load: &Load, _device: &Device, graph: Option<Arithmetic>) -> Option<&'static str> {
        match (self.units(load).ok()?, graph?) {
            (Units::Cpu | Units::CpuGpu, Arithmetic::Float32) => Some("float32"),
            (Units::CpuGpu, Arithmetic::Float16) => Some("float16"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CoreMl, Units};
    use skillbench_onnxruntime::{Arithmetic, Provider};
    use skillbench_plugin_api::{Device, DeviceKind, Load, Options, Source};
    use std::path::Path;

    fn load(device: u32) -> Load {
        Load { devices: vec![device], ..Load::new(Source::onnx(Path::new("model.onnx"))) }
    }

    #[test]
    fn each_set_of_units_is_a_device_and_goes_to_core_ml_by_its_name() {
        let provider = CoreMl::new(Units::read(&Options::default()).unwrap(), "Apple M3");
        assert_eq!(
            provider.devices.iter().map(|device| &*device.id).collect::<Vec<_>>(),
            ["cpu-gpu", "cpu-npu", "all", "cpu"]
        );
        let given = provider.configure(&load(1), &provider.devices[1]).unwrap().provider;
        assert!(given.contains(&("MLComputeUnits".into(), "CPUAndNeuralEngine".into())), "{given:?}");
    }

    #[test]
    fn where_the_neural_engine_may_compute_the_precision_is_unknown() {
        let provider = CoreMl::new(Units::read(&Options::default()).unwrap(), "Apple M3");
        let told = |device| {
            provider.precision(&load(device), &Device::new("", "", DeviceKind::Gpu), Some(Arithmetic::Float32))
        };
        assert_eq!([told(0), told(1), told(2), told(3)], [Some("float32"), None, None, Some("float32")]);
    }

    #[test]
    fn units_that_core_ml_has_not_are_refused() {
        let options = Options([("units".to_string(), "tpu".to_string())].into());
        assert!(Units::read(&options).unwrap_err().message.contains("tpu"));
    }
}
