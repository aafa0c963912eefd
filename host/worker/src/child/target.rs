//! The target that benchmarks measure: loads are timed and read back, inputs come from the skill's rules, outputs are verified.

use super::audit::{self, Audit, Lane, RoundWatch, Unseen};
use super::comparison::{compare, finite, tolerance, tolerance_of_spread};
use super::outputs::View;
use super::pool::{Key, Pool};
use super::sizes::Size;
use super::{Opened, Services, inputs, outputs, reference};
use crate::{CellJob, Chosen, LoadRecord, Stage, VerifyJob};
use skillbench_models::Manifest;
use skillbench_plugin_api::client::{Model, Output, Request};
use skillbench_plugin_api::host_tables::{Touch, WatchedTarget};
use skillbench_plugin_api::{
    Code, Dim, Direction, Error, HostTensor, Load, Options, Result, Round, Source, Timing, Why,
};
use skillbench_record::{Axes, PlacementRecord, PoolRecord, Verification};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Locks, and goes on after a panic elsewhere: what is inside is only ever replaced whole.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A loaded model with memory for its inputs, which an earlier request left.
pub(super) struct Loaded<'i> {
    pub model: Model<'i>,
    key: Key,
    placement: PlacementRecord,
    precision: String,
    /// As far as it is about this part.
    manifest: Manifest,
    /// Memory of inputs that no request is bound to.
    idle: Mutex<Vec<(u32, HostTensor)>>,
}

impl Loaded<'_> {
    pub fn part(&self) -> &str {
        &self.key.part
    }
}

pub(super) struct CellTarget<'i, 'c> {
    services: &'static Services,
    opened: &'i Opened,
    pool: &'c Pool<'i>,
    job: &'c CellJob,
    manifest: &'c Manifest,
    devices: &'c Chosen,
    pub audit: Audit<'i>,
    serial: Mutex<()>,
    loads: AtomicUsize,
    verified: &'c AtomicBool,
    pub seen: Mutex<Seen>,
}

/// What the target learnt while a benchmark ran.
#[derive(Default)]
pub(super) struct Seen {
    pub loads: Vec<LoadRecord>,
    /// Of each part, in the order they were loaded, at whichever size each was first.
    placements: Vec<(String, PlacementRecord)>,
    pub verification: Option<Verification>,
    pub memory_loaded: Option<u64>,
    pub memory_load_peak: Option<u64>,
    pub memory_first_peak: Option<u64>,
    pub pool: PoolRecord,
    /// The outputs are finite, and differ from the reference that was given.
    pub differs: bool,
    /// The parts that were loaded: none is measured before all are verified, but for those that were given up.
    parts: BTreeMap<String, LoadedPart>,
    /// The first failure of a service that no benchmark may pass over. It explains one that fails without saying why.
    pub failure: Option<Error>,
}

/// A part of the model that the benchmark loaded.
#[derive(Default)]
struct LoadedPart {
    verified: bool,
    /// How often it is loaded now.
    loads: usize,
}

impl Seen {
    /// Where the model is, by the part that was loaded first.
    pub fn placement(&self) -> Option<&PlacementRecord> {
        self.placements.first().map(|(_, placement)| placement)
    }

    /// Whether rounds may be measured.
    fn is_verified(&self) -> bool {
        !self.parts.is_empty() && self.parts.values().all(|part| part.verified)
    }
}

impl<'i, 'c> CellTarget<'i, 'c> {
    pub fn new(
        services: &'static Services,
        opened: &'i Opened,
        pool: &'c Pool<'i>,
        job: &'c CellJob,
        manifest: &'c Manifest,
        devices: &'c Chosen,
        verified: &'c AtomicBool,
    ) -> CellTarget<'i, 'c> {
        let (serial, loads, seen) = Default::default();
        let (stages, budget) = (manifest.repeats(&job.axes), Duration::from_nanos(job.policy.budget_ns));
        let audit = Audit::new(services.epoch(), stages, !job.sizes.is_empty(), budget);
        CellTarget { services, opened, pool, job, manifest, devices, audit, serial, loads, verified, seen }
    }

