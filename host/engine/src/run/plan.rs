//! From a request to cells: every backend × model × benchmark × point of the grid that was asked for, in order.

use super::Inventory;
use super::error::RequestError;
use super::grid::{Point, Workload, check_flags, own_point, points, without_effect};
use super::named::{Asked, PlannedBackend, PlannedBenchmark, choose_backends, generator};
use super::resolve::{Resolved, resolve};
use super::serving::{SCENARIO, is_stream};
use super::sizes::Sizes;
use crate::architectures::architectures;
use crate::audit;
use crate::skill::{Catalog, Skill};
use skillbench_record::PluginOptions;
use skillbench_record::defaults::defaults;
use skillbench_record::sealed::SealError;
use skillbench_record::{Axes, Cell, Outcome, Reason};
use skillbench_record::{CellName, RunRequest};
use skillbench_worker::{PluginUse, Stop};

#[derive(Clone, Debug)]
pub struct PlannedCell {
    pub index: usize,
    /// Index into [`Plan::backends`].
    pub backend: usize,
    /// Index into [`Plan::models`].
    pub model: usize,
    /// Index into [`Plan::benchmarks`].
    pub benchmark: usize,
    pub axes: Axes,
    /// Why it is not to be run, by a stated rule.
    pub skip: Option<Reason>,
}

/// What a run will do.
#[derive(Debug)]
pub struct Plan {
    pub request: RunRequest,
    pub backends: Vec<PlannedBackend>,
    pub models: Vec<Skill>,
    pub benchmarks: Vec<PlannedBenchmark>,
    /// The engines whose outputs others are held against, in the order in which they are asked.
    pub references: Vec<Reference>,
    /// Why one of them, or each, is not there.
    pub no_reference: String,
    pub cells: Vec<PlannedCell>,
    pub warnings: Vec<String>,
    /// The cells themselves only verify; rounds come later, from somebody else.
    pub rounds_follow: bool,
    /// Ends whatever is done with the plan.
    pub stop: Stop,
}

/// Plans a run on the backends that its request names, or on all.
///
/// # Errors
/// The first name or value that cannot be, with what was expected.
pub fn plan(inventory: &Inventory, request: RunRequest) -> Result<Plan, RequestError> {
    resolve(inventory, request)?.plan()
}

impl Resolved<'_> {
    /// Lays the cells out, to be run here. A request that names no backend means all.
    ///
    /// # Errors
    /// A point that cannot be; or no backend is here.
    pub fn plan(self) -> Result<Plan, RequestError> {
        let mut plan = self.lay()?;
        plan.seal()?;
        Ok(plan)
    }

    /// Lays the cells out, to be run on the machine that the inventory describes. Nothing of it has to be here.
    ///
    /// # Errors
    /// As [`Resolved::plan`].
    pub fn outline(self) -> Result<Outline, RequestError> {
        let plan = self.lay()?;
        let blank = |cell: &PlannedCell| match &cell.skip {
            None => plan.blank(cell),
            Some(reason) => Cell { outcome: Outcome::Skipped(reason.clone()), ..plan.blank(cell) },
        };
        let cells = plan.cells.iter().map(|cell| (plan.name(cell), blank(cell))).collect();
        Ok(Outline { cells, request: plan.request, models: plan.models, warnings: plan.warnings })
    }

    fn lay(self) -> Result<Plan, RequestError> {
        let Resolved { inventory, catalog, request, backends, benchmarks, models, mut warnings } = self;
        let backends = match backends {
            Some(backends) => backends,
            None => choose_backends(inventory, &request, &mut warnings)?,
        };
        let (references, no_reference) = references(inventory);
        let stop = inventory.stop.clone();
        let mut plan = Plan {
            request,
            backends,
            models,
            benchmarks,
            references,
            no_reference,
            cells: vec![],
            warnings,
            rounds_follow: false,
            stop,
        };
        match plan.request.exactly.is_empty() {
            true => plan.lay_out(&catalog)?,
            false => plan.take_exactly(&catalog)?,
        }
        plan.warn_of_bad_pairs();
        Ok(plan)
    }
}

/// The cells of a plan that runs elsewhere.
#[derive(Debug)]
pub struct Outline {
    pub request: RunRequest,
    /// In order, as far as the plan knows them; with the reason where a stated rule skips one.
    pub cells: Vec<(CellName, Cell)>,
    pub models: Vec<Skill>,
    pub warnings: Vec<String>,
}

