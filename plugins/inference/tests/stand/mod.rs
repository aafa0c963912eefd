//! A stand to run a benchmark on, through the C tables on both sides: a backend that only waits, a target, a reporter.
//!
//! Everything that happens is written down in one list, so that a test can tell the order.

use skillbench_plugin_api::client::{BackendRef, BenchmarkRef, Instance, Model, Plugin, Request};
use skillbench_plugin_api::host_tables::{
    HostServices, HostTable, ReporterServices, ReporterTable, TargetParts, TargetServices, TargetTable,
};
use skillbench_plugin_api::sdk::{self, Bindings, Host, Level};
use skillbench_plugin_api::{
    Device, DeviceKind, Dim, Error, Load, Options, OwnedTensor, Placement, Port, Result, Round, RoundKind, SeriesInfo,
    Source, Timing, raw,
};
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What a test wants of the stand.
#[derive(Clone, Default)]
pub struct Plan {
    pub load_ms: u64,
    pub run_ms: u64,
    /// The load or the run, counted from 1, that fails.
    pub failing_load: u64,
    pub failing_run: u64,
    pub wrong_output: bool,
    pub batch: i64,
    /// Iterations of each round; a series gets a warm-up and two measured ones.
    pub iterations: u64,
    pub options: Vec<(&'static str, &'static str)>,
    /// Of the model; none: one that is "".
    pub parts: Vec<&'static str>,
    /// Beside the batch.
    pub axes: Vec<(&'static str, i64)>,
    pub manifest: &'static str,
}

/// What came of it.
pub struct Record {
    pub outcome: Result<()>,
    pub events: Vec<String>,
    pub series: Vec<(SeriesInfo, Vec<f64>)>,
}

impl Record {
    pub fn values(&self, name: &str) -> &[f64] {
        self.series.iter().find(|(info, _)| info.name == name).map_or(&[], |(_, values)| values)
    }

    pub fn count(&self, event: &str) -> usize {
        self.events.iter().filter(|known| *known == event).count()
    }

    pub fn first(&self, event: &str) -> usize {
        self.events.iter().position(|known| known == event).unwrap_or(usize::MAX)
    }
}

unsafe extern "C" {
    static skillbench_plugin: raw::sb_plugin;
}

/// The benchmark of the crate that a test is linked with.
pub fn benchmark(id: &str) -> BenchmarkRef {
    // SAFETY: the table of that crate.
    let plugin = unsafe { Plugin::new(&raw const skillbench_plugin) }.unwrap();
    plugin.benchmarks().unwrap().into_iter().find(|benchmark| benchmark.id() == id).unwrap()
}

/// Runs a benchmark of the crate under test.
pub fn run(id: &str, plan: &Plan) -> Record {
    let stand: &'static Stand = Box::leak(Box::default());
    let host = HostTable::leak(stand);
    let number = |value: u64| value.to_string();
    let backend = Options(BTreeMap::from([
        ("load_ms".into(), number(plan.load_ms)),
        ("run_ms".into(), number(plan.run_ms)),
        ("failing_load".into(), number(plan.failing_load)),
        ("failing_run".into(), number(plan.failing_run)),
    ]));
    let instance = BackendRef::linked::<Waiting>().unwrap().open(host, &backend).unwrap();
    let target = Target { stand, instance: &instance, models: Mutex::default(), wrong: plan.wrong_output };
    let names = if plan.parts.is_empty() { &[""][..] } else { &plan.parts };
    let parts = TargetParts {
        instance: &instance,
        skill: "waiting",
        manifest: plan.manifest,
        parts: names.iter().map(|name| (name.to_string(), Source::onnx(Path::new("waiting.onnx")))).collect(),
        axes: [("batch", plan.batch.max(1))].iter().chain(&plan.axes).map(|(name, n)| Dim::fixed(name, *n)).collect(),
        seed: 0,
    };
    let reporter = Reporter { stand, iterations: plan.iterations.max(1), state: Mutex::default() };
    let options = Options(plan.options.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect());
    let table = TargetTable::new(&parts, &target);
    let outcome = benchmark(id).run(host, Some(&table), &options, &ReporterTable::new(&reporter));
    assert!(lock(&target.models).is_empty(), "a model was not unloaded");
    let series = std::mem::take(&mut *lock(&reporter.state)).into_iter().map(|state| (state.info, state.values));
    Record { outcome, events: std::mem::take(&mut *lock(&stand.events)), series: series.collect() }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Default)]
struct Stand {
    events: Mutex<Vec<String>>,
}

impl Stand {
    fn note(&self, event: impl Into<String>) {
        lock(&self.events).push(event.into());
    }
}

impl HostServices for Stand {
    fn log(&self, _level: i32, _target: &str, message: &str) {
        self.note(message);
    }
    fn phase(&self, _name: &str, _fraction: f64) {}
    fn now_ns(&self) -> u64 {
        0
    }
    fn stopping(&self) -> bool {
        false
    }
}

struct Target<'i> {
    stand: &'static Stand,
    instance: &'i Instance,
    models: Mutex<BTreeMap<usize, Arc<Model<'i>>>>,
    wrong: bool,
}

