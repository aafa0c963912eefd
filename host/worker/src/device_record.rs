//! A device as host and worker speak of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skillbench_record::HardwareRecord;

/// A device, or several that a model is loaded onto together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceRecord {
    pub id: String,
    pub name: String,
    pub kind: String,
    pub vendor: String,
    pub arch: String,
    pub driver: String,
    pub memory_bytes: Option<u64>,
    pub emulated: bool,
    /// Behind a network.
    #[serde(default)]
    pub remote: bool,
    pub usable: bool,
    pub reason: String,
}

impl DeviceRecord {
    /// Whether its figures are those of hardware that is here: what is measured where nobody names a backend.
    pub fn is_local_hardware(&self) -> bool {
        !self.emulated && !self.remote && self.kind != "browser"
    }

    pub fn state(&self) -> DeviceState {
        match (self.usable, self.emulated, self.remote) {
            (false, ..) => DeviceState::Unavailable,
            (true, true, _) => DeviceState::Emulated,
            (true, false, true) => DeviceState::Remote,
            (true, false, false) => DeviceState::Usable,
        }
    }
}

/// What can be done with a device, for whoever shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceState {
    Usable,
    Emulated,
    Remote,
    Unavailable,
}

impl DeviceState {
    pub fn name(self) -> &'static str {
        match self {
            DeviceState::Usable => "usable",
            DeviceState::Emulated => "emulated",
            DeviceState::Remote => "remote",
            DeviceState::Unavailable => "unavailable",
        }
    }
}

impl From<&DeviceRecord> for HardwareRecord {
    fn from(device: &DeviceRecord) -> HardwareRecord {
        HardwareRecord {
            name: device.name.clone(),
            kind: device.kind.clone(),
            vendor: device.vendor.clone(),
            arch: device.arch.clone(),
            driver: device.driver.clone(),
            memory_mb: device.memory_bytes.map(|bytes| bytes as f64 / 1048576.0),
        }
    }
}

impl From<&skillbench_plugin_api::Device> for DeviceRecord {
    fn from(device: &skillbench_plugin_api::Device) -> DeviceRecord {
        DeviceRecord {
            id: device.id.clone(),
            name: device.name.clone(),
            kind: device.kind.name().into(),
            vendor: device.vendor.clone(),
            arch: device.arch.clone(),
            driver: device.driver.clone(),
            memory_bytes: device.memory_bytes,
            // Whatever the plugin says: what a translator runs is no hardware's figure.
            emulated: device.emulated || crate::translated_for().is_some(),
            remote: device.remote,
            usable: device.why == skillbench_plugin_api::Why::NONE,
            reason: device.reason.clone(),
        }
    }
}
