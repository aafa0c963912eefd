//! Runs a model once on the reference backend and keeps its outputs.

use super::target::{bind_inputs, refuse_lost_axes};
use super::{Opened, Services, outputs};
use crate::document::Axes;
use crate::skill::Manifest;
use crate::worker::{Failure, ModelPaths, PluginUse, Reply, Stage};
use skillbench_plugin_api::client::Output;
use skillbench_plugin_api::{Dim, Error, Load, Source};
use std::path::Path;

pub(super) fn write(
    services: &'static Services,
    backend: &PluginUse,
    model: &ModelPaths,
    axes: &Axes,
    seed: u64,
    out: &Path,
) -> Result<Reply, Failure> {
    let of_plugin = |error: Error| Failure::from_plugin(&error);
    let manifest = Manifest::parse(&model.manifest).map_err(|text| Failure::failed("manifest", text))?;
    let opened = Opened::new(services, backend)?;
    services.enter(Stage::Load);
    let (_, path) = model.parts.first().ok_or_else(|| Failure::failed("model", "the model has no part"))?;
    let mut load = Load::new(Source::onnx(path));
    load.dims = axes.iter().map(|(name, value)| Dim::fixed(name, *value)).collect();
    let loaded = opened.instance.load(&load).map_err(of_plugin)?;
    refuse_lost_axes(&loaded, &manifest, axes).map_err(of_plugin)?;
    services.enter(Stage::Run);
    let mut request = loaded.request().map_err(of_plugin)?;
    bind_inputs(&loaded, &mut request, &manifest, axes, seed, 0).map_err(of_plugin)?;
    request.run().map_err(of_plugin)?;
    let ports = loaded.outputs();
    let taken: Vec<Output> =
        (0..ports.len() as u32).map(|i| request.take_output(i)).collect::<Result<_, _>>().map_err(of_plugin)?;
    for (port, output) in ports.iter().zip(&taken) {
        outputs::finite(port, output)
            .map_err(|text| Failure::failed("not-finite", format!("on the reference backend, {text}")))?;
    }
    let failed = |error: std::io::Error| Failure::failed("reference", format!("{}: {error}", out.display()));
    outputs::keep(ports, &taken, out).map_err(failed)?;
    Ok(Reply::Referenced)
}
