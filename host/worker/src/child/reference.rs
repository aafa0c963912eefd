//! Runs a model on the reference backend and keeps its outputs: once on the inputs of the run, and, for an audit, on inputs that the
//! measured engine sees for the first time while it is timed.

use super::comparison::numbers;
use super::inputs::{self, Filled};
use super::outputs::{self, Sampling, View};
use super::sizes::fixed;
use super::target::refuse_lost_axes;
use super::{Opened, Services};
use crate::{Failure, FailureKind, ReferenceJob, Reply, Stage};
use serde::{Deserialize, Serialize};
use skillbench_models::Manifest;
use skillbench_plugin_api::client::{Model, Output, Request};
use skillbench_plugin_api::{Direction, Error, Load, Source};
use skillbench_record::Axes;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// No more elements of one output are kept; of a larger one every k-th is.
const KEPT: usize = 4 << 20;
/// As many of an audit's, of which there are several, and which are compared while others wait.
const KEPT_OF_AUDIT: usize = 1 << 16;
/// An audit has at least so many inputs, and at most.
const LEAST: u64 = 3;
const MOST: u64 = 16;
/// More than the least are made for no longer than this.
const PATIENCE: Duration = Duration::from_secs(1);

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
    /// The inputs of an audit whose outputs lie beside it.
    #[serde(default)]
    audited: Vec<u64>,
}

/// Outputs of a part that the reference ran.
pub(super) struct Ran {
    pub part: String,
    pub file: PathBuf,
    pub precision: String,
    /// For an audit: the variant of the inputs, and the outputs' file.
    pub audited: Vec<(u64, PathBuf)>,
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
            audited: part.audited.iter().map(|variant| (*variant, audited_file(file, at, *variant))).collect(),
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
    let whole = |file: &Path| outputs::read(file).is_ok();
    let is_whole = |ran: &Ran| whole(&ran.file) && ran.audited.iter().all(|(_, file)| whole(file));
    Index::read(file).is_ok_and(|index| index.ran(file).iter().all(is_whole))
}

fn outputs_file(out: &Path, part: usize) -> PathBuf {
    out.with_extension(format!("{part}.bin"))
}

fn audited_file(out: &Path, part: usize, variant: u64) -> PathBuf {
    out.with_extension(format!("{part}.{variant}.bin"))
}

/// Runs every part, and keeps the outputs. A part that the reference refuses is left out, unless it is the only one; any other
/// failure may be gone the next time, so that nothing is kept.
pub(super) fn write(services: &'static Services, job: &ReferenceJob) -> Result<Reply, Failure> {
    let ReferenceJob { backend, model, axes, out, .. } = job;
    let manifest = Manifest::parse(&model.manifest).map_err(|text| Failure::failed("manifest", text))?;
    let opened = Opened::new(services, backend)?;
    let mut index = Index { parts: vec![] };
    let mut refusal = Failure::failed("model", "the model has no part");
    for (at, (part, path)) in model.parts.iter().enumerate() {
        let axes = manifest.axes_of_part(part, axes);
        let ran =
            PartRun { services, opened: &opened, manifest: &manifest.of_part(part), axes: &axes, job, at }.run(path);
        let (kept, why) = match &ran {
            Ok(kept) => (kept.clone(), None),
            Err(failure) => (Kept::default(), Some(failure.to_string())),
        };
        let Kept { precision, engine, audited } = kept;
        index.parts.push(Part { name: part.to_string(), why, precision, engine, audited });
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
    std::fs::write(out, text).map_err(failed)?;
    Ok(Reply::Referenced)
}

/// Moves the files of a reference to another folder of the same file system, where its index has this name. Other files stay: whoever
/// wrote the reference may have left more.
///
/// # Errors
/// It is not whole, or cannot be moved.
pub fn move_to(from: &Path, to: &Path) -> std::io::Result<()> {
    let index = Index::read(from)?;
    for (at, part) in index.parts.iter().enumerate().filter(|(_, part)| part.why.is_none()) {
        std::fs::rename(outputs_file(from, at), outputs_file(to, at))?;
        for variant in &part.audited {
            std::fs::rename(audited_file(from, at, *variant), audited_file(to, at, *variant))?;
        }
    }
    // The index last: where it is, the outputs are.
    std::fs::rename(from, to)
}

/// What became of a part.
#[derive(Clone, Default)]
struct Kept {
    precision: String,
    engine: String,
    audited: Vec<u64>,
}

struct PartRun<'a> {
    services: &'static Services,
    opened: &'a Opened,
    manifest: &'a Manifest,
    axes: &'a Axes,
    job: &'a ReferenceJob,
    /// The part's place.
    at: usize,
}

