//! `host why`: the whole story of one plugin, step by step, and of a model on it.

use super::{Done, Exit, usage};
use crate::cli::Global;
use crate::commands::plugin::facts;
use crate::output;
use skillbench_engine::run::{Evidence, Inventory, Plugin, Probe, first_point};
use skillbench_engine::runtime;
use skillbench_engine::skill;
use skillbench_record::defaults::defaults;
use skillbench_record::{OptionChoice, PluginOptions, RunRequest};
use skillbench_report::Table;
use skillbench_worker::{Command, DeviceState, Limits, Reply, Stop, Worker};

pub fn why(global: &Global, id: &str, model: Option<&str>, options: &[String]) -> Done {
    let own = OptionChoice::all_of(id, options).map_err(usage)?;
    let inventory = global.inventory();
    let mut story = Table::new(["step", "what"]);
    let mut tell = |step: &str, what: String| story.row([step.into(), what.into()]);
    let good = match inventory.plugin(id) {
        None if inventory.rejected.iter().any(|rejected| rejected.id == id) => {
            tell("rejected", inventory.why_not(id));
            false
        }
        None => {
            let is_model = inventory.catalog().find(id).is_ok();
            let hint = if is_model { format!("; '{id}' is a model: host why PLUGIN {id}") } else { String::new() };
            return Err(usage(inventory.why_not(id) + &hint));
        }
        Some(plugin) => {
            // The schema of the options is a page of its own: `plugin info` has it.
            let facts = facts(plugin).into_iter().filter(|(field, _)| field != "options");
            facts.for_each(|(field, value)| tell(&field, value));
            runtime_story(plugin, &mut tell);
            let opened =
                plugin.description.backend.is_none() || devices_story(plugin, &own, &inventory.stop, &mut tell);
            opened && model.map_or(Ok(true), |model| model_story(&inventory, plugin, &own, model, &mut tell))?
        }
    };
    output::table(&story, global.format.into());
    Ok(if good { Exit::Good } else { Exit::Unavailable })
}

fn runtime_story(plugin: &Plugin, tell: &mut impl FnMut(&str, String)) {
    for need in &plugin.needs {
        let (package, version) = (&need.package.name, &need.package.version);
        let own = runtime::path(need).filter(|_| runtime::is_installed(&need.package));
        let text = match (own, runtime::on_machine(&need.package)) {
            (Some(path), _) => format!("{package} {version}: {}", path.display()),
            (None, Some(found)) => {
                let what = found.version.map_or("of an unknown version".into(), |found| format!("version {found}"));
                format!("{package} is found on this machine, {what}: {}", found.folder.display())
            }
            (None, None) if need.package.file().is_none() => {
                format!("{package} {version} is not published for this platform: set the option yourself")
            }
            (None, None) => format!(
                "{package} {version} is not installed: `host runtime install {}`; to carry it: `host runtime pack {package} -o DIR`",
                plugin.id
            ),
        };
        tell(&format!("runtime for option {}", need.option), text);
    }
}

fn devices_story(plugin: &Plugin, own: &PluginOptions, stop: &Stop, tell: &mut impl FnMut(&str, String)) -> bool {
    let probe = Probe::with(plugin, own, stop);
    for Evidence { what, found } in &probe.evidence {
        tell(&format!("looked at {what}"), found.clone());
    }
    match probe.devices {
        Err(failure) => {
            tell("open", format!("failed ({}): {failure}", failure.reason.code));
            false
        }
        Ok(devices) => {
            for device in &devices {
                let state = match device.state() {
                    DeviceState::Unavailable => format!("not usable: {}", device.reason),
                    DeviceState::Usable => "usable".to_string(),
                    state => format!("usable, {}", state.name()),
                };
                tell("device", format!("{} ({}, {}): {state}", device.id, device.name, device.kind));
            }
            devices.iter().any(|device| device.usable)
        }
    }
}

fn model_story(
    inventory: &Inventory,
    plugin: &Plugin,
    own: &PluginOptions,
    model: &str,
    tell: &mut impl FnMut(&str, String),
) -> Result<bool, super::CommandError> {
    let skill = inventory.catalog().find(model).map_err(usage)?;
    let axes = first_point(&skill, &RunRequest::default()).map_err(usage)?;
    let backend = plugin.opened_with(own, None).map_err(usage)?;
    let limits = Limits::working(RunRequest::default().time_limit(defaults().run.timeout_s), None, &inventory.stop);
    let built = match skill::build(&skill, skill.form_for(None), &limits) {
        Ok(built) => built,
        Err(failure) => {
            tell("model", format!("cannot be built: {failure}"));
            return Ok(false);
        }
    };
    for (name, path) in &built.paths.parts {
        let name = if name.is_empty() { "model" } else { name };
        tell(name, path.display().to_string());
    }
    let command = Command::Inspect { backend, model: built.paths, axes, device: None, precision: None };
    match Worker::call_once(&command, &limits) {
        Ok(Reply::Inspected { inputs, outputs }) => {
            for (direction, ports) in [("input", inputs), ("output", outputs)] {
                for port in ports {
                    let dim = |(index, size): (usize, &Option<usize>)| match size {
                        Some(size) => size.to_string(),
                        None => port.dim_names.get(index).and_then(Clone::clone).unwrap_or("?".into()),
                    };
                    let shape: Vec<String> = port.shape.iter().enumerate().map(dim).collect();
                    tell(direction, format!("{} {} [{}]", port.name, port.dtype, shape.join(", ")));
                }
            }
            tell("load", "works".into());
            Ok(true)
        }
        Ok(_) => Ok(false),
        Err(failure) => {
            tell("load", format!("failed ({}): {failure}", failure.reason.code));
            Ok(false)
        }
    }
}
