//! Devices, usable and not, and that a model runs on the one it is loaded for.

use super::real;
use skillbench_plugin_api::{Code, DeviceKind, Load, Why};
use skillbench_testkit::{load_of, probe, refused};

#[test]
fn the_processor_is_listed_and_used_unless_another_device_is_asked_for() {
    let instance = real(&[]);
    let devices = instance.devices().unwrap();
    let cpu = devices.iter().find(|device| device.id == "CPU").expect("a CPU");
    assert_eq!((cpu.kind, cpu.why), (DeviceKind::Cpu, Why::NONE));
    assert!(!cpu.name.is_empty() && cpu.arch == std::env::consts::ARCH, "{cpu:?}");
    let placement = instance.load(&load_of(&probe::path())).unwrap().placement().unwrap();
    assert_eq!(placement.device, "CPU");
}

#[test]
fn a_device_that_is_not_here_says_what_was_looked_at_and_is_not_replaced() {
    let instance = real(&[]);
    let devices = instance.devices().unwrap();
    for id in ["GPU", "NPU"] {
        let listed = devices.iter().position(|device| device.id.starts_with(id)).expect("a row, usable or not");
        let device = &devices[listed];
        if device.why == Why::NONE {
            continue;
        }
        assert!(device.reason.contains("/dev/") && device.reason.contains("its plugin:"), "{}", device.reason);
        let error = refused(&instance, &Load { devices: vec![listed as u32], ..load_of(&probe::path()) });
        assert_eq!((error.code, error.why), (Code::Unavailable, device.why));
        assert!(error.message.contains(id), "{error}");
    }
}
