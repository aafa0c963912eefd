//! `host doctor`: what is wrong here, and what to do next.

use super::{Done, Exit};
use crate::cli::Global;
use crate::commands::devices::ask;
use crate::output;
use skillbench_engine::environment::Environment;
use skillbench_engine::paths;
use skillbench_engine::run::Inventory;
use skillbench_report::Table;

pub fn doctor(global: &Global) -> Done {
    let inventory = Inventory::take(&global.sources());
    let mut table = Table::new(["what", "state", "next"]);
    let mut tell = |what: &str, state: &str, next: String| table.row([what.into(), state.into(), next.into()]);
    for problem in &inventory.registry.problems {
        tell("registry", "problem", problem.to_string());
    }
    for rejected in &inventory.rejected {
        tell(&format!("plugin {}", rejected.id), "rejected", format!("{} ({})", rejected.reason, rejected.origin));
    }
    let mut usable = 0;
    for (plugin, _) in inventory.backends() {
        let what = format!("backend {}", plugin.id);
        match ask(plugin) {
            Ok(devices) if devices.iter().any(|device| device.usable) => {
                usable += 1;
                tell(&what, "good", String::new());
            }
            Ok(devices) => {
                let reasons: Vec<&str> = devices.iter().map(|device| device.reason.as_str()).collect();
                tell(&what, "no device", reasons.join("; "));
            }
            Err(failure) => tell(&what, &failure.reason.code.clone(), failure.to_string()),
        }
    }
    for (name, folder) in [("cache", paths::cache()), ("data", paths::data())] {
        let probe = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(folder.join(".writable"), b""));
        match probe.and_then(|()| std::fs::remove_file(folder.join(".writable"))) {
            Ok(()) => tell(name, "good", folder.display().to_string()),
            Err(error) => tell(name, "not writable", format!("{}: {error}", folder.display())),
        }
    }
    for advice in machine(&Environment::probe()) {
        tell("machine", "noisy", advice);
    }
    output::table(&table, global.format.into());
    Ok(if usable > 0 { Exit::Good } else { Exit::Unavailable })
}

/// What makes figures of this machine noisy.
fn machine(environment: &Environment) -> Vec<String> {
    let mut advice = vec![];
    if let Some(governor) = environment.governor.as_ref().filter(|governor| *governor != "performance") {
        advice.push(format!("the frequency governor is '{governor}': set it to 'performance' for steady figures"));
    }
    if let (Some(load), Some(cpus)) = (environment.load_1min, environment.cpus_usable)
        && load > 0.5 * cpus as f64
    {
        advice.push(format!("the load is {load} on {cpus} processors: end other work before measuring"));
    }
    if let Some(steal) = environment.steal_share.filter(|steal| *steal > 0.01) {
        advice.push(format!("{:.0}% of the CPU time since start went to other machines on this host", steal * 100.0));
    }
    advice
}
