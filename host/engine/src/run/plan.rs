//! From a request to cells: every backend × model × benchmark × point of the grid that was asked for, in order.

use super::request::{BackendChoice, RunRequest};
use super::{Inventory, Plugin};
use crate::architectures::architectures;
use crate::defaults::defaults;
use crate::describe::BenchmarkDescription;
use crate::document::{Axes, Reason};
use crate::registry::PluginOptions;
use crate::skill::{Catalog, Skill, standard_axis};
use crate::suggest::did_you_mean;
use crate::worker::PluginUse;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A request that names what is not there, or asks for what cannot be. The command line exits with 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct RequestError(pub String);

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

#[derive(Clone, Debug)]
pub struct PlannedBackend {
    pub choice: BackendChoice,
    pub version: String,
    pub plugin: PluginUse,
    pub asked: Asked,
}

/// How a backend came into a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// By its name: where it cannot run, its cells say so.
    ByName,
    /// As a web platform: left out where it cannot run.
    AsWeb,
    /// With all others: left out where it cannot run, and where it is emulated or a web platform.
    WithAll,
}

#[derive(Clone, Debug)]
pub struct PlannedBenchmark {
    pub description: BenchmarkDescription,
    pub library: PathBuf,
    pub options: PluginOptions,
}

/// What a run will do.
#[derive(Debug)]
pub struct Plan {
    pub request: RunRequest,
    pub backends: Vec<PlannedBackend>,
    pub models: Vec<Skill>,
    pub benchmarks: Vec<PlannedBenchmark>,
    pub reference: Option<PluginUse>,
    pub reference_version: String,
    /// Why there is no reference.
    pub no_reference: String,
    pub cells: Vec<PlannedCell>,
    pub warnings: Vec<String>,
}

/// Plans a run.
///
/// # Errors
/// The first name or value that cannot be, with what was expected.
pub fn plan(inventory: &Inventory, request: RunRequest) -> Result<Plan, RequestError> {
    let mut warnings = vec![];
    let backends = choose_backends(inventory, &request, &mut warnings)?;
    let benchmarks = choose_benchmarks(inventory, &request)?;
    let models = choose_models(&inventory.catalog(), &request, &benchmarks)?;
    let id = &defaults().reference.plugin;
    let reference = inventory.plugin(id);
    let opened = reference.map(|plugin| plugin.opened_with(&PluginOptions::new(), None));
    let (reference_use, no_reference) = match opened {
        Some(Ok(reference)) => (Some(reference), String::new()),
        Some(Err(error)) => (None, error),
        None => (None, inventory.why_not(id)),
    };
    let mut plan = Plan {
        reference: reference_use,
        reference_version: reference.map(|plugin| plugin.description.version.clone()).unwrap_or_default(),
        no_reference,
        request,
        backends,
        models,
        benchmarks,
        cells: vec![],
        warnings,
    };
    plan.lay_out()?;
    plan.warn_of_bad_pairs();
    Ok(plan)
}

fn choose_backends(
    inventory: &Inventory,
    request: &RunRequest,
    warnings: &mut Vec<String>,
) -> Result<Vec<PlannedBackend>, RequestError> {
    let choices = all_choices(inventory, request)?;
    for option in &request.options {
        check_option_owner(option, &choices)?;
    }
    let mut backends: Vec<PlannedBackend> = vec![];
    for (choice, plugin, asked) in choices {
        if backends.iter().any(|known| known.choice == choice) {
            continue;
        }
        let schema = plugin.description.backend.as_ref().map_or("", |backend| backend.options_schema.as_str());
        let mine = request.options.iter().filter(|option| match &option.plugin {
            Some(owner) => *owner == plugin.id,
            None => crate::options::takes(schema, &option.key),
        });
        let own = mine.map(|option| (option.key.clone(), option.value.clone())).collect();
        let of_machine = || std::thread::available_parallelism().ok().map(|n| n.get() as u64);
        let set_already = plugin.entry.options.contains_key("threads");
        let threads = request.threads.or_else(|| if set_already { None } else { of_machine() });
        let opened = plugin.opened_with(&own, threads).map_err(RequestError)?;
        if request.threads.is_some() && !opened.options.contains_key("threads") {
            warnings.push(format!("plugin '{}' takes no number of threads; --threads does not reach it", plugin.id));
        }
        backends.push(PlannedBackend { choice, version: plugin.description.version.clone(), plugin: opened, asked });
    }
    match backends.is_empty() {
        true => Err(RequestError(
            "no backend plugin was found; `host plugin list --verbose` says what was looked at".into(),
        )),
        false => Ok(backends),
    }
}

