//! `host runtime install`: from the network, or from a folder that was carried here.

use super::meant;
use crate::commands::{CommandError, failed};
use crate::output;
use skillbench_engine::registry::{Package, Registry};
use skillbench_engine::runtime::{self, Carried, OnThisMachine, RuntimeError, Waiting};
use std::path::Path;

/// The packages that a name stands for and that are published for this platform, and whether the name is a plugin's. Warns about
/// the other packages.
fn published(registry: &Registry, name: &str) -> Result<(Vec<Package>, bool), CommandError> {
    let (packages, of_plugin) = meant(registry, name)?;
    if packages.is_empty() {
        output::say(&format!("'{name}' needs nothing from outside"));
    }
    let some = packages.iter().any(|package| package.file().is_some());
    let (here, elsewhere): (Vec<Package>, Vec<Package>) =
        packages.into_iter().partition(|package| package.file().is_some() || !(of_plugin && some));
    for package in elsewhere {
        // Some packages serve some platforms only, such as Vulkan's where there is no Metal.
        output::warning(&format!("{} is not published for this platform", named(&package)));
    }
    Ok((here, of_plugin))
}

fn named(package: &Package) -> String {
    format!("{} {}", package.name, package.version)
}

fn tell_installed(package: &Package, was_there: bool) {
    let state = if was_there { "is there already" } else { "is installed" };
    output::say(&format!("{} {state}: {}", named(package), runtime::folder(package).display()));
}

fn tell_found(package: &Package, found: &OnThisMachine) {
    let version = found.version.as_ref().map_or(String::new(), |version| format!(" (version {version})"));
    output::say(&format!("{} is found on this machine{version}: {}", package.name, found.folder.display()));
}

/// With the machine's package clients. What a plugin needs and the machine has is not fetched; a package that is named is.
pub fn fetch(registry: &Registry, names: &[String]) -> Result<(), CommandError> {
    for name in names {
        let (packages, of_plugin) = published(registry, name)?;
        let mut found_here = vec![];
        for package in packages {
            if let Some(found) = runtime::on_machine(&package).filter(|_| of_plugin && !runtime::is_installed(&package))
            {
                tell_found(&package, &found);
                found_here.push(package.name);
                continue;
            }
            output::say(&format!("{}: with {} ...", named(&package), package.source.client()));
            let was_there = runtime::install(&package).map_err(failed)?;
            tell_installed(&package, was_there);
        }
        if !found_here.is_empty() {
            output::say(&format!(
                "to have the pinned versions all the same: host runtime install {}",
                found_here.join(" ")
            ));
        }
    }
    Ok(())
}

/// From a folder. Takes all that is there, and names everything that is missing in one error, so that one more journey brings it.
pub fn carried(registry: &Registry, names: &[String], from: &Path, partial: bool) -> Result<(), CommandError> {
    if !from.is_dir() {
        return Err(failed(format!("--from: there is no folder {}", from.display())));
    }
    // Plugins share packages; each is installed once. Where a package is named itself, the machine's own does not serve.
    let mut wanted: Vec<(Package, bool)> = vec![];
    for name in names {
        let (packages, of_plugin) = published(registry, name)?;
        for package in packages {
            match wanted.iter_mut().find(|(known, _)| *known == package) {
                Some((_, of_plugins)) => *of_plugins &= of_plugin,
                None => wanted.push((package, of_plugin)),
            }
        }
    }
    let (mut problems, mut nowhere) = (vec![], vec![]);
    for (package, of_plugin) in wanted {
        if let Some(found) = runtime::on_machine(&package)
            .filter(|_| of_plugin && !runtime::is_installed(&package) && !runtime::is_carried(&package, from))
        {
            tell_found(&package, &found);
            continue;
        }
        match runtime::install_from(&package, from, partial) {
            Ok(Carried::There) => tell_installed(&package, true),
            Ok(Carried::Installed) => tell_installed(&package, false),
            Ok(Carried::Waiting(waiting)) => tell_waiting(&package, &waiting),
            Err(RuntimeError::NotCarried { package, .. }) => nowhere.push(package),
            Err(error) => problems.push(error.to_string()),
        }
    }
    if !nowhere.is_empty() {
        let text = RuntimeError::NotCarried { package: nowhere.join(" "), folder: from.into() }.to_string();
        // With `partial` it may come with a later call.
        if partial {
            output::warning(&text);
        } else {
            problems.push(text);
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(failed(problems.join("\n"))) }
}

fn tell_waiting(package: &Package, waiting: &Waiting) {
    if waiting.given_up > 0 {
        let text = format!("{} pieces that waited were of another cutting, and are given up", waiting.given_up);
        output::warning(&format!("{}: {text}", named(package)));
    }
    let here = waiting.total - waiting.missing.len();
    let text = format!("{here} of {} pieces are here, missing: {}", waiting.total, runtime::first_of(&waiting.missing));
    output::say(&format!("{} is not installed yet: {text}", named(package)));
}
