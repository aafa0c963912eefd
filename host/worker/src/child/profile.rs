//! What the operators of a model cost, as its engine tells it. Nothing here is a measurement: a model that records is slower.

use super::recorded::Recorded;
use super::sizes::fixed;
use super::target::{bind_inputs, refuse_lost_axes};
use super::trace::{Run, Trace};
use super::{Opened, Services};
use crate::{Chosen, Failure, FailureKind, ProfileJob, Reply, Stage};
use skillbench_models::Manifest;
use skillbench_plugin_api::{Error, Load, Operator, Options, Placement, Source};
use skillbench_record::defaults::defaults;
use skillbench_record::{PartProfile, ProfileReport};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

/// Records every part. One that has no profile is left out with the reason, unless it is the only one.
pub(super) fn profile(services: &'static Services, job: &ProfileJob) -> Result<Reply, Failure> {
    let opened = Opened::new(services, &job.backend)?;
    let (report, trace) = record(services, &opened, job)?;
    if let Some(file) = &job.trace {
        write(file, trace).map_err(|error| Failure::failed("trace", format!("{}: {error}", file.display())))?;
    }
    services.enter(Stage::Close);
    Ok(Reply::Profiled(Box::new(report)))
}

fn write(file: &Path, trace: Trace) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(file, serde_json::to_vec(&trace.json())?)
}

fn record(services: &'static Services, opened: &Opened, job: &ProfileJob) -> Result<(ProfileReport, Trace), Failure> {
    if !opened.instance.profiles() {
        let text = format!("engine {} has no profile of its own: leave --profile-detailed out for it", job.backend.id);
        return Err(Failure::new(FailureKind::Unsupported, "no-profile", text));
    }
    let manifest = Manifest::parse(&job.model.manifest).map_err(|text| Failure::failed("manifest", text))?;
    let chosen = opened.choose(job.device.as_deref())?;
    let (mut parts, mut left_out, mut trace) = (vec![], BTreeMap::new(), Trace::default());
    let mut refusal = Failure::failed("model", "the model has no part");
    for (name, path) in &job.model.parts {
        let axes = manifest.axes_of_part(name, &job.axes);
        match record_part(services, opened, &chosen, &ProfileJob { axes, ..job.clone() }, path, &manifest.of_part(name))
        {
            Ok(recording) => {
                parts.push(recording.report(name));
                trace.add(name, &recording.recorded(), &recording.runs);
            }
            Err(failure) => {
                left_out.insert(name.clone(), failure.to_string());
                refusal = failure;
            }
        }
    }
    match parts.is_empty() {
        true => Err(refusal),
        false => Ok((ProfileReport { parts, left_out }, trace)),
    }
}

/// What came of one part.
struct Recording {
    placement: Placement,
    operators: Vec<Operator>,
    runs: Vec<Run>,
}

impl Recording {
    fn recorded(&self) -> Recorded<'_> {
        Recorded { operators: &self.operators, runs: self.runs.len() }
    }

    fn report(&self, part: &str) -> PartProfile {
        let recorded = self.recorded();
        let mut by_node = recorded.by_node();
        let nodes = by_node.len();
        by_node.truncate(defaults().profile.nodes);
        let Placement { engine, device, precision, .. } = self.placement.clone();
        PartProfile {
            part: part.into(),
            engine,
            device,
            precision: Some(precision).filter(|precision| !precision.is_empty()),
            runs_ms: self.runs.iter().map(|run| run.wall_ns as f64 * 1e-6).collect(),
            operators_ms: recorded.total_ms(),
            operators_per_run: recorded.per_run(),
            notes: recorded.notes(),
            by_type: recorded.by_type(),
            by_node,
            nodes,
        }
    }
}

fn record_part(
    services: &'static Services,
    opened: &Opened,
    chosen: &Chosen,
    job: &ProfileJob,
    path: &Path,
    manifest: &Manifest,
) -> Result<Recording, Failure> {
    let of_plugin = |error: Error| Failure::from_plugin(&error);
    services.enter(Stage::Load);
    let load = Load {
        options: Options::default(),
        precision: job.precision.clone(),
        devices: chosen.indices.clone(),
        dims: fixed(manifest, &job.axes),
        profile: true,
        ..Load::new(Source::onnx(path))
    };
    let model = opened.instance.load(&load).map_err(of_plugin)?;
    let placement = model.placement().map_err(of_plugin)?;
    refuse_elsewhere(&placement, &chosen.device.id, job.precision.as_deref())?;
    refuse_lost_axes(&model, manifest, &job.axes).map_err(of_plugin)?;
    let no_profile = || Failure::new(FailureKind::Unsupported, "no-profile", "the engine has no profile of its own");
    let recording = opened.instance.recording(&model).ok_or_else(no_profile)?;

    services.enter(Stage::Run);
    let mut request = model.request().map_err(of_plugin)?;
    bind_inputs(&model, &mut request, manifest, &job.axes, job.seed, 0).map_err(of_plugin)?;
    for _ in 0..job.warmup {
        request.run().map_err(of_plugin)?;
    }
    recording.begin().map_err(of_plugin)?;
    let mut runs = vec![];
    let began = Instant::now();
    for _ in 0..job.runs {
        let start = Instant::now();
        request.run().map_err(of_plugin)?;
        let (start_ns, wall_ns) = ((start - began).as_nanos() as u64, start.elapsed().as_nanos() as u64);
        runs.push(Run { start_ns, wall_ns });
    }
    let operators = recording.end().map_err(of_plugin)?;
    if operators.is_empty() {
        let text =
            "the engine recorded no operator: each took less than its clock can tell, or it keeps none for this model";
        return Err(Failure::failed("no-operators", text));
    }
    refuse_impossible(&operators, &runs)?;
    Ok(Recording { placement, operators, runs })
}