    /// A model that is idle in the pool, or one that is loaded now.
    fn find_or_load(&self, part: &str, dims: &[Dim]) -> Result<Arc<Loaded<'i>>> {
        let dims = self.job.dims_for(dims, self.manifest);
        let graph = self.job.model.parts.iter().find(|(name, _)| name == part).map(|(_, path)| path.clone());
        let key = Key { part: part.into(), graph, dims, precision: self.job.precision.clone() };
        let found = if self.job.pooling.take { self.pool.take(&key) } else { None };
        let pooled = self.job.pooling.take || self.job.pooling.keep;
        lock(&self.seen).pool.model_hits += u64::from(found.is_some());
        lock(&self.seen).pool.model_misses += u64::from(pooled && found.is_none());
        let loaded = match found {
            Some(loaded) => {
                self.refuse_lost(&loaded.model, &loaded.manifest, &loaded.key)?;
                loaded
            }
            None => Arc::new(self.load_now(key)?),
        };
        let mut seen = lock(&self.seen);
        seen.parts.entry(self.known_as(&loaded)).or_default().loads += 1;
        // What another part's outputs showed says nothing of this one.
        if !matches!(self.job.verify, VerifyJob::Off) && !seen.is_verified() {
            self.verified.store(false, Ordering::SeqCst);
        }
        // One size of a model is no lighter than another by being another computation.
        match seen.placements.iter().find(|(known, _)| known == part) {
            None => seen.placements.push((part.into(), loaded.placement.clone())),
            Some((_, first)) => refuse_another(first, &loaded.placement)?,
        }
        Ok(loaded)
    }

    fn load_now(&self, key: Key) -> Result<Loaded<'i>> {
        let path =
            key.graph.as_ref().ok_or_else(|| Error::not_found(format!("the model has no part '{}'", key.part)))?;
        let load = Load {
            options: Options::default(),
            source: Source::onnx(path),
            precision: self.job.precision.clone(),
            cache_dir: self.cache_folder()?,
            devices: self.devices.indices.clone(),
            dims: key.dims.clone(),
            allow_fallback: false,
            profile: false,
        };
        let one_at_a_time = self.opened.instance.backend().serial_load().then(|| lock(&self.serial));
        let start = Instant::now();
        let model = self.opened.instance.load(&load)?;
        let total_ns = start.elapsed().as_nanos() as u64;
        drop(one_at_a_time);
        self.audit.timed(total_ns, None, None);

        let placement = model.placement()?;
        self.refuse_other_placement(&placement)?;
        let parts = [placement.read_ns, placement.compile_ns, placement.upload_ns].into_iter().flatten();
        if parts.fold(0, u64::saturating_add) > total_ns {
            return Err(Error::internal(
                "the parts of the load, as the backend tells them, add up to more than it took",
            ));
        }
        let manifest = self.manifest.of_part(&key.part);
        self.refuse_lost(&model, &manifest, &key)?;
        let mut seen = lock(&self.seen);
        seen.loads.push(LoadRecord {
            total_ns,
            read_ns: placement.read_ns,
            compile_ns: placement.compile_ns,
            cache_hit: placement.cache_hit,
        });
        seen.memory_loaded = seen.memory_loaded.or_else(resident);
        seen.memory_load_peak = seen.memory_load_peak.or_else(highest);
        let (record, precision) = (placement_record(&placement), placement.precision.clone());
        Ok(Loaded { model, key, placement: record, precision, manifest, idle: Mutex::default() })
    }

    fn refuse_lost(&self, model: &Model<'_>, of_part: &Manifest, key: &Key) -> Result<()> {
        let axes = self.job.size_of(&key.dims, self.manifest).axes_of_graphs(self.job, self.manifest);
        refuse_lost_axes(model, of_part, &self.manifest.axes_of_part(&key.part, &axes))
    }

    fn size(&self, loaded: &Loaded<'_>) -> Size<'c> {
        self.job.size_of(&loaded.key.dims, self.manifest)
    }

    /// What a part at its size is verified and audited as.
    fn known_as(&self, loaded: &Loaded<'_>) -> String {
        self.size(loaded).key(loaded.part())
    }

    /// A folder of its own for each load, so that each compile is a cold one.
    fn cache_folder(&self) -> Result<Option<PathBuf>> {
        let Some(base) = &self.job.cache_dir else { return Ok(None) };
        let folder = base.join(format!("load-{}", self.loads.fetch_add(1, Ordering::SeqCst)));
        let failed = |error: std::io::Error| Error::internal(format!("{}: {error}", folder.display()));
        std::fs::create_dir_all(&folder).map_err(failed)?;
        Ok(Some(folder))
    }

    /// Law: what ran is read back. A model elsewhere than asked, or of another precision, is no measurement of the target.
    fn refuse_other_placement(&self, placement: &skillbench_plugin_api::Placement) -> Result<()> {
        let device = &self.devices.device.id;
        if placement.engine.is_empty() {
            return Err(Error::internal("the backend does not tell which engine the model runs in"));
        }
        if placement.device != *device {
            let text = format!(
                "fallback refused: asked for device '{device}', the model was placed on '{}'",
                placement.device
            );
            return Err(Error::new(Code::FailedPrecondition, text).because(Why::DEVICE));
        }
        if let (Some(all), Some(here)) = (placement.nodes_total, placement.nodes_on_device)
            && here < all
        {
            let text = format!("fallback refused: only {here} of {all} nodes are on device '{device}'");
            return Err(Error::new(Code::FailedPrecondition, text).because(Why::DEVICE));
        }
        match &self.job.precision {
            Some(asked) if *asked != placement.precision => {
                let loaded = if placement.precision.is_empty() { "one it cannot tell" } else { &placement.precision };
                let text = format!("asked for precision {asked}, the model was loaded in {loaded}");
                Err(Error::new(Code::FailedPrecondition, text).because(Why::PRECISION))
            }
            _ => Ok(()),
        }
    }

    /// Holds what a run on the inputs of the run gave against the reference.
    fn check(&self, loaded: &Loaded<'i>, taken: &[Output]) -> Result<Verification> {
        let wrong = |text: String| Error::new(Code::WrongOutput, text);
        let ports = loaded.model.outputs();
        let unread = |error: std::io::Error, file: &Path| Error::internal(format!("{}: {error}", file.display()));
        let size = self.size(loaded);
        let Size { axes, verify, .. } = size;
        let ran = match verify {
            VerifyJob::Off => return Ok(Verification::Off),
            VerifyJob::Alone { why } => Err(why.clone()),
            VerifyJob::Against { file, .. } => {
                let index = reference::Index::read(file).map_err(|error| unread(error, file))?;
                index.outputs(file, &loaded.key.part)
            }
        };
        let references =
            ran.as_ref().ok().map(|ran| outputs::read(&ran.file).map_err(|error| unread(error, &ran.file)));
        let references = references.transpose()?;
        let views: Vec<View<'_>> = taken.iter().map(View::of_output).collect();
        for (port, view) in ports.iter().zip(&views) {
            finite(port, view, references.as_deref()).map_err(wrong)?;
        }
        let (VerifyJob::Against { reference, same_engine, dissent, spread, .. }, Ok(ran), Some(references)) =
            (verify, &ran, references)
        else {
            return Ok(Verification::NoReference { why: ran.err().unwrap_or_default() });
        };
        // A reference in a coarser precision can vouch for no more than that.
        let within = |precision: &str| tolerance(&loaded.manifest, precision);
        let named = within(&loaded.precision).max(within(&ran.precision));
        let is_float32 = [&loaded.precision, &ran.precision].iter().all(|precision| *precision == "float32");
        // Within the tolerance of float32 no coarser precision may pass.
        let tolerance = match spread.filter(|_| is_float32) {
            Some(spread) => tolerance_of_spread(spread, named),
            None => named,
        };
        let found = compare(ports, &views, &references, tolerance).map_err(|text| {
            lock(&self.seen).differs = true;
            wrong(if size.is_own() { text } else { format!("at {axes}, {text}") })
        })?;
        // Other requests of the part were verified before.
        let known_as = self.known_as(loaded);
        if !self.audit.has(&known_as) {
            let unseen = Unseen::read(&ran.audited, tolerance).map_err(|error| unread(error, &ran.file))?;
            if let Some(batch) = lost_batch(axes, &views, &unseen) {
                let text = format!(
                    "a batch of {batch} does not reach the work: all rows of its outputs are the same, and those of its inputs are not"
                );
                return Err(Error::unimplemented(Why::MODEL, text));
            }
            self.audit.knows(&known_as, unseen);
        }
        Ok(Verification::Passed {
            reference: reference.clone(),
            same_engine: *same_engine,
            max_relative_difference: found.max_relative,
            tolerance,
            elements_compared: found.elements,
            spread: *spread,
            dissent: dissent.clone(),
        })
    }

    fn verify_now(&self, lane: &Lane<'i>) -> Result<()> {
        let loaded = lane.loaded();
        let count = loaded.model.outputs().len() as u32;
        lane.with(|request| {
            let taken: Vec<Output> = (0..count).map(|index| request.take_output(index)).collect::<Result<_>>()?;
            let verification = self.check(loaded, &taken)?;
            for (index, output) in taken.iter().enumerate() {
                // Memory of one size cannot hold what comes in many.
                if !self.audit.keeps_shape(lane.known_as(), &loaded.model.outputs()[index].name) {
                    continue;
                }
                match request.bind(Direction::Output, index as u32, Arc::new(output.to_host()?)) {
                    Ok(()) => {}
                    // The engine allocates its outputs itself.
                    Err(error) if error.code == Code::Unimplemented => break,
                    Err(error) => return Err(error),
                }
            }
            merge(&mut lock(&self.seen).verification, verification);
            Ok(())
        })?;
        lane.verified(&self.audit);
        let mut seen = lock(&self.seen);
        seen.parts.entry(lane.known_as().into()).or_default().verified = true;
        self.verified.store(seen.is_verified(), Ordering::SeqCst);
        Ok(())
    }

    /// A part that was loaded and given up, since it cannot be run here, keeps no other one from being measured.
    fn give_up(&self, part: &str) {
        let mut seen = lock(&self.seen);
        let Some(given_up) = seen.parts.get_mut(part) else { return };
        given_up.loads = given_up.loads.saturating_sub(1);
        if given_up.loads == 0 && !given_up.verified && !matches!(self.job.verify, VerifyJob::Off) {
            seen.parts.remove(part);
            self.verified.store(seen.is_verified(), Ordering::SeqCst);
        }
    }

    /// A model that a round loaded: held against the reference on an input that nobody saw, before it goes.
    fn check_loaded(&self, loaded: &Arc<Loaded<'i>>) -> Result<()> {
        let lane = Lane::new(loaded, self.known_as(loaded))?;
        self.prepare_now(&lane, 0)?;
        lane.verified(&self.audit);
        self.audit.check_loaded(&lane)
    }

    fn prepare_now(&self, lane: &Lane<'i>, variant: u64) -> Result<()> {
        let loaded = lane.loaded();
        let axes = self.size(loaded).axes;
        let count = loaded.model.inputs().len() as u32;
        let (mut filled, mut hits) = (vec![], 0);
        for index in 0..count {
            let (mut tensor, input) =
                inputs::make(&loaded.model, index, &loaded.manifest, axes, self.job.seed, variant)?;
            let mut idle = lock(&loaded.idle);
            let fits = |(of, kept): &(u32, HostTensor)| {
                *of == index && kept.dtype() == tensor.dtype() && kept.shape() == tensor.shape()
            };
            if let Some(at) = idle.iter().position(fits) {
                let (_, mut kept) = idle.swap_remove(at);
                kept.bytes_mut().copy_from_slice(tensor.bytes());
                tensor = kept;
                hits += 1;
            }
            drop(idle);
            lane.with(|request| request.bind(Direction::Input, index, Arc::new(tensor)))?;
            filled.push(input);
        }
        let audited = !matches!(self.job.verify, VerifyJob::Off);
        lane.prepared(&filled, axes, audited.then_some(self.job.audit_seed))?;
        let mut seen = lock(&self.seen);
        seen.pool.input_hits += hits;
        seen.pool.input_misses += u64::from(count) - hits;
        drop(seen);
        lane.with(|request| (0..loaded.model.outputs().len() as u32).try_for_each(|index| request.leave_output(index)))
    }

    /// Of a skill in several parts a benchmark may leave out one that the backend refuses: nothing was run, so nothing of it is
    /// in any figure. Whether the others suffice, the benchmark says.
    fn may_do_without(&self, error: &Error) -> bool {
        let refusal = [Code::Unimplemented, Code::FailedPrecondition, Code::Unavailable, Code::ResourceExhausted];
        self.job.model.parts.len() > 1 && refusal.contains(&error.code)
    }

    /// Keeps the first failure for the case that the benchmark does not pass it on.
    fn noting<T>(&self, result: Result<T>) -> Result<T> {
        if let Err(error) = &result {
            lock(&self.seen).failure.get_or_insert_with(|| error.clone());
        }
        result
    }
}

