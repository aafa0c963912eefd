//! The processor this process runs on, as a device: what every backend that computes on it has to say.

use crate::{Device, DeviceKind};
use std::env::consts::ARCH;

/// The device "cpu", by the name and vendor that the system tells; by its architecture where it tells none.
pub fn processor() -> Device {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = field(&cpuinfo, "model name").unwrap_or(ARCH);
    Device {
        vendor: field(&cpuinfo, "vendor_id").unwrap_or_default().into(),
        arch: ARCH.into(),
        ..Device::new("cpu", name, DeviceKind::Cpu)
    }
}

/// The first value of a field of `/proc/cpuinfo`.
fn field<'t>(cpuinfo: &'t str, name: &str) -> Option<&'t str> {
    let pairs = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    pairs.map(|(key, value)| (key.trim(), value.trim())).find(|(key, _)| *key == name).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::field;

    #[test]
    fn a_field_is_found_by_its_whole_name() {
        let cpuinfo = "model\t\t: 85\nmodel name\t: A: fast one\nmodel name\t: another";
        assert_eq!(field(cpuinfo, "model name"), Some("A: fast one"));
        assert_eq!(field(cpuinfo, "vendor_id"), None);
    }
}
