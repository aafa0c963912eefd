//! ONNX Runtime's MIGraphX execution provider.

use skillbench_drivers::Evidence;
use skillbench_drivers::hip::Gpu;
use skillbench_onnxruntime::{Arithmetic, Configuration, Provider};
use skillbench_plugin_api::{Device, Error, Load, Options, Result, Why};

pub(crate) const NAME: &str = "MIGraphXExecutionProvider";

pub(crate) struct MiGraphX {
    pub gpus: Vec<Gpu>,
    pub devices: Vec<Device>,
    pub choices: Choices,
}

/// What the user may choose.
#[derive(Clone, Debug, Default)]
pub(crate) struct Choices {
    exhaustive_tune: bool,
    memory_limit: Option<u64>,
    int8_table: Option<String>,
    /// A variable of the environment that converts every graph, whatever is asked for.
    converted_by: Option<&'static str>,
}

/// The provider takes these before its options.
const CONVERTING: [&str; 4] =
    ["ORT_MIGRAPHX_FP16_ENABLE", "ORT_MIGRAPHX_BF16_ENABLE", "ORT_MIGRAPHX_FP8_ENABLE", "ORT_MIGRAPHX_INT8_ENABLE"];

impl Choices {
    /// # Errors
    /// `InvalidArgument`, naming the option.
    pub fn read(options: &Options, evidence: &mut Evidence) -> Result<Choices> {
        let set = |name: &&str| std::env::var(name).is_ok_and(|value| !value.is_empty() && value != "0");
        let converted_by = CONVERTING.into_iter().find(set);
        if let Some(name) = converted_by {
            evidence.add(name, "set: the precision cannot be told");
        }
        Ok(Choices {
            exhaustive_tune: options.parse("exhaustive_tune")?.unwrap_or(false),
            memory_limit: options.parse("gpu_mem_limit")?,
            int8_table: options.get("int8_calibration_table").map(Into::into),
            converted_by,
        })
    }
}

impl Provider for MiGraphX {
    fn name(&self) -> &str {
        NAME
    }

    fn by_name(&self) -> Option<&[Device]> {
        Some(&self.devices)
    }

    fn configure(&self, load: &Load, _device: &Device) -> Result<Configuration> {
        let gpu = self.gpus.get(load.devices.first().copied().unwrap_or(0) as usize);
        let gpu = gpu.ok_or_else(|| Error::not_found("there is no such GPU"))?;
        let mut provider = vec![("device_id", gpu.ordinal.to_string())];
        match load.precision.as_deref() {
            None | Some("float32") => {}
            Some("float16") => provider.push(("migraphx_fp16_enable", "1".into())),
            Some("bfloat16") => provider.push(("migraphx_bf16_enable", "1".into())),
            Some("int8") => {
                let table = self.choices.int8_table.clone().ok_or_else(|| {
                    let text = "MIGraphX computes in int8 only with measured ranges: name their file in the option \
                                int8_calibration_table, or load a graph in int8";
                    Error::unimplemented(Why::PRECISION, text)
                })?;
                provider.push(("migraphx_int8_enable", "1".into()));
                provider.push(("migraphx_int8_calibration_table_name", table));
            }
            Some(other) => {
                let text = format!("MIGraphX is not asked for {other}: ask for float32, float16, bfloat16 or int8");
                return Err(Error::unimplemented(Why::PRECISION, text));
            }
        }
        if self.choices.exhaustive_tune {
            provider.push(("migraphx_exhaustive_tune", "1".into()));
        }
        provider.extend(self.choices.memory_limit.map(|bytes| ("migraphx_mem_limit", bytes.to_string())));
        if let Some(folder) = &load.cache_dir {
            provider.push(("migraphx_model_cache_dir", folder.to_string_lossy().into_owned()));
        }
        let provider = provider.into_iter().map(|(key, value)| (key.to_string(), value)).collect();
        Ok(Configuration { provider, session: vec![] })
    }

    /// A conversion takes all of the graph's floating operations; in int8 it takes its multiplications and convolutions. What
    /// a graph that is in a type already becomes in another one, and what the environment makes of it, cannot be told.
    fn precision(&self, load: &Load, _device: &Device, graph: Option<Arithmetic>) -> Option<&'static str> {
        if self.choices.converted_by.is_some() {
            return None;
        }
        match (load.precision.as_deref(), graph?) {
            (Some("float16"), Arithmetic::Float32) => Some("float16"),
            (Some("bfloat16"), Arithmetic::Float32) => Some("bfloat16"),
            (Some("int8"), Arithmetic::Float32) => Some("int8"),
            (None | Some("float32"), Arithmetic::Float32) => Some("float32"),
            (None | Some("float16"), Arithmetic::Float16) => Some("float16"),
            (None | Some("bfloat16"), Arithmetic::BFloat16) => Some("bfloat16"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Choices, MiGraphX};
    use skillbench_drivers::hip::Gpu;
    use skillbench_onnxruntime::{Arithmetic, Provider};
    use skillbench_plugin_api::{Device, DeviceKind, Load, Source, Why};
    use std::path::Path;

    fn provider(choices: Choices) -> MiGraphX {
        let gpu = Gpu { ordinal: 0, name: "GPU".into(), memory_bytes: None, pci: None };
        MiGraphX { gpus: vec![gpu], devices: vec![], choices }
    }

    fn gpu() -> Device {
        Device::new("gpu0", "GPU", DeviceKind::Gpu)
    }

    fn load(precision: Option<&str>) -> Load {
        let source = Source::onnx(Path::new("model.onnx"));
        Load { precision: precision.map(Into::into), ..Load::new(source) }
    }

    #[test]
    fn a_precision_is_applied_as_an_option() {
        let with = |precision| provider(Choices::default()).configure(&load(precision), &gpu()).unwrap().provider;
        assert!(with(Some("float16")).contains(&("migraphx_fp16_enable".into(), "1".into())));
        assert!(with(Some("bfloat16")).contains(&("migraphx_bf16_enable".into(), "1".into())));
        assert!(with(None).iter().all(|(key, _)| !key.ends_with("_enable")));
    }

    #[test]
    fn int8_needs_the_ranges() {
        let error = provider(Choices::default()).configure(&load(Some("int8")), &gpu()).unwrap_err();
        assert!(error.why == Why::PRECISION && error.message.contains("int8_calibration_table"), "{error}");
        let choices = Choices { int8_table: Some("ranges".into()), ..Choices::default() };
        assert!(provider(choices).configure(&load(Some("int8")), &gpu()).is_ok());
    }

    #[test]
    fn a_conversion_by_the_environment_makes_the_precision_unknown() {
        let told = |choices| {
            provider(choices).precision(&load(None), &Device::new("", "", DeviceKind::Gpu), Some(Arithmetic::Float32))
        };
        assert_eq!(told(Choices::default()), Some("float32"));
        let converted_by = Some("ORT_MIGRAPHX_FP16_ENABLE");
        assert_eq!(told(Choices { converted_by, ..Choices::default() }), None);
    }

    #[test]
    fn a_quantizable_graph_has_no_precision_that_could_be_told() {
        assert_eq!(
            provider(Choices::default()).precision(
                &load(None),
                &Device::new("", "", DeviceKind::Gpu),
                Some(Arithmetic::Quantizable)
            ),
            None
        );
    }
}
