//! Registry and descriptions together: the plugins that can be used, and why the others cannot.

use super::pins::Pins;
use crate::describe::DescriptionCache;
use crate::registry::{Entry, Found, Need, Registry, Sources};
use crate::runtime;
use crate::skill::{Catalog, Tell};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skillbench_record::PluginOptions;
use skillbench_worker::options;
use skillbench_worker::sandbox::{Mode, Sandbox};
use skillbench_worker::{BackendDescription, BenchmarkDescription, Description};
use skillbench_worker::{Failure, Library, PluginUse, Stop};
use std::collections::BTreeSet;
use std::path::Path;

/// A plugin that was found and described.
#[derive(Clone, Debug)]
pub struct Plugin {
    pub id: String,
    pub entry: Entry,
    /// What it needs from outside.
    pub needs: Vec<Need>,
    pub library: Library,
    pub description: Description,
}

/// An entry or a library that is no usable plugin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rejected {
    pub id: String,
    pub origin: String,
    pub reason: String,
    /// Left alone by its own rule: the machine has none of its hardware.
    pub no_match: bool,
}

#[derive(Clone)]
pub struct Inventory {
    pub registry: Registry,
    pub plugins: Vec<Plugin>,
    pub rejected: Vec<Rejected>,
    /// Asked before any other library is opened.
    pub pins: Pins,
    /// Who is told what a user should know of user models.
    pub tell: Tell,
    /// What its plugins may reach.
    pub sandbox: Mode,
    /// Ends whatever is done with it.
    pub stop: Stop,
}

impl Inventory {
    /// Reads the registries and describes every library, from the cache where it can. `stop` ends that, and what is done with it later.
    pub fn take(sources: &Sources, stop: &Stop) -> Inventory {
        let registry = Registry::load(sources);
        let mut cache = DescriptionCache::open(stop);
        let (mut plugins, mut rejected): (Vec<Plugin>, Vec<Rejected>) = (vec![], vec![]);
        let pins = Pins::of(&registry);
        for entry in &registry.entries {
            let no_match = matches!(registry.lookup(entry).result, Found::NoMatch(_));
            let (id, origin) = (&entry.id, &entry.origin);
            let reject = |reason| Rejected { id: id.clone(), origin: origin.to_string(), reason, no_match };
            match describe(&registry, entry, sources.sandbox, &mut cache, &pins) {
                // A loose library is known by the name it gives itself; an entry may hold the place already.
                Ok(plugin) if plugins.iter().any(|known| known.id == plugin.id) => {
                    rejected.push(reject(format!("a plugin '{}' is there already", plugin.id)));
                }
                Ok(plugin) => plugins.push(plugin),
                Err(reason) => rejected.push(reject(reason)),
            }
        }
        let (tell, sandbox) = (Tell::default(), sources.sandbox);
        Inventory { registry, plugins, rejected, pins, tell, sandbox, stop: stop.clone() }
    }

    /// Takes this library in place of the one that a plugin of the same id has; its options stay. Returns the plugin's id.
    ///
    /// # Errors
    /// A pin refuses it, it cannot be described, or no plugin here has its id.
    pub fn take_library(&mut self, library: &Path) -> Result<String, String> {
        let mut at = Library::new(library.into(), Sandbox { mode: self.sandbox, ..Sandbox::default() });
        self.pins.admit(&mut at, None)?;
        let description =
            DescriptionCache::open(&self.stop).describe(&at).map_err(|failure: Failure| failure.to_string())?;
        let id = description.id.clone();
        let known = self.plugins.iter_mut().find(|plugin| plugin.description.id == id);
        let Some(plugin) = known else {
            return Err(format!(
                "{} is '{id}', and no plugin of that id is known here; `host plugin add` makes it known",
                library.display()
            ));
        };
        self.pins.allow(&plugin.id, &at)?;
        plugin.library = Library { sandbox: plugin.library.sandbox.clone(), ..at };
        plugin.description = description;
        Ok(plugin.id.clone())
    }

