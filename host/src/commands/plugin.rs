//! `host plugin list | info | remove`, and `add` of a bare library.

use super::package::receipt;
use super::{CommandError, Done, Exit, failed, plugin_id, usage};
use crate::cli::Global;
use crate::output;
use skillbench_engine::describe::DescriptionCache;
use skillbench_engine::registry::Registry;
use skillbench_engine::run::{Inventory, Plugin};
use skillbench_packages::{Home, Receipt};
use skillbench_record::hash::sha256;
use skillbench_record::paths;
use skillbench_report::{Cell, Table};
use skillbench_worker::Description;
use skillbench_worker::Library;
use skillbench_worker::sandbox::Sandbox;
use std::path::{Path, PathBuf};

pub fn list(global: &Global) -> Done {
    let inventory = global.inventory();
    let columns =
        ["id", "kind", "version", "door", "status", "library", "from", "package from", "signed by", "checked"];
    let mut table = Table::new(columns).least(["from", "library", "door", "checked", "package from"]);
    for plugin in &inventory.plugins {
        let receipt = receipt(&plugin.library.path);
        let of_package =
            |text: fn(&Receipt) -> String| receipt.as_ref().map_or(Cell::none(), |it| Cell::text(text(it)));
        table.row([
            Cell::text(&plugin.id),
            plugin.description.kinds().join(", ").into(),
            Cell::text(&plugin.description.version),
            plugin.description.entry.name().into(),
            "found".into(),
            plugin.library.display().to_string().into(),
            plugin.entry.origin.to_string().into(),
            of_package(|receipt| receipt.from.clone()),
            of_package(Receipt::signer),
            of_package(Receipt::check),
        ]);
    }
    for rejected in &inventory.rejected {
        let reason = format!("rejected: {}", rejected.reason);
        table.row([
            Cell::text(&rejected.id),
            Cell::none(),
            Cell::none(),
            Cell::none(),
            reason.into(),
            Cell::none(),
            Cell::text(&rejected.origin),
            Cell::none(),
            Cell::none(),
            Cell::none(),
        ]);
    }
    output::table(&table, global.format.into());
    tell_problems(&inventory.registry);
    if global.verbose {
        tell_sources(&inventory.registry);
    }
    Ok(Exit::Good)
}

/// Every rejected entry, with file, line, key and what was expected.
pub fn tell_problems(registry: &Registry) {
    registry.problems.iter().for_each(|problem| output::warning(&problem.to_string()));
}

/// Plugins that a run cannot use, but for those that their own rule leaves alone.
pub fn tell_rejected(inventory: &Inventory) {
    for rejected in inventory.rejected.iter().filter(|rejected| !rejected.no_match) {
        output::warning(&format!("plugin '{}' ({}) is rejected: {}", rejected.id, rejected.origin, rejected.reason));
    }
}

fn tell_sources(registry: &Registry) {
    let listed = |paths: &[PathBuf]| paths.iter().map(|path| format!("  {}\n", path.display())).collect::<String>();
    output::say(&format!("registries read, in order:\n{}", listed(&registry.files).trim_end()));
    output::say(&format!("folders searched for libraries, in order:\n{}", listed(&registry.search).trim_end()));
    for (entry, winner) in &registry.hidden {
        output::say(&format!("'{}' of {} is hidden by the earlier entry at {winner}", entry.id, entry.origin));
    }
}

pub fn info(global: &Global, id: &str) -> Done {
    let inventory = global.inventory();
    let plugin = inventory.plugin(id).ok_or_else(|| usage(inventory.why_not(id)))?;
    let mut table = Table::new(["field", "value"]);
    facts(plugin).into_iter().for_each(|(field, value)| table.row([field.into(), value.into()]));
    output::table(&table, global.format.into());
    Ok(Exit::Good)
}

