//! Rules about backends. Each test returns how its rule is broken.

use super::{Finding, Test};
use crate::child::{Opened, Services, resident};
use crate::loader;
use crate::{CheckJob, FailureKind, PluginUse, Stage};
use skillbench_models::{InputRule, fill};
use skillbench_plugin_api::client::{Model, Output, Request};
use skillbench_plugin_api::{Code, DType, Dim, Direction, Error, HostTensor, Load, Options, Source};
use skillbench_record::PluginOptions;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

pub(super) fn ensure(holds: bool, broken: impl Into<String>) -> Test {
    if holds { Ok(()) } else { Err(Finding::Broken(broken.into())) }
}

pub(super) fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

pub(super) fn described(services: &'static Services, job: &CheckJob) -> Test {
    let (plugin, _) = loader::load(&job.library).map_err(text)?;
    ensure(!plugin.name().is_empty(), "it has no name")?;
    ensure(!plugin.version().is_empty(), "it has no version")?;
    let any = services.within("factory", || plugin.backend()).map_err(text)?.is_some()
        || plugin.skillset().map_err(text)?.is_some()
        || !plugin.benchmarks().map_err(text)?.is_empty();
    ensure(any, "its factory knows none of backend, skillset and benchmarks")
}

pub(super) fn quiet(services: &'static Services, job: &CheckJob) -> Test {
    let threads = || std::fs::read_dir("/proc/self/task").map(|tasks| tasks.count()).ok();
    let (start, before) = (Instant::now(), threads());
    let (plugin, _) = loader::load(&job.library).map_err(text)?;
    services.within("init", || plugin.init(services.table(), &job.library)).map_err(text)?;
    services.within("factory", || plugin.backend()).map_err(text)?;
    plugin.skillset().map_err(text)?.map(|skillset| services.within("describe", || skillset.descriptions()));
    let (took, after) = (start.elapsed(), threads());
    ensure(took.as_secs_f64() < 1.0, format!("looking at it took {:.1} s", took.as_secs_f64()))?;
    ensure(before == after, format!("threads grew from {before:?} to {after:?} while it was looked at"))
}

pub(super) fn options_schema(_: &'static Services, job: &CheckJob) -> Test {
    let (plugin, _) = loader::load(&job.library).map_err(text)?;
    let Some(backend) = plugin.backend().map_err(text)? else { return Ok(()) };
    let schema = backend.options_schema();
    ensure(!schema.is_empty(), "there is no options schema; a plugin without options has one without properties")?;
    let parsed: serde_json::Value = serde_json::from_str(&schema).map_err(|error| format!("not JSON: {error}"))?;
    ensure(
        parsed.get("additionalProperties") == Some(&serde_json::Value::Bool(false)),
        "it takes any option: additionalProperties is not false",
    )?;
    Ok(crate::options::check(&PluginOptions::new(), &schema, &plugin.id())?)
}

pub(super) fn open(services: &'static Services, job: &CheckJob) -> Result<Opened, Finding> {
    let backend = PluginUse { id: "checked".into(), library: job.library.clone(), options: job.options.clone() };
    let opened = Opened::observed(services, &backend).map_err(|failure| match failure.kind {
        FailureKind::Unavailable => Finding::Unavailable(failure.to_string()),
        _ => Finding::Broken(failure.to_string()),
    })?;
    services.enter(Stage::Run);
    Ok(opened)
}

pub(super) fn opens(services: &'static Services, job: &CheckJob) -> Test {
    let opened = match open(services, job) {
        // Saying why is what the rule asks for.
        Err(Finding::Unavailable(why)) => {
            return ensure(!why.trim().is_empty(), "it cannot open, and does not say why");
        }
        opened => opened?,
    };
    ensure(!opened.devices.is_empty(), "it has no device, usable or not")?;
    for device in &opened.devices {
        ensure(!device.id.is_empty() && !device.name.is_empty(), "a device has no id or no name")?;
        let known = opened.devices.iter().filter(|other| other.id == device.id).count();
        ensure(known == 1, format!("{known} devices have the id '{}'", device.id))?;
        let explained = device.why == skillbench_plugin_api::Why::NONE || !device.reason.is_empty();
        ensure(explained, format!("device '{}' cannot be used, and the reason is empty", device.id))?;
        ensure(
            device.memory_bytes != Some(0),
            format!("device '{}' has 0 bytes of memory; unknown is SB_UNKNOWN", device.id),
        )?;
    }
    Ok(())
}

