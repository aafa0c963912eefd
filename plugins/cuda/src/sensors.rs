//! NVML: energy, clocks and memory of the GPUs. A GPU is found by its UUID, since CUDA may number and hide them otherwise.

use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{Device, Nvml};
use skillbench_drivers::Evidence;
use skillbench_drivers::cuda::{self, Gpu};
use skillbench_plugin_api::sdk::{Counters, Host, Power};
use skillbench_plugin_api::{Counter, Energy, Error, Memory, Result, Scope, Why};
use std::sync::{Mutex, PoisonError};

pub(crate) struct Sensors {
    host: Host,
    nvml: &'static Nvml,
    /// Of each device of the backend.
    uuids: Vec<Option<String>>,
}

impl Sensors {
    /// `None` where NVML cannot be used: then nobody knows of energy and clocks, and the rest works.
    pub fn open(host: Host, gpus: &[Gpu], evidence: &mut Evidence) -> Option<Sensors> {
        match started() {
            Ok(nvml) => {
                evidence.add("NVML", nvml.sys_nvml_version().unwrap_or_else(|error| error.to_string()));
                // CUDA's devices, and TensorRT's, which are the same GPUs again.
                let uuids = gpus.iter().chain(gpus).map(|gpu| gpu.uuid.clone()).collect();
                Some(Sensors { host, nvml, uuids })
            }
            Err(error) => {
                evidence.add("NVML", error);
                None
            }
        }
    }

    /// "580.95.05".
    pub fn driver_version(&self) -> Option<String> {
        self.nvml.sys_driver_version().ok()
    }

    pub fn memory(&self, device: u32) -> Result<Memory> {
        let told = self.device(device)?.memory_info().map_err(refused)?;
        Ok(Memory { used: Some(told.used), peak: None, total: Some(told.total) })
    }

    /// Whether a device has an energy counter.
    pub fn count_energy(&self) -> bool {
        (0..self.uuids.len() as u32).any(|device| self.read_energy(device).is_ok())
    }

    fn read_energy(&self, device: u32) -> Result<u64> {
        self.device(device)?.total_energy_consumption().map_err(refused)
    }

    fn device(&self, device: u32) -> Result<Device<'_>> {
        let uuid = self.uuids.get(device as usize).and_then(Option::as_deref);
        let uuid = uuid.ok_or_else(|| Error::unimplemented(Why::NONE, "NVML knows no such GPU"))?;
        self.nvml.device_by_uuid(uuid).map_err(refused)
    }
}

/// NVML, once for the process: each time it is started it opens files that stay open when it is shut down.
fn started() -> std::result::Result<&'static Nvml, NvmlError> {
    static NVML: Mutex<Option<&'static Nvml>> = Mutex::new(None);
    let mut known = NVML.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(nvml) = *known {
        return Ok(nvml);
    }
    let elsewhere = || {
        let library = cuda::beside_the_loader("libnvidia-ml.so.1").ok_or(NvmlError::LibraryNotFound)?;
        Nvml::builder().lib_path(library.as_os_str()).init()
    };
    let nvml = Nvml::init().or_else(|error| elsewhere().map_err(|_| error))?;
    Ok(known.insert(Box::leak(Box::new(nvml))))
}

fn refused(error: NvmlError) -> Error {
    Error::unimplemented(Why::NONE, format!("NVML cannot tell it: {error}"))
}

impl Power for Sensors {
    fn read(&self, device: u32) -> Result<Energy> {
        let millijoules = self.read_energy(device)?;
        Ok(Energy {
            microjoules: millijoules.saturating_mul(1000),
            at_ns: self.host.now_ns(),
            period_ns: None,
            scope: Scope::Board,
            source: "NVML".into(),
        })
    }
}

impl Counters for Sensors {
    fn read(&self, device: u32) -> Result<Vec<Counter>> {
        let gpu = self.device(device)?;
        let told = |value: Result<f64, NvmlError>| value.unwrap_or(f64::NAN);
        let used = gpu.utilization_rates();
        let rate =
            |which: fn(u32, u32) -> u32| used.as_ref().map_or(f64::NAN, |used| f64::from(which(used.gpu, used.memory)));
        Ok(vec![
            Counter::new("sm_clock", "MHz", told(gpu.clock_info(Clock::SM).map(f64::from))),
            Counter::new("memory_clock", "MHz", told(gpu.clock_info(Clock::Memory).map(f64::from))),
            Counter::new("gpu_utilization", "%", rate(|gpu, _| gpu)),
            Counter::new("memory_utilization", "%", rate(|_, memory| memory)),
            Counter::new("temperature", "C", told(gpu.temperature(TemperatureSensor::Gpu).map(f64::from))),
            Counter::new("power", "W", told(gpu.power_usage().map(|milliwatts| f64::from(milliwatts) / 1000.0))),
            Counter::new("power_limit", "W", told(gpu.enforced_power_limit().map(|limit| f64::from(limit) / 1000.0))),
            // NVML's bits: 0 is full speed, 1 idle, 4 the power cap, 8 to 128 what hardware and heat ask for.
            Counter::new("throttle_reasons", "bits", told(gpu.current_throttle_reasons().map(|it| it.bits() as f64))),
        ])
    }
}