/// An engine whose outputs others are held against.
#[derive(Clone, Debug)]
pub struct Reference {
    pub plugin: PluginUse,
    pub version: String,
}

impl Reference {
    /// As results name it: "rten 0.27".
    pub fn name(&self) -> String {
        format!("{} {}", self.plugin.id, self.version)
    }
}

/// Those that are here, in order, and why the first of the others is not.
fn references(inventory: &Inventory) -> (Vec<Reference>, String) {
    let known = &defaults().reference;
    let (mut found, mut missing) = (vec![], String::new());
    for id in std::iter::once(&known.plugin).chain(&known.others) {
        let opened = match inventory.plugin(id) {
            Some(plugin) => {
                let version = plugin.description.version.clone();
                plugin.opened_with(&PluginOptions::new(), None).map(|plugin| Reference { plugin, version })
            }
            None => Err(inventory.why_not(id)),
        };
        match opened {
            Ok(reference) => found.push(reference),
            Err(why) if missing.is_empty() => missing = why,
            Err(_) => {}
        }
    }
    (found, missing)
}

/// The axis of requests a second, and that of requests an hour, for rates that are no whole number a second.
pub(super) const RATE: &str = "rate";
pub(super) const RATE_PER_HOUR: &str = "rate_per_hour";
const AN_HOUR: f64 = 3_600.0;
/// The axis of microseconds for which requests wait for others to be served with.
const BATCH_WAIT: &str = "batch_wait_us";

fn axis_of_rate(per_s: f64) -> (String, i64) {
    match per_s.fract() == 0.0 {
        true => (RATE.into(), per_s as i64),
        false => (RATE_PER_HOUR.into(), (per_s * AN_HOUR).round() as i64),
    }
}

/// Options of a backend and of a benchmark; where both have one of a name, the benchmark's is named with it.
fn key_options(backend: &PluginOptions, benchmark: &PluginOptions, id: &str) -> PluginOptions {
    let mut all = backend.clone();
    for (name, value) in benchmark {
        let name = if backend.contains_key(name) { format!("{id}:{name}") } else { name.clone() };
        all.insert(name, value.clone());
    }
    all
}

impl Plan {
    /// The same plan with nothing but these of its cells.
    ///
    /// # Errors
    /// A cell that is none of the plan.
    pub fn only(mut self, cells: Vec<CellName>) -> Result<Plan, RequestError> {
        self.request.exactly = cells;
        self.find_exactly()?;
        Ok(self)
    }

    /// The cell as far as the plan knows it.
    pub fn blank(&self, planned: &PlannedCell) -> Cell {
        let backend = &self.backends[planned.backend];
        let benchmark = &self.benchmarks[planned.benchmark];
        let skill = &self.models[planned.model].description;
        Cell {
            index: planned.index,
            plugin: backend.choice.plugin.clone(),
            plugin_version: backend.version.clone(),
            plugin_door: backend.door.map(String::from),
            device: backend.choice.device.clone().unwrap_or_default(),
            skill: skill.id.clone(),
            family: skill.family.clone(),
            architecture: skill.architecture.clone(),
            category: skill.category.clone(),
            task: skill.task.clone(),
            parameters: skill.parameters,
            relation: skill.relation.clone(),
            benchmark: benchmark.description.id.clone(),
            benchmark_version: benchmark.description.version.clone(),
            precision_requested: self.request.precision.clone(),
            threads: backend.plugin.options.get("threads").and_then(|text| text.parse().ok()),
            workers: benchmark.workers(),
            options: key_options(&backend.key_options, &benchmark.key_options, &benchmark.description.id),
            axes: planned.axes.clone(),
            ..Cell::blank()
        }
    }

    /// A cell by what was asked for.
    pub fn name(&self, cell: &PlannedCell) -> CellName {
        let choice = &self.backends[cell.backend].choice;
        CellName {
            plugin: choice.plugin.clone(),
            device: choice.device.clone(),
            model: self.models[cell.model].id().to_string(),
            benchmark: self.benchmarks[cell.benchmark].description.id.clone(),
            axes: cell.axes.clone(),
        }
    }

