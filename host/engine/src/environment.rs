//! What the machine was when a run was made. What cannot be read is `None`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    pub host_version: String,
    pub os: String,
    pub arch: String,
    pub kernel: Option<String>,
    pub hostname: Option<String>,
    pub cpu_model: Option<String>,
    /// Processors this process may use.
    pub cpus_usable: Option<u64>,
    /// Processors of the machine.
    pub cpus_online: Option<u64>,
    /// Cores' worth of CPU time that the control group grants.
    pub cgroup_cpus: Option<f64>,
    pub governor: Option<String>,
    pub frequency_mhz: Option<f64>,
    pub turbo: Option<bool>,
    pub memory_total_mb: Option<f64>,
    pub memory_available_mb: Option<f64>,
    pub load_1min: Option<f64>,
    /// Share of CPU time that the hypervisor took since boot, 0 to 1.
    pub steal_share: Option<f64>,
    pub temperature_c: Option<f64>,
    pub clock: String,
    /// Median step between two readings of the clock.
    pub clock_resolution_ns: Option<u64>,
    /// SHA-256 of each plugin's library that the run used.
    pub plugin_sha256: BTreeMap<String, String>,
    /// SHA-256 of the vendor's library that a plugin was opened with, where the host knows it, by plugin.
    #[serde(default)]
    pub runtime_sha256: BTreeMap<String, String>,
    /// What identifies each model: a user's file by its SHA-256, a skill by the content its skillset tells.
    #[serde(default)]
    pub models: BTreeMap<String, String>,
}

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
    crate::stats::median(&(0..101).map(|_| step()).collect::<Vec<_>>()).map(|step| step as u64)
}

impl Environment {
    /// What a machine is called: its name and its processor.
    pub fn machine(&self) -> String {
        let parts = [&self.hostname, &self.cpu_model];
        parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(", ")
    }

    /// Bytes of memory that can be used without swapping.
    pub fn memory_available_now() -> Option<f64> {
        mebibytes("MemAvailable").map(|mib| mib * 1048576.0)
    }

    /// Reads what can be read here and now.
    pub fn probe() -> Environment {
        let cpu = "/sys/devices/system/cpu/cpu0/cpufreq";
        Environment {
            host_version: env!("CARGO_PKG_VERSION").into(),
            os: std::env::consts::OS.into(),
            arch: std::env::consts::ARCH.into(),
            kernel: text("/proc/sys/kernel/osrelease"),
            hostname: text("/proc/sys/kernel/hostname"),
            cpu_model: field("/proc/cpuinfo", "model name"),
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
            memory_available_mb: mebibytes("MemAvailable"),
            load_1min: text("/proc/loadavg").and_then(|text| text.split(' ').next()?.parse().ok()),
            steal_share: steal_share(),
            temperature_c: number("/sys/class/thermal/thermal_zone0/temp").map(|milli| milli / 1000.0),
            clock: "monotonic".into(),
            clock_resolution_ns: clock_resolution(),
            plugin_sha256: BTreeMap::new(),
            runtime_sha256: BTreeMap::new(),
            models: BTreeMap::new(),
        }
    }
}

/// SHA-256 of a file, in lower-case hex.
///
/// # Errors
/// The file cannot be read.
pub fn sha256(path: &Path) -> std::io::Result<String> {
    use sha2::Digest;
    use std::io::Read;
    let (mut file, mut hasher) = (std::fs::File::open(path)?, sha2::Sha256::new());
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(&hasher.finalize())),
            read => hasher.update(&buffer[..read]),
        }
    }
}

/// SHA-256 of a text, in lower-case hex.
pub fn sha256_text(text: &str) -> String {
    sha256_bytes(text.as_bytes())
}

/// SHA-256 of bytes, in lower-case hex.
pub fn sha256_bytes(bytes: &[u8]) -> String {
    use sha2::Digest;
    hex(&sha2::Sha256::digest(bytes))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The current time in UTC, as "2026-01-31T12:00:00Z".
pub fn now_utc() -> String {
    let seconds = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs();
    utc(seconds as i64)
}

/// A moment in seconds since 1970-01-01, as "2026-01-31T12:00:00Z".
pub fn utc(seconds: i64) -> String {
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Civil date from days since 1970-01-01, with years that begin in March.
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}
