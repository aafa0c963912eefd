//! What Core ML may compute on.

use skillbench_plugin_api::{Device, DeviceKind, Error, Options, Result};
use std::process::Command;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Units {
    CpuGpu,
    CpuNpu,
    All,
    Cpu,
}

impl Units {
    /// The GPU comes first: it is what the backend is named for.
    const ALL: [Units; 4] = [Units::CpuGpu, Units::CpuNpu, Units::All, Units::Cpu];

    /// The option's and the device's name, and the one that ONNX Runtime takes.
    fn row(self) -> (&'static str, &'static str, DeviceKind) {
        match self {
            Units::CpuGpu => ("cpu-gpu", "CPUAndGPU", DeviceKind::Gpu),
            Units::CpuNpu => ("cpu-npu", "CPUAndNeuralEngine", DeviceKind::Npu),
            Units::All => ("all", "ALL", DeviceKind::Other),
            Units::Cpu => ("cpu", "CPUOnly", DeviceKind::Cpu),
        }
    }

    /// The one of the option, or each.
    ///
    /// # Errors
    /// `InvalidArgument`, naming the option.
    pub fn read(options: &Options) -> Result<Vec<Units>> {
        let Some(asked) = options.get("units") else { return Ok(Units::ALL.to_vec()) };
        let found = Units::ALL.into_iter().find(|units| units.row().0 == asked);
        let wrong = || Error::invalid(format!("option units: '{asked}' is none of cpu-gpu, cpu-npu, all, cpu"));
        found.map(|units| vec![units]).ok_or_else(wrong)
    }

    pub fn for_runtime(self) -> &'static str {
        self.row().1
    }

    pub fn device(self, processor: &str) -> Device {
        let (id, _, kind) = self.row();
        Device { vendor: "Apple".into(), arch: std::env::consts::ARCH.into(), ..Device::new(id, processor, kind) }
    }
}

/// "Apple M3 Max", as the system calls it.
pub(crate) fn processor() -> String {
    let told = Command::new("sysctl").args(["-n", "machdep.cpu.brand_string"]).output();
    let name = told.map(|told| String::from_utf8_lossy(&told.stdout).trim().to_string()).unwrap_or_default();
    if name.is_empty() { "Apple processor".into() } else { name }
}
