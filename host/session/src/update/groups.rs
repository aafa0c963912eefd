//! Measurements as requests that make them again: those that were asked for in the same way together.

use crate::conditions::THREADS;
use crate::recorded::held_for;
use skillbench_engine::run::{self, Inventory};
use skillbench_engine::skill::Catalog;
use skillbench_record::PluginOptions;
use skillbench_record::{BackendChoice, ModelSet, OptionChoice, RunRequest, Selection};
use skillbench_results::freshness::Measured;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

/// Measurements that one request makes again, in its order.
pub(super) struct Group {
    pub request: RunRequest,
    pub cells: Vec<Measured>,
}

/// Groups, and what no request can make again, with the reason. Paths of recorded options are taken where they are `named`.
pub(super) fn groups(
    inventory: &Inventory,
    measured: Vec<Measured>,
    named: &[OptionChoice],
) -> (Vec<Group>, Vec<(Measured, String)>) {
    let mut models = Models { catalog: inventory.catalog(), names: HashMap::new(), lists: HashMap::new() };
    let (mut groups, mut gone): (Vec<(String, Group)>, Vec<_>) = (vec![], vec![]);
    for measured in measured {
        let found = plugins(inventory, &measured, named).and_then(|()| models.find(&measured));
        let model = match found {
            Ok(model) => model,
            Err(why) => {
                gone.push((measured, why));
                continue;
            }
        };
        let request = settings(inventory, &measured, &model);
        let key = serde_json::to_string(&request).unwrap_or_default();
        let place = groups.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
            groups.push((key, Group { request, cells: vec![] }));
            groups.len() - 1
        });
        groups[place].1.add(measured, model);
    }
    (groups.into_iter().map(|(_, group)| group).collect(), gone)
}

impl Group {
    fn add(&mut self, measured: Measured, model: Model) {
        let (request, name) = (&mut self.request, &measured.name);
        add(&mut request.backends, BackendChoice { plugin: name.plugin.clone(), device: name.device.clone() });
        if let Model::Named(typed) = model {
            add(&mut request.models, typed);
        }
        add(&mut request.benchmarks, name.benchmark.clone());
        request.exactly.push(name.clone());
        self.cells.push(measured);
    }
}

fn add<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

/// How a model is asked for.
#[derive(Clone)]
enum Model {
    /// By this name, or this path.
    Named(String),
    /// In this list of the user's.
    Listed(PathBuf),
}

fn plugins(inventory: &Inventory, measured: &Measured, named: &[OptionChoice]) -> Result<(), String> {
    let name = &measured.name;
    let Some(plugin) = inventory.plugin(&name.plugin) else { return Err(inventory.why_not(&name.plugin)) };
    if let Some(request) = &measured.request {
        held_for(plugin, request, named).map_err(|error| error.to_string())?;
    }
    match inventory.benchmarks().any(|(_, known)| known.id == name.benchmark) {
        true => Ok(()),
        false => Err(format!("there is no benchmark '{}'", name.benchmark)),
    }
}

/// Finds models again. What names and lists mean is found out once.
struct Models {
    catalog: Catalog,
    names: HashMap<String, Result<String, String>>,
    lists: HashMap<PathBuf, Result<Vec<String>, String>>,
}

impl Models {
    /// A model of a skillset by its name, and one that a user brought by what was typed then.
    fn find(&mut self, measured: &Measured) -> Result<Model, String> {
        let id = &measured.name.model;
        let catalog = &self.catalog;
        if catalog.skills.iter().any(|skill| skill.id() == id) {
            return Ok(Model::Named(id.clone()));
        }
        let mut why = None;
        let given = measured.request.as_ref().map(|request| &request.names);
        for typed in measured.request.iter().flat_map(|request| &request.models) {
            let find = || {
                let skill = catalog.find(typed)?;
                let path = skill.path().map(|path| path.to_string_lossy().into_owned());
                let name = path.and_then(|path| given?.get(&path));
                Ok(name.cloned().unwrap_or_else(|| skill.id().to_string()))
            };
            match self.names.entry(typed.clone()).or_insert_with(find) {
                Ok(found) if found == id => return Ok(Model::Named(typed.clone())),
                Ok(_) => {}
                Err(error) => why = Some(error.clone()),
            }
        }
        if let Some(list) = measured.request.as_ref().and_then(|request| request.selection.custom.clone()) {
            let read = || {
                let skills = catalog.custom(&list)?;
                Ok(skills.iter().map(|skill| skill.id().to_string()).collect())
            };
            match self.lists.entry(list.clone()).or_insert_with(read) {
                Ok(ids) if ids.contains(id) => return Ok(Model::Listed(list)),
                Ok(_) => {}
                Err(error) => why = Some(error.clone()),
            }
        }
        Err(format!("there is no model '{id}' here{}", why.map_or(String::new(), |why| format!(": {why}"))))
    }
}

/// The options of a request that are for this plugin; none for one that is not here.
fn own_options(inventory: &Inventory, request: &RunRequest, plugin: &str) -> PluginOptions {
    inventory.plugin(plugin).map(|plugin| run::own_options(request, plugin)).unwrap_or_default()
}

/// The options of a request that are for the plugin of this benchmark.
fn of_benchmark<'r>(
    inventory: &'r Inventory,
    request: &'r RunRequest,
    benchmark: &'r str,
) -> impl Iterator<Item = OptionChoice> + 'r {
    let is_owner = move |id: &str| {
        let plugin = inventory.plugin(id);
        plugin.is_some_and(|plugin| plugin.description.benchmarks.iter().any(|known| known.id == benchmark))
    };
    request.options.iter().filter(move |option| option.plugin.as_deref().is_some_and(is_owner)).cloned()
}

/// A request as the measurement was made, but for what is measured.
fn settings(inventory: &Inventory, measured: &Measured, model: &Model) -> RunRequest {
    let stored = measured.request.as_deref().cloned().unwrap_or_default();
    let plugin = &measured.name.plugin;
    let own = own_options(inventory, &stored, plugin);
    let option = |(key, value): (&String, &String)| OptionChoice {
        plugin: Some(plugin.clone()),
        key: key.clone(),
        value: value.clone(),
    };
    let selection = match model {
        Model::Named(_) => Selection::default(),
        Model::Listed(file) => {
            Selection { set: Some(ModelSet::Custom), custom: Some(file.clone()), ..Selection::default() }
        }
    };
    RunRequest {
        options: own.iter().map(option).chain(of_benchmark(inventory, &stored, &measured.name.benchmark)).collect(),
        // As many as it ran on, whatever the machine would take now.
        threads: measured.threads.filter(|_| !own.contains_key(THREADS)),
        precision: measured.precision.clone(),
        parallel: measured.beside,
        selection,
        verify_only: false,
        backends: vec![],
        chosen: BTreeMap::new(),
        include_web_platforms: false,
        models: vec![],
        benchmarks: vec![],
        batch_sizes: vec![],
        sequence_lengths: vec![],
        image_sizes: vec![],
        audio_seconds: vec![],
        frames: vec![],
        prompt_lengths: vec![],
        new_tokens: vec![],
        rates: vec![],
        batch_wait_ms: vec![],
        dims: BTreeMap::new(),
        exactly: vec![],
        ..stored
    }
}