impl TargetServices for Target<'_> {
    fn load(&self, part: &str, _dims: &[Dim]) -> Result<usize> {
        if !part.is_empty() {
            self.stand.note(format!("part {part}"));
        }
        let model = self.instance.load(&Load::new(Source::onnx(Path::new("waiting.onnx"))))?;
        let address = model.address();
        lock(&self.models).insert(address, Arc::new(model));
        Ok(address)
    }

    fn unload(&self, model: usize) {
        self.stand.note("unload");
        lock(&self.models).remove(&model);
    }

    fn with_model(&self, model: usize, work: &mut dyn FnMut(&Model<'_>) -> Result<()>) -> Result<()> {
        let model = lock(&self.models).get(&model).cloned().ok_or_else(|| Error::not_found("no such model"))?;
        work(&model)
    }

    fn prepare(&self, _model: &Model<'_>, _request: &mut Request<'_>, variant: u64) -> Result<()> {
        self.stand.note(format!("prepare {variant}"));
        Ok(())
    }

    fn verify(&self, _model: &Model<'_>, _request: &mut Request<'_>) -> Result<()> {
        self.stand.note("verify");
        match self.wrong {
            true => Err(Error::new(skillbench_plugin_api::Code::WrongOutput, "far off")),
            false => Ok(()),
        }
    }
}

struct Reporter {
    stand: &'static Stand,
    iterations: u64,
    state: Mutex<Vec<SeriesState>>,
}

struct SeriesState {
    info: SeriesInfo,
    rounds: u64,
    asked: Instant,
    /// Of the measured rounds.
    values: Vec<f64>,
}

/// Of each series: one round to warm up, two to measure.
const ROUNDS: u64 = 3;

impl ReporterServices for Reporter {
    fn series(&self, info: SeriesInfo) -> Result<u32> {
        self.stand.note(format!("series {}", info.name));
        let mut all = lock(&self.state);
        all.push(SeriesState { info, rounds: 0, asked: Instant::now(), values: vec![] });
        Ok(all.len() as u32 - 1)
    }

    fn next_round(&self, series: u32) -> Option<Round> {
        let state = &mut lock(&self.state)[series as usize];
        self.stand.note(format!("round {}", state.info.name));
        state.rounds += 1;
        state.asked = Instant::now();
        let kind = if state.rounds == 1 { RoundKind::WarmUp } else { RoundKind::Measured };
        let round = Round { id: state.rounds, kind, iterations: self.iterations, settle: 1 };
        (state.rounds <= ROUNDS).then_some(round)
    }

    fn samples(&self, series: u32, round: u64, values: &[f64]) -> Result<()> {
        let state = &mut lock(&self.state)[series as usize];
        if round > 0 {
            assert_eq!((round, values.len() as u64), (state.rounds, self.iterations));
            let sum: f64 = values.iter().sum();
            assert!(sum <= state.asked.elapsed().as_nanos() as f64, "more time than the round took");
        }
        if round != 1 {
            state.values.extend_from_slice(values);
        }
        Ok(())
    }

    fn attach(&self, _name: &str, _bytes: &[u8]) {}
}

/// A backend that waits where another would work.
struct Waiting {
    host: Host,
    load: Step,
    run: Arc<Step>,
}

/// Something that takes a while, and fails at the time it was told to.
struct Step {
    name: &'static str,
    duration: Duration,
    failing: u64,
    count: AtomicU64,
}

impl Step {
    fn new(name: &'static str, options: &Options) -> Result<Step> {
        let read = |key: String| Ok(options.parse::<u64>(&key)?.unwrap_or(0));
        let duration = Duration::from_millis(read(format!("{name}_ms"))?);
        Ok(Step { name, duration, failing: read(format!("failing_{name}"))?, count: AtomicU64::new(0) })
    }

    fn take(&self, host: &Host) -> Result<()> {
        host.log(Level::Info, self.name);
        let count = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        if count == self.failing {
            return Err(Error::internal(format!("{} {count} failed", self.name)));
        }
        std::thread::sleep(self.duration);
        Ok(())
    }
}

struct WaitingModel {
    host: Host,
    run: Arc<Step>,
}

impl sdk::Backend for Waiting {
    const ID: &'static CStr = c"waiting";
    const OPTIONS_SCHEMA: &'static CStr = c"{}";
    type Model = WaitingModel;

    fn open(host: Host, options: &Options) -> Result<Waiting> {
        Ok(Waiting { host, load: Step::new("load", options)?, run: Arc::new(Step::new("run", options)?) })
    }
    fn devices(&self) -> Vec<Device> {
        vec![Device::new("chair", "Chair", DeviceKind::Other)]
    }
    fn load(&self, _load: &Load) -> Result<WaitingModel> {
        self.load.take(&self.host)?;
        Ok(WaitingModel { host: self.host, run: self.run.clone() })
    }
}

impl sdk::Model for WaitingModel {
    type Request = WaitingRequest;

    fn placement(&self) -> Placement {
        Placement::default()
    }
    fn inputs(&self) -> &[Port] {
        &[]
    }
    fn outputs(&self) -> &[Port] {
        &[]
    }
    fn request(self: &Arc<Self>) -> Result<WaitingRequest> {
        Ok(WaitingRequest(self.clone()))
    }
}

struct WaitingRequest(Arc<WaitingModel>);

impl sdk::Request for WaitingRequest {
    fn run(&mut self, _bound: &Bindings) -> Result<Timing> {
        self.0.run.take(&self.0.host)?;
        Ok(Timing::default())
    }
    fn take_output(&mut self, _index: usize) -> Result<Option<OwnedTensor>> {
        Ok(None)
    }
}
