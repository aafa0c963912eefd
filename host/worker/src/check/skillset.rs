//! Rules about skillsets.

use super::Test;
use crate::CheckJob;
use crate::child::Services;
use crate::loader;
use skillbench_models::{Manifest, SkillDescription};
use skillbench_plugin_api::Options;
use skillbench_plugin_api::client::SkillsetRef;
use skillbench_record::hash::sha256;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

fn skillset(job: &CheckJob) -> Result<(SkillsetRef, Vec<SkillDescription>), String> {
    let (plugin, _) = loader::load(&job.library).map_err(|error| error.to_string())?;
    let skillset = plugin.skillset().map_err(|error| error.to_string())?.ok_or("it is no skillset")?;
    let mut descriptions = vec![];
    for text in skillset.descriptions() {
        let wrong = |error| format!("a description is not as it should be: {error}");
        let known: serde_json::Value = serde_json::from_str(&text).map_err(wrong)?;
        // A name that is known and cannot be built says so, and describes nothing else.
        if known.get("unavailable").is_none() {
            descriptions.push(serde_json::from_value(known).map_err(wrong)?);
        }
    }
    Ok((skillset, descriptions))
}

pub(super) fn described(services: &'static Services, job: &CheckJob) -> Test {
    let (_, skills) = services.within("describe", || skillset(job))?;
    let mut ids = HashSet::new();
    for skill in &skills {
        if skill.id.is_empty() || !ids.insert(&skill.id) {
            return Err(format!("the id '{}' is empty, or there twice", skill.id).into());
        }
        if skill.content.is_empty() || skill.family.is_empty() || skill.architecture.is_empty() {
            return Err(format!("skill '{}' has no content, family or architecture", skill.id).into());
        }
    }
    if skills.is_empty() { Err("it describes no skill".into()) } else { Ok(()) }
}

/// Builds the smallest skill into a new folder.
fn build(services: &'static Services, job: &CheckJob, folder: &str) -> Result<PathBuf, String> {
    let (skillset, skills) = skillset(job)?;
    let smallest =
        skills.iter().min_by_key(|skill| skill.parameters.unwrap_or(u64::MAX)).ok_or("it describes no skill")?;
    let folder = job.scratch.join(folder);
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let build = || skillset.build(services.table(), &smallest.id, &Options::default(), &folder);
    services.within("build", build).map_err(|error| format!("skill '{}': {error}", smallest.id))?;
    Ok(folder)
}

pub(super) fn builds(services: &'static Services, job: &CheckJob) -> Test {
    let folder = build(services, job, "one")?;
    let text = std::fs::read_to_string(folder.join("skill.json")).map_err(|error| format!("skill.json: {error}"))?;
    let manifest = Manifest::parse(&text)?;
    if manifest.parts.is_empty() {
        return Err("skill.json names no part".into());
    }
    match manifest.parts.iter().find(|part| !folder.join(&part.graph).is_file()) {
        Some(part) => Err(format!("skill.json names {}, which is not there", part.graph).into()),
        None => Ok(()),
    }
}

pub(super) fn repeats(services: &'static Services, job: &CheckJob) -> Test {
    let hashes = |folder: &Path| -> Result<BTreeMap<_, _>, String> {
        let files = std::fs::read_dir(folder).map_err(|error| error.to_string())?.flatten();
        let hash = |file: std::fs::DirEntry| Some((file.file_name(), sha256(&file.path()).ok()?));
        Ok(files.filter_map(hash).collect())
    };
    let (one, two) = (hashes(&build(services, job, "one")?)?, hashes(&build(services, job, "two")?)?);
    let differs = one.iter().find(|(name, hash)| two.get(*name) != Some(*hash));
    match differs {
        Some((name, _)) => Err(format!("{} differs between two builds", name.to_string_lossy()).into()),
        None => Ok(()),
    }
}

pub(super) fn unknown(services: &'static Services, job: &CheckJob) -> Test {
    let (skillset, _) = skillset(job)?;
    let build = || skillset.build(services.table(), "no-such-skill", &Options::default(), &job.scratch);
    match services.within("build", build) {
        Ok(()) => Err("it builds a skill that it does not describe".into()),
        Err(_) => Ok(()),
    }
}
