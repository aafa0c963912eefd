//! A stand to run the benchmark on: a target over an engine, and a reporter that asks for a few rounds.

use crate::graphs::{Kind, build};
use serde_json::Value;
use skillbench_cpu::CpuBackend;
use skillbench_generation::Generation;
use skillbench_plugin_api::client::{BenchmarkRef, Instance, Model, Request};
use skillbench_plugin_api::host_tables::{
    HostServices, HostTable, ReporterServices, ReporterTable, TargetParts, TargetServices, TargetTable,
};
use skillbench_plugin_api::{
    Code, DType, Dim, Direction, Error, HostTensor, Load, Options, Port, Result, Round, RoundKind, SeriesInfo, Source,
};
use skillbench_rten::RtenBackend;
use skillbench_serving::GenerationServing;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

pub fn benchmark() -> BenchmarkRef {
    BenchmarkRef::linked::<Generation>().unwrap()
}

pub fn serving() -> BenchmarkRef {
    BenchmarkRef::linked::<GenerationServing>().unwrap()
}

pub fn rten() -> Instance {
    skillbench_testkit::open::<RtenBackend>(&[("threads", "1")]).unwrap()
}

/// ONNX Runtime; without one the test fails.
pub fn onnxruntime() -> Instance {
    skillbench_testkit::part("ORT_DYLIB_PATH");
    skillbench_testkit::open::<CpuBackend>(&[("threads", "1")]).unwrap()
}

/// What a test wants.
pub struct Case {
    pub kind: Kind,
    pub batch: i64,
    pub prompt: i64,
    pub new_tokens: i64,
    pub wrong_output: bool,
    /// After so many questions whether the run is being stopped, it is.
    pub stops_after: usize,
    /// In place of the model's own.
    pub manifest: Option<String>,
}

impl Case {
    pub fn new(kind: Kind) -> Case {
        let (wrong_output, stops_after, manifest) = (false, usize::MAX, None);
        Case { kind, batch: 2, prompt: 5, new_tokens: 6, wrong_output, stops_after, manifest }
    }
}

/// Names, least and greatest sizes.
pub type Dims = Vec<(String, i64, i64)>;

/// What came of it.
pub struct Record {
    pub outcome: Result<()>,
    pub logs: Vec<String>,
    /// Parts and the dimensions they were loaded for.
    pub loads: Vec<(String, Dims)>,
    /// What was verified before the first round was asked for, and whether one was.
    pub verified: Vec<String>,
    pub rounds: u64,
    pub series: Vec<(SeriesInfo, Vec<f64>)>,
}

impl Record {
    pub fn values(&self, name: &str) -> &[f64] {
        self.series.iter().find(|(info, _)| info.name == name).map_or(&[], |(_, values)| values)
    }

    pub fn items(&self, name: &str) -> Option<f64> {
        self.series.iter().find(|(info, _)| info.name == name).map(|(info, _)| info.items_per_sample)
    }
}

pub fn run(instance: &Instance, case: &Case) -> Record {
    run_with(&benchmark(), &[], instance, case)
}

