//! `host runtime list | install | pack | remove | path`.

mod install;
mod pack;

use super::{CommandError, Done, Exit, failed, usage};
use crate::cli::{Global, RuntimeCommand};
use crate::output;
use skillbench_engine::registry::{Package, Registry};
use skillbench_engine::runtime;
use skillbench_report::{Cell, Table};
use std::path::Path;

pub fn runtime(global: &Global, command: &RuntimeCommand) -> Done {
    let registry = Registry::load(&global.sources());
    match command {
        RuntimeCommand::List => output::table(&list(&registry), global.format.into()),
        RuntimeCommand::Install { names, from: None, .. } => install::fetch(&registry, names)?,
        RuntimeCommand::Install { names, from: Some(from), partial } => {
            install::carried(&registry, names, from, *partial)?;
        }
        RuntimeCommand::Pack { names, output_dir, piece_size, complete } => {
            let packed = pack::pack(&registry, names, output_dir, *piece_size, *complete)?;
            output::table(&packed, global.format.into());
        }
        RuntimeCommand::Remove { names } => {
            for name in names {
                remove(&registry, name)?;
            }
        }
        RuntimeCommand::Path { plugin, option } => path(&registry, plugin, option)?,
    }
    Ok(Exit::Good)
}

fn list(registry: &Registry) -> Table {
    let columns = ["package", "version", "from", "needed by", "installed", "size_mb", "folder"];
    let mut table = Table::new(columns).least(["folder", "from", "size_mb"]);
    let mebibytes = |folder: &Path| Cell::number(runtime::size(folder) as f64 / f64::from(1 << 20));
    for package in &registry.packages {
        let own = runtime::is_installed(package).then(|| runtime::folder(package));
        let found = runtime::on_machine(package).filter(|_| own.is_none()).map(|found| found.folder);
        let folder = own.as_ref().or(found.as_ref());
        table.row([
            Cell::text(&package.name),
            Cell::text(&package.version),
            format!("{} {}", package.source.client(), package.source.name()).into(),
            users(registry, package).join(", ").into(),
            match package.file() {
                Some(_) if own.is_some() => Cell::flag(true),
                Some(_) if found.is_some() => Cell::text("on this machine"),
                Some(_) => runtime::waiting(package)
                    .map_or(Cell::flag(false), |(here, all)| format!("{here} of {all} pieces").into()),
                None => Cell::text("not published for this platform"),
            },
            own.as_ref().map_or(Cell::none(), |own| mebibytes(own)),
            folder.map_or(Cell::none(), |folder| folder.display().to_string().into()),
        ]);
        let pinned = |version: &str| registry.package(&format!("{}@{version}", package.name)).is_some();
        let first = registry.package(&package.name).is_some_and(|first| first.version == package.version);
        for (version, folder) in runtime::other_versions(package).into_iter().filter(|(v, _)| first && !pinned(v)) {
            table.row([
                Cell::text(&package.name),
                version.into(),
                Cell::text("pinned by no registry"),
                Cell::text(""),
                Cell::flag(true),
                mebibytes(&folder),
                folder.display().to_string().into(),
            ]);
        }
    }
    table
}

/// The plugins that need a package.
fn users<'a>(registry: &'a Registry, package: &Package) -> Vec<&'a str> {
    let needs =
        |entry: &&skillbench_engine::registry::Entry| registry.needs(entry).iter().any(|need| need.package == *package);
    registry.entries.iter().filter(needs).map(|entry| entry.id.as_str()).collect()
}

/// The packages that a name stands for, and whether it is that of a plugin.
fn meant(registry: &Registry, name: &str) -> Result<(Vec<Package>, bool), CommandError> {
    if let Some(entry) = registry.entry(name) {
        let mut packages: Vec<Package> = vec![];
        for need in registry.needs(entry) {
            if !packages.contains(&need.package) {
                packages.push(need.package);
            }
        }
        return Ok((packages, true));
    }
    match registry.package(name) {
        Some(package) => Ok((vec![package.clone()], false)),
        None => Err(usage(format!("{}, and no package of that name or version", registry.unknown(name)))),
    }
}

fn remove(registry: &Registry, name: &str) -> Result<(), CommandError> {
    // A version that no registry pins any more can go too.
    if let Some((package, version)) = name.split_once('@')
        && registry.package(name).is_none()
        && let Some(known) = registry.package(package)
    {
        let old = Package { version: version.into(), ..known.clone() };
        if runtime::remove(&old).map_err(failed)? {
            output::say(&format!("removed {name}"));
            return Ok(());
        }
    }
    let (packages, of_plugin) = meant(registry, name)?;
    if packages.is_empty() {
        output::say(&format!("'{name}' needs nothing from outside"));
    }
    for package in packages {
        let others: Vec<&str> = users(registry, &package).into_iter().filter(|id| *id != name).collect();
        let what = format!("{} {}", package.name, package.version);
        if of_plugin && !others.is_empty() {
            output::say(&format!("{what} stays: {} need it too", others.join(", ")));
        } else if runtime::remove(&package).map_err(failed)? {
            output::say(&format!("removed {what}"));
        } else {
            output::say(&format!("{what} was not installed"));
        }
    }
    Ok(())
}

fn path(registry: &Registry, plugin: &str, option: &str) -> Result<(), CommandError> {
    let entry = registry.entry(plugin).ok_or_else(|| usage(registry.unknown(plugin)))?;
    let needs = registry.needs(entry);
    let need = needs.iter().find(|need| need.option == *option).ok_or_else(|| {
        let known: Vec<&str> = needs.iter().map(|need| need.option.as_str()).collect();
        usage(format!("'{plugin}' needs nothing for an option '{option}'; it needs: {}", known.join(", ")))
    })?;
    let mut paths = runtime::options(&needs);
    let path = paths
        .remove(option)
        .ok_or_else(|| failed(format!("{} is not installed: host runtime install {plugin}", need.package.name)))?;
    output::print(&format!("{}\n", path));
    Ok(())
}
