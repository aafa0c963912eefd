//! Commands that look, and measure nothing but the opening: description, devices, ports, and the building of models.

use super::Services;
use super::opened::{Opened, import};
use super::sizes::fixed;
use crate::description::{BackendDescription, BenchmarkDescription, Description, SkillsetDescription};
use crate::loader;
use crate::{DeviceRecord, Failure, Library, ModelPaths, PluginUse, PortRecord, Reply, Stage};
use skillbench_models::Manifest;
use skillbench_plugin_api::client::BackendRef;
use skillbench_plugin_api::{Error, Load, Options, Port, Source};
use skillbench_record::Axes;
use std::path::{Path, PathBuf};

fn of_plugin(error: Error) -> Failure {
    Failure::from_plugin(&error)
}

pub(super) fn describe(services: &'static Services, library: &Library) -> Result<Reply, Failure> {
    let broken = |error: loader::LoadError| Failure::failed("not-a-plugin", format!("{}: {error}", library.display()));
    loader::check_whole(library).map_err(broken)?;
    let (plugin, entry) = import(services, library)?;
    let incomplete = |error: Error| Failure::failed("incomplete", format!("{}: {error}", library.display()));
    let backend = services.within("factory", || plugin.backend()).map_err(incomplete)?.map(|backend| {
        BackendDescription { id: backend.id(), options_schema: backend.options_schema(), slots: slots(&backend) }
    });
    let skillset = services.within("factory", || plugin.skillset()).map_err(incomplete)?;
    let skillset = skillset.map(|skillset| SkillsetDescription {
        id: skillset.id(),
        summary: skillset.summary(),
        skills: services.within("describe", || skillset.descriptions()),
    });
    let benchmarks = services.within("factory", || plugin.benchmarks()).map_err(incomplete)?;
    let benchmarks = benchmarks.iter().map(|benchmark| BenchmarkDescription {
        id: benchmark.id(),
        version: benchmark.version(),
        category: benchmark.category(),
        summary: benchmark.summary(),
        options_schema: benchmark.options_schema(),
        needs_target: benchmark.needs_target(),
        cold_start: benchmark.cold_start(),
        shares_models: benchmark.shares_models(),
        skill: benchmark.skill(),
    });
    Ok(Reply::Described(Box::new(Description {
        id: plugin.id(),
        name: plugin.name(),
        version: plugin.version(),
        vendor: plugin.vendor(),
        license: plugin.license(),
        url: plugin.url(),
        entry,
        contract: plugin.contract(),
        backend,
        skillset,
        benchmarks: benchmarks.collect(),
    })))
}

fn slots(backend: &BackendRef) -> Vec<String> {
    backend.optional_slots().into_iter().filter(|(_, there)| *there).map(|(name, _)| name.into()).collect()
}

pub(super) fn devices(services: &'static Services, backend: &PluginUse) -> Result<Reply, Failure> {
    let opened = Opened::new(services, backend)?;
    let devices = opened.devices.iter().map(DeviceRecord::from).collect();
    Ok(Reply::Devices { import_ns: opened.import_ns, instantiate_ns: opened.instantiate_ns, devices })
}

pub(super) fn inspect(
    services: &'static Services,
    backend: &PluginUse,
    model: &ModelPaths,
    axes: &Axes,
    device: Option<&str>,
    precision: Option<String>,
) -> Result<Reply, Failure> {
    let opened = Opened::new(services, backend)?;
    services.enter(Stage::Load);
    let manifest = Manifest::parse(&model.manifest).map_err(|text| Failure::failed("manifest", text))?;
    let chosen = opened.choose(device)?;
    let load = |(part, path): &(String, PathBuf)| {
        let dims = fixed(&manifest, &manifest.axes_of_part(part, axes));
        Load { dims, devices: chosen.indices.clone(), precision: precision.clone(), ..Load::new(Source::onnx(path)) }
    };
    let loads: Vec<Load> = model.parts.iter().map(load).collect();
    // What is refused is known for all parts before the first is compiled.
    loads.iter().try_for_each(|load| opened.instance.supports(load)).map_err(of_plugin)?;
    let mut first = None;
    for load in &loads {
        let loaded = opened.instance.load(load).map_err(of_plugin)?;
        first.get_or_insert_with(|| (loaded.inputs().to_vec(), loaded.outputs().to_vec()));
    }
    let (inputs, outputs) = first.ok_or_else(|| Failure::failed("model", "the model has no part"))?;
    let records = |ports: &[Port]| ports.iter().map(record).collect();
    Ok(Reply::Inspected { inputs: records(&inputs), outputs: records(&outputs) })
}

fn record(port: &Port) -> PortRecord {
    PortRecord {
        name: port.name.clone(),
        dtype: port.dtype.name().into(),
        shape: port.shape.clone(),
        dim_names: port.dim_names.clone(),
    }
}

pub(super) fn build(
    services: &'static Services,
    library: &Library,
    skill: &str,
    precision: Option<&str>,
    directory: &Path,
) -> Result<Reply, Failure> {
    let (plugin, _) = import(services, library)?;
    let skillset = plugin.skillset().map_err(of_plugin)?;
    let skillset =
        skillset.ok_or_else(|| Failure::failed("no-skillset", format!("{} is no skillset", library.display())))?;
    services.enter(Stage::Load);
    let options = Options(precision.map(|form| ("precision".into(), form.into())).into_iter().collect());
    skillset.build(services.table(), skill, &options, directory).map_err(of_plugin)?;
    Ok(Reply::Built)
}
