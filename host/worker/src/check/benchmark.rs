//! Rules about benchmarks. They run on the probe, or on the skill that a benchmark brings, with the reference backend.

use super::{Finding, Test};
use crate::CATEGORIES;
use crate::FailureKind;
use crate::child::{Services, run_alone};
use crate::loader;
use crate::{CellJob, CellReport, CheckJob, Failure, ModelPaths, Policy, Pooling, VerifyJob};
use skillbench_models::Manifest;
use skillbench_plugin_api::client::BenchmarkRef;
use skillbench_plugin_api::host_tables::{ReporterServices, ReporterTable};
use skillbench_plugin_api::{Options, Result as SbResult, Round, SeriesInfo};
use skillbench_record::Axes;
use skillbench_record::PluginOptions;
use std::collections::HashSet;
use std::time::{Duration, Instant};

fn benchmarks(job: &CheckJob) -> Result<Vec<BenchmarkRef>, String> {
    let (plugin, _) = loader::load(&job.library).map_err(|error| error.to_string())?;
    plugin.benchmarks().map_err(|error| error.to_string())
}

pub(super) fn described(_: &'static Services, job: &CheckJob) -> Test {
    let mut ids = HashSet::new();
    for benchmark in benchmarks(job)? {
        let id = benchmark.id();
        if id.is_empty() || !ids.insert(id.clone()) {
            return Err(format!("the id '{id}' is empty, or there twice").into());
        }
        if benchmark.version().is_empty() {
            return Err(format!("benchmark '{id}' has no version").into());
        }
        // A benchmark without a target may leave its category to the folder that its library is in.
        let left_open = benchmark.category().is_empty() && !benchmark.needs_target();
        if !left_open && !CATEGORIES.contains(&benchmark.category().as_str()) {
            return Err(format!("benchmark '{id}' has category '{}'", benchmark.category()).into());
        }
        crate::options::check_schema(&benchmark.options_schema(), &id)?;
        if crate::options::all_sizes_of(&benchmark.options_schema()).len() > 1 {
            return Err(format!(
                "benchmark '{id}' has several options of the format 'sizes', and the host looks at one"
            )
            .into());
        }
    }
    Ok(())
}

/// A reporter that gives out no round.
struct NoRounds;

impl ReporterServices for NoRounds {
    fn series(&self, _: SeriesInfo) -> SbResult<u32> {
        Ok(0)
    }

    fn next_round(&self, _: u32) -> Option<Round> {
        None
    }

    fn samples(&self, _: u32, _: u64, _: &[f64]) -> SbResult<()> {
        Ok(())
    }

    fn attach(&self, _: &str, _: &[u8]) {}
}

pub(super) fn needs_target(services: &'static Services, job: &CheckJob) -> Test {
    for benchmark in benchmarks(job)?.into_iter().filter(BenchmarkRef::needs_target) {
        let reporter = ReporterTable::new(&NoRounds);
        let run = || benchmark.run(services.table(), None, &Options::default(), &reporter);
        if services.within("sb_benchmark.run", run).is_ok() {
            return Err(format!("benchmark '{}' succeeds without the target it needs", benchmark.id()).into());
        }
    }
    Ok(())
}

/// What a benchmark is run on.
struct Model {
    paths: ModelPaths,
    axes: Axes,
}

/// The probe; the skill that a benchmark brings, where the same plugin builds it.
fn model(services: &'static Services, job: &CheckJob, benchmark: &BenchmarkRef) -> Result<Model, Finding> {
    if job.backend.is_none() {
        return Err(Finding::Unavailable("there is no backend to measure with".into()));
    }
    let Some(skill) = benchmark.skill() else {
        let parts = vec![(String::new(), job.probe.clone())];
        let paths = ModelPaths { skill: "probe".into(), manifest: String::new(), parts };
        return Ok(Model { paths, axes: [("batch".to_string(), 4)].into() });
    };
    let (plugin, _) = loader::load(&job.library).map_err(|error| error.to_string())?;
    let skillset = plugin.skillset().map_err(|error| error.to_string())?;
    let skillset =
        skillset.ok_or_else(|| Finding::Unavailable(format!("another plugin builds its skill '{skill}'")))?;
    let folder = job.scratch.join(benchmark.id());
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let build = || skillset.build(services.table(), &skill, &Options::default(), &folder);
    services.within("build", build).map_err(|error| format!("skill '{skill}': {error}"))?;
    let text = std::fs::read_to_string(folder.join("skill.json")).map_err(|error| format!("skill.json: {error}"))?;
    let manifest = Manifest::parse(&text)?;
    let parts = manifest.parts.iter().map(|part| (part.name.clone(), folder.join(&part.graph))).collect();
    let axes = manifest.description.axes.iter().map(|(name, [least, _])| (name.clone(), *least)).collect();
    Ok(Model { paths: ModelPaths { skill, manifest: text, parts }, axes })
}

