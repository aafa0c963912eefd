//! Which benchmarks without a target there are, and what was rejected on the way.

use super::folded;
use super::folders::{self, Labels};
use crate::describe::DescriptionCache;
use crate::registry::{beside_executable, libraries_in};
use crate::run::{Inventory, Rejected};
use crate::skill::Catalog;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skillbench_record::suggest::did_you_mean;
use skillbench_worker::CATEGORIES;
use skillbench_worker::sandbox::Sandbox;
use skillbench_worker::{BenchmarkDescription, Description, Entry, Library};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A benchmark, and the plugin that holds it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Found {
    pub plugin: String,
    pub plugin_version: String,
    /// The way into its library.
    pub plugin_door: Entry,
    /// A path means nothing on another machine.
    #[serde(skip)]
    pub library: Library,
    pub description: BenchmarkDescription,
    /// Its own, else that of the library's folder.
    pub category: Option<String>,
    /// Its own, else that of the library's folder; by the id that the catalog has for it.
    pub model: Option<String>,
}

/// What there is.
#[derive(Debug, Default)]
pub struct Discovery {
    pub benchmarks: Vec<Found>,
    /// Those that measure a model on a backend; `host run` runs them.
    pub with_target: Vec<Found>,
    /// Libraries, folders and benchmarks that cannot be used.
    pub rejected: Vec<Rejected>,
    catalog: Catalog,
}

impl Discovery {
    /// Looks at the plugins of an inventory, at folders of categories and models below its search paths, and at `folders` of the
    /// user's with what is below them.
    pub fn take(inventory: &Inventory, folders: &[PathBuf]) -> Discovery {
        let mut found = Discovery { catalog: inventory.catalog(), ..Discovery::default() };
        found.rejected.extend(inventory.rejected.iter().filter(|rejected| !rejected.no_match).cloned());

        let mut labelled: Vec<(PathBuf, Labels)> = vec![];
        let mut look_at = |found: &mut Discovery, folder: &Path, of_user: bool| {
            let beside = beside_executable().as_deref() == Some(folder);
            let below = folders::below(folder, beside && !of_user, &|name| found.known_model(name));
            labelled.extend(below.libraries);
            // Beside the executable may be folders of whoever built it.
            if of_user || !beside {
                let strays: Vec<Rejected> = below.strays.iter().map(|folder| found.stray(folder)).collect();
                found.rejected.extend(strays);
            }
            if of_user {
                match libraries_in(folder, false) {
                    Ok(libraries) => labelled.extend(libraries.into_iter().map(|path| (path, Labels::default()))),
                    Err(error) => found.rejected.push(rejected(folder, format!("the folder cannot be read: {error}"))),
                }
            }
        };
        inventory.registry.search.iter().for_each(|folder| look_at(&mut found, folder, false));
        folders.iter().for_each(|folder| look_at(&mut found, folder, true));

        // One library may be reached by several ways; the first one with a label counts.
        let mut labels: BTreeMap<PathBuf, Labels> = BTreeMap::new();
        let mut order: Vec<PathBuf> = vec![];
        for (path, label) in labelled {
            let path = std::fs::canonicalize(&path).unwrap_or(path);
            let known = labels.entry(path.clone()).or_insert_with(|| {
                order.push(path);
                Labels::default()
            });
            known.category = known.category.take().or(label.category);
            known.model = known.model.take().or(label.model);
        }

        for plugin in &inventory.plugins {
            let label = labels.get(&plugin.library.path).cloned().unwrap_or_default();
            found.add(&plugin.id, &plugin.description, &plugin.library, &label);
        }
        let mut cache = DescriptionCache::open(&inventory.stop);
        let known: Vec<&PathBuf> = inventory.plugins.iter().map(|plugin| &plugin.library.path).collect();
        let mut ids: BTreeMap<String, PathBuf> =
            inventory.plugins.iter().map(|plugin| (plugin.id.clone(), plugin.library.path.clone())).collect();
        let sandbox = Sandbox { mode: inventory.sandbox, ..Sandbox::default() };
        for library in order.iter().filter(|library| !known.contains(library)) {
            let mut opened = Library::new(library.clone(), sandbox.clone());
            let admitted = inventory.pins.admit(&mut opened, None);
            let described = admitted.and_then(|()| cache.describe(&opened).map_err(|failure| failure.to_string()));
            let allowed = described.and_then(|plugin| inventory.pins.allow(&plugin.id, &opened).map(|()| plugin));
            match allowed {
                Err(reason) => found.rejected.push(rejected(library, reason)),
                Ok(plugin) if ids.contains_key(&plugin.id) => {
                    let text = format!("a plugin '{}' is there already: {}", plugin.id, ids[&plugin.id].display());
                    found.rejected.push(rejected(library, text));
                }
                Ok(plugin) => {
                    ids.insert(plugin.id.clone(), library.clone());
                    if plugin.benchmarks.is_empty() {
                        let text = format!("it holds no benchmark, it is a {}", plugin.kinds().join(" and "));
                        found.rejected.push(rejected(library, text));
                    }
                    found.add(&plugin.id, &plugin, &opened, &labels[library]);
                }
            }
        }
        found
    }

