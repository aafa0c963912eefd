//! What cells share, made once: built models, devices with their start-up times, reference outputs.

use super::named::PlannedBackend;
use super::plan::{Plan, PlannedCell, Reference};
use super::workarounds::Attempt;
use crate::skill::{self, BuiltModel};
use parking_lot::Mutex;
use skillbench_record::Axes;
use skillbench_record::defaults::defaults;
use skillbench_record::hash::sha256_text;
use skillbench_record::paths;
use skillbench_record::scratch::Scratch;
use skillbench_worker::child;
use skillbench_worker::{Command, DeviceRecord, Failure, Limits, ReferenceJob, Reply, Worker};
use std::collections::HashMap;
use std::hash::Hash;
use std::path::PathBuf;
use std::sync::Arc;

/// Import and instantiation of a backend, each from a fresh process, and what devices there are.
#[derive(Clone, Debug)]
pub(super) struct Startup {
    pub import_ns: Vec<f64>,
    pub instantiate_ns: Vec<f64>,
    pub devices: Vec<DeviceRecord>,
}

/// Opens a backend in so many fresh processes, one after the other.
pub(super) fn start_up(backend: &PlannedBackend, processes: usize, limits: &Limits) -> Result<Startup, Failure> {
    let mut startup = Startup { import_ns: vec![], instantiate_ns: vec![], devices: vec![] };
    for _ in 0..processes {
        match Worker::call_once(&Command::Devices { backend: backend.plugin.clone() }, limits)? {
            Reply::Devices { import_ns, instantiate_ns, devices } => {
                startup.import_ns.push(import_ns as f64);
                startup.instantiate_ns.push(instantiate_ns as f64);
                startup.devices = devices;
            }
            other => return Err(Failure::unexpected(&other)),
        }
    }
    Ok(startup)
}

/// Models and references, kept for the length of a run.
#[derive(Default)]
pub(super) struct Shared {
    models: Made<(usize, Option<String>), Result<BuiltModel, Failure>>,
    references: Made<(String, usize, String), Result<PathBuf, String>>,
}

/// Things that are made once. Who asks for one that is being made waits for it; who asks for another does not.
struct Made<K, V>(Mutex<HashMap<K, Slot<V>>>);

type Slot<V> = Arc<Mutex<Option<V>>>;

impl<K, V> Default for Made<K, V> {
    fn default() -> Made<K, V> {
        Made(Mutex::default())
    }
}

impl<K: Eq + Hash, V: Clone> Made<K, V> {
    /// The thing, made now where there is none that is `good`.
    fn get(&self, key: K, good: impl FnOnce(&V) -> bool, make: impl FnOnce() -> V) -> V {
        let slot = self.0.lock().entry(key).or_default().clone();
        let mut slot = slot.lock();
        match &*slot {
            Some(made) if good(made) => made.clone(),
            _ => slot.insert(make()).clone(),
        }
    }

    fn forget(&self, which: impl Fn(&K) -> bool) {
        self.0.lock().retain(|key, _| !which(key));
    }
}

impl Shared {
    /// A model's files with weights in a form, built at its first cell.
    pub(super) fn model(
        &self,
        plan: &Plan,
        model: usize,
        form: Option<&str>,
        limits: &Limits,
    ) -> Result<BuiltModel, Failure> {
        let key = (model, form.map(String::from));
        self.models.get(key, |_| true, || skill::build(&plan.models[model], form, limits))
    }

    /// A model in the precision that the run asks for, as far as its skillset can write it.
    pub(super) fn attempt(&self, plan: &Plan, model: usize, limits: &Limits) -> Result<Attempt, Failure> {
        let asked = plan.request.precision.as_deref();
        let form = plan.models[model].form_for(asked);
        let built = self.model(plan, model, form, limits)?;
        // A graph that is written in it needs no backend that puts it in it.
        let precision = asked.filter(|asked| form != Some(*asked)).map(String::from);
        let withheld = asked.and_then(|asked| plan.models[model].description.withheld.get(asked)).cloned();
        Ok(Attempt { withheld, ..Attempt::new(built, precision) })
    }

    /// The model with weights in the form that stands for a precision which a backend does not compute in.
    pub(super) fn stored(
        &self,
        plan: &Plan,
        model: usize,
        precision: &str,
        limits: &Limits,
    ) -> Option<(String, BuiltModel)> {
        let form = plan.models[model].stored_form(precision)?;
        Some((form.into(), self.model(plan, model, Some(form), limits).ok()?))
    }

    /// No further cell needs this model: others may have its place in the cache.
    pub(super) fn release(&self, model: usize) {
        self.models.forget(|(known, _)| *known == model);
    }

    /// Where the outputs of a reference for a cell are, made now or in an earlier run; with `audited`, also those of inputs that the
    /// cell sees while it is timed.
    ///
    /// # Errors
    /// Why that engine has none, in one sentence.
    pub(super) fn reference(
        &self,
        plan: &Plan,
        cell: &PlannedCell,
        reference: usize,
        built: &BuiltModel,
        limits: &Limits,
        audited: bool,
    ) -> Result<PathBuf, String> {
        let mut axes = cell.axes.clone();
        axes.retain(|name, _| built.manifest.names(name) || !plan.is_option(cell.benchmark, name));
        let audit_seed = plan.audit_seed(cell).filter(|_| audited);
        let key = (built.content.clone(), reference, format!("{axes:?} {audit_seed:?}"));
        // Somebody may have cleaned the cache meanwhile.
        let good = |kept: &Result<PathBuf, String>| kept.as_ref().map_or(true, |file| child::is_whole_reference(file));
        self.references
            .get(key, good, || make_reference(plan, &plan.references[reference], built, &axes, audit_seed, limits))
    }
}

fn make_reference(
    plan: &Plan,
    reference: &Reference,
    built: &BuiltModel,
    axes: &Axes,
    audit_seed: Option<u64>,
    limits: &Limits,
) -> Result<PathBuf, String> {
    let backend = &reference.plugin;
    let seed = plan.request.seed.unwrap_or(defaults().run.seed);
    let of_library = std::fs::metadata(&backend.library.path).and_then(|data| Ok((data.len(), data.modified()?))).ok();
    let key = format!(
        "{}|{}|{}|{:?}|{of_library:?}|{axes:?}|{seed}|{audit_seed:?}|{}",
        env!("CARGO_PKG_VERSION"),
        built.content,
        backend.id,
        backend.options,
        built.paths.manifest
    );
    let (folder, name) = (paths::cache().join("references"), format!("{}.json", &sha256_text(&key)[..32]));
    let file = folder.join(&name);
    if !child::is_whole_reference(&file) {
        // A worker writes no other reference than the one it is asked for, and nobody sees it half done.
        let unkept = |error: std::io::Error| format!("{}: {error}", folder.display());
        let scratch = Scratch::in_folder(&folder).map_err(unkept)?;
        let out = scratch.path().join(&name);
        let job = ReferenceJob {
            backend: backend.clone(),
            model: built.paths.clone(),
            axes: axes.clone(),
            seed,
            audit_seed,
            out: out.clone(),
        };
        Worker::call_once(&Command::Reference(Box::new(job)), limits)
            .map_err(|failure| format!("{} could not run the model: {failure}", reference.name()))?;
        child::move_reference(&out, &file).map_err(unkept)?;
    }
    Ok(file)
}
