//! A backend and a benchmark on the SDK, driven through the symbol that this program exports.

use crate::functions::{self, benchmark_nothing};
use crate::loading::{floats, host};
use skillbench_plugin_api::client::{Instance, Plugin};
use skillbench_plugin_api::host_tables::{ReporterServices, ReporterTable};
use skillbench_plugin_api::raw::{self, sb_backend, sb_error, sb_plugin};
use skillbench_plugin_api::sdk::{Backend, Benchmark, Bindings, Bound, Context, Host, Model, Offers, Request};
use skillbench_plugin_api::{
    Code, DType, Device, DeviceKind, Direction, Error, Load, Options, OwnedTensor, Placement, Port, Result, Round,
    RoundKind, SeriesInfo, Source, Timing, Why, export_plugin,
};
use std::ffi::{CStr, CString};
use std::path::Path;
use std::ptr::{null, null_mut};
use std::sync::{Arc, Mutex};

/// Fails as its options say, under the name of the step that fails.
struct Contrary {
    options: Options,
}

fn act(options: &Options, step: &str) -> Result<()> {
    match options.get(step) {
        Some("panic") => panic!("the cable is cut"),
        Some("panic with a number") => panic!("{} cables are cut", options.0.len()),
        Some("panic with a value") => std::panic::panic_any(7),
        Some("error") => {
            let mut error = Error::unavailable(Why::DRIVER, "no driver was found: install one");
            error.vendor_code = -7;
            Err(error)
        }
        Some("long") => Err(Error::internal("é".repeat(400))),
        _ => Ok(()),
    }
}

impl Backend for Contrary {
    const ID: &'static CStr = c"contrary";
    const OPTIONS_SCHEMA: &'static CStr = c"{}";
    const SERIAL_LOAD: bool = true;
    const OFFERS: Offers = Offers { supports: true, alias: true, memory: true, submit: true, ..Offers::NONE };
    type Model = Contrary;

    fn open(_: Host, options: &Options) -> Result<Contrary> {
        act(options, "open")?;
        options.parse::<u32>("count")?;
        Ok(Contrary { options: options.clone() })
    }

    fn devices(&self) -> Vec<Device> {
        let mut broken = Device::new("d1", &"é".repeat(100), DeviceKind::Npu);
        (broken.why, broken.reason) = (Why::DEVICE, "it is not plugged in".into());
        vec![Device::new("d0", self.options.get("name").unwrap_or("a device"), DeviceKind::Gpu), broken]
    }

    fn load(&self, load: &Load) -> Result<Contrary> {
        act(&self.options, "load")?;
        let told = format!("{:?} {:?} {:?}", load.precision, load.dims.len(), load.allow_fallback);
        match self.options.get("load") {
            Some("tell") => Err(Error::not_found(told)),
            _ => Ok(Contrary { options: self.options.clone() }),
        }
    }
}

impl Drop for Contrary {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = act(&self.options, "drop");
        }
    }
}

impl Model for Contrary {
    type Request = Lane;

    fn placement(&self) -> Placement {
        act(&self.options, "placement").expect("only a panic can be told here");
        Placement { device: "d0".into(), cache_hit: Some(true), nodes_total: Some(0), ..Placement::default() }
    }

    fn inputs(&self) -> &[Port] {
        static PORTS: std::sync::OnceLock<Vec<Port>> = std::sync::OnceLock::new();
        PORTS.get_or_init(|| {
            let shape = vec![None, Some(2)];
            vec![Port { name: "x".into(), dtype: DType::F32, shape, dim_names: vec![Some("batch".into()), None] }]
        })
    }

    fn outputs(&self) -> &[Port] {
        self.inputs()
    }

    fn request(self: &Arc<Self>) -> Result<Lane> {
        act(&self.options, "request")?;
        Ok(Lane { model: self.clone(), made: None })
    }
}

/// Doubles.
struct Lane {
    model: Arc<Contrary>,
    made: Option<OwnedTensor>,
}

impl Request for Lane {
    fn bind_output(&mut self, _: usize, _: Option<&Bound>) -> Result<()> {
        Ok(())
    }

    fn run(&mut self, bound: &Bindings) -> Result<Timing> {
        act(&self.model.options, "run")?;
        let input = bound.input(0)?;
        let doubled: Vec<f32> = input.as_slice::<f32>().unwrap().iter().map(|value| value * 2.0).collect();
        match bound.output(0) {
            Some(memory) => memory.write(&doubled)?,
            None => self.made = Some(OwnedTensor::from_vec(input.shape(), doubled)?),
        }
        Ok(Timing::default())
    }

