//! `host runtime list | install | remove`.

use super::{CommandError, Done, Exit, failed, usage};
use crate::cli::{Global, RuntimeCommand};
use crate::output;
use skillbench_engine::registry::{Registry, RuntimeSpec};
use skillbench_engine::runtime;
use skillbench_report::{Cell, Table};

pub fn runtime(global: &Global, command: &RuntimeCommand) -> Done {
    let registry = Registry::load(&global.sources());
    match command {
        RuntimeCommand::List => {
            let mut table = Table::new(["plugin", "package", "version", "installed", "size_mb", "library"]);
            for entry in &registry.entries {
                let Some(spec) = &entry.runtime else { continue };
                let library = runtime::installed(&entry.id, spec);
                table.row([
                    Cell::text(&entry.id),
                    Cell::text(&spec.pypi),
                    Cell::text(&spec.version),
                    Cell::flag(library.is_some()),
                    Cell::maybe(library.as_ref(), |_| Cell::number(runtime::size(&entry.id, spec) as f64 / 1048576.0)),
                    Cell::maybe(library, |path| path.display().to_string().into()),
                ]);
            }
            output::table(&table, global.format.into());
        }
        RuntimeCommand::Install { plugin } => {
            let Some(spec) = needed(&registry, plugin)? else {
                output::say(&format!("'{plugin}' needs nothing from outside"));
                return Ok(Exit::Good);
            };
            let (library, was_there) = runtime::install(plugin, spec).map_err(failed)?;
            let state = if was_there { "is there already" } else { "is installed" };
            output::say(&format!("{} {} {state}: {}", spec.pypi, spec.version, library.display()));
        }
        RuntimeCommand::Remove { plugin } => {
            let spec = needed(&registry, plugin)?;
            let removed = spec.map_or(Ok(false), |spec| runtime::remove(plugin, spec)).map_err(failed)?;
            output::say(if removed { "removed" } else { "nothing was installed" });
        }
    }
    Ok(Exit::Good)
}

fn needed<'a>(registry: &'a Registry, plugin: &str) -> Result<Option<&'a RuntimeSpec>, CommandError> {
    let entry = registry.entry(plugin).ok_or_else(|| usage(registry.unknown(plugin)))?;
    Ok(entry.runtime.as_ref())
}
