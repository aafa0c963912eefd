//! Devices, usable or not.

use super::{known, or_unknown};
use crate::raw::*;
use crate::{Why, abi_size, text};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    Cpu,
    Gpu,
    Npu,
    Dsp,
    Browser,
    Other,
}

impl DeviceKind {
    /// Its number in the contract.
    pub fn to_raw(self) -> u32 {
        match self {
            DeviceKind::Cpu => SB_CPU,
            DeviceKind::Gpu => SB_GPU,
            DeviceKind::Npu => SB_NPU,
            DeviceKind::Dsp => SB_DSP,
            DeviceKind::Browser => SB_BROWSER,
            DeviceKind::Other => SB_OTHER,
        }
    }

    /// A number that this version does not know is [`DeviceKind::Other`].
    pub fn from_raw(raw: u32) -> DeviceKind {
        match raw {
            SB_CPU => DeviceKind::Cpu,
            SB_GPU => DeviceKind::Gpu,
            SB_NPU => DeviceKind::Npu,
            SB_DSP => DeviceKind::Dsp,
            SB_BROWSER => DeviceKind::Browser,
            _ => DeviceKind::Other,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            DeviceKind::Cpu => "cpu",
            DeviceKind::Gpu => "gpu",
            DeviceKind::Npu => "npu",
            DeviceKind::Dsp => "dsp",
            DeviceKind::Browser => "browser",
            DeviceKind::Other => "other",
        }
    }
}

/// A device of a backend, or the evidence that it is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    pub id: String,
    pub name: String,
    pub kind: DeviceKind,
    pub vendor: String,
    pub arch: String,
    pub driver: String,
    pub memory_bytes: Option<u64>,
    pub emulated: bool,
    /// Behind a network, in whatever machine answers there.
    pub remote: bool,
    /// Not [`Why::NONE`]: known of but not usable, and `reason` tells what was looked at.
    pub why: Why,
    pub reason: String,
}

impl Device {
    /// A usable device about which nothing else is known.
    pub fn new(id: &str, name: &str, kind: DeviceKind) -> Device {
        Device {
            id: id.into(),
            name: name.into(),
            kind,
            vendor: String::new(),
            arch: String::new(),
            driver: String::new(),
            memory_bytes: None,
            emulated: false,
            remote: false,
            why: Why::NONE,
            reason: String::new(),
        }
    }

    pub(crate) fn to_raw(&self) -> sb_device {
        let mut raw: sb_device = abi_size::sized();
        raw.kind = self.kind.to_raw();
        raw.why = self.why.0;
        raw.flags = if self.emulated { SB_DEVICE_EMULATED } else { 0 } | if self.remote { SB_DEVICE_REMOTE } else { 0 };
        raw.place = sb_place { r#type: SB_HOST_MEMORY, id: 0 };
        raw.memory_bytes = or_unknown(self.memory_bytes);
        raw.id = text::to_array(&self.id);
        raw.name = text::to_array(&self.name);
        raw.vendor = text::to_array(&self.vendor);
        raw.arch = text::to_array(&self.arch);
        raw.driver = text::to_array(&self.driver);
        raw.reason = text::to_array(&self.reason);
        raw
    }

    pub(crate) fn from_raw(raw: &sb_device) -> Device {
        Device {
            id: text::from_array(&raw.id),
            name: text::from_array(&raw.name),
            kind: DeviceKind::from_raw(raw.kind),
            vendor: text::from_array(&raw.vendor),
            arch: text::from_array(&raw.arch),
            driver: text::from_array(&raw.driver),
            memory_bytes: known(raw.memory_bytes),
            emulated: raw.flags & SB_DEVICE_EMULATED != 0,
            remote: raw.flags & SB_DEVICE_REMOTE != 0,
            why: Why(raw.why),
            reason: text::from_array(&raw.reason),
        }
    }
}