pub(super) fn opens_again(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open(services, job)?;
    let table = opened.instance.backend().clone();
    drop(opened);
    let again = table.open(services.table(), &Options(job.options.clone())).map_err(text)?;
    ensure(!again.devices().map_err(text)?.is_empty(), "opened again, it has no device")
}

/// The batch that most rules run.
const BATCH: i64 = 2;

/// A load for one batch size: some engines take only fixed ones.
pub(super) fn for_batch(path: &Path, batch: i64) -> Load {
    Load { dims: vec![Dim::fixed("batch", batch)], ..Load::new(Source::onnx(path)) }
}

fn load<'o>(opened: &'o Opened, path: &Path) -> Result<Model<'o>, Error> {
    opened.instance.load(&for_batch(path, BATCH))
}

pub(super) fn ports(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open(services, job)?;
    let model = load(&opened, &job.probe).map_err(text)?;
    let [input] = model.inputs() else {
        return Err(Finding::Broken(format!("the probe has 1 input, it tells {}", model.inputs().len())));
    };
    let [output] = model.outputs() else {
        return Err(Finding::Broken(format!("the probe has 1 output, it tells {}", model.outputs().len())));
    };
    for (port, name, width) in [(input, "x", 64), (output, "y", 32)] {
        ensure(port.name == name, format!("port '{name}' is told as '{}'", port.name))?;
        ensure(port.dtype == DType::F32, format!("port '{name}' is f32, it tells {}", port.dtype.name()))?;
        let right = port.shape == [None, Some(width)] || port.shape == [Some(BATCH as usize), Some(width)];
        let text = format!(
            "port '{name}' is [-1, {width}], or [{BATCH}, {width}] as loaded; it tells {:?} (None is -1)",
            port.shape
        );
        ensure(right, text)?;
    }
    Ok(())
}

pub(super) fn placement(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open(services, job)?;
    let model = load(&opened, &job.probe).map_err(text)?;
    let placement = model.placement().map_err(text)?;
    let remote = opened.devices.iter().any(|device| device.id == placement.device && device.remote);
    // What computes elsewhere need not say in what.
    ensure(remote || !placement.precision.is_empty(), "the effective precision is empty")?;
    ensure(!placement.engine.is_empty(), "the engine is empty")?;
    let own = opened.devices.iter().any(|device| device.id == placement.device);
    ensure(own, format!("the model is on device '{}', which it did not list", placement.device))?;
    ensure(placement.nodes_total != Some(0), "the model has 0 nodes; unknown is SB_UNKNOWN")?;
    let parts = [placement.read_ns, placement.compile_ns, placement.upload_ns];
    ensure(!parts.contains(&Some(0)), "a part of the load took 0 ns; unknown is SB_UNKNOWN")?;
    let fits = placement.nodes_on_device.zip(placement.nodes_total).is_none_or(|(here, all)| here <= all);
    ensure(fits, "more nodes on the device than there are")
}

/// The `variant`-th input of a batch, seeded.
pub(super) fn input(batch: usize, variant: u64) -> Result<HostTensor, String> {
    let mut tensor = HostTensor::zeroed(DType::F32, &[batch, 64]).map_err(text)?;
    let rule =
        InputRule { part: String::new(), name: "x".into(), dtype: "f32".into(), dims: vec![], fill: "normal".into() };
    fill(&mut tensor, &rule, &Default::default(), 1, variant)?;
    Ok(tensor)
}

fn bind(request: &mut Request<'_>, tensor: HostTensor) -> Result<(), Error> {
    request.bind(Direction::Input, 0, Arc::new(tensor))
}

