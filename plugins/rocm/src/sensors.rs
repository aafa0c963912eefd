//! What the kernel tells of the GPUs: energy, clocks, memory.

use skillbench_drivers::amdgpu;
use skillbench_drivers::hip::Gpu;
use skillbench_plugin_api::sdk::{Counters, Host, Power};
use skillbench_plugin_api::{Counter, Energy, Error, Memory, Result, Scope, Why};

pub(crate) struct Sensors {
    host: Host,
    /// Of each device of the backend; `None` where the kernel's folder was not found.
    gpus: Vec<Option<amdgpu::Sensors>>,
}

impl Sensors {
    pub fn of(host: Host, gpus: &[Gpu]) -> Sensors {
        let at = |gpu: &Gpu| gpu.pci.as_deref().and_then(amdgpu::Sensors::at);
        Sensors { host, gpus: gpus.iter().map(at).collect() }
    }

    pub fn memory(&self, device: u32) -> Result<Memory> {
        let (used, total) = self.gpu(device)?.memory().ok_or_else(|| unknown("memory"))?;
        Ok(Memory { used: Some(used), peak: None, total: Some(total) })
    }

    pub fn count_energy(&self) -> bool {
        self.gpus.iter().flatten().any(|gpu| gpu.microjoules().is_some())
    }

    pub fn any(&self) -> bool {
        self.gpus.iter().any(Option::is_some)
    }

    fn gpu(&self, device: u32) -> Result<&amdgpu::Sensors> {
        self.gpus.get(device as usize).and_then(Option::as_ref).ok_or_else(|| unknown("such GPU"))
    }
}

fn unknown(what: &str) -> Error {
    Error::unimplemented(Why::NONE, format!("the kernel's amdgpu driver tells of no {what}"))
}

impl Power for Sensors {
    fn read(&self, device: u32) -> Result<Energy> {
        let microjoules = self.gpu(device)?.microjoules().ok_or_else(|| unknown("energy"))?;
        let at_ns = self.host.now_ns();
        Ok(Energy { microjoules, at_ns, period_ns: None, scope: Scope::Board, source: "amdgpu hwmon".into() })
    }
}

impl Counters for Sensors {
    fn read(&self, device: u32) -> Result<Vec<Counter>> {
        Ok(self.gpu(device)?.counters())
    }
}
