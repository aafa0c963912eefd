//! A stand to run the benchmark on: a target over a real backend, and a reporter that asks for few rounds.

use skillbench_cpu::CpuBackend;
use skillbench_plugin_api::client::{BackendRef, BenchmarkRef, Instance, Model, Request, SkillsetRef};
use skillbench_plugin_api::host_tables::{
    HostServices, HostTable, ReporterServices, ReporterTable, TargetParts, TargetServices, TargetTable,
};
use skillbench_plugin_api::{
    Code, DType, Dim, Direction, Error, HostTensor, Load, Options, Result, Round, RoundKind, SeriesInfo, Source,
};
use skillbench_roofline::{Roofline, RooflineSkill};
use skillbench_rten::RtenBackend;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex};

pub fn skillset() -> SkillsetRef {
    SkillsetRef::linked::<RooflineSkill>().unwrap()
}

pub fn benchmark() -> BenchmarkRef {
    BenchmarkRef::linked::<Roofline>().unwrap()
}

#[derive(Default)]
struct Listener {
    logs: Mutex<Vec<String>>,
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
        false
    }
}

fn listener() -> (&'static Listener, &'static HostTable) {
    let listener: &'static Listener = Box::leak(Box::default());
    (listener, HostTable::leak(listener))
}

pub fn build(skill: &str, folder: &Path) -> Result<()> {
    skillset().build(listener().1, skill, &Options::default(), folder)
}

/// The skill's files, made once for all tests.
pub fn built() -> &'static Path {
    static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
        let folder = tempfile::tempdir().unwrap();
        build("roofline-peaks", folder.path()).unwrap();
        folder
    });
    FOLDER.path()
}

pub fn graph(part: &str) -> PathBuf {
    built().join(format!("{part}.onnx"))
}

pub fn rten() -> Instance {
    BackendRef::linked::<RtenBackend>().unwrap().open(listener().1, &Options::default()).unwrap()
}

/// ONNX Runtime; without one the test fails.
pub fn onnxruntime() -> Instance {
    assert!(std::env::var_os("ORT_DYLIB_PATH").is_some(), "ORT_DYLIB_PATH names no ONNX Runtime: run scripts/test");
    BackendRef::linked::<CpuBackend>().unwrap().open(listener().1, &Options::default()).unwrap()
}

/// An input of about the size that the skill's rules give it.
fn input(model: &Model<'_>) -> Arc<HostTensor> {
    let port = &model.inputs()[0];
    let shape: Vec<usize> = port.shape.iter().map(|size| size.expect("a fixed size")).collect();
    let mut tensor = HostTensor::zeroed(port.dtype, &shape).unwrap();
    assert_eq!(port.dtype, DType::F32);
    let scale = 1.0 / (shape[1] as f32).sqrt();
    for (index, bytes) in tensor.bytes_mut().chunks_exact_mut(4).enumerate() {
        let value = scale * ((index * 37 % 101) as f32 - 50.0) / 30.0;
        bytes.copy_from_slice(&value.to_le_bytes());
    }
    Arc::new(tensor)
}

/// The outputs of a part, from one run.
pub fn outputs(instance: &Instance, part: &str) -> Vec<f32> {
    let model = instance.load(&Load::new(Source::onnx(&graph(part)))).unwrap();
    let mut request = model.request().unwrap();
    request.bind(Direction::Input, 0, input(&model)).unwrap();
    request.run().unwrap();
    request.take_output(0).unwrap().to_host().unwrap().as_slice::<f32>().unwrap().to_vec()
}

/// What a run of the benchmark came to.
pub struct Record {
    pub outcome: Result<()>,
    pub logs: Vec<String>,
    pub attached: String,
    pub series: Vec<(SeriesInfo, Vec<f64>)>,
}

impl Record {
    pub fn values(&self, name: &str) -> &[f64] {
        self.series.iter().find(|(info, _)| info.name == name).map_or(&[], |(_, values)| values)
    }

    pub fn names(&self) -> Vec<&str> {
        self.series.iter().map(|(info, _)| info.name.as_str()).collect()
    }
}

