//! What two devices have in common that can stand for each other.

use skillbench_record::{Cell, Environment, FUNCTION};
use skillbench_worker::DeviceRecord;

/// Devices of one class are alike in all of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Class {
    pub plugin: String,
    kind: String,
    vendor: String,
    arch: String,
    /// What the backend calls the device.
    pub name: String,
    memory_gib: Option<u64>,
    emulated: bool,
    remote: bool,
}

impl Class {
    pub fn of_device(plugin: &str, device: &DeviceRecord) -> Class {
        let DeviceRecord { kind, vendor, arch, name, emulated, remote, .. } = device;
        Class {
            plugin: plugin.into(),
            kind: kind.clone(),
            vendor: vendor.clone(),
            arch: arch.clone(),
            name: name.clone(),
            memory_gib: device.memory_bytes.map(|bytes| bytes >> 30),
            emulated: *emulated,
            remote: *remote,
        }
    }

    /// Of a machine that functions of a plugin run on: of its processors.
    pub fn of_machine(plugin: &str, environment: &Environment) -> Class {
        let Environment { os, arch, cpu_model, cpus_usable, .. } = environment;
        let processors = cpus_usable.map(|count| format!("{count} x ")).unwrap_or_default();
        Class {
            plugin: plugin.into(),
            kind: "machine".into(),
            vendor: os.clone(),
            arch: arch.clone(),
            name: processors + cpu_model.as_deref().unwrap_or_default(),
            memory_gib: None,
            emulated: false,
            remote: false,
        }
    }

    /// Of what a cell was measured on; `None`: it came to no device.
    pub fn of_cell(cell: &Cell, environment: &Environment) -> Option<Class> {
        if cell.family == FUNCTION {
            return Some(Class::of_machine(&cell.plugin, environment));
        }
        let hardware = cell.hardware.as_ref()?;
        Some(Class {
            plugin: cell.plugin.clone(),
            kind: hardware.kind.clone(),
            vendor: hardware.vendor.clone(),
            arch: hardware.arch.clone(),
            name: hardware.name.clone(),
            memory_gib: hardware.memory_mb.map(|megabytes| (megabytes / 1024.0) as u64),
            emulated: cell.emulated,
            remote: cell.remote,
        })
    }
}