/// Runs a benchmark on a model with the reference backend, for a fifth of a second.
fn run(services: &'static Services, job: &CheckJob, id: &str, model: Model) -> Result<CellReport, Failure> {
    run_for(services, job, id, model, Duration::from_millis(200))
}

/// `budget`: as long as it goes on where nobody stops it.
fn run_for(
    services: &'static Services,
    job: &CheckJob,
    id: &str,
    model: Model,
    budget: Duration,
) -> Result<CellReport, Failure> {
    let short = budget.as_secs() == 0;
    let missing = || Failure::failed("reference", "there is no reference backend to measure with");
    let cell = CellJob {
        backend: job.backend.clone().ok_or_else(missing)?,
        device: None,
        benchmark_library: job.library.clone(),
        benchmark: id.into(),
        benchmark_options: PluginOptions::new(),
        model: model.paths,
        axes: model.axes,
        precision: None,
        seed: 1,
        audit_seed: 1,
        verify: VerifyJob::Alone { why: "a check of the benchmark, not of a backend".into() },
        sizes: vec![],
        policy: Policy {
            warmup: 2,
            warmup_ns: None,
            iterations: short.then_some(10),
            interval: if short { 0.5 } else { 0.0 },
            rate_interval: if short { 0.5 } else { 0.0 },
            budget_ns: budget.as_nanos() as u64,
            verify_only: false,
            interleaved_round_ns: None,
            whole_budget: false,
        },
        cache_dir: None,
        attachments: None,
        pooling: Pooling::default(),
    };
    run_alone(services, &cell)
}

pub(super) fn measures(services: &'static Services, job: &CheckJob) -> Test {
    for benchmark in benchmarks(job)?.into_iter().filter(BenchmarkRef::needs_target) {
        let id = benchmark.id();
        let model = model(services, job, &benchmark)?;
        let report = run(services, job, &id, model).map_err(|failure| match failure.kind {
            // It measures models of another kind.
            FailureKind::Unsupported => Finding::Unavailable(format!("benchmark '{id}': {failure}")),
            _ => Finding::Broken(format!("benchmark '{id}': {failure}")),
        })?;
        if report.verification.is_none() {
            return Err(format!("benchmark '{id}' does not verify its target").into());
        }
        let measured = |series: &crate::SeriesRecord| series.rounds.iter().any(|round| round.measured);
        if !report.series.iter().any(measured) {
            return Err(format!("benchmark '{id}' measured no round").into());
        }
    }
    Ok(())
}

/// When a benchmark is asked to stop, how long it may take then, and how long it would go on otherwise.
const ASKED_AFTER: Duration = Duration::from_millis(700);
const ENDS_WITHIN: Duration = Duration::from_secs(1);
const WOULD_TAKE: Duration = Duration::from_secs(8);

pub(super) fn stops(services: &'static Services, job: &CheckJob) -> Test {
    // Once a worker is asked to stop it runs nothing more: one benchmark stands for all of a plugin.
    let Some(benchmark) = benchmarks(job)?.into_iter().find(BenchmarkRef::needs_target) else { return Ok(()) };
    let id = benchmark.id();
    let model = model(services, job, &benchmark)?;
    std::thread::spawn(|| {
        std::thread::sleep(ASKED_AFTER);
        services.stop();
    });
    let began = Instant::now();
    let _ = run_for(services, job, &id, model, WOULD_TAKE);
    let late = began.elapsed().saturating_sub(ASKED_AFTER);
    let text = format!("benchmark '{id}' went on for {:.1} s after it was asked to stop", late.as_secs_f64());
    if late < ENDS_WITHIN { Ok(()) } else { Err(text.into()) }
}

pub(super) fn passes_failure_on(services: &'static Services, job: &CheckJob) -> Test {
    for benchmark in benchmarks(job)?.into_iter().filter(BenchmarkRef::needs_target) {
        let id = benchmark.id();
        let mut model = model(services, job, &benchmark)?;
        model.paths.parts.iter_mut().for_each(|(_, path)| *path = job.scratch.join("missing.onnx"));
        match run(services, job, &id, model) {
            Ok(_) => return Err(format!("benchmark '{id}' reports figures of a model that could not be loaded").into()),
            Err(failure) if failure.reason.code == "benchmark" => {
                return Err(format!("benchmark '{id}': {failure}").into());
            }
            Err(_) => {}
        }
    }
    Ok(())
}
