//! Reads what the machine is, here and now. What cannot be read is `None`.

use skillbench_record::{Environment, machine};
use skillbench_worker::memory_available;
use std::collections::BTreeMap;

fn text(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok().map(|text| text.trim().to_string()).filter(|text| !text.is_empty())
}

fn number(path: &str) -> Option<f64> {
    text(path)?.parse().ok()
}

/// The value after `key:` in a file of such lines.
fn field(path: &str, key: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.split(':').next().is_some_and(|name| name.trim() == key))?;
    line.split_once(':').map(|(_, value)| value.trim().to_string())
}

fn mebibytes(key: &str) -> Option<f64> {
    field("/proc/meminfo", key)?.split_whitespace().next()?.parse::<f64>().ok().map(|kib| kib / 1024.0)
}

fn cgroup_cpus() -> Option<f64> {
    let limit = text("/sys/fs/cgroup/cpu.max")?;
    let (quota, period) = limit.split_once(' ')?;
    Some(quota.parse::<f64>().ok()? / period.parse::<f64>().ok()?)
}

fn steal_share() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/stat").ok()?;
    let times: Vec<f64> = stat.lines().next()?.split_whitespace().skip(1).flat_map(str::parse).collect();
    let total: f64 = times.iter().take(8).sum();
    (total > 0.0).then(|| times.get(7).map(|steal| steal / total)).flatten()
}

fn turbo() -> Option<bool> {
    let off = number("/sys/devices/system/cpu/intel_pstate/no_turbo").map(|off| off == 0.0);
    off.or_else(|| number("/sys/devices/system/cpu/cpufreq/boost").map(|on| on == 1.0))
}

fn clock_resolution() -> Option<u64> {
    let step = || {
        let start = std::time::Instant::now();
        loop {
            let passed = start.elapsed().as_nanos() as f64;
            if passed > 0.0 {
                return passed;
            }
        }
    };
    skillbench_stats::median(&(0..101).map(|_| step()).collect::<Vec<_>>()).map(|step| step as u64)
}

/// The system and its C library: "linux x86_64 6.1.0, glibc 2.36".
pub fn system() -> String {
    let kernel = text("/proc/sys/kernel/osrelease").unwrap_or_default();
    let c_library = skillbench_worker::libc_version().map(|version| format!(", glibc {version}")).unwrap_or_default();
    format!("{} {} {kernel}{c_library}", std::env::consts::OS, std::env::consts::ARCH)
}

/// Reads what can be read here and now.
pub fn probe() -> Environment {
    let cpu = "/sys/devices/system/cpu/cpu0/cpufreq";
    Environment {
        host_version: env!("CARGO_PKG_VERSION").into(),
        host_build: Some(crate::built::build()),
        os: std::env::consts::OS.into(),
        arch: std::env::consts::ARCH.into(),
        kernel: text("/proc/sys/kernel/osrelease"),
        hostname: machine::hostname(),
        machine: machine::id(),
        cpu_model: machine::cpu_model(),
        cpus_usable: std::thread::available_parallelism().ok().map(|n| n.get() as u64),
        cpus_online: std::fs::read_to_string("/proc/cpuinfo")
            .ok()
            .map(|text| text.lines().filter(|line| line.starts_with("processor")).count() as u64)
            .filter(|n| *n > 0),
        cgroup_cpus: cgroup_cpus(),
        governor: text(&format!("{cpu}/scaling_governor")),
        frequency_mhz: number(&format!("{cpu}/scaling_cur_freq"))
            .map(|khz| khz / 1000.0)
            .or_else(|| field("/proc/cpuinfo", "cpu MHz")?.parse().ok()),
        turbo: turbo(),
        memory_total_mb: mebibytes("MemTotal"),
        memory_available_mb: memory_available().map(|bytes| bytes / 1048576.0),
        load_1min: text("/proc/loadavg").and_then(|text| text.split(' ').next()?.parse().ok()),
        steal_share: steal_share(),
        temperature_c: number("/sys/class/thermal/thermal_zone0/temp").map(|milli| milli / 1000.0),
        clock: "monotonic".into(),
        clock_resolution_ns: clock_resolution(),
        plugin_sha256: BTreeMap::new(),
        runtime_sha256: BTreeMap::new(),
        sandbox: None,
        fleet: None,
        models: BTreeMap::new(),
    }
}
