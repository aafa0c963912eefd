//! Opening, and which device is whose.

use crate::choices::Choices;
use crate::cuda::{self, Cuda, describe};
use crate::driver;
use crate::libraries::{self, Libraries};
use crate::sensors::Sensors;
use crate::tensorrt::{self, TensorRt};
use skillbench_drivers::{Evidence, both, cuda::Gpu, folders};
use skillbench_onnxruntime::{Engine, OFFERS, OrtModel, Runtime, Settings, options_schema};
use skillbench_plugin_api::sdk::{Backend, Bound, Counters, Host, Offers, Power};
use skillbench_plugin_api::{Device, DeviceKind, Error, Load, Memory, Options, Place, Result, Why};
use std::ffi::CStr;
use std::path::PathBuf;

/// CUDA's devices come first, then TensorRT's.
pub struct CudaBackend {
    cuda: Engine<Cuda>,
    /// Or why it cannot be used.
    tensorrt: Result<Engine<TensorRt>>,
    sensors: Option<Sensors>,
    counts_energy: bool,
}

impl CudaBackend {
    fn look(host: Host, options: &Options, evidence: &mut Evidence) -> Result<CudaBackend> {
        let (settings, choices) = (Settings::read(options)?, Choices::read(options)?);
        let folders = folders(options.get("cuda_libraries"));

        let gpus = driver::find(evidence);
        let runtime = Runtime::built_with(cuda::NAME, options, "cuda");
        evidence.add("ONNX Runtime", runtime.as_ref().map_or_else(|error| error.message.clone(), |it| it.to_string()));
        let libraries = Libraries::open(&folders, evidence);
        let versions = libraries.versions();
        evidence.add("versions", versions.as_deref().unwrap_or("unknown"));
        let ((gpus, runtime), libraries) = both(both(gpus, runtime), libraries.complete())?;
        runtime.check_beside("libonnxruntime_providers_cuda.so")?;
        libraries::served_by_driver(libraries.runtime, evidence)?;

        let sensors = Sensors::open(host, &gpus, evidence);
        let driver = sensors.as_ref().and_then(Sensors::driver_version).unwrap_or_default();
        evidence.add("driver version", if driver.is_empty() { "unknown" } else { &driver });
        let devices = |kind: &str| -> Vec<Device> {
            gpus.iter().map(|gpu| describe(gpu, &format!("{kind}{}", gpu.ordinal), &driver)).collect()
        };
        let (own, tensorrts) = (devices("gpu"), devices("tensorrt"));
        let provider = Cuda { gpus: gpus.clone(), devices: own, choices, versions };
        evidence.tell(&host);
        let cuda = Engine::open(host, runtime, provider, settings.clone()).map_err(installed)?;
        let tensorrt = open_tensorrt(host, runtime, gpus, tensorrts, settings, &folders, evidence);
        let counts_energy = sensors.as_ref().is_some_and(Sensors::count_energy);
        Ok(CudaBackend { cuda, tensorrt, sensors, counts_energy })
    }

    /// The number of a device among TensorRT's; `None` for one of CUDA's.
    fn of_tensorrt(&self, load: &Load) -> Option<u32> {
        let device = load.devices.first().copied().unwrap_or(0);
        device.checked_sub(self.cuda.devices().len() as u32)
    }

    fn tensorrt(&self) -> Result<&Engine<TensorRt>> {
        self.tensorrt.as_ref().map_err(Clone::clone)
    }
}

/// The provider's library misses another one: the same package list brings it.
fn installed(error: Error) -> Error {
    if error.why != Why::RUNTIME {
        return error;
    }
    let message = format!("{}: run `host runtime install cuda`, or name the folders in cuda_libraries", error.message);
    Error { message, ..error }
}

fn open_tensorrt(
    host: Host,
    runtime: &'static Runtime,
    gpus: Vec<Gpu>,
    devices: Vec<Device>,
    settings: Settings,
    folders: &[PathBuf],
    evidence: &mut Evidence,
) -> Result<Engine<TensorRt>> {
    libraries::open_tensorrt(folders, evidence)?;
    runtime.check_beside("libonnxruntime_providers_tensorrt.so")?;
    if !runtime.has(tensorrt::NAME) {
        return Err(Error::unavailable(Why::RUNTIME, "this ONNX Runtime is built without TensorRT"));
    }
    Engine::open(host, runtime, TensorRt { gpus, devices }, settings)
}

impl Backend for CudaBackend {
    const ID: &'static CStr = c"cuda";
    const OPTIONS_SCHEMA: &'static CStr = options_schema!(
        r#""cuda_libraries": {
                "type": "string",
                "format": "path",
                "description": "Folders with the libraries of CUDA 13, cuDNN 9 and TensorRT 10, separated as in PATH. Default: where the system finds them."
            }"#,
        r#""use_tf32": {
                "type": "boolean",
                "default": false,
                "description": "Multiply float32 as TF32, which is faster and less precise; the precision is then tf32. Default: false."
            }"#,
        r#""cudnn_conv_algo_search": {
                "enum": ["exhaustive", "heuristic", "default"],
                "default": "exhaustive",
                "description": "How cuDNN chooses the algorithm of a convolution. Default: exhaustive."
            }"#,
        r#""gpu_mem_limit": {
                "type": "integer",
                "minimum": 1,
                "description": "Bytes of GPU memory for tensors, for each loaded model. Default: no limit."
            }"#,
        r#""prefer_nhwc": {
                "type": "boolean",
                "default": false,
                "description": "Lay images out with the channels last. Default: false."
            }"#,
    );

    const OFFERS: Offers = Offers { memory: true, device_memory: Some(Place::CUDA), ..OFFERS };

    type Model = OrtModel;

    fn open(host: Host, options: &Options) -> Result<CudaBackend> {
        Evidence::of(&host, |evidence| CudaBackend::look(host, options, evidence))
    }

    fn devices(&self) -> Vec<Device> {
        let mut devices = self.cuda.devices();
        match &self.tensorrt {
            Ok(engine) => devices.extend(engine.devices()),
            Err(error) => devices.push(Device {
                vendor: "NVIDIA".into(),
                why: error.why,
                reason: error.message.clone(),
                ..Device::new("tensorrt", "TensorRT", DeviceKind::Gpu)
            }),
        }
        devices
    }

    fn supports(&self, load: &Load) -> Result<()> {
        match self.of_tensorrt(load) {
            None => self.cuda.supports(load),
            Some(device) => self.tensorrt()?.supports(&Load { devices: vec![device], ..load.clone() }),
        }
    }

    fn load(&self, load: &Load) -> Result<OrtModel> {
        match self.of_tensorrt(load) {
            None => self.cuda.load(load),
            Some(device) => self.tensorrt()?.load(&Load { devices: vec![device], ..load.clone() }),
        }
    }

    fn copy(&self, from: &Bound, to: &Bound) -> Result<()> {
        self.cuda.copy(from, to)
    }

    fn profiles(&self) -> bool {
        true
    }

    fn memory(&self, device: u32) -> Result<Memory> {
        let unknown = || Error::unimplemented(Why::NONE, "without NVML the memory of the GPU cannot be told");
        self.sensors.as_ref().ok_or_else(unknown)?.memory(device)
    }

    fn power(&self) -> Option<&dyn Power> {
        self.sensors.as_ref().filter(|_| self.counts_energy).map(|sensors| sensors as &dyn Power)
    }

    fn counters(&self) -> Option<&dyn Counters> {
        self.sensors.as_ref().map(|sensors| sensors as &dyn Counters)
    }
}
