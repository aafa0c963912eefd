//! Runs a model once on the reference backend and keeps its outputs.

use super::target::{bind_inputs, fixed, refuse_lost_axes};
use super::{Opened, Services, outputs};
use crate::{Failure, FailureKind, ModelPaths, PluginUse, Reply, Stage};
use serde::{Deserialize, Serialize};
use skillbench_models::Manifest;
use skillbench_plugin_api::client::Output;
use skillbench_plugin_api::{Error, Load, Source};
use skillbench_record::Axes;
use std::path::{Path, PathBuf};

/// What the file at `out` holds: for each part of the model, why the reference could not run it, or that its outputs lie beside it.
#[derive(Serialize, Deserialize)]
pub(super) struct Index {
    parts: Vec<Part>,
}

#[derive(Serialize, Deserialize)]
struct Part {
    name: String,
    why: Option<String>,
    /// What the reference computed in; empty where it cannot tell.
    precision: String,
    /// Name and version of what ran it.
    engine: String,
}

/// Outputs of a part that the reference ran.
pub(super) struct Ran {
    pub part: String,
    pub file: PathBuf,
    pub precision: String,
}

impl Index {
    /// # Errors
    /// The file is not there, or not whole.
    pub fn read(file: &Path) -> std::io::Result<Index> {
        Ok(serde_json::from_slice(&std::fs::read(file)?)?)
    }

    /// The parts that were run, with their outputs.
    pub fn ran(&self, file: &Path) -> Vec<Ran> {
        let ran = self.parts.iter().enumerate().filter(|(_, part)| part.why.is_none());
        ran.map(|(at, part)| Ran {
            part: part.name.clone(),
            file: outputs_file(file, at),
            precision: part.precision.clone(),
        })
        .collect()
    }

    /// The outputs of a part, or why there are none.
    pub fn outputs(&self, file: &Path, part: &str) -> Result<Ran, String> {
        let why = self.parts.iter().find(|known| known.name == part).and_then(|known| known.why.clone());
        let ran = self.ran(file).into_iter().find(|ran| ran.part == part);
        ran.ok_or_else(|| why.unwrap_or_else(|| format!("the reference knows no part '{part}'")))
    }
}

/// How many parts of a model a reference has the outputs of.
pub fn parts(file: &Path) -> usize {
    Index::read(file).map_or(0, |index| index.ran(file).len())
}

/// The engines that ran a reference's parts.
pub fn engines(file: &Path) -> Vec<String> {
    let index = Index::read(file).map(|index| index.parts).unwrap_or_default();
    index.into_iter().map(|part| part.engine).filter(|engine| !engine.is_empty()).collect()
}

/// Whether a reference is there with the outputs of every part that it tells of. One that is damaged is made again.
pub fn is_whole(file: &Path) -> bool {
    Index::read(file).is_ok_and(|index| index.ran(file).iter().all(|ran| outputs::read(&ran.file).is_ok()))
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
        index.parts.push(Part {
            name: part.clone(),
            why: ran.as_ref().err().map(Failure::to_string),
            precision: ran.as_ref().ok().map(|(precision, _)| precision.clone()).unwrap_or_default(),
            engine: ran.as_ref().ok().map(|(_, engine)| engine.clone()).unwrap_or_default(),
        });
        match ran {
            Ok(_) => {}
            Err(failure) if failure.kind == FailureKind::Unsupported => refusal = failure,
            Err(failure) => return Err(failure),
        }
    }
    if index.parts.iter().all(|part| part.why.is_some()) {
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

/// Runs one part, and returns the precision and the engine that it ran in.
fn run(
    services: &'static Services,
    opened: &Opened,
    path: &Path,
    manifest: &Manifest,
    axes: &Axes,
    seed: u64,
    out: &Path,
) -> Result<(String, String), Failure> {
    let of_plugin = |error: Error| Failure::from_plugin(&error);
    services.enter(Stage::Load);
    let mut load = Load::new(Source::onnx(path));
    load.dims = fixed(manifest, axes);
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
    outputs::keep(ports, &taken, out).map_err(failed)?;
    let placement = loaded.placement().map_err(of_plugin)?;
    Ok((placement.precision, placement.engine))
}