/// # Errors
/// A part was loaded in another precision, or by another engine, at one size than at another.
fn refuse_another(first: &PlacementRecord, now: &PlacementRecord) -> Result<()> {
    if (&first.precision, &first.engine) == (&now.precision, &now.engine) {
        return Ok(());
    }
    let named = |of: &PlacementRecord| format!("{} by {}", of.precision.as_deref().unwrap_or("?"), of.engine);
    let text = format!(
        "fallback refused: of one model the backend loaded one size in {}, and another in {}",
        named(first),
        named(now)
    );
    Err(Error::new(Code::FailedPrecondition, text).because(Why::PRECISION))
}

/// Law: the asked work reaches the model. A batch of 4 on a graph that is fixed at 1 would be a figure for work not done.
pub(super) fn refuse_lost_axes(model: &Model<'_>, manifest: &Manifest, axes: &Axes) -> Result<()> {
    match skillbench_models::unreached(model.inputs(), manifest, axes).first() {
        None => Ok(()),
        Some(axis) => {
            let text =
                format!("{axis} {} would not reach the model: its graph has no such dynamic dimension", axes[*axis]);
            Err(Error::unimplemented(Why::MODEL, text))
        }
    }
}

/// Law: the asked work reaches the model. Outputs that move with their inputs, and have the same row for each of a batch, are those of
/// one row.
fn lost_batch(axes: &Axes, outputs: &[View<'_>], unseen: &Unseen) -> Option<usize> {
    let batch = axes.get("batch").and_then(|batch| usize::try_from(*batch).ok()).filter(|batch| *batch > 1)?;
    let same_rows = |output: &View<'_>| {
        let row = output.bytes.len() / batch;
        output.shape.first() == Some(&batch)
            && row > 0
            && output.bytes.chunks(row).all(|one| one == &output.bytes[..row])
    };
    let moves = unseen.movement().is_some_and(|moves| moves > 0.0);
    let floats = outputs.iter().any(View::is_float);
    (moves && floats && outputs.iter().all(same_rows)).then_some(batch)
}