/// Runs the benchmark on a backend whose loads of some parts are refused: those that hold one of these words.
pub fn run(instance: &Instance, refused: &[&str], options: &[(&str, &str)]) -> Record {
    let (listener, host) = listener();
    let target = Target { instance, refused, models: Mutex::default() };
    let manifest: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(built().join("skill.json")).unwrap()).unwrap();
    let names = manifest["parts"].as_array().unwrap().iter().map(|part| part["name"].as_str().unwrap().to_string());
    let parts = TargetParts {
        instance,
        skill: "roofline-peaks",
        manifest: "",
        parts: names.map(|name| (name.clone(), Source::onnx(&graph(&name)))).collect(),
        axes: vec![],
        seed: 0,
    };
    let reporter = Reporter::default();
    let options = Options(options.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect());
    let outcome =
        benchmark().run(host, Some(&TargetTable::new(&parts, &target)), &options, &ReporterTable::new(&reporter));
    assert!(target.models.lock().unwrap().is_empty(), "a model was not unloaded");
    let series = reporter.series.into_inner().unwrap().into_iter().map(|(info, _, values)| (info, values));
    Record {
        outcome,
        logs: std::mem::take(&mut *listener.logs.lock().unwrap()),
        attached: reporter.attached.into_inner().unwrap(),
        series: series.collect(),
    }
}

struct Target<'i> {
    instance: &'i Instance,
    refused: &'i [&'i str],
    models: Mutex<BTreeMap<usize, Loaded<'i>>>,
}

/// A model, and the memory bound to its requests, which lives as long.
struct Loaded<'i> {
    model: Arc<Model<'i>>,
    inputs: Vec<Arc<HostTensor>>,
}

impl TargetServices for Target<'_> {
    fn load(&self, part: &str, _dims: &[Dim]) -> Result<usize> {
        if self.refused.iter().any(|word| part.contains(word)) {
            return Err(Error::new(Code::FailedPrecondition, "fallback refused: not on this device"));
        }
        let model = self.instance.load(&Load::new(Source::onnx(&graph(part))))?;
        let address = model.address();
        self.models.lock().unwrap().insert(address, Loaded { model: Arc::new(model), inputs: vec![] });
        Ok(address)
    }

    fn unload(&self, model: usize) {
        self.models.lock().unwrap().remove(&model);
    }

    fn with_model(&self, model: usize, work: &mut dyn FnMut(&Model<'_>) -> Result<()>) -> Result<()> {
        let model = self.models.lock().unwrap()[&model].model.clone();
        work(&model)
    }

    fn prepare(&self, model: &Model<'_>, request: &mut Request<'_>, _variant: u64) -> Result<()> {
        let input = input(model);
        request.bind(Direction::Input, 0, input.clone())?;
        self.models.lock().unwrap().get_mut(&model.address()).unwrap().inputs.push(input);
        Ok(())
    }

    fn verify(&self, _model: &Model<'_>, request: &mut Request<'_>) -> Result<()> {
        let output = request.take_output(0)?.to_host()?;
        let sane = output.as_slice::<f32>().unwrap().iter().all(|value| value.is_finite());
        if sane { Ok(()) } else { Err(Error::new(Code::WrongOutput, "not finite")) }
    }
}

/// A warm-up round of one iteration, and two measured ones of two.
#[derive(Default)]
struct Reporter {
    series: Mutex<Vec<(SeriesInfo, u64, Vec<f64>)>>,
    attached: Mutex<String>,
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
        (*rounds <= 3).then_some(Round { id: *rounds, kind, iterations, settle: 0 })
    }

    fn samples(&self, series: u32, round: u64, values: &[f64]) -> Result<()> {
        let (_, _, kept) = &mut self.series.lock().unwrap()[series as usize];
        if round != 1 {
            kept.extend_from_slice(values);
        }
        Ok(())
    }

    fn attach(&self, _name: &str, bytes: &[u8]) {
        *self.attached.lock().unwrap() = String::from_utf8(bytes.to_vec()).unwrap();
    }
}