    fn take_output(&mut self, _: usize) -> Result<Option<OwnedTensor>> {
        Ok(self.made.take())
    }
}

/// Counts.
struct Counting;

impl Benchmark for Counting {
    const ID: &'static CStr = c"counting";
    const VERSION: &'static CStr = c"3";
    const CATEGORY: &'static CStr = c"unit";
    const SUMMARY: &'static CStr = c"Counts the rounds that it is given";
    const OPTIONS_SCHEMA: &'static CStr = c"{}";
    const NEEDS_TARGET: bool = false;

    fn run(context: &Context<'_>) -> Result<()> {
        act(&context.options, "run")?;
        if context.options.get("run") == Some("target") {
            context.target()?;
        }
        let series = context.reporter.series(&SeriesInfo::duration("step", 4.0))?;
        while let Some(round) = context.reporter.next_round(series) {
            let samples: Vec<f64> = (0..round.iterations).map(|n| n as f64).collect();
            context.reporter.samples(series, &round, &samples)?;
        }
        context.reporter.single(series, 0.5)?;
        context.reporter.attach("note.txt", b"counted");
        Ok(())
    }
}

export_plugin! {
    id: "contract-test",
    name: "The test of the contract",
    vendor: "skillbench",
    backend: Contrary,
    benchmarks: [Counting],
    functions: [
        functions::run_steps,
        benchmark_nothing { category: "unit", version: "2", model: "bert-tiny", summary: "Does nothing" },
        functions::nested::benchmark_in_a_module { category: "integration" },
        functions::run_reading,
        functions::run_without_driver,
        functions::run_panicking,
        functions::run_inventing,
        functions::run_twice_the_name,
        functions::run_ever_more,
    ],
}

unsafe extern "C" {
    /// What `export_plugin!` defines in this program.
    static skillbench_plugin: sb_plugin;
}

pub fn plugin() -> Plugin {
    // SAFETY: the static table of this program.
    unsafe { Plugin::new(&raw const skillbench_plugin) }.unwrap()
}

fn options(pairs: &[(&str, &str)]) -> Options {
    Options(pairs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect())
}

fn open(pairs: &[(&str, &str)]) -> Result<Instance> {
    plugin().backend().unwrap().unwrap().open(host(), &options(pairs))
}

fn load() -> Load {
    Load::new(Source::onnx(Path::new("no file is read")))
}

#[test]
fn the_descriptor_tells_what_the_macro_and_the_manifest_say() {
    let plugin = plugin();
    assert_eq!((plugin.id(), plugin.name()), ("contract-test".into(), "The test of the contract".into()));
    assert_eq!((plugin.version(), plugin.license()), (env!("CARGO_PKG_VERSION").into(), "MIT OR Apache-2.0".into()));
    assert!(plugin.backend().unwrap().unwrap().serial_load() && plugin.skillset().unwrap().is_none());
}

#[test]
fn a_panic_becomes_an_internal_error_with_its_text() {
    for (how, text) in [
        ("panic", "the cable is cut"),
        ("panic with a number", "1 cables are cut"),
        ("panic with a value", "no message"),
    ] {
        let error = open(&[("open", how)]).err().expect("open fails");
        assert_eq!((error.code, error.message), (Code::Internal, format!("panicked: {text}")));
    }
}

#[test]
fn a_panic_in_any_step_is_caught() {
    let instance = open(&[("load", "panic")]).unwrap();
    assert_eq!(instance.load(&load()).err().unwrap().code, Code::Internal);
    let instance = open(&[("placement", "panic"), ("request", "panic")]).unwrap();
    let model = instance.load(&load()).unwrap();
    assert_eq!(model.placement().unwrap_err().code, Code::Internal);
    assert_eq!(model.request().err().unwrap().code, Code::Internal);
    let instance = open(&[("run", "panic"), ("drop", "panic")]).unwrap();
    let model = instance.load(&load()).unwrap();
    let mut request = model.request().unwrap();
    request.bind(Direction::Input, 0, floats(&[1, 2], &[])).unwrap();
    assert_eq!(request.run().unwrap_err().code, Code::Internal);
    drop(request);
    drop(model);
    drop(instance);
}

