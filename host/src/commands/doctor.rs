//! `host doctor`: what is wrong here, and what to do next.

use super::{Done, Exit};
use crate::cli::Global;
use crate::output;
use skillbench_engine::run::Probe;
use skillbench_record::Environment;
use skillbench_record::paths;
use skillbench_report::page::Tone;
use skillbench_report::{Cell, Table};
use skillbench_worker::{DeviceRecord, DeviceState};

pub fn doctor(global: &Global) -> Done {
    let inventory = global.inventory();
    let mut table = Table::new(["what", "state", "next"]);
    let mut tell = |what: &str, state: &str, next: String| {
        let state = match state {
            "good" | "good, remote" => Cell::from(state).tone(Tone::Good),
            "good, emulated" => Cell::from(state).tone(Tone::Emulated),
            "problem" | "rejected" | "not writable" => Cell::from(state).tone(Tone::Bad),
            _ => Cell::from(state).tone(Tone::Warn),
        };
        table.row([what.into(), state, next.into()]);
    };
    for problem in &inventory.registry.problems {
        tell("registry", "problem", problem.to_string());
    }
    for rejected in &inventory.rejected {
        tell(&format!("plugin {}", rejected.id), "rejected", format!("{} ({})", rejected.reason, rejected.origin));
    }
    let mut usable = 0;
    for (plugin, _) in inventory.backends() {
        let what = format!("backend {}", plugin.id);
        let probe = Probe::at(plugin, &global.stop);
        match (probe.why_not(), &probe.devices) {
            (None, _) => {
                usable += 1;
                let state = match probe.usable().map(DeviceRecord::state) {
                    Some(DeviceState::Emulated) => "good, emulated",
                    Some(DeviceState::Remote) => "good, remote",
                    _ => "good",
                };
                tell(&what, state, String::new());
            }
            (Some(why), Ok(_)) => tell(&what, "no device", why),
            (Some(why), Err(failure)) => tell(&what, &failure.reason.code, why),
        }
    }
    for (name, folder) in [("cache", paths::cache()), ("data", paths::data())] {
        let probe = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(folder.join(".writable"), b""));
        match probe.and_then(|()| std::fs::remove_file(folder.join(".writable"))) {
            Ok(()) => tell(name, "good", folder.display().to_string()),
            Err(error) => tell(name, "not writable", format!("{}: {error}", folder.display())),
        }
    }
    for advice in machine(&skillbench_engine::environment::probe()) {
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
