//! What the names of a request stand for: backends with their options, models, benchmarks.

use super::error::RequestError;
use super::grid::Workload;
use super::reserved::GENERATOR_PROCESSORS;
use super::select::select;
use super::sizes::Sizes;
use super::{Inventory, Plugin};
use crate::architectures::architectures;
use crate::skill::{Catalog, Skill};
use skillbench_record::PluginOptions;
use skillbench_record::defaults::defaults;
use skillbench_record::paths;
use skillbench_record::suggest::did_you_mean;
use skillbench_record::{BackendChoice, OptionChoice, RunRequest};
use skillbench_worker::{BUDGET, BenchmarkDescription, Library, PluginUse};
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
pub struct PlannedBackend {
    pub choice: BackendChoice,
    pub version: String,
    /// The way into its library.
    pub door: Option<&'static str>,
    pub plugin: PluginUse,
    pub asked: Asked,
    /// Why no such plugin can be opened here: it was asked for by its name, and its cells say so.
    pub rejected: Option<String>,
    /// Threads that were asked for; `None`: as many as there are processors, where it takes a number.
    pub threads: Option<u64>,
    /// Options that make a measurement another one: those that differ from the plugin's defaults.
    pub key_options: PluginOptions,
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
    pub library: Library,
    pub options: PluginOptions,
    /// Those of them that make a measurement another one.
    pub key_options: PluginOptions,
    /// Of its requests, where these have several.
    pub(super) sizes: Option<Sizes>,
}

pub(super) fn choose_backends(
    inventory: &Inventory,
    request: &RunRequest,
    warnings: &mut Vec<String>,
) -> Result<Vec<PlannedBackend>, RequestError> {
    let (known, rejected) = rejected(inventory, request);
    let choices = all_choices(inventory, &known)?;
    let is_of_rejected = |option: &&OptionChoice| {
        let owner = option.plugin.as_ref();
        owner.is_some_and(|owner| rejected.iter().any(|(choice, _)| choice.plugin == *owner))
    };
    let of_benchmark = |option: &&OptionChoice| reaches_benchmark(inventory, request, option);
    for option in request.options.iter().filter(|option| !is_of_rejected(option) && !of_benchmark(option)) {
        check_option_owner(option, &choices)?;
    }
    let mut backends: Vec<PlannedBackend> = vec![];
    for (choice, plugin, asked) in choices {
        if backends.iter().any(|known| known.choice == choice) {
            continue;
        }
        let own = own_options(request, plugin);
        let of_machine = || std::thread::available_parallelism().ok().map(|n| n.get() as u64);
        let set_already = plugin.entry.options.contains_key("threads");
        let threads = request.threads.or_else(|| if set_already { None } else { of_machine() });
        let opened = plugin.opened_with(&own, threads).map_err(RequestError)?;
        if request.threads.is_some() && !opened.options.contains_key("threads") {
            warnings.push(format!("plugin '{}' takes no number of threads; --threads does not reach it", plugin.id));
        }
        let set = |options: &PluginOptions| options.get("threads").and_then(|text| text.parse().ok());
        let threads = set(&own).or(request.threads).or_else(|| set(&plugin.entry.options));
        let version = plugin.description.version.clone();
        let door = Some(plugin.description.entry.name());
        let key_options = skillbench_worker::options::of_key(&opened.options, plugin.options_schema());
        backends.push(PlannedBackend {
            choice,
            version,
            door,
            plugin: opened,
            asked,
            rejected: None,
            threads,
            key_options,
        });
    }
    backends.extend(rejected.into_iter().map(|(choice, reason)| PlannedBackend {
        plugin: PluginUse { id: choice.plugin.clone(), library: Library::default(), options: PluginOptions::new() },
        choice,
        version: String::new(),
        door: None,
        asked: Asked::ByName,
        rejected: Some(reason),
        threads: None,
        key_options: PluginOptions::new(),
    }));
    match backends.is_empty() {
        true => Err(RequestError(
            "no backend plugin was found; `host plugin list --verbose` says what was looked at".into(),
        )),
        false => Ok(backends),
    }
}