    /// Takes the hash of every library and every file that a plugin is opened with: what runs later is this, or nothing.
    ///
    /// # Errors
    /// One of them cannot be read.
    fn seal(&mut self) -> Result<(), RequestError> {
        let failed = |error: SealError| RequestError(error.to_string());
        for backend in self.backends.iter_mut().filter(|backend| backend.rejected.is_none()) {
            backend.plugin.seal().map_err(failed)?;
        }
        self.references.iter_mut().try_for_each(|reference| reference.plugin.seal()).map_err(failed)?;
        self.benchmarks.iter_mut().try_for_each(|benchmark| benchmark.library.seal([])).map_err(failed)
    }

    /// What the inputs of a cell's timed runs are made from; `None`: nothing of it is timed.
    pub(super) fn audit_seed(&self, cell: &PlannedCell) -> Option<u64> {
        let seed = self.request.seed.unwrap_or(defaults().run.seed);
        let times = !self.request.verify_only || self.rounds_follow;
        times.then(|| audit::seed(seed, &self.benchmarks[cell.benchmark].description.id))
    }

    /// Whether a recorded cell is a planned one.
    pub fn is_cell(&self, planned: &PlannedCell, cell: &Cell) -> bool {
        self.backends[planned.backend].choice.plugin == cell.plugin
            && self.models[planned.model].id() == cell.skill
            && self.benchmarks[planned.benchmark].description.id == cell.benchmark
            && planned.axes == cell.axes
    }

    /// How many fresh processes an initialization figure has: no more than the iterations that suffice to the user.
    pub(super) fn fresh_processes(&self, usual: usize) -> usize {
        self.request.iterations.map_or(usual, |least| usual.min(usize::try_from(least).unwrap_or(usual)))
    }

    /// The engines that judge a cell, in order: the skill's own choice first, and never the one that is judged.
    pub(super) fn reference_engines(&self, cell: &PlannedCell) -> Vec<usize> {
        let own = &self.backends[cell.backend].plugin.library.path;
        let first = self.models[cell.model].description.reference.as_deref();
        let mut reference_engines: Vec<usize> =
            (0..self.references.len()).filter(|index| self.references[*index].plugin.library.path != *own).collect();
        reference_engines.sort_by_key(|index| Some(self.references[*index].plugin.id.as_str()) != first);
        reference_engines
    }

    /// The axes of a cell at each other size of which its benchmark has requests.
    pub(super) fn other_sizes(&self, cell: &PlannedCell) -> Vec<Axes> {
        let sizes = self.benchmarks[cell.benchmark].sizes.as_ref();
        sizes.map_or_else(Vec::new, |sizes| sizes.others(&cell.axes))
    }

    /// The axes that a benchmark takes as options of the same names: how many tokens to make is no dimension of a graph.
    pub(super) fn is_option(&self, benchmark: usize, axis: &str) -> bool {
        skillbench_worker::options::takes(&self.benchmarks[benchmark].description.options_schema, axis)
    }

    /// The dimensions asked for that a benchmark takes as options, such as the depth of a queue; once for each rate and each wait that is
    /// asked for, where it takes them.
    fn of_benchmark(&self, benchmark: usize) -> Vec<Axes> {
        let asked = self.request.dims.iter().filter(|(name, _)| self.is_option(benchmark, name));
        let all: Axes = asked.map(|(name, value)| (name.clone(), *value)).collect();
        let rates = self.request.rates.iter().map(|rate| axis_of_rate(*rate)).collect();
        let waits = self.request.batch_wait_ms.iter().map(|ms| (BATCH_WAIT.to_string(), (ms * 1e3).round() as i64));
        [(RATE, rates), (BATCH_WAIT, waits.collect::<Vec<_>>())].into_iter().fold(vec![all], |all, (axis, values)| {
            if values.is_empty() || !self.is_option(benchmark, axis) {
                return all;
            }
            let with =
                |axes: Axes| values.iter().map(move |value| axes.clone().into_iter().chain([value.clone()]).collect());
            all.into_iter().flat_map(with).collect()
        })
    }

    /// The request as it is about models: without the dimensions that are options of a benchmark.
    fn of_models(&self) -> RunRequest {
        let mut request = self.request.clone();
        request.dims.retain(|name, _| !(0..self.benchmarks.len()).any(|benchmark| self.is_option(benchmark, name)));
        request
    }