    /// Has a plugin use another installed version of its runtime.
    ///
    /// # Errors
    /// The plugin needs no runtime, or that version is not here, in one sentence.
    pub fn use_runtime(&mut self, id: &str, version: &str) -> Result<(), String> {
        let named = self.plugin(id).map(|plugin| plugin.id.clone());
        let plugin = self.plugins.iter_mut().find(|plugin| Some(&plugin.id) == named.as_ref());
        let plugin = plugin.ok_or_else(|| format!("there is no plugin '{id}'"))?;
        let mut known = BTreeSet::new();
        let has = |package: &str, needs: &[Need]| {
            let of_package = || needs.iter().filter(|need| need.package.name == package);
            of_package().all(|need| runtime::at_version(need, version).is_some())
        };
        let mut found = false;
        // A package changes whole or not at all.
        let before = plugin.needs.clone();
        for need in &mut plugin.needs {
            match runtime::at_version(need, version).filter(|_| has(&need.package.name, &before)) {
                Some(other) => (*need, found) = (other, true),
                None => known.extend(runtime::versions(&need.package)),
            }
        }
        match found {
            true => Ok(()),
            false if known.is_empty() => Err(format!("plugin '{id}' has no runtime that is installed here")),
            false => {
                let known: Vec<String> = known.into_iter().collect();
                Err(format!("plugin '{id}' has no runtime {version} here; installed: {}", known.join(", ")))
            }
        }
    }

    /// A plugin by its id, or by another name that the registry gives it.
    pub fn plugin(&self, id: &str) -> Option<&Plugin> {
        let by_id = self.plugins.iter().find(|plugin| plugin.id == id);
        by_id.or_else(|| self.plugins.iter().find(|plugin| plugin.entry.is_called(id)))
    }

    pub fn backends(&self) -> impl Iterator<Item = (&Plugin, &BackendDescription)> {
        self.plugins.iter().filter_map(|plugin| plugin.description.backend.as_ref().map(|backend| (plugin, backend)))
    }

    pub fn benchmarks(&self) -> impl Iterator<Item = (&Plugin, &BenchmarkDescription)> {
        self.plugins.iter().flat_map(|plugin| plugin.description.benchmarks.iter().map(move |b| (plugin, b)))
    }

    pub fn catalog(&self) -> Catalog {
        let mut catalog = Catalog { tell: self.tell, ..Catalog::default() };
        for plugin in &self.plugins {
            catalog.add(&plugin.description, &plugin.library);
        }
        catalog
    }

    /// Why there is no such plugin: rejected, for that reason; or unknown, with the nearest names.
    pub fn why_not(&self, id: &str) -> String {
        match self.rejected.iter().find(|rejected| rejected.id == id) {
            Some(rejected) => format!("plugin '{id}' ({}): {}", rejected.origin, rejected.reason),
            None => {
                let known =
                    self.plugins.iter().map(|p| p.id.as_str()).chain(self.rejected.iter().map(|r| r.id.as_str()));
                format!("there is no plugin '{id}'{}", skillbench_record::suggest::one_of(id, known))
            }
        }
    }
}

fn describe(
    registry: &Registry,
    entry: &Entry,
    mode: Mode,
    cache: &mut DescriptionCache,
    pins: &Pins,
) -> Result<Plugin, String> {
    let lookup = registry.lookup(entry);
    let found = lookup.found().ok_or_else(|| lookup.why_not());
    let mut library = Library::new(found?.clone(), entry.sandbox(mode));
    pins.admit(&mut library, entry.sha256.as_deref())?;
    let description = cache.describe(&library).map_err(|failure: Failure| failure.to_string())?;
    let offered = description.kinds();
    if let Some(missing) = entry.kinds.iter().find(|kind| !offered.contains(&kind.name())) {
        return Err(format!(
            "the registry says it is a {}, the library offers: {}",
            missing.name(),
            offered.join(", ")
        ));
    }
    let id = if entry.is_loose() { description.id.clone() } else { entry.id.clone() };
    pins.allow(&id, &library)?;
    Ok(Plugin { id, entry: entry.clone(), needs: registry.needs(entry), library, description })
}

impl Plugin {
    /// The JSON Schema of the backend's options; empty: it takes none, or is no backend.
    pub fn options_schema(&self) -> &str {
        self.description.backend.as_ref().map_or("", |backend| &backend.options_schema)
    }

    /// How to open the backend: the registry's options, what the host knows of its runtime, and then the user's own.
    ///
    /// # Errors
    /// An option that the plugin's schema does not take, in one sentence.
    pub fn opened_with(&self, own: &PluginOptions, threads: Option<u64>) -> Result<PluginUse, String> {
        let schema = self.description.backend.as_ref().map_or("", |backend| backend.options_schema.as_str());
        let mut all = PluginOptions::new();
        all.extend(runtime::options(&self.needs).into_iter().filter(|(option, _)| options::takes(schema, option)));
        all.extend(self.entry.options.clone());
        if let Some(threads) = threads.filter(|_| options::takes(schema, "threads")) {
            all.insert("threads".into(), threads.to_string());
        }
        all.extend(own.clone());
        options::check(&all, schema, &format!("plugin '{}'", self.id))?;
        Ok(PluginUse { id: self.id.clone(), library: self.library.clone(), options: all })
    }
}