/// Several requests, or parts, are verified; the cell shows the one that came closest to its tolerance. Where one had no
/// reference, the cell had none.
fn merge(all: &mut Option<Verification>, one: Verification) {
    let closeness = |verification: &Verification| match verification {
        Verification::Passed { max_relative_difference, tolerance, .. } => max_relative_difference / tolerance,
        Verification::NoReference { .. } | Verification::Off => f64::INFINITY,
    };
    match all {
        Some(known) if closeness(known) >= closeness(&one) => {}
        _ => *all = Some(one),
    }
}

/// Binds every input of a request that this side owns.
pub(super) fn bind_inputs(
    model: &Model<'_>,
    request: &mut Request<'_>,
    manifest: &Manifest,
    axes: &Axes,
    seed: u64,
    variant: u64,
) -> Result<()> {
    for index in 0..model.inputs().len() as u32 {
        let (tensor, _) = inputs::make(model, index, manifest, axes, seed, variant)?;
        request.bind(Direction::Input, index, Arc::new(tensor))?;
    }
    Ok(())
}

/// This process's resident set in bytes; `None` where the system does not tell.
pub(crate) fn resident() -> Option<u64> {
    status("VmRSS")
}

/// The highest resident set of this process so far.
pub(super) fn highest() -> Option<u64> {
    status("VmHWM")
}

