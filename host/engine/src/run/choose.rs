//! Which backend measures a model where none is asked for: the first by preference that has a device here and loads the model.

use super::error::RequestError;
use super::grid::{Workload, first_point};
use super::named::{choose_backends, generator, own_options};
use super::probe::Probe;
use super::resolve::Resolved;
use super::{Inventory, Plugin};
use crate::architectures::architectures;
use crate::skill::{self, BuiltModel, Skill};
use skillbench_record::Axes;
use skillbench_record::defaults::defaults;
use skillbench_record::{BackendChoice, RunRequest};
use skillbench_worker::{Command, DeviceRecord, Failure, Limits, Worker};
use std::collections::HashMap;

impl Resolved<'_> {
    /// Takes, for each model, the first backend that has a device here and loads it. Returns a sentence for each choice.
    ///
    /// # Errors
    /// A model that no backend here can load, or an option that none of the chosen takes.
    pub fn choose(&mut self) -> Result<Vec<String>, RequestError> {
        let mut notes = vec![];
        let asked = self.request.clone();
        let mut chooser = Chooser { inventory: self.inventory, request: &asked, probes: HashMap::new() };
        for skill in loaded(self) {
            let (plugin, why) = chooser.for_model(&skill, &first_point(&skill, &asked)?)?;
            notes.push(format!("{} is measured on {plugin}: {why}; --plugin chooses others", skill.id()));
            let choice = BackendChoice { plugin: plugin.clone(), device: None };
            self.request.chosen.insert(skill.id().to_string(), plugin);
            if !self.request.backends.contains(&choice) {
                self.request.backends.push(choice);
            }
        }
        self.backends = Some(choose_backends(self.inventory, &self.request, &mut self.warnings)?);
        Ok(notes)
    }
}

/// The models that are loaded: where all that is done is making tokens, those that make them.
fn loaded(resolved: &Resolved<'_>) -> Vec<Skill> {
    let only_generates = resolved.benchmarks.iter().all(|benchmark| benchmark.workload() == Workload::Generation);
    let loaded = |skill: &Skill| match (only_generates, generator(&resolved.catalog, skill)) {
        (true, Some(generator)) => generator,
        _ => skill.clone(),
    };
    resolved.models.iter().map(loaded).collect()
}

struct Chooser<'a> {
    inventory: &'a Inventory,
    request: &'a RunRequest,
    probes: HashMap<String, Probe>,
}

impl<'a> Chooser<'a> {
    /// The backend's id, and why it is that one.
    fn for_model(&mut self, skill: &Skill, axes: &Axes) -> Result<(String, String), RequestError> {
        let limits = Limits::working(self.request.time_limit(defaults().run.timeout_s), None, &self.inventory.stop);
        let asked = self.request.precision.as_deref();
        let form = skill.form_for(asked);
        let built = skill::build(skill, form, &limits).map_err(|failure| RequestError(failure.to_string()))?;
        let (mut absent, mut refused) = (vec![], vec![]);
        for plugin in candidates(self.inventory, &skill.description.architecture) {
            if !self.has_device(plugin) {
                absent.push(plugin.id.as_str());
                continue;
            }
            match self.loads(plugin, &built, axes, asked.filter(|asked| form != Some(*asked)), &limits) {
                Err(failure) => refused.push(format!("{} does not load it ({failure})", plugin.id)),
                Ok(()) => {
                    let none = (!absent.is_empty()).then(|| format!("{} cannot be used here", absent.join(", ")));
                    let why: Vec<String> = none.into_iter().chain(refused).collect();
                    let why = if why.is_empty() { "it comes first".into() } else { why.join("; ") };
                    return Ok((plugin.id.clone(), why));
                }
            }
        }
        let story = [vec![format!("{} cannot be used here", absent.join(", "))], refused].concat().join("; ");
        Err(RequestError(format!("no backend here measures {}: {story}; see `host devices --verbose`", skill.id())))
    }

    /// A device that is here, is none of a browser, and not emulated.
    fn has_device(&mut self, plugin: &Plugin) -> bool {
        let own = || own_options(self.request, plugin);
        let probe =
            self.probes.entry(plugin.id.clone()).or_insert_with(|| Probe::with(plugin, &own(), &self.inventory.stop));
        probe.usable().is_some_and(DeviceRecord::is_local_hardware)
    }

    /// As the run will load it: with its options and in its precision.
    fn loads(
        &self,
        plugin: &Plugin,
        built: &BuiltModel,
        axes: &Axes,
        precision: Option<&str>,
        limits: &Limits,
    ) -> Result<(), Failure> {
        let opened = plugin.opened_with(&own_options(self.request, plugin), self.request.threads);
        let backend = opened.map_err(|text| Failure::failed("options", text))?;
        let precision = precision.map(String::from);
        let command =
            Command::Inspect { backend, model: built.paths.clone(), axes: axes.clone(), device: None, precision };
        Worker::call_once(&command, limits).map(drop)
    }
}

/// By preference, then those of other vendors, and the reference last: it serves where nothing else does.
fn candidates<'a>(inventory: &'a Inventory, architecture: &str) -> Vec<&'a Plugin> {
    let known = architectures();
    let (reference, order) = (&defaults().reference.plugin, known.order(architecture));
    let listed = order.iter().filter_map(|id| inventory.plugin(id));
    let others = inventory
        .backends()
        .map(|(plugin, _)| plugin)
        .filter(|plugin| plugin.id != *reference && !order.contains(&&*plugin.id) && !known.web.contains(&plugin.id));
    listed.chain(others).chain(inventory.plugin(reference)).collect()
}