/// Every backend that the request means, in its order.
fn all_choices<'a>(inventory: &'a Inventory, request: &RunRequest) -> Result<Vec<Chosen<'a>>, RequestError> {
    let of = |plugin: &'a Plugin, asked| (BackendChoice { plugin: plugin.id.clone(), device: None }, plugin, asked);
    let mut all: Vec<Chosen<'a>> = vec![];
    let everything = || inventory.backends().map(|(plugin, _)| of(plugin, Asked::WithAll));
    if request.backends.is_empty() {
        all.extend(everything());
    }
    for choice in &request.backends {
        if choice.plugin == BackendChoice::ALL {
            all.extend(everything());
            continue;
        }
        let plugin = find_backend(inventory, choice)?;
        let choice = BackendChoice { plugin: plugin.id.clone(), device: choice.device.clone() };
        all.retain(|(known, ..)| *known != choice);
        all.push((choice, plugin, Asked::ByName));
    }
    if request.include_web_platforms {
        for plugin in architectures().web.iter().filter_map(|id| inventory.plugin(id)) {
            if !all.iter().any(|(choice, _, asked)| choice.plugin == plugin.id && *asked == Asked::ByName) {
                all.retain(|(choice, ..)| choice.plugin != plugin.id);
                all.push(of(plugin, Asked::AsWeb));
            }
        }
    }
    Ok(all)
}

type Chosen<'a> = (BackendChoice, &'a Plugin, Asked);

fn find_backend<'a>(inventory: &'a Inventory, choice: &BackendChoice) -> Result<&'a Plugin, RequestError> {
    let plugin = inventory.plugin(&choice.plugin).ok_or_else(|| RequestError(inventory.why_not(&choice.plugin)))?;
    match plugin.description.backend {
        Some(_) => Ok(plugin),
        None => Err(RequestError(format!(
            "plugin '{}' is no backend; it is a {}",
            plugin.id,
            plugin.description.kinds().join(" and ")
        ))),
    }
}