fn status(key: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with(key))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

impl<'i> WatchedTarget for CellTarget<'i, '_> {
    type Loaded = Loaded<'i>;
    type Lane = Arc<Lane<'i>>;

    fn load(&self, part: &str, dims: &[Dim]) -> Result<Arc<Loaded<'i>>> {
        self.services.go_on()?;
        self.services.enter(Stage::Load);
        let loaded = self.find_or_load(part, dims);
        self.services.enter(Stage::Run);
        match loaded {
            Err(error) if self.may_do_without(&error) => Err(error),
            loaded => self.noting(loaded),
        }
    }

    fn unload(&self, loaded: Arc<Loaded<'i>>) {
        if self.job.pooling.keep {
            self.pool.give(loaded.key.clone(), loaded.clone());
        }
        let one_at_a_time = self.opened.instance.backend().serial_load().then(|| lock(&self.serial));
        let start = Instant::now();
        let known_as = self.known_as(&loaded);
        if self.audit.wants_loaded(&known_as) {
            let _ = self.noting(self.check_loaded(&loaded));
        }
        self.give_up(&known_as);
        drop(loaded);
        self.audit.outside(start.elapsed().as_nanos() as u64);
        drop(one_at_a_time);
    }

    fn model<'l>(&self, loaded: &'l Loaded<'i>) -> &'l Model<'l> {
        &loaded.model
    }

    fn request(&self, loaded: &Arc<Loaded<'i>>) -> Result<Arc<Lane<'i>>> {
        let lane = Arc::new(Lane::new(loaded, self.known_as(loaded))?);
        self.audit.watch(&lane);
        Ok(lane)
    }

    fn prepare(&self, lane: &Arc<Lane<'i>>, variant: u64) -> Result<()> {
        self.services.enter(Stage::Prepare);
        let prepared = self.noting(self.prepare_now(lane, variant));
        self.services.enter(Stage::Run);
        prepared
    }

    fn verify(&self, lane: &Arc<Lane<'i>>) -> Result<()> {
        self.services.enter(Stage::Verify);
        // What verifying takes is the host's own.
        let mut seen = lock(&self.seen);
        seen.memory_first_peak = seen.memory_first_peak.or_else(highest);
        drop(seen);
        let verified = self.noting(self.verify_now(lane));
        self.services.enter(Stage::Run);
        verified
    }

    fn run(&self, lane: &Arc<Lane<'i>>) -> Result<Timing> {
        self.services.go_on()?;
        match lane.run(&self.audit) {
            Err(error) if error.code == Code::WrongOutput => self.noting(Err(error)),
            ran => ran,
        }
    }

    fn submit(&self, lane: &Arc<Lane<'i>>, done: Box<dyn FnOnce(Result<Timing>) + Send>) -> Result<()> {
        self.services.go_on()?;
        match lane.submit(&self.audit, done) {
            Err(error) if error.code == Code::WrongOutput => self.noting(Err(error)),
            submitted => submitted,
        }
    }

    fn cancel(&self, lane: &Arc<Lane<'i>>) -> Result<()> {
        lane.cancel()
    }

    fn touch(
        &self,
        lane: &Arc<Lane<'i>>,
        what: Touch,
        touch: &mut dyn FnMut(&mut Request<'_>) -> Result<()>,
    ) -> Result<()> {
        lane.touch(what, touch)
    }

    fn release(&self, lane: Arc<Lane<'i>>) {
        let loaded = lane.loaded().clone();
        if let Some(lane) = Arc::into_inner(lane) {
            lock(&loaded.idle).extend(lane.into_inputs());
        }
    }
}

impl RoundWatch for CellTarget<'_, '_> {
    fn begin(&self, series: &str, round: &Round, for_counter: bool) {
        self.audit.begin(series, round, for_counter);
    }

    fn end(&self, iterations: u64) -> audit::Seen {
        self.audit.end(iterations)
    }

    fn over(&self) {
        // What the host holds against references is no memory of the model's.
        self.services.enter(Stage::Verify);
        let _ = self.noting(self.audit.after_the_last_round());
        self.services.enter(Stage::Run);
    }
}

fn placement_record(placement: &skillbench_plugin_api::Placement) -> PlacementRecord {
    PlacementRecord {
        precision: Some(placement.precision.clone()).filter(|precision| !precision.is_empty()),
        device: placement.device.clone(),
        engine: placement.engine.clone(),
        nodes_total: placement.nodes_total,
        nodes_on_device: placement.nodes_on_device,
        cache_hit: placement.cache_hit,
    }
}
