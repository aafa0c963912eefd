//! Runs a model once on the reference backend and keeps its outputs.

use super::target::{bind_inputs, fixed, refuse_lost_axes};
use super::{Opened, Services, outputs};
use crate::document::Axes;
use crate::skill::Manifest;
use crate::worker::{Failure, FailureKind, ModelPaths, PluginUse, Reply, Stage};
use serde::{Deserialize, Serialize};
use skillbench_plugin_api::client::Output;
use skillbench_plugin_api::{Error, Load, Source};
use std::path::{Path, PathBuf};

/// What the file at `out` holds: for each part of the model, why the reference could not run it, or that its outputs lie beside.
#[derive(Serialize, Deserialize)]
pub(super) struct Index {
    parts: Vec<(String, Option<String>)>,
}

impl Index {
    /// # Errors
    /// The file is not there, or not whole.
    pub fn read(file: &Path) -> std::io::Result<Index> {
        Ok(serde_json::from_slice(&std::fs::read(file)?)?)
    }

    /// The parts that were run, with their outputs.
    pub fn files(&self, file: &Path) -> Vec<(String, PathBuf)> {
        let ran = self.parts.iter().enumerate().filter(|(_, (_, why))| why.is_none());
        ran.map(|(at, (name, _))| (name.clone(), outputs_file(file, at))).collect()
    }

    /// Where the outputs of a part are, or why there are none.
    pub fn outputs(&self, file: &Path, part: &str) -> Result<PathBuf, String> {
        match self.parts.iter().position(|(name, _)| name == part).map(|at| (at, &self.parts[at].1)) {
            Some((at, None)) => Ok(outputs_file(file, at)),
            Some((_, Some(why))) => Err(why.clone()),
            None => Err(format!("the reference knows no part '{part}'")),
        }
    }
}

/// Whether a reference is there with the outputs of every part that it tells of. One that is damaged is made again.
pub(crate) fn is_whole(file: &Path) -> bool {
    let there = |(at, (_, why)): (usize, &(String, Option<String>))| {
        why.is_some() || outputs::read(&outputs_file(file, at)).is_ok()
    };
    Index::read(file).is_ok_and(|index| index.parts.iter().enumerate().all(there))
}

fn outputs_file(out: &Path, part: usize) -> PathBuf {
    out.with_extension(format!("{part}.bin"))
}

/// Runs every part, and keeps the outputs. A part that the reference refuses is left out, unless it is the only one; any other
/// failure may be gone the next time, so that nothing is kept.
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
    let mut index = Index { parts: vec![] };
    let mut refusal = Failure::failed("model", "the model has no part");
    for (at, (part, path)) in model.parts.iter().enumerate() {
        let axes = manifest.axes_of_part(part, axes);
        let ran = run(services, &opened, path, &manifest.of_part(part), &axes, seed, &outputs_file(out, at));
        index.parts.push((part.clone(), ran.as_ref().err().map(Failure::to_string)));
        match ran {
            Ok(()) => {}
            Err(failure) if failure.kind == FailureKind::Unsupported => refusal = failure,
            Err(failure) => return Err(failure),
        }
    }
    if index.parts.iter().all(|(_, why)| why.is_some()) {
        return Err(refusal);
    }
    let failed = |error: std::io::Error| Failure::failed("reference", format!("{}: {error}", out.display()));
    let text = serde_json::to_vec(&index).map_err(|error| failed(error.into()))?;
    // The index last: where it is, the outputs are.
    let scratch = tempfile::NamedTempFile::new_in(out.parent().unwrap_or(Path::new("."))).map_err(failed)?;
    std::fs::write(scratch.path(), text).map_err(failed)?;
    scratch.persist(out).map_err(|error| failed(error.error))?;
    Ok(Reply::Referenced)
}

fn run(
    services: &'static Services,
    opened: &Opened,
    path: &Path,
    manifest: &Manifest,
    axes: &Axes,
    seed: u64,
    out: &Path,
) -> Result<(), Failure> {
    let of_plugin = |error: Error| Failure::from_plugin(&error);
    services.enter(Stage::Load);
    let mut load = Load::new(Source::onnx(path));
    load.dims = fixed(axes);
    let loaded = opened.instance.load(&load).map_err(of_plugin)?;
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