/// What is known of a plugin, line by line.
pub fn facts(plugin: &Plugin) -> Vec<(String, String)> {
    let Description { name, version, vendor, license, url, entry, contract, backend, skillset, benchmarks, .. } =
        &plugin.description;
    let mut facts: Vec<(String, String)> = [
        ("id", plugin.id.clone()),
        ("name", name.clone()),
        ("version", version.clone()),
        ("vendor", vendor.clone()),
        ("license", license.clone()),
        ("url", url.clone()),
        ("library", plugin.library.display().to_string()),
        ("registered at", plugin.entry.origin.to_string()),
        ("loaded through", entry.name().into()),
        ("contract", format!("{}.{}", contract.0, contract.1)),
    ]
    .map(|(field, value)| (field.to_string(), value))
    .to_vec();
    if let Some(backend) = backend {
        facts.push(("backend".into(), backend.id.clone()));
        facts.push(("options".into(), backend.options_schema.clone()));
        facts.push(("optional slots".into(), backend.slots.join(", ")));
    }
    if let Some(skillset) = skillset {
        facts.push((
            "skillset".into(),
            format!("{}: {} ({} skills)", skillset.id, skillset.summary, skillset.skills.len()),
        ));
    }
    for benchmark in benchmarks {
        let text =
            format!("{} (version {}, {}): {}", benchmark.id, benchmark.version, benchmark.category, benchmark.summary);
        facts.push(("benchmark".into(), text));
    }
    if let Some(receipt) = receipt(&plugin.library.path) {
        let Receipt { from, index, installed, requires, .. } = &receipt;
        let from = index.as_ref().map_or(from.clone(), |index| format!("{from}, by the index {index}"));
        facts.extend([
            ("package from".into(), from),
            ("signed by".into(), receipt.signer()),
            ("installed".into(), installed.clone()),
            ("checked".into(), receipt.check()),
            ("requires".into(), requires.join("; ")),
        ]);
    }
    facts.retain(|(_, value)| !value.is_empty());
    facts
}

/// The file that `add` writes for an id.
fn drop_in(id: &str) -> Result<PathBuf, CommandError> {
    Ok(paths::config().join("registry.d").join(format!("{}.toml", plugin_id(id)?)))
}

pub fn add(global: &Global, library: &Path, id: Option<String>, pin: bool) -> Done {
    let library = std::fs::canonicalize(library).map_err(|e| usage(format!("{}: {e}", library.display())))?;
    let sandbox = Sandbox { mode: global.sandbox.into(), ..Sandbox::default() };
    let opened = Library::new(library.clone(), sandbox);
    let description = DescriptionCache::open(&global.stop).describe_anew(&opened).map_err(failed)?;
    let id = id.unwrap_or(description.id);
    let file = drop_in(&id)?;
    if file.exists() {
        return Err(usage(format!("{} is there already; `host plugin remove {id}` takes it back", file.display())));
    }
    // Written as JSON strings, which TOML's basic strings are a superset of.
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let mut entry =
        format!("version = 1\n\n[[plugin]]\nid = {}\nlibrary = {}\n", quoted(&id), quoted(&library.to_string_lossy()));
    if pin {
        let hash = sha256(&library).map_err(|e| failed(format!("{}: {e}", library.display())))?;
        entry.push_str(&format!("sha256 = {}\n", quoted(&hash)));
    }
    let written = file.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&file, entry));
    written.map_err(|e| failed(format!("{}: {e}", file.display())))?;
    output::say(&format!("registered '{id}' in {}", file.display()));
    Ok(Exit::Good)
}

pub fn remove(id: &str) -> Done {
    let file = drop_in(id)?;
    let home = Home::of_user();
    if let Some(versions) = skillbench_packages::remove(&home, id).map_err(failed)? {
        let folder = home.packages().join(id);
        output::say(&format!("removed {id} {} from {}, and its registration", versions.join(", "), folder.display()));
        return Ok(Exit::Good);
    }
    match std::fs::remove_file(&file) {
        Ok(()) => {
            output::say(&format!("removed {}; the library itself is left alone", file.display()));
            Ok(Exit::Good)
        }
        Err(error) => {
            Err(usage(format!("{}: {error}; only what `host plugin add` registered can be removed", file.display())))
        }
    }
}