    /// Says which models are known to run badly on a backend that was asked for.
    fn warn_of_bad_pairs(&mut self) {
        let mut pairs: Vec<(usize, usize)> = self.cells.iter().map(|cell| (cell.model, cell.backend)).collect();
        pairs.dedup();
        for (model, backend) in pairs {
            let (skill, plugin) = (&self.models[model], &self.backends[backend].choice.plugin);
            let architecture = &skill.description.architecture;
            let text = format!("{} is {architecture}, which is not known to run well on {plugin}", skill.id());
            let by_name = self.backends[backend].asked == Asked::ByName;
            if by_name && architectures().runs_badly(architecture, plugin) && !self.warnings.contains(&text) {
                self.warnings.push(text);
            }
        }
    }

    /// Cells of one point stand together, those first that begin cold: what one of them loaded may serve the next.
    fn lay_out(&mut self, catalog: &Catalog) -> Result<(), RequestError> {
        check_flags(&self.request)?;
        self.check_rates()?;
        let mut order: Vec<usize> = (0..self.benchmarks.len()).collect();
        order.sort_by_key(|index| {
            let description = &self.benchmarks[*index].description;
            (
                self.benchmarks[*index].workload() == Workload::Generation,
                !description.cold_start,
                !description.shares_models,
            )
        });
        let mut measured = vec![];
        // Models that are added on the way are those that make tokens for another.
        for asked in 0..self.models.len() {
            for workload in [Workload::Inference, Workload::Generation] {
                let benchmarks: Vec<usize> =
                    order.iter().copied().filter(|b| self.measures(*b, asked, workload)).collect();
                if !benchmarks.is_empty() {
                    let (model, points) = self.grid_of(asked, workload, catalog)?;
                    // Two names may mean the same generating model.
                    if !measured.contains(&(model, workload)) {
                        measured.push((model, workload));
                        self.add_cells(asked, model, &benchmarks, &points);
                    }
                }
            }
        }
        let measured: Vec<_> = measured.iter().map(|(model, workload)| (&self.models[*model], *workload)).collect();
        for flag in without_effect(&self.request, &measured) {
            self.warnings.push(format!("{flag} changes nothing: no model of this run has what it is about"));
        }
        self.cells.iter_mut().enumerate().for_each(|(index, cell)| cell.index = index);
        Ok(())
    }

    /// What no benchmark takes would be lost in silence, and an axis has whole numbers.
    fn check_rates(&self) -> Result<(), RequestError> {
        let (rates, waits) = (&self.request.rates, &self.request.batch_wait_ms);
        let taken = |axis: &str| (0..self.benchmarks.len()).any(|benchmark| self.is_option(benchmark, axis));
        for (what, is_asked, axis) in
            [("a rate of requests", !rates.is_empty(), RATE), ("a wait for a batch", !waits.is_empty(), BATCH_WAIT)]
        {
            if is_asked && !taken(axis) {
                let text = format!("no benchmark of this run takes {what}: name one that does, as `--bench serving`");
                return Err(RequestError(text));
            }
        }
        if let Some(wait) = waits.iter().find(|wait| (*wait * 1e3 - (*wait * 1e3).round()).abs() > 1e-6) {
            return Err(RequestError(format!(
                "a wait for a batch is a whole number of microseconds; {wait} ms is none"
            )));
        }
        let is_whole = |rate: &&f64| {
            let (_, value) = axis_of_rate(**rate);
            value < 1 || (rate.fract() != 0.0 && (**rate * AN_HOUR - value as f64).abs() > 1e-6)
        };
        match rates.iter().find(is_whole) {
            None => Ok(()),
            Some(rate) => Err(RequestError(format!(
                "a rate is a whole number of requests a second, or of requests an hour; {rate} a second is neither"
            ))),
        }
    }

    /// The cells that are named one by one. They were points of a grid once, so that no rule of the grid is asked again.
    fn take_exactly(&mut self, catalog: &Catalog) -> Result<(), RequestError> {
        // As in a grid, the model that makes tokens for another is held with it.
        let generators: Vec<Skill> = self.models.iter().filter_map(|model| generator(catalog, model)).collect();
        for generator in generators {
            let is_named = self.request.exactly.iter().any(|name| name.model == generator.id());
            if is_named && !self.models.iter().any(|known| known.id() == generator.id()) {
                self.models.push(generator);
            }
        }
        self.find_exactly()
    }

