//! The QNN execution provider: which of the SDK's backends there are, and in which precision they compute.

use crate::sdk::{Sdk, VARIABLES, library};
use skillbench_onnxruntime::{
    Arithmetic, Configuration, Hardware, OrtProvider, Provider, Runtime, find_provider, options_schema,
};
use skillbench_plugin_api::sdk::Host;
use skillbench_plugin_api::{Device, DeviceKind, Error, Load, Options, Result, Why};
use std::ffi::CStr;
use std::path::{Path, PathBuf};

pub struct Qnn {
    library: PathBuf,
    sdk: Sdk,
    soc_model: Option<String>,
    performance: Option<String>,
    verbose: bool,
}

impl OrtProvider for Qnn {
    const ID: &'static CStr = c"qnn";
    const OPTIONS_SCHEMA: &'static CStr = options_schema!(
        r#""provider": {
                "type": "string",
                "format": "path",
                "description": "Path of the QNN execution provider's library. Default: what the host installed."
            }"#,
        r#""sdk": {
                "type": "string",
                "format": "path",
                "description": "Folder of a QNN SDK. Default: what QNN_SDK says, else the libraries beside the provider."
            }"#,
        r#""soc_model": {
                "type": "string",
                "pattern": "^[0-9]+$",
                "description": "Number of the processor to compile for, as the SDK lists them. Default: the device's own; 60 in emulation, where larger graphs need one."
            }"#,
        r#""htp_performance_mode": {
                "enum": ["burst", "balanced", "default", "high_performance", "high_power_saver", "low_balanced", "low_power_saver", "power_saver", "extreme_power_saver", "sustained_high_performance"],
                "description": "The HTP's clocks. Default: the driver's own."
            }"#,
    );

    fn open(host: &Host, options: &Options, _runtime: &'static Runtime) -> Result<Qnn> {
        let library = find_provider(host, options, Self::ID)?;
        for name in VARIABLES {
            let value = std::env::var(name).unwrap_or_else(|_| "not set".into());
            host.evidence(&format!("variable {name}"), &value);
        }
        let sdk = Sdk::find(options.get("sdk"), &library).map_err(|text| {
            host.evidence("QNN SDK", &text);
            Error::unavailable(Why::RUNTIME, format!("the QNN SDK cannot be used: {text}"))
        })?;
        let version = sdk.version.as_deref().unwrap_or("of unknown version");
        host.evidence("QNN SDK", &format!("{version} in {}", sdk.folder.display()));
        Ok(Qnn {
            library,
            sdk,
            soc_model: options.get("soc_model").map(str::to_string),
            performance: options.get("htp_performance_mode").map(str::to_string),
            verbose: std::env::var("QNN_DEBUG").is_ok_and(|value| !matches!(&*value, "" | "0" | "false")),
        })
    }
}

/// The SDK's backends: what its file is called, and the device.
const BACKENDS: [(&str, &str, DeviceKind); 3] =
    [("Htp", "htp", DeviceKind::Npu), ("Gpu", "gpu", DeviceKind::Gpu), ("Cpu", "cpu", DeviceKind::Cpu)];

impl Provider for Qnn {
    fn name(&self) -> &str {
        "QNNExecutionProvider"
    }

    fn library(&self) -> Option<&Path> {
        Some(&self.library)
    }

    /// The provider lists the processors that it was told of; on other machines just the one it is emulated on.
    fn devices(&self, listed: &[Hardware]) -> Vec<(Option<usize>, Device)> {
        let version = self.sdk.version.as_deref().unwrap_or("of unknown version");
        let one = |(file, id, kind): (&str, &str, DeviceKind)| {
            let real = listed.iter().position(|hardware| hardware.kind == kind && kind != DeviceKind::Cpu);
            let device = Device {
                vendor: "Qualcomm".into(),
                driver: format!("QNN SDK {version}"),
                arch: std::env::consts::ARCH.into(),
                ..Device::new(id, &format!("{} of the QNN SDK", id.to_uppercase()), kind)
            };
            let unusable = |why: Why, reason: String| (None, Device { why, reason, ..device.clone() });
            if self.sdk.backend(file).is_none() {
                return unusable(Why::RUNTIME, format!("{} is not in {}", library(file), self.sdk.folder.display()));
            }
            match (real, kind) {
                (Some(index), _) => (Some(index), device),
                (None, _) if listed.is_empty() => unusable(Why::DEVICE, "the provider lists no device".into()),
                (None, DeviceKind::Gpu) => {
                    unusable(Why::DEVICE, "there is no Adreno GPU here, and the SDK has no emulation of one".into())
                }
                (None, _) => {
                    let name = format!("{}, emulated on the processor", device.name);
                    (Some(0), Device { emulated: kind == DeviceKind::Npu, name, ..device })
                }
            }
        };
        BACKENDS.into_iter().map(one).collect()
    }

    fn beneath(&self) -> Option<String> {
        Some(format!("QNN SDK {}", self.sdk.version.as_deref().unwrap_or("of unknown version")))
    }

    fn fixed_shapes(&self) -> bool {
        true
    }

    /// Seen in the emulation: with a first dimension of 2 to 7 only its first element is right. Either operator alone is right, and so
    /// are both with a third between them.
    fn mistakes_repeated_constants(&self) -> bool {
        true
    }

    fn configure(&self, load: &Load, device: &Device) -> Result<Configuration> {
        let refuse = |text: String| Err(Error::unimplemented(Why::PRECISION, text));
        match (device.kind, load.precision.as_deref()) {
            (_, None) | (DeviceKind::Npu, Some("float16" | "int8")) => {}
            (DeviceKind::Npu, Some(other)) => {
                return refuse(format!(
                    "the HTP computes floats in float16, not in {other}: ask for float16, or for int8 with a quantized graph"
                ));
            }
            (_, Some(other)) => {
                let text = format!(
                    "what QNN's {} computes in cannot be told, so {other} cannot be promised: leave --precision out",
                    device.id
                );
                return refuse(text);
            }
        }
        let file = BACKENDS.iter().find(|(_, id, _)| *id == device.id).map_or("Htp", |(file, ..)| file);
        let Some(backend) = self.sdk.backend(file) else {
            return Err(Error::unavailable(Why::RUNTIME, format!("{} is gone", library(file))));
        };
        let mut provider = vec![("backend_path".to_string(), backend.display().to_string())];
        let soc = self.soc_model.clone().or_else(|| device.emulated.then(|| "60".into()));
        provider.extend(soc.map(|number| ("soc_model".into(), number)));
        provider.extend(self.performance.clone().map(|mode| ("htp_performance_mode".into(), mode)));
        if device.kind == DeviceKind::Npu {
            provider.push(("enable_htp_fp16_precision".into(), "1".into()));
        }
        if self.verbose {
            provider.push(("profiling_level".into(), "basic".into()));
        }
        Ok(Configuration { provider, session: vec![] })
    }

    /// The HTP has no float32: it computes floats in float16, and integers where the graph has the points to quantize. What the
    /// GPU and the CPU of the SDK compute in, nobody has seen here.
    fn precision(&self, _load: &Load, device: &Device, graph: Option<Arithmetic>) -> Option<&'static str> {
        match (device.kind, graph?) {
            (DeviceKind::Npu, Arithmetic::Float32 | Arithmetic::Float16) => Some("float16"),
            (DeviceKind::Npu, Arithmetic::Int8 | Arithmetic::Quantized) => Some("int8"),
            _ => None,
        }
    }
}
