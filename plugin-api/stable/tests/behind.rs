//! A plugin of every kind through the door and back, in one process: what the other side sees is what the SDK was given.

use abi_stable::library::LibHeader;
use skillbench_plugin_api::client::{Instance, Plugin};
use skillbench_plugin_api::host_tables::{HostServices, HostTable, ReporterServices, ReporterTable, TargetParts};
use skillbench_plugin_api::host_tables::{TargetServices, TargetTable};
use skillbench_plugin_api::sdk::{Backend, Benchmark, Bindings, Bound, Context, Host, Model, Offers, Request};
use skillbench_plugin_api::{
    Code, DType, Device, DeviceKind, Dim, Direction, Error, HostTensor, Load, Options, OwnedTensor, Placement, Port,
    Result, Round, SeriesInfo, Source, Timing, Why,
};
use skillbench_plugin_stable::host::AbiHeaderRef;
use std::collections::HashMap;
use std::ffi::CStr;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Adds one to each number; panics, fails or keeps its request where a value asks for it.
struct Adder;
struct Added(Vec<Port>);
struct Adding(Option<Vec<f32>>);

const PANICS: f32 = -1.0;
const FAILS: f32 = -2.0;

impl Backend for Adder {
    const ID: &'static CStr = c"adder";
    const OPTIONS_SCHEMA: &'static CStr = c"";
    const SERIAL_LOAD: bool = true;
    const OFFERS: Offers = Offers { supports: true, ..Offers::NONE };
    type Model = Added;

    fn open(host: Host, options: &Options) -> Result<Adder> {
        host.evidence("options", &format!("{:?}", options.get("key")));
        Ok(Adder)
    }

    fn devices(&self) -> Vec<Device> {
        let gone = Device { why: Why::DRIVER, reason: "no driver".into(), ..Device::new("gone", "x", DeviceKind::Npu) };
        vec![Device { emulated: true, memory_bytes: Some(7), ..Device::new("one", "One", DeviceKind::Gpu) }, gone]
    }

    fn supports(&self, load: &Load) -> Result<()> {
        match load.precision.as_deref() {
            None => Ok(()),
            Some(other) => Err(Error::unimplemented(Why::PRECISION, format!("no {other}"))),
        }
    }

    fn load(&self, load: &Load) -> Result<Added> {
        let rows = load.dims.first().map(|dim| dim.opt as usize);
        let port = |name: &str| Port {
            name: name.into(),
            dtype: DType::F32,
            shape: vec![rows, Some(2)],
            dim_names: vec![Some("batch".into()), None],
        };
        Ok(Added(vec![port("x"), port("y")]))
    }
}

impl Model for Added {
    type Request = Adding;

    fn placement(&self) -> Placement {
        Placement { precision: "float32".into(), device: "one".into(), nodes_total: Some(1), ..Placement::default() }
    }

    fn inputs(&self) -> &[Port] {
        &self.0[..1]
    }

    fn outputs(&self) -> &[Port] {
        &self.0[1..]
    }

    fn request(self: &Arc<Self>) -> Result<Adding> {
        Ok(Adding(None))
    }
}

impl Request for Adding {
    fn bind_output(&mut self, _: usize, _: Option<&Bound>) -> Result<()> {
        Ok(())
    }

    fn run(&mut self, bound: &Bindings) -> Result<Timing> {
        let x = bound.input(0)?.as_slice::<f32>().ok_or_else(|| Error::internal("not f32"))?;
        assert!(x[0] != PANICS, "it panics");
        if x[0] == FAILS {
            return Err(Error { vendor_code: 42, ..Error::new(Code::ResourceExhausted, "it fails") });
        }
        let y: Vec<f32> = x.iter().map(|value| value + 1.0).collect();
        match bound.output(0) {
            Some(memory) => memory.write(&y)?,
            None => self.0 = Some(y),
        }
        Ok(Timing { start_ns: Some(3), ..Timing::default() })
    }