/// The request without the plugins that are there and cannot be opened, and these with the reason of each. Where a request names no
/// other, it stays as it is: there is nothing to measure.
fn rejected(inventory: &Inventory, request: &RunRequest) -> (RunRequest, Vec<(BackendChoice, String)>) {
    let reason = |choice: &BackendChoice| {
        let found = inventory.rejected.iter().find(|rejected| rejected.id == choice.plugin);
        found.filter(|_| inventory.plugin(&choice.plugin).is_none()).map(|_| inventory.why_not(&choice.plugin))
    };
    let (mut known, mut without) = (request.clone(), vec![]);
    known.backends.retain(|choice| match reason(choice) {
        Some(reason) => {
            without.push((choice.clone(), reason));
            false
        }
        None => true,
    });
    match known.backends.is_empty() {
        true => (request.clone(), vec![]),
        false => (known, without),
    }
}

/// The options of a request that are for this plugin.
pub fn own_options(request: &RunRequest, plugin: &Plugin) -> PluginOptions {
    let schema = plugin.options_schema();
    let mine = request.options.iter().filter(|option| match &option.plugin {
        Some(owner) => is_named(plugin, owner),
        None => skillbench_worker::options::takes(schema, &option.key),
    });
    mine.map(|option| (option.key.clone(), option.value.clone())).collect()
}

/// Whether an option is for a benchmark that the request names.
fn reaches_benchmark(inventory: &Inventory, request: &RunRequest, option: &OptionChoice) -> bool {
    let names = benchmark_names(request);
    let mut asked = names.iter().flat_map(|name| benchmarks_of(inventory, name));
    asked.any(|(plugin, benchmark)| is_for(option, plugin, benchmark))
}

fn is_for(option: &OptionChoice, plugin: &Plugin, benchmark: &BenchmarkDescription) -> bool {
    match &option.plugin {
        // Of several benchmarks it is for those that take it; of one, whether it takes it or not, so that it can say so.
        Some(owner) if is_named(plugin, owner) || benchmark.id == *owner => {
            plugin.description.benchmarks.len() == 1
                || skillbench_worker::options::takes(&benchmark.options_schema, &option.key)
        }
        Some(_) => false,
        None => skillbench_worker::options::takes(&benchmark.options_schema, &option.key),
    }
}

