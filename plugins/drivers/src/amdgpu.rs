//! AMD's kernel driver, read from sysfs: sensors and memory of a GPU.

use crate::evidence::first_line;
use skillbench_plugin_api::Counter;
use std::path::{Path, PathBuf};

/// One GPU, as a folder of the kernel's.
#[derive(Clone, Debug)]
pub struct Sensors {
    folder: PathBuf,
    hwmon: Option<PathBuf>,
}

/// Name and unit of a figure, its file, and what one unit of the file is worth.
const FIGURES: [(&str, &str, &str, f64); 2] =
    [("gpu_utilization", "%", "gpu_busy_percent", 1.0), ("memory_utilization", "%", "mem_busy_percent", 1.0)];
const HWMON: [(&str, &str, &str, f64); 3] = [
    ("temperature", "C", "temp1_input", 1e-3),
    ("power", "W", "power1_average", 1e-6),
    ("sclk", "MHz", "freq1_input", 1e-6),
];

impl Sensors {
    /// The GPU at a PCI address ("0000:c1:00.0"); `None` where the kernel has none there.
    pub fn at(pci: &str) -> Option<Sensors> {
        Sensors::under(Path::new("/sys/bus/pci/devices"), pci)
    }

    fn under(devices: &Path, pci: &str) -> Option<Sensors> {
        let plain = !pci.is_empty() && pci.chars().all(|char| char.is_ascii_hexdigit() || ":.".contains(char));
        let folder = devices.join(pci);
        if !plain || !folder.is_dir() {
            return None;
        }
        let monitors = std::fs::read_dir(folder.join("hwmon")).into_iter().flatten();
        let hwmon = monitors.filter_map(|entry| Some(entry.ok()?.path())).find(|path| path.is_dir());
        Some(Sensors { folder, hwmon })
    }

    /// Energy used, in microjoules, since the driver was loaded; `None` where the GPU has no such sensor.
    pub fn microjoules(&self) -> Option<u64> {
        number(&self.hwmon.as_ref()?.join("energy1_input"))
    }

    /// Bytes of its own memory: used and in all.
    pub fn memory(&self) -> Option<(u64, u64)> {
        let of = |file: &str| number(&self.folder.join(file));
        of("mem_info_vram_used").zip(of("mem_info_vram_total"))
    }

    /// All figures, in the same order each time; NaN where one cannot be read.
    pub fn counters(&self) -> Vec<Counter> {
        let read = |path: Option<PathBuf>, worth: f64| {
            path.and_then(|path| number(&path)).map_or(f64::NAN, |value| value as f64 * worth)
        };
        let own = FIGURES
            .iter()
            .map(|(name, unit, file, worth)| Counter::new(name, unit, read(Some(self.folder.join(file)), *worth)));
        let monitored = HWMON.iter().map(|(name, unit, file, worth)| {
            let path = self.hwmon.as_ref().map(|hwmon| hwmon.join(file));
            Counter::new(name, unit, read(path, *worth))
        });
        own.chain(monitored).collect()
    }
}

/// Architectures of the GPUs that the kernel's compute driver knows, by PCI address: "gfx90a".
pub fn architectures() -> Vec<(String, String)> {
    architectures_under(Path::new("/sys/class/kfd/kfd/topology/nodes"))
}

fn architectures_under(nodes: &Path) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(nodes).into_iter().flatten().filter_map(Result::ok);
    let texts = entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("properties")).ok());
    texts.filter_map(|text| architecture(&text)).collect()
}

/// Address and architecture in a node's properties; a node without an architecture is a processor.
fn architecture(properties: &str) -> Option<(String, String)> {
    let field = |name: &str| {
        let value = properties.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.and_then(|value| value.trim().parse::<u64>().ok())
    };
    let version = field("gfx_target_version").filter(|version| *version > 0)?;
    let (major, minor, step) = (version / 10000, version / 100 % 100, version % 100);
    let location = field("location_id")?;
    let (domain, bus) = (field("domain").unwrap_or(0), location >> 8 & 0xff);
    let address = format!("{domain:04x}:{bus:02x}:{:02x}.{:x}", location >> 3 & 0x1f, location & 7);
    Some((address, format!("gfx{major}{minor:x}{step:x}")))
}

fn number(path: &Path) -> Option<u64> {
    first_line(path)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Sensors, architecture};
    use std::fs;

    #[test]
    fn sensors_are_read_in_their_units_and_missing_ones_are_no_numbers() {
        let devices = tempfile::tempdir().unwrap();
        let gpu = devices.path().join("0000:c1:00.0");
        fs::create_dir_all(gpu.join("hwmon/hwmon3")).unwrap();
        for (file, text) in [
            ("gpu_busy_percent", "37\n"),
            ("mem_info_vram_used", "1024\n"),
            ("mem_info_vram_total", "4096\n"),
            ("hwmon/hwmon3/temp1_input", "41000\n"),
            ("hwmon/hwmon3/energy1_input", "12345678\n"),
        ] {
            fs::write(gpu.join(file), text).unwrap();
        }
        let sensors = Sensors::under(devices.path(), "0000:c1:00.0").unwrap();
        assert_eq!((sensors.microjoules(), sensors.memory()), (Some(12_345_678), Some((1024, 4096))));
        let counters = sensors.counters();
        let value = |name: &str| counters.iter().find(|counter| counter.name == name).unwrap().value;
        assert_eq!((value("gpu_utilization"), value("temperature")), (37.0, 41.0));
        assert!(value("power").is_nan());
    }

    #[test]
    fn an_address_of_nothing_has_no_sensors() {
        assert!(Sensors::at("0000:ff:1f.7").is_none() && Sensors::at("").is_none() && Sensors::at("../..").is_none());
    }

    #[test]
    fn a_node_of_the_topology_tells_address_and_architecture() {
        let gpu = "cpu_cores_count 0\ngfx_target_version 90010\nlocation_id 49408\ndomain 0\n";
        assert_eq!(architecture(gpu), Some(("0000:c1:00.0".into(), "gfx90a".into())));
        assert_eq!(architecture("cpu_cores_count 8\ngfx_target_version 0\nlocation_id 0\n"), None);
    }
}
