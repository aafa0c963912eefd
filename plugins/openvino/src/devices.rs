//! The devices that OpenVINO lists, and the kinds that it knows but does not list here.

use skillbench_openvino_runtime::{Runtime, short};
use skillbench_plugin_api::sdk::Host;
use skillbench_plugin_api::{Device, DeviceKind, Result, Why};
use std::env::consts::ARCH;
use std::path::Path;

/// A device, with what OpenVINO says it can do.
pub(crate) struct Found {
    pub device: Device,
    /// "FP32", "BF16", "INT8" ...
    pub offers: Vec<String>,
    /// The keys of properties that it can be compiled with.
    pub takes: Vec<String>,
    /// Whether it compiles graphs without open sizes only.
    pub fixed_only: bool,
}

/// Kinds that may be missing, with the folder in which Linux shows their drivers, and a property that their plugin fails to
/// tell for the same reason.
const ABSENT: [(&str, DeviceKind, &str, &str); 2] = [
    ("GPU", DeviceKind::Gpu, "/dev/dri", "FULL_DEVICE_NAME"),
    ("NPU", DeviceKind::Npu, "/dev/accel", "NPU_DRIVER_VERSION"),
];

/// # Errors
/// Where OpenVINO cannot look for devices.
pub(crate) fn find(host: Host, runtime: &Runtime) -> Result<Vec<Found>> {
    let listed = runtime.devices().map_err(|failure| failure.error("look for devices"))?;
    host.evidence("OpenVINO's devices", &listed.join(", "));
    let mut devices: Vec<Found> = listed.iter().map(|id| describe(runtime, id)).collect();
    for (id, kind, folder, key) in ABSENT {
        if listed.iter().any(|listed| is_a(listed, id)) {
            continue;
        }
        let drivers = drivers(folder);
        let said = match runtime.property(id, key) {
            Ok(value) => format!("{key} is {value}"),
            Err(failure) => failure.said(),
        };
        host.evidence(folder, &drivers);
        host.evidence(&format!("OpenVINO's {id} plugin"), &said);
        let reason = short(&format!("OpenVINO lists no {id} here; {folder}: {drivers}; its plugin: {said}"));
        let device = Device { why: Why::DEVICE, reason, vendor: "Intel".into(), ..Device::new(id, id, kind) };
        devices.push(Found { device, offers: vec![], takes: vec![], fixed_only: false });
    }
    Ok(devices)
}

fn is_a(device: &str, kind: &str) -> bool {
    device.split('.').next() == Some(kind)
}

fn drivers(folder: &str) -> String {
    let names = Path::new(folder).read_dir().map(|entries| {
        let mut names: Vec<_> =
            entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    });
    match names {
        Ok(names) if names.is_empty() => "empty".into(),
        Ok(names) => names.join(" "),
        Err(_) => "not found".into(),
    }
}

fn describe(runtime: &Runtime, id: &str) -> Found {
    let property = |key: &str| runtime.property(id, key).unwrap_or_default();
    let kind = match id.split('.').next() {
        Some("CPU") => DeviceKind::Cpu,
        Some("GPU") => DeviceKind::Gpu,
        Some("NPU") => DeviceKind::Npu,
        _ => DeviceKind::Other,
    };
    let name = property("FULL_DEVICE_NAME");
    let vendor = ["Intel", "AMD", "Apple", "ARM"].into_iter().find(|vendor| name.contains(vendor));
    // Of every processor with the instruction set OpenVINO says "intel64".
    let arch = if kind == DeviceKind::Cpu { ARCH.into() } else { property("DEVICE_ARCHITECTURE") };
    let memory = match kind {
        DeviceKind::Gpu => property("GPU_DEVICE_TOTAL_MEM_SIZE"),
        DeviceKind::Npu => property("NPU_DEVICE_TOTAL_MEM_SIZE"),
        _ => String::new(),
    };
    let device = Device {
        vendor: vendor.unwrap_or_default().into(),
        arch,
        driver: if kind == DeviceKind::Npu { property("NPU_DRIVER_VERSION") } else { String::new() },
        memory_bytes: memory.parse().ok().filter(|bytes| *bytes > 0),
        ..Device::new(id, if name.is_empty() { id } else { name.trim() }, kind)
    };
    let words = |text: String| text.split([' ', ',']).filter(|word| !word.is_empty()).map(String::from).collect();
    Found {
        device,
        offers: words(property("OPTIMIZATION_CAPABILITIES")),
        takes: words(property("SUPPORTED_PROPERTIES")),
        fixed_only: kind == DeviceKind::Npu,
    }
}

/// The device that a model was compiled for, by the id it was asked for under where it is the same one: the only GPU is listed
/// as "GPU" and answers as "GPU.0".
pub(crate) fn same(asked: &str, answered: &str) -> String {
    let answered = answered.trim();
    if answered.strip_suffix(".0") == Some(asked) { asked.into() } else { answered.into() }
}

#[cfg(test)]
mod tests {
    use super::{is_a, same};

    #[test]
    fn the_only_device_of_a_kind_is_the_first_of_it() {
        assert_eq!(same("GPU", "GPU.0"), "GPU");
        assert_eq!(same("GPU.1", "GPU.0"), "GPU.0", "another one than asked for is named");
        assert_eq!(same("CPU", "CPU"), "CPU");
        assert!(is_a("GPU.1", "GPU") && !is_a("CPU", "GPU"));
    }
}