pub(super) fn floats(output: &Output) -> Vec<f32> {
    output.bytes().chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

/// Runs once on an input and takes the output.
pub(super) fn run_on(request: &mut Request<'_>, batch: usize, variant: u64) -> Result<Output, String> {
    bind(request, input(batch, variant)?).map_err(text)?;
    request.run().map_err(text)?;
    request.take_output(0).map_err(text)
}

/// The probe's known answer, computed by two other engines when the probe was made.
pub(super) fn right(services: &'static Services, job: &CheckJob) -> Test {
    let known: Known = serde_json::from_str(include_str!("../../data/probe.json")).map_err(text)?;
    let opened = open(services, job)?;
    let rows = known.inputs.x.shape.first().copied().unwrap_or(1) as i64;
    let model = opened.instance.load(&for_batch(&job.probe, rows)).map_err(text)?;
    let mut request = model.request().map_err(text)?;
    let mut tensor = HostTensor::zeroed(DType::F32, &known.inputs.x.shape).map_err(text)?;
    for (bytes, value) in tensor.bytes_mut().chunks_exact_mut(4).zip(&known.inputs.x.data) {
        bytes.copy_from_slice(&value.to_le_bytes());
    }
    bind(&mut request, tensor).map_err(text)?;
    request.run().map_err(text)?;
    let have = floats(&request.take_output(0).map_err(text)?);
    let want = known.outputs.y.data;
    ensure(have.len() == want.len(), format!("{} elements, not {}", have.len(), want.len()))?;
    let scale = want.iter().fold(0f32, |most, value| most.max(value.abs()));
    let worst = have
        .iter()
        .zip(&want)
        .map(|(a, b)| (a - b).abs())
        .fold(0f32, |most, d| if d.is_nan() { f32::INFINITY } else { most.max(d) });
    let precision = model.placement().map_err(text)?.precision;
    let tolerances = &skillbench_record::defaults::defaults().tolerance;
    let tolerance = tolerances.get(&precision).copied().unwrap_or(0.05);
    let close = f64::from(worst) <= tolerance * f64::from(scale);
    ensure(
        close,
        format!(
            "the largest difference is {worst:e}, of outputs up to {scale}; {precision} allows {tolerance:.0e} of that"
        ),
    )
}

#[derive(serde::Deserialize)]
struct Known {
    inputs: KnownInputs,
    outputs: KnownOutputs,
}

#[derive(serde::Deserialize)]
struct KnownInputs {
    x: KnownTensor,
}

#[derive(serde::Deserialize)]
struct KnownOutputs {
    y: KnownTensor,
}

#[derive(serde::Deserialize)]
struct KnownTensor {
    shape: Vec<usize>,
    data: Vec<f32>,
}

pub(super) fn inputs_matter(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open(services, job)?;
    let model = load(&opened, &job.probe).map_err(text)?;
    let mut request = model.request().map_err(text)?;
    let first = floats(&run_on(&mut request, 2, 0)?);
    let other = floats(&run_on(&mut request, 2, 1)?);
    let again = floats(&run_on(&mut request, 2, 0)?);
    ensure(first.iter().all(|value| value.is_finite()), "an output is not finite")?;
    ensure(first != other, "another input gives the same output")?;
    ensure(first == again, "the same input gives another output")
}

pub(super) fn batch(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open(services, job)?;
    for batch in [1, 3, 8] {
        let model = opened.instance.load(&for_batch(&job.probe, batch as i64)).map_err(text)?;
        let mut request = model.request().map_err(text)?;
        let output = run_on(&mut request, batch, 0)?;
        let right = output.shape() == [batch, 32];
        ensure(right, format!("a batch of {batch} gives an output of shape {:?}", output.shape()))?;
    }
    Ok(())
}

pub(super) fn outputs_taken(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open(services, job)?;
    let model = load(&opened, &job.probe).map_err(text)?;
    let mut request = model.request().map_err(text)?;
    let taken = run_on(&mut request, 2, 0)?;
    ensure(request.take_output(0).is_err(), "the same output is given away twice")?;
    let before = floats(&taken);
    drop(run_on(&mut request, 2, 1)?);
    ensure(floats(&taken) == before, "a later run wrote into an output that was taken")
}

pub(super) fn outputs_bound(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open(services, job)?;
    let model = load(&opened, &job.probe).map_err(text)?;
    let mut request = model.request().map_err(text)?;
    let want = floats(&run_on(&mut request, 2, 0)?);
    let memory = Arc::new(HostTensor::zeroed(DType::F32, &[2, 32]).map_err(text)?);
    match request.bind(Direction::Output, 0, memory.clone()) {
        Err(error) if error.code == Code::Unimplemented => return Ok(()),
        Err(error) => return Err(format!("binding an output: {error}").into()),
        Ok(()) => {}
    }
    request.run().map_err(text)?;
    let have = memory.as_slice::<f32>().unwrap_or_default();
    ensure(have == want, "the bound memory does not hold the output")
}

pub(super) fn requests_apart(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open(services, job)?;
    let model = load(&opened, &job.probe).map_err(text)?;
    let mut alone = model.request().map_err(text)?;
    let want: Vec<Vec<f32>> =
        (0..4).map(|variant| run_on(&mut alone, 2, variant).map(|o| floats(&o))).collect::<Result<_, _>>()?;
    let lane = |variant: u64| -> Test {
        let mut request = model.request().map_err(text)?;
        for _ in 0..50 {
            let have = floats(&run_on(&mut request, 2, variant)?);
            ensure(have == want[variant as usize], "two requests at once disturb each other's outputs")?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..4).map(|variant| scope.spawn(move || lane(variant))).collect();
        lanes.into_iter().try_for_each(|l| l.join().unwrap_or_else(|_| Err("a thread panicked".into())))
    })
}

