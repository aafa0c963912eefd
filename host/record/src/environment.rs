//! What the machine was when a run was made. What cannot be read is `None`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a program was built from, and with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BuildRecord {
    /// Of the sources. `None`: of a build that is no release nobody knows.
    pub commit: Option<String>,
    /// "rustc 1.95.0 (59807616e 2026-04-14)".
    pub compiler: Option<String>,
    /// "x86_64-unknown-linux-gnu".
    pub target: String,
    pub optimized: bool,
}

impl BuildRecord {
    /// In one line: "commit 4e3a1b1, rustc 1.95.0 (59807616e 2026-04-14), for x86_64-unknown-linux-gnu".
    pub fn line(&self) -> String {
        let commit = self.commit.as_ref().map_or("no release".into(), |commit| format!("commit {commit}"));
        let compiler = self.compiler.as_deref().unwrap_or("an unknown compiler");
        let checked = if self.optimized { "" } else { ", not optimized" };
        format!("{commit}, {compiler}, for {}{checked}", self.target)
    }
}

/// The fleet through which a machine measured a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FleetRecord {
    pub fleet: String,
    /// The runs of several machines that were asked for at once have one.
    pub submission: String,
    /// What the fleet calls the machine.
    pub machine: String,
    /// Who asked for it.
    pub submitter: String,
    /// By how much the clock of the fleet's server was ahead of the machine's when its agent started. `None`: an older agent did not say.
    #[serde(default)]
    pub clock: Option<ClockOffset>,
}

/// By how much another clock is ahead of this one, to within the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClockOffset {
    pub offset_ms: i64,
    pub bound_ms: i64,
}

impl ClockOffset {
    /// From a moment of the other clock that lay between two of this one, in milliseconds.
    pub fn between(before: i64, other: i64, after: i64) -> ClockOffset {
        let (least, most) = (other - after, other - before);
        // The half is rounded up, so that the bound holds.
        ClockOffset { offset_ms: (least + most).div_euclid(2), bound_ms: (most - least + 1).div_euclid(2) + 1 }
    }

    /// Whether the clocks are surely further apart than this.
    pub fn is_beyond(self, milliseconds: i64) -> bool {
        self.offset_ms.abs() - self.bound_ms > milliseconds
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    pub host_version: String,
    /// What the host was built from, and with. `None`: an older host recorded the run.
    #[serde(default)]
    pub host_build: Option<BuildRecord>,
    pub os: String,
    pub arch: String,
    pub kernel: Option<String>,
    pub hostname: Option<String>,
    /// What tells this machine from others, also from within a container; see `docs/results.md`. `None`: an older host recorded
    /// the run.
    #[serde(default)]
    pub machine: Option<String>,
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
    /// What plugins could reach: the mode, and what of it the system enforced: "default (Landlock 7, seccomp)". `None`: an older host.
    #[serde(default)]
    pub sandbox: Option<String>,
    /// What identifies each model: a user's file by its SHA-256, a skill by the content its skillset tells.
    #[serde(default)]
    pub models: BTreeMap<String, String>,
    /// `None`: the run was measured where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetRecord>,
}

impl Environment {
    /// What people call the machine: its name and its processor.
    pub fn machine_label(&self) -> String {
        let parts = [&self.hostname, &self.cpu_model];
        parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(", ")
    }

    /// What tells the machine from others. Of a run of an older host it is the label; `None`: nothing is known that tells it.
    pub fn machine_id(&self) -> Option<String> {
        self.machine.clone().or_else(|| self.hostname.as_ref().map(|_| self.machine_label()))
    }
}

#[cfg(test)]
mod tests {
    use super::ClockOffset;

    #[test]
    fn a_clock_is_between_the_two_moments_around_it() {
        for (before, other, after) in [(0, 50, 100), (10, 4_000, 11), (1_000, 1_000, 1_000), (7, -90_001, 10)] {
            let ClockOffset { offset_ms, bound_ms } = ClockOffset::between(before, other, after);
            let truths = (before..=after).map(|moment| other - moment);
            assert!(truths.clone().all(|truth| (truth - offset_ms).abs() <= bound_ms), "{before} {other} {after}");
        }
        assert!(ClockOffset { offset_ms: -2_100, bound_ms: 50 }.is_beyond(2_000));
        assert!(!ClockOffset { offset_ms: 2_100, bound_ms: 150 }.is_beyond(2_000));
    }
}