    /// The benchmarks of another machine, as it told them. Names of models, and of benchmarks that measure one, are this host's.
    pub fn elsewhere(inventory: &Inventory, benchmarks: &[Found]) -> Discovery {
        let mut found = Discovery { catalog: inventory.catalog(), ..Discovery::default() };
        for plugin in &inventory.plugins {
            found.add(&plugin.id, &plugin.description, &plugin.library, &Labels::default());
        }
        Discovery { benchmarks: benchmarks.to_vec(), rejected: vec![], ..found }
    }

    fn add(&mut self, plugin: &str, description: &Description, library: &Library, labels: &Labels) {
        for benchmark in &description.benchmarks {
            if let Err(reason) = self.check(benchmark) {
                let (id, origin) = (benchmark.id.clone(), format!("plugin '{plugin}', {}", library.display()));
                self.rejected.push(Rejected { id, origin, reason, no_match: false });
                continue;
            }
            let own = Some(benchmark.category.clone()).filter(|category| !category.is_empty());
            let model = benchmark.skill.as_ref().map(|name| self.known_model(name).unwrap_or_else(|| name.clone()));
            let one = Found {
                plugin: plugin.into(),
                plugin_version: description.version.clone(),
                plugin_door: description.entry,
                library: library.clone(),
                description: benchmark.clone(),
                category: own.or_else(|| labels.category.clone()),
                model: model.or_else(|| labels.model.clone()),
            };
            if benchmark.needs_target { &mut self.with_target } else { &mut self.benchmarks }.push(one);
        }
    }

    /// Why a benchmark cannot be used.
    fn check(&self, benchmark: &BenchmarkDescription) -> Result<(), String> {
        let BenchmarkDescription { id, version, category, .. } = benchmark;
        if id.is_empty() {
            return Err("it has no id".into());
        }
        let all = self.benchmarks.iter().chain(&self.with_target);
        if let Some(known) = all.into_iter().find(|known| known.description.id == *id) {
            return Err(format!(
                "plugin '{}' ({}) has a benchmark '{id}' already, and a name stands for one benchmark",
                known.plugin,
                known.library.display()
            ));
        }
        if version.is_empty() {
            return Err("it has no version, so that its results could be compared with those of any other".into());
        }
        match category.is_empty() || CATEGORIES.contains(&category.as_str()) {
            true => Ok(()),
            false => {
                Err(format!("its category '{category}' is none of {}{}", CATEGORIES.join(", "), nearest(category)))
            }
        }
    }

    /// The id of a model that the catalog, or a benchmark found before, knows by this name.
    pub(super) fn known_model(&self, name: &str) -> Option<String> {
        let wanted = folded(name);
        let skills = self.catalog.skills.iter().map(|skill| &skill.description);
        let by_id = skills.clone().find(|skill| folded(&skill.id) == wanted);
        let by_alias = || skills.clone().find(|skill| skill.aliases.iter().any(|alias| folded(alias) == wanted));
        by_id.or_else(by_alias).map(|skill| skill.id.clone())
    }

    /// Names of models, for hints.
    pub(super) fn models(&self) -> impl Iterator<Item = &str> {
        self.catalog.skills.iter().map(|skill| skill.id())
    }

    fn stray(&self, folder: &Path) -> Rejected {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let hint = did_you_mean(&name, CATEGORIES.into_iter().chain(self.models()));
        let text = format!(
            "the libraries in this folder are not looked at: it is named after no category ({}) and no model{hint}",
            CATEGORIES.join(", ")
        );
        rejected(folder, text)
    }
}

fn nearest(category: &str) -> String {
    did_you_mean(category, CATEGORIES)
}

fn rejected(path: &Path, reason: String) -> Rejected {
    let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Rejected { id, origin: path.display().to_string(), reason, no_match: false }
}
