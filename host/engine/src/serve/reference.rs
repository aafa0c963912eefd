//! Runs a model once on the reference backend and keeps its outputs, part by part.

use super::target::{bind_inputs, refuse_lost_axes};
use super::{Opened, Services, outputs};
use crate::document::Axes;
use crate::skill::Manifest;
use crate::worker::{Failure, ModelPaths, PluginUse, Reply, Stage};
use skillbench_plugin_api::client::{Instance, Output};
use skillbench_plugin_api::{Dim, Error, Load, Source};
use std::path::{Path, PathBuf};

/// Where the outputs of a model's part are kept, given where those of the first one are.
pub(super) fn file(of_first: &Path, part: usize) -> PathBuf {
    match part {
        0 => of_first.into(),
        part => of_first.with_extension(format!("{part}.bin")),
    }
}

pub(super) fn write(
    services: &'static Services,
    backend: &PluginUse,
    model: &ModelPaths,
    axes: &Axes,
    seed: u64,
    out: &Path,
) -> Result<Reply, Failure> {
    let manifest = Manifest::parse(&model.manifest).map_err(|text| Failure::failed("manifest", text))?;
    let opened = Opened::new(services, backend)?;
    if model.parts.is_empty() {
        return Err(Failure::failed("model", "the model has no part"));
    }
    // The first part last: its file tells that all others are there. A part that the reference cannot run has none.
    for (index, (_, path)) in model.parts.iter().enumerate().rev() {
        let kept = keep(services, &opened.instance, path, &manifest, (axes, seed), &file(out, index));
        if index == 0 {
            kept?;
        }
    }
    Ok(Reply::Referenced)
}

fn keep(
    services: &'static Services,
    instance: &Instance,
    path: &Path,
    manifest: &Manifest,
    (axes, seed): (&Axes, u64),
    out: &Path,
) -> Result<(), Failure> {
    let of_plugin = |error: Error| Failure::from_plugin(&error);
    services.enter(Stage::Load);
    let mut load = Load::new(Source::onnx(path));
    load.dims = axes.iter().map(|(name, value)| Dim::fixed(name, *value)).collect();
    let loaded = instance.load(&load).map_err(of_plugin)?;
    refuse_lost_axes(&loaded, manifest, axes).map_err(of_plugin)?;
    services.enter(Stage::Run);
    let mut request = loaded.request().map_err(of_plugin)?;
    bind_inputs(&loaded, &mut request, manifest, axes, seed, 0).map_err(of_plugin)?;
    request.run().map_err(of_plugin)?;
    let ports = loaded.outputs();
    let taken: Vec<Output> =
        (0..ports.len() as u32).map(|i| request.take_output(i)).collect::<Result<_, _>>().map_err(of_plugin)?;
    for (port, output) in ports.iter().zip(&taken) {
        outputs::finite(port, output)
            .map_err(|text| Failure::failed("not-finite", format!("on the reference backend, {text}")))?;
    }
    let failed = |error: std::io::Error| Failure::failed("reference", format!("{}: {error}", out.display()));
    outputs::keep(ports, &taken, out).map_err(failed)
}