/// An option for a plugin that is not in the run, or that no plugin of the run takes, would be lost in silence.
fn check_option_owner(option: &super::OptionChoice, choices: &[Chosen<'_>]) -> Result<(), RequestError> {
    let takes = |plugin: &Plugin| {
        plugin.description.backend.as_ref().is_some_and(|b| crate::options::takes(&b.options_schema, &option.key))
    };
    let reached = match &option.plugin {
        Some(owner) => choices.iter().any(|(choice, ..)| choice.plugin == *owner),
        None => choices.iter().any(|(_, plugin, _)| takes(plugin)),
    };
    let whose = option
        .plugin
        .as_ref()
        .map_or("no plugin of this run takes".into(), |p| format!("plugin '{p}' is not in this run, for"));
    match reached {
        true => Ok(()),
        false => Err(RequestError(format!(
            "{whose} option '{}'; `host plugin info PLUGIN` lists a plugin's options",
            option.key
        ))),
    }
}

/// The models of a run, before its backends are chosen.
///
/// # Errors
/// The first name that cannot be.
pub(super) fn models_of(inventory: &Inventory, request: &RunRequest) -> Result<Vec<Skill>, RequestError> {
    choose_models(&inventory.catalog(), request, &choose_benchmarks(inventory, request)?)
}

/// The asked models, where a benchmark measures any; and those that benchmarks bring.
fn choose_models(
    catalog: &Catalog,
    request: &RunRequest,
    benchmarks: &[PlannedBenchmark],
) -> Result<Vec<Skill>, RequestError> {
    let any = benchmarks.iter().any(|benchmark| benchmark.description.skill.is_none());
    let asked = if request.models.is_empty() { &defaults().run.models } else { &request.models };
    let own = benchmarks.iter().filter_map(|benchmark| benchmark.description.skill.as_ref());
    let mut models: Vec<Skill> = vec![];
    for name in asked.iter().filter(|_| any).chain(own) {
        let skill = catalog.find(name).map_err(RequestError)?;
        if !models.iter().any(|known| known.id() == skill.id()) {
            models.push(skill);
        }
    }
    Ok(models)
}

fn choose_benchmarks(inventory: &Inventory, request: &RunRequest) -> Result<Vec<PlannedBenchmark>, RequestError> {
    let names = match (request.verify_only, request.benchmarks.is_empty()) {
        (true, _) => vec!["inference".to_string()],
        (false, true) => defaults().run.benchmarks.clone(),
        (false, false) => request.benchmarks.clone(),
    };
    let names = names.iter().flat_map(|name| match name.as_str() {
        "both" => defaults().run.benchmarks.clone(),
        _ => vec![name.clone()],
    });
    let mut chosen: Vec<PlannedBenchmark> = vec![];
    for name in names {
        // A benchmark by its own name, or all of a plugin by the plugin's.
        let found: Vec<_> = inventory.benchmarks().filter(|(plugin, b)| b.id == name || plugin.id == name).collect();
        if found.is_empty() {
            let known = inventory.benchmarks().flat_map(|(plugin, b)| [plugin.id.as_str(), b.id.as_str()]);
            return Err(RequestError(format!("there is no benchmark '{name}'{}", did_you_mean(&name, known))));
        }
        for (plugin, description) in found {
            if chosen.iter().any(|known| known.description.id == description.id) {
                continue;
            }
            if !description.needs_target {
                let text = format!(
                    "benchmark '{}' measures no model on no backend; `host run` has nothing to point it at",
                    description.id
                );
                return Err(RequestError(text));
            }
            let mut options = PluginOptions::new();
            if crate::options::takes(&description.options_schema, "workers") {
                let workers = request.concurrent_workers.unwrap_or(defaults().run.concurrent_workers);
                options.insert("workers".into(), workers.to_string());
            }
            let owner = format!("benchmark '{}'", description.id);
            crate::options::check(&options, &description.options_schema, &owner).map_err(RequestError)?;
            chosen.push(PlannedBenchmark {
                description: description.clone(),
                library: plugin.library.clone(),
                options,
            });
        }
    }
    Ok(chosen)
}

impl Plan {
    /// Whether a backend is the reference itself.
    pub(super) fn is_reference(&self, backend: usize) -> bool {
        self.reference.as_ref().is_some_and(|reference| reference.library == self.backends[backend].plugin.library)
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

    fn lay_out(&mut self) -> Result<(), RequestError> {
        for (model, skill) in self.models.iter().enumerate() {
            let is_own = |benchmark: &PlannedBenchmark| benchmark.description.skill.as_deref() == Some(skill.id());
            // What a benchmark brings is no point of the asked grid.
            let points = match self.benchmarks.iter().any(is_own) {
                true => vec![(own_point(skill), None)],
                false => points(skill, &self.request)?,
            };
            let chosen = self.request.chosen.get(skill.id());
            for backend in 0..self.backends.len() {
                let PlannedBackend { choice, asked, .. } = &self.backends[backend];
                if *asked == Asked::ByName && chosen.is_some_and(|chosen| *chosen != choice.plugin) {
                    continue;
                }
                for (benchmark, planned) in self.benchmarks.iter().enumerate() {
                    if planned.description.skill.as_deref().is_some_and(|own| own != skill.id())
                        || (planned.description.skill.is_none() && self.benchmarks.iter().any(is_own))
                    {
                        continue;
                    }
                    for (axes, skip) in &points {
                        let (axes, skip) = (axes.clone(), skip.clone());
                        self.cells.push(PlannedCell { index: 0, backend, model, benchmark, axes, skip });
                    }
                }
            }
        }
        self.cells.iter_mut().enumerate().for_each(|(index, cell)| cell.index = index);
        Ok(())
    }
}

/// The grid of a model: batch × sequence where it has these axes, and one value for each other axis.
fn points(skill: &Skill, request: &RunRequest) -> Result<Vec<(Axes, Option<Reason>)>, RequestError> {
    let default_set = request.models.is_empty();
    let or = |asked: &[i64], otherwise: &[i64]| if asked.is_empty() { otherwise.to_vec() } else { asked.to_vec() };
    let (run, grid) = (&defaults().run, &defaults().grid);
    let batches = or(&request.batch_sizes, if default_set { &run.batch_sizes } else { &grid.batch_sizes });
    let lengths =
        or(&request.sequence_lengths, if default_set { &run.sequence_lengths } else { &grid.sequence_lengths });
    let axes = &skill.description.axes;
    let has = |name: &str| skill.is_file() || axes.contains_key(name);
    // A user's file says which axes it has only when it is loaded: those that were asked for are given to it.
    let with_sequence = axes.contains_key("sequence") || (skill.is_file() && !request.sequence_lengths.is_empty());

    let mut others = Axes::new();
    for (name, [least, most]) in axes.iter().filter(|(name, _)| !["batch", "sequence"].contains(&name.as_str())) {
        let default = grid.axes.get(name).copied().unwrap_or(*least);
        others.insert(name.clone(), request.dims.get(name).copied().unwrap_or(default.clamp(*least, *most)));
    }
    if skill.is_file() {
        others.extend(request.dims.iter().map(|(name, value)| (standard_axis(name).to_string(), *value)));
    } else if let Some(other) = request.dims.keys().find(|name| ["batch", "sequence"].contains(&name.as_str())) {
        let flag = if other == "batch" { "--batch-sizes" } else { "--sequence-lengths" };
        return Err(RequestError(format!("'{other}' has a flag of its own: {flag}")));
    } else if let Some(unknown) = request.dims.keys().find(|name| !axes.contains_key(*name)) {
        let known = did_you_mean(unknown, axes.keys().map(String::as_str));
        return Err(RequestError(format!("model '{}' has no dimension '{unknown}'{known}", skill.id())));
    }
    let mut all = vec![];
    for batch in batches {
        for length in if with_sequence { lengths.clone() } else { vec![0] } {
            let mut point = others.clone();
            let mut skip = None;
            match has("batch") {
                true => drop(point.entry("batch".into()).or_insert(batch)),
                false if batch != 1 => {
                    skip = Some(Reason::new(
                        "fixed-batch",
                        format!("the graph of '{}' has a fixed batch of 1", skill.id()),
                    ));
                    point.insert("batch".into(), batch);
                }
                false => {}
            }
            if with_sequence {
                point.entry("sequence".into()).or_insert(length);
            }
            let skip = skip.or_else(|| out_of_range(&point, axes)).or_else(|| too_many_tokens(&point, skill));
            if !all.iter().any(|(known, _)| *known == point) {
                all.push((point, skip));
            }
        }
    }
    Ok(all)
}

/// The first point of a model's grid that is not skipped by a rule.
///
/// # Errors
/// As for a plan.
pub fn first_point(skill: &Skill, request: &RunRequest) -> Result<Axes, RequestError> {
    let first = points(skill, request)?.into_iter().find(|(_, skip)| skip.is_none());
    Ok(first.map(|(axes, _)| axes).unwrap_or_default())
}

/// The one point of a skill that a benchmark brings: the least of each axis.
fn own_point(skill: &Skill) -> Axes {
    skill.description.axes.iter().map(|(name, [least, _])| (name.clone(), *least)).collect()
}

fn out_of_range(point: &Axes, axes: &BTreeMap<String, [i64; 2]>) -> Option<Reason> {
    let beyond = |(name, value): (&String, &i64)| {
        let [least, most] = axes.get(name)?;
        let text = || format!("{name} {value} is outside what the model takes, {least} to {most}");
        (!(least..=most).contains(&value)).then(|| Reason::new("out-of-range", text()))
    };
    point.iter().find_map(beyond)
}

fn too_many_tokens(point: &Axes, skill: &Skill) -> Option<Reason> {
    let limit = &defaults().token_limit;
    let tokens = point.get("batch")?.checked_mul(*point.get("sequence")?)?;
    let applies = limit.architectures.contains(&skill.description.architecture);
    let text =
        || format!("batch x sequence is {tokens}, more than {} for {}", limit.limit, skill.description.architecture);
    (applies && tokens > limit.limit).then(|| Reason::new("token-limit", text()))
}
