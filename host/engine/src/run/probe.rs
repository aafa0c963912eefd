//! Looking at a backend: its devices, or why there are none, and what it looked at to find out.

use super::Plugin;
use skillbench_record::PluginOptions;
use skillbench_worker::{Command, DeviceRecord, Event, Failure, Limits, Reply, Stop, Worker};

/// What a backend said when it was opened.
#[derive(Debug)]
pub struct Probe {
    pub devices: Result<Vec<DeviceRecord>, Failure>,
    pub evidence: Vec<Evidence>,
}

/// Something that was looked at, and what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    pub what: String,
    pub found: String,
}

impl Probe {
    /// Opens a backend in a worker of its own, as the registry says.
    pub fn at(plugin: &Plugin, stop: &Stop) -> Probe {
        Probe::with(plugin, &PluginOptions::new(), stop)
    }

    /// As [`Probe::at`], with options of a user's own.
    pub fn with(plugin: &Plugin, own: &PluginOptions, stop: &Stop) -> Probe {
        let mut evidence = vec![];
        let devices = devices(plugin, own, stop, &mut evidence);
        Probe { devices, evidence }
    }

    /// The first device that can be used.
    pub fn usable(&self) -> Option<&DeviceRecord> {
        self.devices.as_ref().ok()?.iter().find(|device| device.usable)
    }

    /// Why no device can be used; `None` where one can.
    pub fn why_not(&self) -> Option<String> {
        match &self.devices {
            Err(failure) => Some(failure.to_string()),
            Ok(_) if self.usable().is_some() => None,
            Ok(devices) if devices.is_empty() => Some("it finds no device".into()),
            Ok(devices) => Some(devices.iter().map(|device| device.reason.as_str()).collect::<Vec<_>>().join("; ")),
        }
    }
}

fn devices(
    plugin: &Plugin,
    own: &PluginOptions,
    stop: &Stop,
    evidence: &mut Vec<Evidence>,
) -> Result<Vec<DeviceRecord>, Failure> {
    let backend = plugin.opened_with(own, None).map_err(|text| Failure::failed("options", text))?;
    let mut on_event = |event: &Event| {
        if let Event::Evidence { what, found } = event {
            evidence.push(Evidence { what: what.clone(), found: found.clone() });
        }
    };
    let command = Command::Devices { backend };
    match Worker::start(&command)?.call(&command, &Limits::probing(stop), &mut on_event).0? {
        Reply::Devices { devices, .. } => Ok(devices),
        other => Err(Failure::unexpected(&other)),
    }
}