pub(super) fn no_work_no_number(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open(services, job)?;
    let model = load(&opened, &job.probe).map_err(text)?;
    let mut request = model.request().map_err(text)?;
    ensure(request.take_output(0).is_err(), "there is an output before any run")?;
    ensure(request.run().is_err(), "a run without inputs succeeds")?;
    ensure(request.take_output(0).is_err(), "a failed run leaves an output")
}

pub(super) fn bad_model(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open(services, job)?;
    let whole = std::fs::read(&job.probe).map_err(text)?;
    let garbage: Vec<u8> = (0..4096u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let files = [
        ("missing", None),
        ("empty", Some(vec![])),
        ("truncated", Some(whole[..whole.len() / 2].to_vec())),
        ("garbage", Some(garbage)),
    ];
    for (name, bytes) in files {
        let path = job.scratch.join(format!("{name}.onnx"));
        if let Some(bytes) = bytes {
            std::fs::write(&path, bytes).map_err(text)?;
        }
        match load(&opened, &path) {
            Ok(_) => return Err(format!("a model whose file is {name} was loaded").into()),
            Err(error) if error.message.trim().is_empty() => {
                return Err(format!("a {name} file gives no message").into());
            }
            Err(_) => {}
        }
    }
    ensure(load(&opened, &job.probe).is_ok(), "after failed loads a good model cannot be loaded")
}

pub(super) fn bad_binding(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open(services, job)?;
    let model = load(&opened, &job.probe).map_err(text)?;
    let mut request = model.request().map_err(text)?;
    let tensor = |dtype, shape: &[usize]| HostTensor::zeroed(dtype, shape).map_err(text);
    ensure(bind(&mut request, tensor(DType::I64, &[2, 64])?).is_err(), "a tensor of i64 is bound to a port of f32")?;
    ensure(
        bind(&mut request, tensor(DType::F32, &[2, 64, 1])?).is_err(),
        "a tensor of rank 3 is bound to a port of rank 2",
    )?;
    ensure(bind(&mut request, tensor(DType::F32, &[2, 65])?).is_err(), "65 columns are bound to a port of 64")?;
    let beyond = request.bind(Direction::Input, 9, Arc::new(tensor(DType::F32, &[2, 64])?));
    ensure(beyond.is_err(), "a tensor is bound to a port that is not there")
}

pub(super) fn precision(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open(services, job)?;
    let mut unknown = for_batch(&job.probe, BATCH);
    unknown.precision = Some("float7".into());
    ensure(opened.instance.load(&unknown).is_err(), "precision 'float7' is ignored")?;
    for asked in ["float16", "bfloat16", "int8"] {
        let load = Load { precision: Some(asked.into()), ..for_batch(&job.probe, BATCH) };
        if let Ok(model) = opened.instance.load(&load) {
            let effective = model.placement().map_err(text)?.precision;
            ensure(effective == asked, format!("asked for {asked}, it loads and tells {effective}"))?;
        }
    }
    Ok(())
}

pub(super) fn bad_device(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open(services, job)?;
    let load = Load { devices: vec![opened.devices.len() as u32 + 7], ..for_batch(&job.probe, BATCH) };
    ensure(opened.instance.load(&load).is_err(), "a device that is not there is ignored")
}

/// Of a batch that a leak would show in.
const ROWS: usize = 64;
/// Growth below this is noise of allocators.
const LEAK: u64 = 16 << 20;

pub(super) fn no_leak(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open(services, job)?;
    let exercise = |loads: usize, runs: usize| -> Test {
        for _ in 0..loads {
            let model = opened.instance.load(&for_batch(&job.probe, ROWS as i64)).map_err(text)?;
            let mut request = model.request().map_err(text)?;
            for variant in 0..runs as u64 {
                drop(run_on(&mut request, ROWS, variant % 3)?);
            }
        }
        Ok(())
    };
    exercise(10, 40)?;
    let before = resident();
    exercise(50, 40)?;
    let unknown = || Finding::Unavailable("this system does not tell a process's memory".into());
    let grown = resident().zip(before).map(|(after, before)| after.saturating_sub(before)).ok_or_else(unknown)?;
    ensure(grown < LEAK, format!("memory grew by {} MiB over 50 loads and 2,000 runs", grown >> 20))
}