/// With options beside those of the case.
pub fn run_with(benchmark: &BenchmarkRef, more: &[(&str, &str)], instance: &Instance, case: &Case) -> Record {
    let folder = tempfile::tempdir().unwrap();
    let (names, manifest) = build(case.kind, folder.path());
    let listener: &'static Listener =
        Box::leak(Box::new(Listener { logs: Mutex::default(), left: AtomicUsize::new(case.stops_after) }));
    let file =
        |name: &str| folder.path().join(if name.is_empty() { "model.onnx".into() } else { format!("{name}.onnx") });
    let mut axes = BTreeMap::from([("batch".to_string(), case.batch), ("prompt".into(), case.prompt)]);
    for (name, rule) in manifest["generation"]["axes"].as_object().into_iter().flatten() {
        let value = evaluate(rule, &axes);
        axes.insert(name.clone(), value);
    }
    axes.insert("new_tokens".into(), case.new_tokens);
    let target = Target {
        instance,
        folder: folder.path(),
        manifest: &manifest,
        axes: &axes,
        wrong: case.wrong_output,
        models: Mutex::default(),
        loads: Mutex::default(),
        verified: Mutex::default(),
    };
    let text = case.manifest.clone().unwrap_or_else(|| manifest.to_string());
    let parts = TargetParts {
        instance,
        skill: "small",
        manifest: &text,
        parts: names.iter().map(|name| (name.to_string(), Source::onnx(&file(name)))).collect(),
        axes: axes.iter().map(|(name, value)| Dim::fixed(name, *value)).collect(),
        seed: 3,
    };
    let own = [("new_tokens", case.new_tokens.to_string()), ("prompt", case.prompt.to_string())];
    let own = own.into_iter().map(|(key, value)| (key.to_string(), value));
    let more = more.iter().map(|(key, value)| ((*key).to_string(), (*value).to_string()));
    let options = Options(own.chain(more).collect());
    let reporter = Reporter::default();
    let table = TargetTable::new(&parts, &target);
    let outcome = benchmark.run(HostTable::leak(listener), Some(&table), &options, &ReporterTable::new(&reporter));
    assert!(target.models.lock().unwrap().is_empty(), "a model was not unloaded");
    let series = reporter.series.into_inner().unwrap();
    Record {
        outcome,
        logs: std::mem::take(&mut *listener.logs.lock().unwrap()),
        loads: target.loads.into_inner().unwrap(),
        verified: target.verified.into_inner().unwrap(),
        rounds: series.iter().map(|(_, rounds, _)| rounds).sum(),
        series: series.into_iter().map(|(info, _, values)| (info, values)).collect(),
    }
}

/// Sums of axes and numbers.
fn evaluate(rule: &Value, axes: &BTreeMap<String, i64>) -> i64 {
    let text = rule.as_str().map_or_else(|| rule.to_string(), str::to_string);
    text.split('+').map(|name| name.parse().unwrap_or_else(|_| axes[name])).sum()
}

struct Listener {
    logs: Mutex<Vec<String>>,
    left: AtomicUsize,
}

impl HostServices for Listener {
    fn log(&self, _: i32, _: &str, message: &str) {
        self.logs.lock().unwrap().push(message.into());
    }
    fn phase(&self, _: &str, _: f64) {}
    fn now_ns(&self) -> u64 {
        0
    }
    fn stopping(&self) -> bool {
        self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_err()
    }
}

struct Target<'i> {
    instance: &'i Instance,
    folder: &'i Path,
    manifest: &'i Value,
    axes: &'i BTreeMap<String, i64>,
    wrong: bool,
    models: Mutex<BTreeMap<usize, (String, Arc<Model<'i>>)>>,
    loads: Mutex<Vec<(String, Dims)>>,
    verified: Mutex<Vec<String>>,
}

impl Target<'_> {
    fn path(&self, part: &str) -> PathBuf {
        self.folder.join(if part.is_empty() { "model.onnx".into() } else { format!("{part}.onnx") })
    }

    /// An input by the skill's rules, about as the host makes it.
    fn input(&self, part: &str, port: &Port) -> HostTensor {
        let rules = self.manifest["inputs"].as_array().unwrap();
        let rule = rules.iter().find(|rule| rule["part"] == part && rule["name"] == port.name.as_str());
        let rule = rule.unwrap_or_else(|| panic!("no rule for {part}/{}", port.name));
        let dims = rule["dims"].as_array().unwrap();
        let shape: Vec<usize> = dims.iter().map(|dim| evaluate(dim, self.axes) as usize).collect();
        let mut tensor = HostTensor::zeroed(port.dtype, &shape).unwrap();
        let last = shape.last().copied().unwrap_or(1).max(1);
        let fill = rule["fill"].as_str().unwrap();
        let value = |index: usize| match fill {
            "ones" => 1.0,
            "range:past" => (index % last) as f32,
            "ids:40" => (10 + index * 7 % 30) as f32,
            _ => ((index * 37 % 101) as f32 - 50.0) / 50.0,
        };
        match port.dtype {
            DType::I64 => {
                let elements = tensor.bytes_mut().chunks_exact_mut(8).enumerate();
                elements.for_each(|(index, bytes)| bytes.copy_from_slice(&(value(index) as i64).to_ne_bytes()));
            }
            _ => {
                let elements = tensor.bytes_mut().chunks_exact_mut(4).enumerate();
                elements.for_each(|(index, bytes)| bytes.copy_from_slice(&value(index).to_ne_bytes()));
            }
        }
        tensor
    }

    fn part(&self, model: &Model<'_>) -> String {
        self.models.lock().unwrap()[&model.address()].0.clone()
    }
}

