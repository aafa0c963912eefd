//! What a measurement stood on.

use skillbench_record::Environment;
use skillbench_record::catalog::column;
use std::collections::BTreeMap;

/// What a cell is measured with. What nobody recorded is `None`, and is no change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MadeWith {
    pub plugin_version: Option<String>,
    pub plugin_sha256: Option<String>,
    pub benchmark_version: Option<String>,
    pub benchmark_sha256: Option<String>,
    /// The files that the plugin was opened with, by the option that names each.
    pub runtime_sha256: BTreeMap<String, String>,
    pub driver: Option<String>,
    pub model: Option<String>,
}

impl MadeWith {
    /// With what an environment records by name.
    pub fn of(environment: &Environment, plugin: &str, benchmark: &str, model: &str) -> MadeWith {
        let own =
            |name: &&String| name.strip_prefix(plugin).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
        let runtimes = environment.runtime_sha256.iter().filter(|(name, _)| own(name));
        MadeWith {
            plugin_sha256: environment.plugin_sha256.get(plugin).cloned(),
            benchmark_sha256: environment.plugin_sha256.get(benchmark).cloned(),
            runtime_sha256: runtimes.map(|(name, hash)| (name.clone(), hash.clone())).collect(),
            model: environment.models.get(model).filter(|content| !content.is_empty()).cloned(),
            ..MadeWith::default()
        }
    }

    /// What is another now, a sentence each.
    pub fn changed(&self, now: &MadeWith) -> Vec<String> {
        let both = |then: &Option<String>, now: &Option<String>| then.is_some() && now.is_some() && then != now;
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let mut changes = vec![];
        let mut library = |what: &str, versions: [&Option<String>; 2], hashes: [&Option<String>; 2]| {
            if both(versions[0], versions[1]) {
                changes.push(format!("the {what} changed from {} to {}", text(versions[0]), text(versions[1])));
            } else if both(hashes[0], hashes[1]) {
                changes.push(format!("the {what} is another library of the same version"));
            }
        };
        library(column::PLUGIN, [&self.plugin_version, &now.plugin_version], [&self.plugin_sha256, &now.plugin_sha256]);
        let versions = [&self.benchmark_version, &now.benchmark_version];
        library(column::BENCHMARK, versions, [&self.benchmark_sha256, &now.benchmark_sha256]);
        if !self.runtime_sha256.is_empty()
            && !now.runtime_sha256.is_empty()
            && self.runtime_sha256 != now.runtime_sha256
        {
            changes.push("the runtime changed".into());
        }
        if both(&self.driver, &now.driver) {
            changes.push(format!("the driver changed from {} to {}", text(&self.driver), text(&now.driver)));
        }
        if both(&self.model, &now.model) {
            changes.push("the model changed".into());
        }
        changes
    }
}
