//! Whether the backends of a plan can be used now: the device of each, or why there is none.

use super::named::{Asked, PlannedBackend};
use super::plan::Plan;
use skillbench_worker::{
    Chosen, Command, DeviceRecord, Failure, FailureKind, Limits, PluginUse, Reply, Stop, Worker, choose,
};

/// Whether a backend can be used, and on what.
#[derive(Clone, Debug)]
pub enum Availability {
    Usable(DeviceRecord),
    /// Why not; its cells would say so.
    Unusable(String),
    /// It would have no cells.
    LeftOut(String),
}

/// Looks at every backend of a plan, in its order.
pub fn availability(plan: &Plan) -> Vec<Availability> {
    let mut looks: Vec<(&PluginUse, Result<Vec<DeviceRecord>, Failure>)> = vec![];
    let mut all = vec![];
    for backend in &plan.backends {
        if let Some(reason) = &backend.rejected {
            all.push(Availability::Unusable(reason.clone()));
            continue;
        }
        let place = looks.iter().position(|(plugin, _)| **plugin == backend.plugin).unwrap_or_else(|| {
            looks.push((&backend.plugin, look(&backend.plugin, &plan.stop)));
            looks.len() - 1
        });
        all.push(of_backend(backend, looks[place].1.as_deref()));
    }
    all
}

fn look(plugin: &PluginUse, stop: &Stop) -> Result<Vec<DeviceRecord>, Failure> {
    match Worker::call_once(&Command::Devices { backend: plugin.clone() }, &Limits::probing(stop))? {
        Reply::Devices { devices, .. } => Ok(devices),
        other => Err(Failure::unexpected(&other)),
    }
}

fn of_backend(backend: &PlannedBackend, devices: Result<&[DeviceRecord], &Failure>) -> Availability {
    let chosen = devices.map(|devices| choose(backend.choice.device.as_deref(), devices));
    let device =
        chosen.as_ref().map(|chosen| chosen.as_ref().ok().map(|chosen| &chosen.device)).map_err(|failure| *failure);
    if let Some(why) = why_left_out(backend, device) {
        return Availability::LeftOut(why);
    }
    match chosen {
        Ok(Ok(Chosen { device, .. })) if device.usable => Availability::Usable(device),
        Ok(Ok(Chosen { device, .. })) => Availability::Unusable(device.reason),
        Ok(Err(none)) => Availability::Unusable(format!("{}: {none}", backend.choice.plugin)),
        Err(failure) => Availability::Unusable(failure.to_string()),
    }
}

/// Without being asked for by name, a backend that cannot run here, or only emulates, is left out.
pub(super) fn why_left_out(
    backend: &PlannedBackend,
    device: Result<Option<&DeviceRecord>, &Failure>,
) -> Option<String> {
    let name = &backend.choice.plugin;
    if backend.asked == Asked::ByName {
        return None;
    }
    match device {
        Err(failure) if failure.kind == FailureKind::Unavailable => Some(failure.to_string()),
        // One that crashes or hangs is not left out: its cells say so.
        Err(_) => None,
        Ok(None) => Some("no device can be used".into()),
        Ok(Some(_)) if backend.asked == Asked::AsWeb => None,
        Ok(Some(device)) if device.emulated => Some(format!("it would be emulated; ask for it with --plugin {name}")),
        Ok(Some(device)) if device.remote => Some(format!("it is behind a network; ask for it with --plugin {name}")),
        Ok(Some(device)) if device.kind == "browser" => {
            Some(format!("it is a web platform; ask for it with --plugin {name}"))
        }
        Ok(Some(_)) => None,
    }
}