impl TargetServices for Target<'_> {
    fn load(&self, part: &str, dims: &[Dim]) -> Result<usize> {
        let told = dims.iter().map(|dim| (dim.name.clone(), dim.min, dim.max)).collect();
        self.loads.lock().unwrap().push((part.into(), told));
        let own = || self.axes.iter().map(|(name, value)| Dim::fixed(name, *value)).collect();
        let dims = if dims.is_empty() { own() } else { dims.to_vec() };
        let load = Load { dims, ..Load::new(Source::onnx(&self.path(part))) };
        let model = self.instance.load(&load)?;
        let address = model.address();
        self.models.lock().unwrap().insert(address, (part.into(), Arc::new(model)));
        Ok(address)
    }

    fn unload(&self, model: usize) {
        self.models.lock().unwrap().remove(&model);
    }

    fn with_model(&self, model: usize, work: &mut dyn FnMut(&Model<'_>) -> Result<()>) -> Result<()> {
        let model = self.models.lock().unwrap()[&model].1.clone();
        work(&model)
    }

    fn prepare(&self, model: &Model<'_>, request: &mut Request<'_>, _variant: u64) -> Result<()> {
        for (index, port) in (0..).zip(model.inputs()) {
            // The benchmark's process ends soon: what is lent to an engine stays.
            let tensor = Arc::new(self.input(&self.part(model), port));
            std::mem::forget(tensor.clone());
            request.bind(Direction::Input, index, tensor)?;
        }
        (0..model.outputs().len() as u32).try_for_each(|index| request.leave_output(index))
    }

    fn verify(&self, model: &Model<'_>, request: &mut Request<'_>) -> Result<()> {
        self.verified.lock().unwrap().push(self.part(model));
        for index in 0..model.outputs().len() as u32 {
            let output = request.take_output(index)?;
            let finite = output.as_slice::<f32>().unwrap().iter().all(|value| value.is_finite());
            if self.wrong || !finite {
                return Err(Error::new(Code::WrongOutput, "far off"));
            }
        }
        Ok(())
    }
}

/// A warm-up round of one iteration, and two measured ones of two.
#[derive(Default)]
struct Reporter {
    series: Mutex<Vec<(SeriesInfo, u64, Vec<f64>)>>,
}

impl ReporterServices for Reporter {
    fn series(&self, info: SeriesInfo) -> Result<u32> {
        let mut all = self.series.lock().unwrap();
        assert!(all.iter().all(|(known, ..)| known.name != info.name), "{} is announced twice", info.name);
        all.push((info, 0, vec![]));
        Ok(all.len() as u32 - 1)
    }

    fn next_round(&self, series: u32) -> Option<Round> {
        let (_, rounds, _) = &mut self.series.lock().unwrap()[series as usize];
        *rounds += 1;
        let kind = if *rounds == 1 { RoundKind::WarmUp } else { RoundKind::Measured };
        let iterations = if *rounds == 1 { 1 } else { 2 };
        (*rounds <= 3).then_some(Round { id: *rounds, kind, iterations, settle: 1 })
    }

    fn samples(&self, series: u32, round: u64, values: &[f64]) -> Result<()> {
        let (_, _, kept) = &mut self.series.lock().unwrap()[series as usize];
        if round != 1 {
            kept.extend_from_slice(values);
        }
        Ok(())
    }

    fn attach(&self, _name: &str, _bytes: &[u8]) {}
}