/// What is recorded is the model on the device and in the precision that is measured, or nothing.
fn refuse_elsewhere(placement: &Placement, device: &str, precision: Option<&str>) -> Result<(), Failure> {
    if placement.device != device {
        let text = format!("asked for device '{device}', the model was placed on '{}'", placement.device);
        return Err(Failure::failed("fallback", text));
    }
    match precision {
        Some(asked) if asked != placement.precision => {
            let text = format!("asked for precision {asked}, the model was loaded in '{}'", placement.precision);
            Err(Failure::failed("fallback", text))
        }
        _ => Ok(()),
    }
}

/// An operator cannot be of a run that was not, nor take longer than its run.
fn refuse_impossible(operators: &[Operator], runs: &[Run]) -> Result<(), Failure> {
    let broken = |operator: &Operator, text: String| {
        Failure::failed("profile", format!("the backend tells of {} '{}' {text}", operator.kind, operator.name))
    };
    for operator in operators {
        let Some(run) = operator.run else { continue };
        let Some(run) = usize::try_from(run).ok().and_then(|run| runs.get(run)) else {
            return Err(broken(operator, format!("in run {run} of {}", runs.len())));
        };
        if operator.duration_ns > run.wall_ns.saturating_add(CLOCK_NS) {
            return Err(broken(operator, format!("that it took {} ns, its run {}", operator.duration_ns, run.wall_ns)));
        }
    }
    Ok(())
}