#[test]
fn an_error_carries_code_why_vendor_code_and_message() {
    let error = open(&[("open", "error")]).err().unwrap();
    assert_eq!((error.code, error.why, error.vendor_code), (Code::Unavailable, Why::DRIVER, -7));
    assert_eq!(error.to_string(), "no driver was found: install one (code -7)");
}

#[test]
fn a_message_longer_than_its_buffer_is_cut_at_a_character() {
    let error = open(&[("open", "long")]).err().unwrap();
    assert_eq!(error.message, "é".repeat(247)); // 495 bytes would end inside one
    assert_eq!(open(&[]).unwrap().devices().unwrap()[1].name, "é".repeat(63));
}

#[test]
fn options_arrive_and_one_that_does_not_parse_is_named() {
    let instance = open(&[("name", "über"), ("count", "12")]).unwrap();
    assert_eq!(instance.devices().unwrap()[0].name, "über");
    let error = open(&[("count", "many")]).err().unwrap();
    assert_eq!(error.code, Code::InvalidArgument);
    assert!(error.message.contains("count") && error.message.contains("'many'"), "{error}");
}

#[test]
fn a_load_arrives_whole() {
    let instance = open(&[("load", "tell")]).unwrap();
    let mut load = load();
    (load.precision, load.allow_fallback) = (Some("int8".into()), true);
    load.dims = vec![skillbench_plugin_api::Dim::fixed("batch", 2)];
    assert_eq!(instance.load(&load).err().unwrap().message, "Some(\"int8\") 1 true");
}

#[test]
fn a_device_that_cannot_be_used_says_why() {
    let devices = open(&[]).unwrap().devices().unwrap();
    assert_eq!((devices[1].why, devices[1].reason.as_str()), (Why::DEVICE, "it is not plugged in"));
    assert_eq!((devices[1].kind, devices[1].memory_bytes), (DeviceKind::Npu, None));
}

#[test]
fn what_a_placement_does_not_tell_is_unknown_and_zero_is_a_number() {
    let instance = open(&[]).unwrap();
    let placement = instance.load(&load()).unwrap().placement().unwrap();
    assert_eq!((placement.nodes_total, placement.nodes_on_device), (Some(0), None));
    assert_eq!((placement.cache_hit, placement.read_ns), (Some(true), None));
}

#[test]
fn an_output_goes_where_it_was_bound() {
    let instance = open(&[]).unwrap();
    let model = instance.load(&load()).unwrap();
    let mut request = model.request().unwrap();
    request.bind(Direction::Input, 0, floats(&[1, 2], &[1.0, 2.0])).unwrap();
    let memory = floats(&[1, 2], &[]);
    request.bind(Direction::Output, 0, memory.clone()).unwrap();
    request.run().unwrap();
    assert_eq!(memory.as_slice::<f32>().unwrap(), [2.0, 4.0]);
    request.bind(Direction::Output, 0, floats(&[2, 2], &[])).unwrap();
    assert_eq!(request.run().unwrap_err().code, Code::InvalidArgument);
}

#[test]
fn null_handles_and_null_buffers_give_errors() {
    let id = CString::new(raw::SB_BACKEND).unwrap();
    // SAFETY: null is what is tested; everything else is as the contract wants it.
    unsafe {
        let table: *const sb_backend = skillbench_plugin.factory.unwrap()(id.as_ptr()).cast();
        assert!(skillbench_plugin.factory.unwrap()(null()).is_null());
        let slots = &*table;
        let invalid = raw::SB_INVALID_ARGUMENT;
        let mut error: sb_error = std::mem::zeroed();
        error.size = size_of::<sb_error>() as u32;
        let buffer = &raw mut error;
        assert_eq!(slots.open.unwrap()(null(), null(), null_mut(), buffer), invalid);
        assert_eq!(slots.device.unwrap()(null_mut(), 0, null_mut(), buffer), invalid);
        assert_eq!(slots.supports.unwrap()(null_mut(), null(), buffer), invalid);
        assert_eq!(slots.load.unwrap()(null_mut(), null(), null_mut(), buffer), invalid);
        assert_eq!(slots.placement.unwrap()(null_mut(), null_mut(), buffer), invalid);
        assert_eq!(slots.port.unwrap()(null_mut(), 0, 0, null_mut(), buffer), invalid);
        assert_eq!(slots.request.unwrap()(null_mut(), null_mut(), buffer), invalid);
        assert_eq!(slots.bind.unwrap()(null_mut(), 0, 0, null(), null(), buffer), invalid);
        assert_eq!(slots.alias.unwrap()(null_mut(), 0, 0, buffer), invalid);
        assert_eq!(slots.reset.unwrap()(null_mut(), buffer), invalid);
        assert_eq!(slots.run.unwrap()(null_mut(), null_mut(), buffer), invalid);
        assert_eq!(slots.output.unwrap()(null_mut(), 0, null_mut(), buffer), invalid);
        assert_eq!(slots.memory.unwrap()(null_mut(), 0, null_mut(), buffer), invalid);
        assert_eq!(slots.submit.unwrap()(null_mut(), None, null_mut(), buffer), invalid);
        assert_eq!(slots.cancel.unwrap()(null_mut(), buffer), invalid);
        assert_eq!(slots.run.unwrap()(null_mut(), null_mut(), null_mut()), invalid);
        assert_eq!((slots.device_count.unwrap()(null_mut()), slots.port_count.unwrap()(null_mut(), 0)), (0, 0));
        slots.release.unwrap()(null_mut());
        slots.unload.unwrap()(null_mut());
        slots.close.unwrap()(null_mut());
    }
}