    fn take_output(&mut self, _: usize) -> Result<Option<OwnedTensor>> {
        self.0.take().map(|y| OwnedTensor::from_vec(&[y.len() / 2, 2], y)).transpose()
    }
}

struct Measures;

impl Benchmark for Measures {
    const ID: &'static CStr = c"measures";
    const VERSION: &'static CStr = c"3";
    const CATEGORY: &'static CStr = c"performance";
    const SUMMARY: &'static CStr = c"A sum";
    const OPTIONS_SCHEMA: &'static CStr = c"";
    const NEEDS_TARGET: bool = true;
    const SHARES_MODELS: bool = true;

    fn run(context: &Context<'_>) -> Result<()> {
        let target = context.target()?;
        assert_eq!((target.skill(), target.seed(), target.axis("batch")), ("sum", 9, Some(2)));
        let model = target.load(&target.parts()[0])?;
        assert_eq!(model.inputs()[0].dim_names, [Some("batch".into()), None]);
        assert_eq!(model.placement()?.device, "one");
        let mut request = model.request()?;
        target.prepare(&model, &mut request, 5)?;
        request.run()?;
        target.verify(&model, &mut request)?;
        let series = context.reporter.series(&SeriesInfo::duration("latency", 2.0))?;
        context.reporter.time(series, || request.run())?;
        context.reporter.attach("note", b"done");
        Err(Error::new(Code::Cancelled, "enough"))
    }
}

skillbench_plugin_stable::export_plugin! {
    id: "behind",
    name: "Behind the door",
    vendor: "Tests",
    backend: Adder,
    benchmarks: [Measures],
}

#[allow(improper_ctypes, reason = "a static of this program, by the name under which a host looks it up")]
unsafe extern "C" {
    #[link_name = "_1as_0lib_1header_0root_bmodule_bloader"]
    static ROOT: LibHeader;
}