impl PartRun<'_> {
    fn run(&self, path: &Path) -> Result<Kept, Failure> {
        let of_plugin = |error: Error| Failure::from_plugin(&error);
        self.services.enter(Stage::Load);
        let mut load = Load::new(Source::onnx(path));
        load.dims = fixed(self.manifest, self.axes);
        let loaded = self.opened.instance.load(&load).map_err(of_plugin)?;
        refuse_lost_axes(&loaded, self.manifest, self.axes).map_err(of_plugin)?;
        self.services.enter(Stage::Run);
        let mut request = loaded.request().map_err(of_plugin)?;
        let mut filled = vec![];
        for index in 0..loaded.inputs().len() as u32 {
            let (tensor, input) =
                inputs::make(&loaded, index, self.manifest, self.axes, self.job.seed, 0).map_err(of_plugin)?;
            request.bind(Direction::Input, index, Arc::new(tensor)).map_err(of_plugin)?;
            filled.push(input);
        }
        let whole = Sampling { most: KEPT, seed: 0 };
        let began = Instant::now();
        self.keep(&loaded, &mut request, whole, &outputs_file(&self.job.out, self.at))?;
        let audited = self.audited(&loaded, &mut request, &filled, began.elapsed())?;
        let placement = loaded.placement().map_err(of_plugin)?;
        Ok(Kept { precision: placement.precision, engine: placement.engine, audited })
    }

    /// Runs once, and keeps the outputs.
    fn keep(
        &self,
        model: &Model<'_>,
        request: &mut Request<'_>,
        sampling: Sampling,
        out: &Path,
    ) -> Result<(), Failure> {
        let of_plugin = |error: Error| Failure::from_plugin(&error);
        request.run().map_err(of_plugin)?;
        let ports = model.outputs();
        let taken: Vec<Output> =
            (0..ports.len() as u32).map(|i| request.take_output(i)).collect::<Result<_, _>>().map_err(of_plugin)?;
        let views: Vec<View<'_>> = taken.iter().map(View::of_output).collect();
        for (port, view) in ports.iter().zip(&views) {
            numbers(port, view, true)
                .map_err(|text| Failure::failed("not-finite", format!("on the reference backend, {text}")))?;
        }
        outputs::keep(ports, &views, sampling, out)
            .map_err(|error| Failure::failed("reference", format!("{}: {error}", out.display())))
    }

    /// Outputs of inputs that nobody has seen. One on which the reference itself fails is passed over.
    fn audited(
        &self,
        model: &Model<'_>,
        request: &mut Request<'_>,
        filled: &[Filled],
        one_takes: Duration,
    ) -> Result<Vec<u64>, Failure> {
        let Some(seed) = self.job.audit_seed else { return Ok(vec![]) };
        let renewals =
            inputs::renewals(request, filled, self.axes, seed).map_err(|error| Failure::from_plugin(&error))?;
        if renewals.is_empty() {
            return Ok(vec![]);
        }
        let affordable = (PATIENCE.as_nanos() / one_takes.as_nanos().max(1)) as u64;
        let sampling = Sampling { most: KEPT_OF_AUDIT, seed };
        let mut audited = vec![];
        for variant in 1..=affordable.clamp(LEAST, MOST) {
            let out = audited_file(&self.job.out, self.at, variant);
            let ran = inputs::renew(request, &renewals, variant)
                .map_err(|error| Failure::from_plugin(&error))
                .and_then(|()| self.keep(model, request, sampling, &out));
            if ran.is_ok() {
                audited.push(variant);
            }
        }
        Ok(audited)
    }
}
