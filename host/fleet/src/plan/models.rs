//! Models on backends of a machine, with the benchmarks and skills of this host. What the machine lacks of them, or has of another content, is
//! skipped there with the reason.

use super::Part;
use crate::form::{Announced, Machine};
use crate::own::{OwnFiles, Sources, of_request};
use crate::submit::SubmitError;
use skillbench_engine::registry::Entry;
use skillbench_engine::run::{Inventory, Plugin, files_among, resolve};
use skillbench_engine::skill::SkillSource;
use skillbench_record::defaults::defaults;
use skillbench_record::{BackendChoice, Outcome, Reason, RunRequest};
use skillbench_worker::Library;
use std::collections::BTreeMap;

/// The part of a request that a machine measures on these of its backends.
pub(super) fn part(
    local: &Inventory,
    machine: &Machine,
    backends: &[BackendChoice],
    request: &RunRequest,
    known: &OwnFiles,
    sources: &mut Sources,
) -> Result<Part, SubmitError> {
    let there = inventory_of(local, machine);
    let request = RunRequest { backends: backends.to_vec(), exactly: vec![], ..request.clone() };
    let outline = resolve(&there, request.clone())?.outline()?;
    let mut environment = machine.environment.clone();
    let is_used = |id: &String| {
        let is_backend = machine.backends.iter().any(|backend| backend.id == *id);
        let reference = &defaults().reference;
        !is_backend
            || backends.iter().any(|choice| choice.plugin == *id)
            || reference.plugin == *id
            || reference.others.contains(id)
    };
    environment.plugin_sha256.retain(|id, _| is_used(id));
    environment.runtime_sha256.retain(|id, _| is_used(id));
    let mut differs: BTreeMap<String, Reason> = BTreeMap::new();
    let mut contents = BTreeMap::new();
    let options = files_among(local, &request).map(|(_, option)| option);
    let needs = of_request(options, &outline.models, known, sources)?;
    for skill in &outline.models {
        let id = skill.id().to_string();
        if let SkillSource::UserModel(model) = &skill.source {
            let files = needs.models.get(&id).map_or(&[][..], |own| &own.files);
            // As a run without a fleet tells its content: by its own files, without what describes them.
            let hashes = files.iter().take(model.files.len()).map(|file| file.sha256.as_str());
            contents.insert(id, hashes.collect::<Vec<_>>().join(" "));
            continue;
        }
        let content = skill.description.content.clone();
        match other_model(machine, &id, &content) {
            None => drop(contents.insert(id, content)),
            Some(reason) => drop(differs.insert(id, reason)),
        }
    }
    environment.models = contents;
    let mut cells = outline.cells;
    for (name, blank) in &mut cells {
        let lacks = || match environment.plugin_sha256.contains_key(&name.benchmark) {
            true => None,
            false => Some(no_benchmark(&name.benchmark, &machine.name)),
        };
        let cannot_take = || {
            let needs_files = !needs.options.is_empty() || needs.models.contains_key(&name.model);
            (needs_files && !machine.takes_files()).then(|| no_files(&machine.name))
        };
        let differs = differs.get(&name.model).cloned().or_else(lacks).or_else(cannot_take);
        if let (Outcome::Skipped(planned), Some(reason)) = (&mut blank.outcome, differs) {
            *planned = reason;
        }
    }
    Ok(Part { request: outline.request, environment, cells, own: needs, warnings: outline.warnings })
}

/// Why a machine cannot measure a model of this content.
pub fn other_model(machine: &Machine, model: &str, content: &str) -> Option<Reason> {
    let what = match machine.environment.models.get(model) {
        Some(there) if there == content => return None,
        Some(_) => "is another model there than here",
        None => "is not there",
    };
    let name = &machine.name;
    Some(Reason::new("other-model", format!("{name}: {model} {what}: update the older of the two hosts")))
}

fn no_benchmark(benchmark: &str, machine: &str) -> Reason {
    Reason::new("no-benchmark", format!("{machine} has no benchmark '{benchmark}': install its plugin there"))
}

pub(super) fn no_files(machine: &str) -> Reason {
    Reason::new("older-host", format!("the host of {machine} takes no files of others: update it"))
}

/// This host's benchmarks and skills, with the backends of a machine.
fn inventory_of(local: &Inventory, machine: &Machine) -> Inventory {
    let mut there = local.clone();
    there.plugins.retain(|plugin| plugin.description.backend.is_none());
    there.rejected.clone_from(&machine.rejected);
    let entry = |backend: &Announced| {
        let known = local.registry.entries.iter().find(|entry| entry.id == backend.id).cloned();
        let mut entry = known.unwrap_or_else(|| Entry::elsewhere(&backend.id));
        entry.aliases.clone_from(&backend.aliases);
        entry
    };
    there.plugins.extend(machine.backends.iter().map(|backend| Plugin {
        id: backend.id.clone(),
        entry: entry(backend),
        needs: vec![],
        library: Library::default(),
        description: backend.description.clone(),
    }));
    there
}