/// This program's own root, as a host finds that of a library.
fn plugin() -> Plugin {
    // SAFETY: the static of the macro above, whose name it is; a header reference is its address, as abi_stable reads it from a library.
    let header = unsafe { std::mem::transmute::<&'static LibHeader, AbiHeaderRef>(&ROOT) };
    skillbench_plugin_stable::host::plugin(header).unwrap_or_else(|refusal| panic!("{refusal}"))
}

#[derive(Default)]
struct Seen(Mutex<Vec<String>>);

impl Seen {
    fn push(&self, text: String) {
        self.0.lock().unwrap().push(text);
    }
}

impl HostServices for Seen {
    fn log(&self, _: i32, _: &str, _: &str) {}
    fn phase(&self, _: &str, _: f64) {}
    fn now_ns(&self) -> u64 {
        1
    }
    fn stopping(&self) -> bool {
        false
    }
    fn evidence(&self, what: &str, found: &str) {
        self.push(format!("{what}: {found}"));
    }
}

/// One host for the process, as in a worker: a plugin keeps the first that it gets.
fn host() -> (&'static Seen, &'static HostTable) {
    static HOST: std::sync::OnceLock<(&'static Seen, &'static HostTable)> = std::sync::OnceLock::new();
    *HOST.get_or_init(|| {
        let seen: &'static Seen = Box::leak(Box::default());
        (seen, HostTable::leak(seen))
    })
}

fn opened() -> Instance {
    let backend = plugin().backend().unwrap().expect("there is a backend");
    let options = Options([("key".to_string(), "value".to_string())].into());
    backend.open(host().1, &options).unwrap()
}

fn load() -> Load {
    Load { dims: vec![Dim::fixed("batch", 2)], ..Load::new(Source::onnx(Path::new("x.onnx"))) }
}

fn numbers(values: [f32; 4]) -> Arc<HostTensor> {
    let mut tensor = HostTensor::zeroed(DType::F32, &[2, 2]).unwrap();
    let bytes = values.iter().flat_map(|value| value.to_ne_bytes());
    tensor.bytes_mut().iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    Arc::new(tensor)
}

#[test]
fn a_backend_says_the_same_through_the_door() {
    let plugin = plugin();
    assert_eq!(
        (plugin.id(), plugin.name(), plugin.vendor()),
        ("behind".into(), "Behind the door".into(), "Tests".into())
    );
    let backend = plugin.backend().unwrap().unwrap();
    assert_eq!((backend.id(), backend.serial_load()), ("adder".into(), true));
    assert!(plugin.skillset().unwrap().is_none());

    let instance = opened();
    assert!(host().0.0.lock().unwrap().contains(&r#"options: Some("value")"#.to_string()));
    let devices = instance.devices().unwrap();
    assert_eq!(devices, Adder.devices());
    let refused = instance.supports(&Load { precision: Some("int8".into()), ..load() }).unwrap_err();
    assert_eq!(refused, Error::unimplemented(Why::PRECISION, "no int8"));
    assert!(instance.energy(0).unwrap().is_none() && instance.counters(0).unwrap().is_empty() && !instance.profiles());
    assert_eq!(instance.memory(0).unwrap_err().code, Code::Unimplemented);
}

#[test]
fn requests_compute_into_their_own_memory_and_into_ours() {
    let instance = opened();
    let model = instance.load(&load()).unwrap();
    assert_eq!(model.outputs()[0].shape, [Some(2), Some(2)]);
    assert_eq!(model.placement().unwrap(), Added(vec![]).placement());
    let mut request = model.request().unwrap();
    assert_eq!(request.run().unwrap_err().code, Code::FailedPrecondition, "nothing is bound");
    request.bind(Direction::Input, 0, numbers([1.0, 2.0, 3.0, 4.0])).unwrap();
    assert_eq!(request.run_with_timing().unwrap(), Timing { start_ns: Some(3), ..Timing::default() });
    let output = request.take_output(0).unwrap();
    assert_eq!((output.shape(), output.as_slice::<f32>().unwrap()), (&[2, 2][..], &[2.0, 3.0, 4.0, 5.0][..]));
    assert_eq!(request.take_output(0).err().unwrap().code, Code::FailedPrecondition, "it is taken once");

    request.bind(Direction::Output, 0, numbers([0.0; 4])).unwrap();
    request.run().unwrap();
    assert_eq!(request.bound(Direction::Output, 0).unwrap().as_slice::<f32>().unwrap(), [2.0, 3.0, 4.0, 5.0]);
    request.leave_output(0).unwrap();
    assert_eq!(request.alias(0, 0).unwrap_err().code, Code::Unimplemented);
}

#[test]
fn a_panic_and_an_error_come_through_as_errors() {
    let instance = opened();
    let model = instance.load(&load()).unwrap();
    let mut request = model.request().unwrap();
    request.bind(Direction::Input, 0, numbers([PANICS; 4])).unwrap();
    let panicked = request.run().unwrap_err();
    assert_eq!((panicked.code, panicked.message.as_str()), (Code::Internal, "panicked: it panics"));
    request.bind(Direction::Input, 0, numbers([FAILS; 4])).unwrap();
    let failed = request.run().unwrap_err();
    assert_eq!((failed.code, failed.vendor_code, failed.message.as_str()), (Code::ResourceExhausted, 42, "it fails"));
}

/// A target on the plugin's own backend, as a worker makes one.
struct Served {
    instance: &'static Instance,
    models: Mutex<HashMap<usize, Arc<skillbench_plugin_api::client::Model<'static>>>>,
    seen: Seen,
}

impl TargetServices for Served {
    fn load(&self, part: &str, dims: &[Dim]) -> Result<usize> {
        self.seen.push(format!("load '{part}' for {} dims", dims.len()));
        let model = self.instance.load(&load())?;
        let address = model.address();
        self.models.lock().unwrap().insert(address, Arc::new(model));
        Ok(address)
    }

    fn unload(&self, model: usize) {
        self.seen.push("unload".into());
        self.models.lock().unwrap().remove(&model);
    }

    fn with_model(
        &self,
        model: usize,
        work: &mut dyn FnMut(&skillbench_plugin_api::client::Model<'_>) -> Result<()>,
    ) -> Result<()> {
        let model = self.models.lock().unwrap().get(&model).cloned();
        work(&*model.ok_or_else(|| Error::not_found("no such model"))?)
    }

    fn prepare(
        &self,
        _: &skillbench_plugin_api::client::Model<'_>,
        request: &mut skillbench_plugin_api::client::Request<'_>,
        variant: u64,
    ) -> Result<()> {
        self.seen.push(format!("prepare {variant}"));
        let input = Box::leak(Box::new(numbers([variant as f32; 4])));
        request.bind(Direction::Input, 0, input.clone())
    }

    fn verify(
        &self,
        _: &skillbench_plugin_api::client::Model<'_>,
        request: &mut skillbench_plugin_api::client::Request<'_>,
    ) -> Result<()> {
        let output = request.take_output(0)?;
        self.seen.push(format!("verify {:?}", output.as_slice::<f32>()));
        Ok(())
    }
}

#[derive(Default)]
struct Reports {
    left: Mutex<u64>,
    seen: Seen,
}

impl ReporterServices for Reports {
    fn series(&self, info: SeriesInfo) -> Result<u32> {
        self.seen.push(format!("series {} of {} items", info.name, info.items_per_sample));
        Ok(4)
    }

    fn next_round(&self, series: u32) -> Option<Round> {
        let mut left = self.left.lock().unwrap();
        *left = left.checked_sub(1)?;
        assert_eq!(series, 4);
        Some(Round { id: 11, kind: skillbench_plugin_api::RoundKind::Measured, iterations: 3, settle: 1 })
    }

    fn samples(&self, series: u32, round: u64, values: &[f64]) -> Result<()> {
        self.seen.push(format!("{} samples of round {round} of series {series}", values.len()));
        Ok(())
    }

    fn attach(&self, name: &str, bytes: &[u8]) {
        self.seen.push(format!("{name}: {}", String::from_utf8_lossy(bytes)));
    }
}

#[test]
fn a_benchmark_loads_verifies_and_reports_through_the_door() {
    let instance: &'static Instance = Box::leak(Box::new(opened()));
    let benchmark = plugin().benchmarks().unwrap().remove(0);
    assert_eq!((benchmark.id(), benchmark.version(), benchmark.skill()), ("measures".into(), "3".into(), None));
    assert!(benchmark.needs_target() && benchmark.shares_models() && !benchmark.cold_start());

    let target = Served { instance, models: Mutex::default(), seen: Seen::default() };
    let reports = Reports { left: Mutex::new(2), ..Reports::default() };
    let parts = TargetParts {
        instance,
        skill: "sum",
        manifest: "{}",
        parts: vec![("only".into(), Source::onnx(Path::new("x.onnx")))],
        axes: vec![Dim::fixed("batch", 2)],
        seed: 9,
    };
    let (table, reporter) = (TargetTable::new(&parts, &target), ReporterTable::new(&reports));
    let ran = benchmark.run(host().1, Some(&table), &Options::default(), &reporter);
    assert_eq!(ran.unwrap_err(), Error::new(Code::Cancelled, "enough"));
    let of_target = ["load 'only' for 0 dims", "prepare 5", "verify Some([6.0, 6.0, 6.0, 6.0])", "unload"];
    assert_eq!(*target.seen.0.lock().unwrap(), of_target);
    assert!(target.models.lock().unwrap().is_empty());
    let round = "3 samples of round 11 of series 4";
    assert_eq!(*reports.seen.0.lock().unwrap(), ["series latency of 2 items", round, round, "note: done"]);
}
