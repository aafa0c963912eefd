//! What two devices have in common that can stand for each other.

use skillbench_record::Cell;
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

    /// Of the device that a cell was measured on; `None`: it came to none.
    pub fn of_cell(cell: &Cell) -> Option<Class> {
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