    fn find_exactly(&mut self) -> Result<(), RequestError> {
        let find = |name: &CellName| {
            let is_device = |device: &Option<String>| name.device.is_none() || *device == name.device;
            let backend = self.backends.iter().position(|backend| {
                backend.choice.plugin == name.plugin
                    && (is_device(&backend.choice.device) || backend.choice.device.is_none())
            })?;
            let model = self.models.iter().position(|model| model.id() == name.model)?;
            let benchmark = self.benchmarks.iter().position(|known| known.description.id == name.benchmark)?;
            Some(PlannedCell { index: 0, backend, model, benchmark, axes: name.axes.clone(), skip: None })
        };
        let missing = |name: &CellName| {
            let (model, plugin, benchmark) = (&name.model, &name.plugin, &name.benchmark);
            RequestError(format!("{model} on {plugin} by {benchmark} is none of what this request holds"))
        };
        let cells: Result<Vec<_>, _> =
            self.request.exactly.iter().map(|name| find(name).ok_or_else(|| missing(name))).collect();
        self.cells = cells?;
        self.cells.iter_mut().enumerate().for_each(|(index, cell)| cell.index = index);
        Ok(())
    }

    /// Whether a benchmark does this with a model: any model, but not with one that another benchmark brings.
    fn measures(&self, benchmark: usize, model: usize, workload: Workload) -> bool {
        let is_own = |planned: &PlannedBenchmark| planned.description.skill.as_deref() == Some(self.models[model].id());
        let planned = &self.benchmarks[benchmark];
        let meant = planned.description.skill.is_none() && !self.benchmarks.iter().any(is_own);
        planned.workload() == workload && (is_own(planned) || meant)
    }

    /// The model that is measured where `asked` was named, and its points.
    fn grid_of(
        &mut self,
        asked: usize,
        workload: Workload,
        catalog: &Catalog,
    ) -> Result<(usize, Vec<Point>), RequestError> {
        let skill = &self.models[asked];
        let is_own = |planned: &PlannedBenchmark| planned.description.skill.as_deref() == Some(skill.id());
        if self.benchmarks.iter().any(is_own) {
            // What a benchmark brings is no point of the asked grid.
            return Ok((asked, vec![(own_point(skill), None)]));
        }
        if workload == Workload::Inference {
            return Ok((asked, points(skill, &self.of_models(), workload)?));
        }
        let Some(generator) = generator(catalog, skill) else {
            let text =
                format!("'{}' makes no tokens: its graph has no cache, and no skill here has one for it", skill.id());
            return Ok((asked, vec![(Axes::new(), Some(Reason::new("not-generative", text)))]));
        };
        let points = points(&generator, &self.of_models(), workload)?;
        let known = self.models.iter().position(|known| known.id() == generator.id());
        let model = known.unwrap_or(self.models.len());
        if known.is_none() {
            self.models.push(generator);
        }
        Ok((model, points))
    }

    /// Why there are no requests of several sizes, where those are asked for.
    fn why_not_of_sizes(&self, benchmark: usize, model: usize, axes: &Axes) -> Option<Reason> {
        let PlannedBenchmark { sizes, options, .. } = &self.benchmarks[benchmark];
        let sizes = sizes.as_ref()?;
        let is_stream = self.is_option(benchmark, SCENARIO) && is_stream(options, axes);
        sizes.refused(axes, &self.models[model]).or_else(|| is_stream.then(Sizes::of_a_stream))
    }

    /// `asked` is the model by whose name a backend was chosen, `model` the one that is loaded.
    fn add_cells(&mut self, asked: usize, model: usize, benchmarks: &[usize], points: &[Point]) {
        let chosen = [asked, model].iter().find_map(|model| self.request.chosen.get(self.models[*model].id())).cloned();
        for backend in 0..self.backends.len() {
            let PlannedBackend { choice, asked, .. } = &self.backends[backend];
            if *asked == Asked::ByName && chosen.as_ref().is_some_and(|chosen| *chosen != choice.plugin) {
                continue;
            }
            for (axes, skip) in points {
                for benchmark in benchmarks.iter().copied() {
                    for own in self.of_benchmark(benchmark) {
                        let mut axes = axes.clone();
                        axes.extend(own);
                        let skip = skip.clone().or_else(|| self.why_not_of_sizes(benchmark, model, &axes));
                        self.cells.push(PlannedCell { index: 0, backend, model, benchmark, axes, skip });
                    }
                }
            }
        }
    }
}