/// Gives out a warm-up round and a measured one.
#[derive(Default)]
struct Rounds {
    given: Mutex<Vec<RoundKind>>,
    seen: Mutex<Vec<String>>,
}

impl ReporterServices for Rounds {
    fn series(&self, info: SeriesInfo) -> Result<u32> {
        self.seen.lock().unwrap().push(format!("{} {} {}", info.name, info.unit, info.items_per_sample));
        Ok(5)
    }

    fn next_round(&self, series: u32) -> Option<Round> {
        assert_eq!(series, 5);
        let mut given = self.given.lock().unwrap();
        let kind = *[RoundKind::WarmUp, RoundKind::Measured].get(given.len())?;
        given.push(kind);
        Some(Round { id: given.len() as u64, kind, iterations: given.len() as u64 + 1, settle: 0 })
    }

    fn samples(&self, series: u32, round: u64, values: &[f64]) -> Result<()> {
        self.seen.lock().unwrap().push(format!("{series} {round} {values:?}"));
        Ok(())
    }

    fn attach(&self, name: &str, bytes: &[u8]) {
        self.seen.lock().unwrap().push(format!("{name} {}", String::from_utf8_lossy(bytes)));
    }
}

#[test]
fn a_benchmark_runs_the_rounds_that_it_is_given() {
    let benchmarks = plugin().benchmarks().unwrap();
    let [benchmark, ..] = &benchmarks[..] else { panic!("a benchmark") };
    assert_eq!(
        (benchmark.id(), benchmark.version(), benchmark.category()),
        ("counting".into(), "3".into(), "unit".into())
    );
    assert!(!benchmark.needs_target() && !benchmark.cold_start());
    let rounds = Rounds::default();
    benchmark.run(host(), None, &Options::default(), &ReporterTable::new(&rounds)).unwrap();
    let seen = rounds.seen.into_inner().unwrap();
    assert_eq!(seen, ["step ns 4", "5 1 [0.0, 1.0]", "5 2 [0.0, 1.0, 2.0]", "5 0 [0.5]", "note.txt counted"]);
}

#[test]
fn a_benchmark_that_panics_or_lacks_its_target_fails() {
    let benchmark = plugin().benchmarks().unwrap().remove(0);
    let rounds = Rounds::default();
    let run = |how| benchmark.run(host(), None, &options(&[("run", how)]), &ReporterTable::new(&rounds)).unwrap_err();
    assert_eq!((run("panic").code, run("panic").message), (Code::Internal, "panicked: the cable is cut".into()));
    assert_eq!(run("target").code, Code::InvalidArgument);
}

#[test]
fn an_engine_that_keeps_nothing_refuses_an_alias_and_stays_as_it_was() {
    let instance = open(&[]).unwrap();
    let model = instance.load(&load()).unwrap();
    let mut request = model.request().unwrap();
    request.bind(Direction::Input, 0, floats(&[1, 2], &[1.0, 2.0])).unwrap();
    assert_eq!(request.alias(0, 0).unwrap_err().code, Code::Unimplemented);
    request.run().unwrap();
    assert_eq!(request.take_output(0).unwrap().as_slice::<f32>().unwrap(), [2.0, 4.0]);
}