/// Engines that count in microseconds round up to the next one at most.
const CLOCK_NS: u64 = 1_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ModelPaths, PluginUse};
    use serde_json::Value;
    use skillbench_plugin_api::client::BackendRef;
    use skillbench_plugin_api::sdk::{Backend, Bindings, Host, Model, Profile, Request};
    use skillbench_plugin_api::{Code, DType, Device, DeviceKind, Options, OwnedTensor, Port, Result, Timing, Why};
    use skillbench_record::PluginOptions;
    use std::ffi::CStr;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    /// A backend whose runs sleep, and are told as two operators; what is to be different is told by its options.
    struct Sleeper {
        options: Options,
    }

    struct Bed {
        inputs: Vec<Port>,
        device: String,
        lies: bool,
        began: Mutex<Option<Vec<Operator>>>,
    }

    struct Lane(Arc<Bed>);

    impl Backend for Sleeper {
        const ID: &'static CStr = c"sleeper";
        const OPTIONS_SCHEMA: &'static CStr = c"{}";
        type Model = Bed;

        fn open(_: Host, options: &Options) -> Result<Sleeper> {
            Ok(Sleeper { options: options.clone() })
        }

        fn devices(&self) -> Vec<Device> {
            vec![Device::new("cpu", "a processor", DeviceKind::Cpu)]
        }

        fn load(&self, load: &Load) -> Result<Bed> {
            assert!(load.profile, "a model that is not recorded has nothing to tell");
            if load.source.path.ends_with("refused.onnx") {
                return Err(Error::unimplemented(Why::MODEL, "it has an operator that is not there"));
            }
            let (name, dtype) = ("x".into(), DType::F32);
            let port = Port { name, dtype, shape: vec![None], dim_names: vec![Some("batch".into())] };
            let device = self.options.get("elsewhere").unwrap_or("cpu").into();
            let lies = self.options.get("lies").is_some();
            Ok(Bed { inputs: vec![port], device, lies, began: Mutex::default() })
        }

        fn profiles(&self) -> bool {
            self.options.get("plain").is_none()
        }
    }

    impl Model for Bed {
        type Request = Lane;

        fn placement(&self) -> Placement {
            Placement { device: self.device.clone(), engine: "sleeper 1".into(), ..Placement::default() }
        }

        fn inputs(&self) -> &[Port] {
            &self.inputs
        }

        fn outputs(&self) -> &[Port] {
            &[]
        }

        fn request(self: &Arc<Self>) -> Result<Lane> {
            Ok(Lane(self.clone()))
        }

        fn profile(&self) -> Option<&dyn Profile> {
            Some(self)
        }
    }

    impl Profile for Bed {
        fn begin(&self) -> Result<()> {
            *self.began.lock().unwrap() = Some(vec![]);
            Ok(())
        }

        fn end(&self) -> Result<Vec<Operator>> {
            let recorded = self.began.lock().unwrap().take();
            recorded.ok_or_else(|| Error::new(Code::FailedPrecondition, "nothing was begun"))
        }
    }

    impl Request for Lane {
        fn run(&mut self, bound: &Bindings) -> Result<Timing> {
            assert_eq!(bound.input(0)?.shape(), [3], "the cell's batch");
            let start = Instant::now();
            std::thread::sleep(Duration::from_millis(2));
            let slept = start.elapsed().as_nanos() as u64;
            if let Some(operators) = self.0.began.lock().unwrap().as_mut() {
                let run = Some(operators.len() as u64 / 2);
                let duration_ns = if self.0.lies { 10_000_000_000 } else { slept / 2 };
                let operator = |kind: &str, start_ns| Operator {
                    run,
                    start_ns: Some(start_ns),
                    duration_ns,
                    name: format!("the {kind}"),
                    kind: kind.into(),
                    device: "cpu".into(),
                    ..Operator::default()
                };
                operators.extend([operator("MatMul", 0), operator("Add", slept / 2)]);
            }
            Ok(Timing::default())
        }

        fn take_output(&mut self, _: usize) -> Result<Option<OwnedTensor>> {
            Ok(None)
        }
    }

    fn job(parts: &[&str]) -> ProfileJob {
        ProfileJob {
            backend: PluginUse {
                id: "sleeper".into(),
                library: crate::Library::new("".into(), Default::default()),
                options: PluginOptions::new(),
            },
            device: None,
            model: ModelPaths {
                skill: "bed".into(),
                manifest: String::new(),
                parts: parts.iter().map(|part| (part.to_string(), format!("{part}.onnx").into())).collect(),
            },
            axes: [("batch".to_string(), 3)].into(),
            precision: None,
            seed: 1,
            warmup: 2,
            runs: 3,
            trace: None,
        }
    }

    fn recorded(option: &str, parts: &[&str]) -> Result<(ProfileReport, Value), Failure> {
        let services = Services::leak(std::io::sink());
        let options = Options([(option.to_string(), "yes".to_string())].into());
        let instance = BackendRef::linked::<Sleeper>().unwrap().open(services.table(), &options).unwrap();
        let devices = instance.devices().unwrap();
        let opened = Opened { services, instance, devices, import_ns: 0, instantiate_ns: 0 };
        let (report, trace) = record(services, &opened, &job(parts))?;
        Ok((report, trace.json()))
    }

    #[test]
    fn the_operators_of_the_recorded_runs_lie_inside_them() {
        let (report, trace) = recorded("", &["model"]).unwrap();
        let [part] = &report.parts[..] else { panic!("one part") };
        assert_eq!((part.runs_ms.len(), part.operators_per_run, part.engine.as_str()), (3, 2.0, "sleeper 1"));
        let mean = part.runs_ms.iter().sum::<f64>() / 3.0;
        assert!(part.operators_ms <= mean && part.operators_ms > 1.9, "{} of {mean}", part.operators_ms);
        assert_eq!((part.by_type.len(), part.by_node.len(), part.nodes), (2, 2, 2));
        assert!((part.by_type.iter().map(|cost| cost.share).sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(part.notes.is_empty(), "{:?}", part.notes);

        let events = trace["traceEvents"].as_array().unwrap();
        let span = |event: &&Value| {
            let from = event["ts"].as_f64().unwrap();
            (from, from + event["dur"].as_f64().unwrap())
        };
        let of = |cat: &str| events.iter().filter(|event| event["cat"] == cat).map(|event| span(&event)).collect();
        let (runs, products): (Vec<_>, Vec<_>) = (of("run"), of("MatMul"));
        assert_eq!((runs.len(), products.len()), (3, 3));
        for ((from, to), (began, ended)) in products.iter().zip(&runs) {
            assert!(from >= began && to <= ended, "{products:?} in {runs:?}");
        }
    }

    #[test]
    fn an_engine_without_a_profile_is_told_by_name_and_gives_no_figure() {
        let failure = recorded("plain", &["model"]).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Unsupported);
        assert!(failure.to_string().contains("engine sleeper has no profile of its own"), "{failure}");
    }

    #[test]
    fn a_part_that_is_refused_is_left_out_with_its_reason_unless_it_is_the_only_one() {
        let (report, _) = recorded("", &["encoder", "refused"]).unwrap();
        assert_eq!(report.parts[0].part, "encoder");
        assert!(report.left_out["refused"].contains("an operator that is not there"), "{:?}", report.left_out);
        assert_eq!(recorded("", &["refused"]).unwrap_err().kind, FailureKind::Unsupported);
    }

    #[test]
    fn a_model_elsewhere_and_operators_longer_than_their_run_are_refused() {
        let elsewhere = recorded("elsewhere", &["model"]).unwrap_err();
        assert!(elsewhere.to_string().contains("placed on 'yes'"), "{elsewhere}");
        let lies = recorded("lies", &["model"]).unwrap_err();
        assert!(lies.to_string().contains("took 10000000000 ns"), "{lies}");
    }
}
