//! Opening.

use crate::driver;
use crate::migraphx::{self, Choices, MiGraphX};
use crate::sensors::Sensors;
use skillbench_drivers::hip::Gpu;
use skillbench_drivers::{Evidence, amdgpu, both};
use skillbench_onnxruntime::{Engine, OFFERS, OrtModel, Runtime, Settings, options_schema};
use skillbench_plugin_api::sdk::{Backend, Counters, Host, Offers, Power};
use skillbench_plugin_api::{Device, DeviceKind, Error, Load, Memory, Options, Result, Why};
use std::ffi::CStr;

pub struct RocmBackend {
    engine: Engine<MiGraphX>,
    sensors: Sensors,
    counts_energy: bool,
}

impl RocmBackend {
    fn look(host: Host, options: &Options, evidence: &mut Evidence) -> Result<RocmBackend> {
        let (settings, choices) = (Settings::read(options)?, Choices::read(options, evidence)?);
        let folders = driver::folders(options.get("rocm_libraries"));

        let gpus = driver::find(&folders, evidence);
        let runtime = Runtime::built_with(migraphx::NAME, options, "rocm");
        evidence.add("ONNX Runtime", runtime.as_ref().map_or_else(|error| error.message.clone(), |it| it.to_string()));
        driver::open_migraphx(&folders, evidence);
        let (gpus, runtime) = both(gpus, runtime)?;
        runtime.check_beside("libonnxruntime_providers_migraphx.so")?;

        let version = evidence.line("/sys/module/amdgpu/version").unwrap_or_default();
        let architectures = amdgpu::architectures();
        let devices = gpus.iter().map(|gpu| describe(gpu, &version, &architectures)).collect();
        let sensors = Sensors::of(host, &gpus);
        evidence.tell(&host);
        let engine = Engine::open(host, runtime, MiGraphX { gpus, devices, choices }, settings).map_err(installed)?;
        let counts_energy = sensors.count_energy();
        Ok(RocmBackend { engine, sensors, counts_energy })
    }
}

fn describe(gpu: &Gpu, driver: &str, architectures: &[(String, String)]) -> Device {
    let architecture = architectures.iter().find(|(pci, _)| Some(pci) == gpu.pci.as_ref());
    Device {
        vendor: "AMD".into(),
        arch: architecture.map(|(_, name)| name.clone()).unwrap_or_default(),
        driver: driver.into(),
        memory_bytes: gpu.memory_bytes,
        ..Device::new(&format!("gpu{}", gpu.ordinal), &gpu.name, DeviceKind::Gpu)
    }
}

/// The provider's library misses MIGraphX, which comes with ROCm.
fn installed(error: Error) -> Error {
    if error.why != Why::RUNTIME {
        return error;
    }
    let message =
        format!("{}: install MIGraphX of ROCm 7, or name its folder in the option rocm_libraries", error.message);
    Error { message, ..error }
}

impl Backend for RocmBackend {
    const ID: &'static CStr = c"rocm";
    const OPTIONS_SCHEMA: &'static CStr = options_schema!(
        r#""rocm_libraries": {
                "type": "string",
                "format": "path",
                "description": "Folders with the libraries of ROCm 7 and MIGraphX, separated as in PATH. Default: those of ROCm's packages, then where the system finds them."
            }"#,
        r#""exhaustive_tune": {
                "type": "boolean",
                "default": false,
                "description": "Let MIGraphX try all its kernels when it compiles. Default: false."
            }"#,
        r#""gpu_mem_limit": {
                "type": "integer",
                "minimum": 1,
                "description": "Bytes of GPU memory for tensors, for each loaded model. Default: no limit."
            }"#,
        r#""int8_calibration_table": {
                "type": "string",
                "description": "Name of the file with the ranges that int8 is computed with. Without it int8 is refused."
            }"#,
    );

    const OFFERS: Offers = Offers { memory: true, ..OFFERS };

    type Model = OrtModel;

    fn open(host: Host, options: &Options) -> Result<RocmBackend> {
        Evidence::of(&host, |evidence| RocmBackend::look(host, options, evidence))
    }

    fn devices(&self) -> Vec<Device> {
        self.engine.devices()
    }

    fn supports(&self, load: &Load) -> Result<()> {
        self.engine.supports(load)
    }

    fn load(&self, load: &Load) -> Result<OrtModel> {
        self.engine.load(load)
    }

    fn profiles(&self) -> bool {
        true
    }

    fn memory(&self, device: u32) -> Result<Memory> {
        self.sensors.memory(device)
    }

    fn power(&self) -> Option<&dyn Power> {
        self.counts_energy.then_some(&self.sensors as &dyn Power)
    }

    fn counters(&self) -> Option<&dyn Counters> {
        self.sensors.any().then_some(&self.sensors as &dyn Counters)
    }
}
