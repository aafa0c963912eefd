//! A provider that sessions take in by name, because ONNX Runtime lists no devices of it. GPUs' providers are such; the CPU's
//! stands in for them, so that the way is walked on every machine.
//!
//! Where `ORT_DYLIB_PATH` names no library, the tests see the error that says so, and pass.

use skillbench_drivers::{Copier, Piece};
use skillbench_onnxruntime::{
    Arithmetic, Configuration, Engine, NamedMemory, OrtModel, Provider, Runtime, Settings, find_library,
};
use skillbench_plugin_api::client::Instance;
use skillbench_plugin_api::sdk::{Backend, Bound, Host, Offers};
use skillbench_plugin_api::{DType, Device, DeviceKind, Error, HostTensor, Load, Options, Place, Result, Why};
use skillbench_testkit::{close, load_of, probe};
use std::ffi::CStr;
use std::sync::Arc;

struct ByName {
    name: String,
    devices: Vec<Device>,
}

impl Provider for ByName {
    fn name(&self) -> &str {
        &self.name
    }

    fn by_name(&self) -> Option<&[Device]> {
        Some(&self.devices)
    }

    /// The host's own memory stands in for a GPU's.
    fn named_memory(&self, device: usize) -> Option<NamedMemory> {
        Some(NamedMemory { name: c"Cpu", device: 0, places: vec![device as i32], copier: Arc::new(Bytes) })
    }

    fn configure(&self, _load: &Load, _device: &Device) -> Result<Configuration> {
        Ok(Configuration::default())
    }

    fn precision(&self, _load: &Load, _device: &Device, graph: Option<Arithmetic>) -> Option<&'static str> {
        graph?.precision()
    }

    fn converts_to(&self, precision: &str) -> bool {
        precision == "float16"
    }
}

/// Copies as a driver does.
struct Bytes;

impl Copier for Bytes {
    unsafe fn copy(&self, pieces: &[Piece]) -> Result<()> {
        // SAFETY: the caller promises both sides of each piece; they do not overlap.
        pieces.iter().for_each(|piece| unsafe { piece.from.copy_to_nonoverlapping(piece.to, piece.bytes) });
        Ok(())
    }
}

struct Unlisted(Engine<ByName>);

impl Backend for Unlisted {
    const ID: &'static CStr = c"unlisted";
    const OPTIONS_SCHEMA: &'static CStr = c"{}";

    const OFFERS: Offers = Offers { device_memory: Some(Place::CUDA), ..Offers::NONE };

    type Model = OrtModel;

    fn open(host: Host, options: &Options) -> Result<Unlisted> {
        let runtime = Runtime::load(&find_library(options, "cpu")?)?;
        let devices = ["first", "second"].map(|id| Device::new(id, "a device", DeviceKind::Gpu)).to_vec();
        let provider = ByName { name: options.get("provider").unwrap_or_default().into(), devices };
        Engine::open(host, runtime, provider, Settings::read(options)?).map(Unlisted)
    }

    fn devices(&self) -> Vec<Device> {
        self.0.devices()
    }

    fn load(&self, load: &Load) -> Result<OrtModel> {
        self.0.load(load)
    }

    fn copy(&self, from: &Bound, to: &Bound) -> Result<()> {
        self.0.copy(from, to)
    }
}

fn open(provider: &str) -> Option<Result<Instance>> {
    let opened = skillbench_testkit::open::<Unlisted>(&[("provider", provider)]);
    if std::env::var_os("ORT_DYLIB_PATH").is_none() {
        assert_eq!(opened.err().unwrap().why, Why::RUNTIME);
        skillbench_testkit::skipped("ORT_DYLIB_PATH names no ONNX Runtime; scripts/test sets it");
        return None;
    }
    Some(opened)
}

#[test]
fn a_model_runs_on_the_device_that_the_load_names() {
    let Some(instance) = open("CPUExecutionProvider").map(Result::unwrap) else { return };
    let load = Load { devices: vec![1], ..load_of(&probe::path()) };
    let model = instance.load(&load).unwrap();
    let placement = model.placement().unwrap();
    assert_eq!(placement.device, "second");
    assert!(placement.nodes_total.is_some() && placement.nodes_total == placement.nodes_on_device, "{placement:?}");
    let (x, y) = probe::expected();
    assert!(close(&probe::run(&model, &x), &y));
}

#[test]
fn memory_of_a_device_takes_copies_and_a_model_on_another_device_refuses_it() {
    let Some(instance) = open("CPUExecutionProvider").map(Result::unwrap) else { return };
    let on = |device: u32| instance.load(&Load { devices: vec![device], ..load_of(&probe::path()) }).unwrap();
    let (first, second) = (on(0), on(1));
    let place = instance.place(1).unwrap();
    assert_eq!(place, Place { kind: Place::CUDA, id: 1 });

    let there = second.allocate_at(DType::F32, &[4], place).unwrap();
    let mut given = HostTensor::zeroed(DType::F32, &[4]).unwrap();
    given.bytes_mut().fill(0x3F);
    instance.copy_in(&given, &there).unwrap();
    let mut back = HostTensor::zeroed(DType::F32, &[4]).unwrap();
    instance.copy_out(&there, &mut back).unwrap();
    assert_eq!(back.bytes(), given.bytes());

    let elsewhere = first.allocate_at(DType::F32, &[4], place).err().expect("memory of another device");
    assert!(elsewhere.message.contains("no memory at"), "{elsewhere}");
    let nowhere = Place { id: 7, ..place };
    assert!(second.allocate_at(DType::F32, &[4], nowhere).is_err());
}

#[test]
fn a_float32_graph_is_put_in_float16_where_the_provider_has_kernels_for_it() {
    let Some(instance) = open("CPUExecutionProvider").map(Result::unwrap) else { return };
    let asked = |precision: &str| Load { precision: Some(precision.into()), ..load_of(&probe::path()) };
    let model = instance.load(&asked("float16")).unwrap();
    let placement = model.placement().unwrap();
    assert_eq!(placement.precision, "float16");
    assert!(placement.engine.ends_with(", graph put in float16"), "{}", placement.engine);
    let (x, exact) = probe::expected();
    let found = probe::run(&model, &x);
    assert!(!close(&found, &exact), "half the digits cannot give the same numbers");
    let largest = exact.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
    assert!(found.iter().zip(&exact).all(|(a, b)| (a - b).abs() < 1e-2 * largest), "{found:?} {exact:?}");
    assert_eq!(instance.load(&asked("bfloat16")).err().unwrap().why, Why::PRECISION);
}

/// What a library without the provider says, of each of the ways to ask for one.
#[test]
fn a_provider_that_the_library_lacks_is_refused_by_name_when_it_is_opened() {
    for provider in ["CUDAExecutionProvider", "TensorrtExecutionProvider", "CoreMLExecutionProvider", "NoSuchProvider"]
    {
        let Some(opened) = open(provider) else { return };
        let error: Error = opened.err().expect("a library for the CPU alone");
        assert_eq!(error.why, Why::RUNTIME);
        assert!(error.message.contains(provider), "{error}");
    }
}