fn is_named(plugin: &Plugin, name: &str) -> bool {
    plugin.id == name || plugin.entry.is_called(name)
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
fn check_option_owner(option: &OptionChoice, choices: &[Chosen<'_>]) -> Result<(), RequestError> {
    let takes = |plugin: &Plugin| {
        plugin
            .description
            .backend
            .as_ref()
            .is_some_and(|b| skillbench_worker::options::takes(&b.options_schema, &option.key))
    };
    let reached = match &option.plugin {
        Some(owner) => choices.iter().any(|(_, plugin, _)| is_named(plugin, owner)),
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

/// The asked models, where a benchmark measures any; and those that benchmarks bring.
pub(super) fn choose_models(
    catalog: &Catalog,
    request: &RunRequest,
    benchmarks: &[PlannedBenchmark],
    names: &mut BTreeMap<String, String>,
    warnings: &mut Vec<String>,
) -> Result<Vec<Skill>, RequestError> {
    let any = benchmarks.iter().any(|benchmark| benchmark.description.skill.is_none());
    let mut models = if any { select(catalog, request, names, warnings)? } else { vec![] };
    for own in benchmarks.iter().filter_map(|benchmark| benchmark.description.skill.as_ref()) {
        let skill = catalog.find(own).map_err(RequestError)?;
        if !models.iter().any(|known| known.id() == skill.id()) {
            models.push(skill);
        }
    }
    Ok(models)
}

/// The skill that makes tokens with the model of another; `None` where no skill here does.
pub(super) fn generator(catalog: &Catalog, skill: &Skill) -> Option<Skill> {
    match (&skill.description.generation, &skill.description.generator) {
        (Some(_), _) => Some(skill.clone()),
        (None, Some(id)) => catalog.skills.iter().find(|other| other.description.id == *id).cloned(),
        (None, None) => None,
    }
}

impl PlannedBenchmark {
    /// Requests at once, where it takes a number of them.
    pub fn workers(&self) -> Option<u64> {
        self.options.get("workers")?.parse().ok()
    }

    /// One that can be told how many tokens to make measures skills that make tokens.
    pub(super) fn workload(&self) -> Workload {
        match skillbench_worker::options::takes(&self.description.options_schema, "new_tokens") {
            true => Workload::Generation,
            false => Workload::Inference,
        }
    }
}

/// Benchmarks and plugins of benchmarks, as a request names them.
fn benchmark_names(request: &RunRequest) -> Vec<String> {
    let names = match (request.verify_only, request.benchmarks.is_empty()) {
        (true, _) => vec!["inference".to_string()],
        (false, true) => defaults().run.benchmarks.clone(),
        (false, false) => request.benchmarks.clone(),
    };
    let each = |name: String| match name.as_str() {
        "both" => defaults().run.benchmarks.clone(),
        _ => vec![name],
    };
    names.into_iter().flat_map(each).collect()
}

/// The benchmark of this name; where none has it, all of the plugin that has.
fn benchmarks_of<'a>(inventory: &'a Inventory, name: &str) -> Vec<(&'a Plugin, &'a BenchmarkDescription)> {
    let own: Vec<_> = inventory.benchmarks().filter(|(_, benchmark)| benchmark.id == name).collect();
    match own.is_empty() {
        true => inventory.benchmarks().filter(|(plugin, _)| plugin.id == name).collect(),
        false => own,
    }
}

/// Options of a request that lead to files whose content a benchmark measures with, each with the benchmark's id.
pub fn files_among<'r>(
    inventory: &'r Inventory,
    request: &'r RunRequest,
) -> impl Iterator<Item = (&'r str, &'r OptionChoice)> {
    request.options.iter().filter_map(|option| {
        let leads_to_file = |(plugin, benchmark): &(&Plugin, &BenchmarkDescription)| {
            is_for(option, plugin, benchmark)
                && skillbench_worker::options::contents_of(&benchmark.options_schema).contains(&option.key)
        };
        inventory.benchmarks().find(leads_to_file).map(|(_, benchmark)| (benchmark.id.as_str(), option))
    })
}

/// What files among the options hold now is what is measured.
pub(crate) fn keep_contents(options: &mut PluginOptions, schema: &str, owner: &str) -> Result<(), RequestError> {
    skillbench_worker::contents::keep(options, schema, owner, &paths::cache().join("contents")).map_err(RequestError)
}

pub(super) fn choose_benchmarks(
    inventory: &Inventory,
    request: &RunRequest,
) -> Result<Vec<PlannedBenchmark>, RequestError> {
    let mut chosen: Vec<PlannedBenchmark> = vec![];
    for name in benchmark_names(request) {
        let found = benchmarks_of(inventory, &name);
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
                    "benchmark '{}' is a function of its own and measures no model on a backend: `host bench run {}`",
                    description.id, description.id
                );
                return Err(RequestError(text));
            }
            let schema = &description.options_schema;
            let takes = |option: &str| skillbench_worker::options::takes(schema, option);
            let mut options = PluginOptions::new();
            // One thread that submits takes the place of workers.
            let is_queue = takes("queue_depth") && request.dims.contains_key("queue_depth");
            let own = request.options.iter().filter(|option| is_for(option, plugin, description));
            options.extend(own.map(|option| (option.key.clone(), option.value.clone())));
            if options.contains_key(BUDGET) {
                let text = format!("{} of '{}' is what --budget says: give that", BUDGET, description.id);
                return Err(RequestError(text));
            }
            let owner = format!("benchmark '{}'", description.id);
            if options.contains_key(GENERATOR_PROCESSORS) {
                let text =
                    format!("{GENERATOR_PROCESSORS} of '{}' is what --generator-cores says: give that", description.id);
                return Err(RequestError(text));
            }
            keep_contents(&mut options, schema, &owner)?;
            let key_options = skillbench_worker::options::of_key(&options, schema);
            if takes("workers") && !is_queue && !options.contains_key("workers") {
                let usual =
                    || skillbench_worker::options::default_of(schema, "workers").and_then(|value| value.as_u64());
                let workers = request.concurrent_workers.or_else(usual);
                options.extend(workers.map(|workers| ("workers".into(), workers.to_string())));
            }
            let mut all = options.clone();
            let asked = request.dims.iter().filter(|(name, _)| takes(name));
            all.extend(asked.map(|(name, value)| (name.clone(), value.to_string())));
            skillbench_worker::options::check(&all, schema, &owner).map_err(RequestError)?;
            let sizes = Sizes::of(&all, schema).map_err(|what| RequestError(format!("{what} ({owner})")))?;
            chosen.push(PlannedBenchmark {
                sizes,
                description: description.clone(),
                library: plugin.library.clone(),
                options,
                key_options: key_options.into_iter().filter(|(key, _)| key != "workers").collect(),
            });
        }
    }
    Ok(chosen)
}
