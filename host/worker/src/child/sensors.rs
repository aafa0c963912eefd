//! What can be read beside the clock while a benchmark runs: energy, and the backend's own figures.

use crate::{CounterRecord, EnergyRecord};
use skillbench_plugin_api::client::Instance;
use skillbench_plugin_api::{Device, DeviceKind};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How long the machine is watched doing nothing, where there is a sensor.
const IDLE: Duration = Duration::from_secs(1);
/// Counters are not read more often than that: some drivers take a while to answer.
const EVERY: Duration = Duration::from_millis(200);

pub(super) struct Sensors<'i> {
    instance: &'i Instance,
    device: u32,
    /// Of the processor, for a backend on it that has no sensor of its own.
    rapl: Option<Mutex<Rapl>>,
    idle_watts: Option<f64>,
}

/// An energy counter at one moment.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    at: Instant,
    microjoules: u64,
    source: String,
    scope: &'static str,
}

impl<'i> Sensors<'i> {
    /// Looks for sensors, and, where one counts energy, how much flows while nothing is done.
    /// Without `with_idle`, nothing will be measured that the idle power is needed for.
    pub fn new(instance: &'i Instance, device: (u32, &Device), with_idle: bool) -> Sensors<'i> {
        let rapl = (device.1.kind == DeviceKind::Cpu).then(|| Rapl::find(Path::new("/sys/class/powercap"))).flatten();
        let mut sensors = Sensors { instance, device: device.0, rapl: rapl.map(Mutex::new), idle_watts: None };
        if let Some(before) = sensors.energy().filter(|_| with_idle) {
            std::thread::sleep(IDLE);
            let used = sensors.energy().and_then(|after| between(&before, &after));
            sensors.idle_watts = used.map(|(joules, seconds)| joules / seconds);
        }
        sensors
    }

    /// The counter now; `None` without a sensor.
    pub fn energy(&self) -> Option<Reading> {
        let of_backend = self.instance.energy(self.device).ok().flatten().map(|energy| Reading {
            at: Instant::now(),
            microjoules: energy.microjoules,
            scope: energy.scope.name(),
            source: energy.source,
        });
        of_backend.or_else(|| {
            let microjoules = super::target::lock(self.rapl.as_ref()?).read()?;
            Some(Reading { at: Instant::now(), microjoules, source: "RAPL".into(), scope: "package" })
        })
    }

    /// With the idle power; `None` where that is not known, or where some of the measured rounds were not counted.
    pub fn record(&self, used: Used, measured_rounds: usize) -> Option<EnergyRecord> {
        let Used { source, scope, joules, seconds, rounds } = used;
        (rounds == measured_rounds).then_some(())?;
        Some(EnergyRecord { source, scope: scope.into(), joules, seconds, idle_watts: self.idle_watts? })
    }

    fn counters(&self) -> Vec<(String, String, f64)> {
        let all = self.instance.counters(self.device).unwrap_or_default();
        all.into_iter().map(|counter| (counter.name, counter.unit, counter.value)).collect()
    }
}

/// Energy that was used, over the time of some rounds.
#[derive(Clone, Debug)]
pub(super) struct Used {
    source: String,
    scope: &'static str,
    joules: f64,
    seconds: f64,
    /// Rounds that it was counted in.
    rounds: usize,
}

impl Used {
    /// Adds what was used in a round, between two readings. A round whose readings are not of one sensor, or went backwards, is not
    /// counted.
    pub fn plus(known: Option<Used>, before: &Reading, after: &Reading) -> Option<Used> {
        let Some((joules, seconds)) = between(before, after) else { return known };
        let (source, scope) = (after.source.clone(), after.scope);
        let known = known.unwrap_or(Used { source, scope, joules: 0.0, seconds: 0.0, rounds: 0 });
        if known.source != after.source {
            return Some(known);
        }
        let (joules, seconds, rounds) = (known.joules + joules, known.seconds + seconds, known.rounds + 1);
        Some(Used { joules, seconds, rounds, ..known })
    }
}

/// Joules and seconds between two readings of one sensor.
fn between(before: &Reading, after: &Reading) -> Option<(f64, f64)> {
    let microjoules = after.microjoules.checked_sub(before.microjoules)?;
    let seconds = after.at.duration_since(before.at).as_secs_f64();
    (before.source == after.source && seconds > 0.0).then_some((microjoules as f64 * 1e-6, seconds))
}

/// The counters of a device over the measured rounds.
#[derive(Default)]
pub(super) struct Counted {
    last: Option<Instant>,
    values: BTreeMap<String, (String, Vec<f64>)>,
}

impl Counted {
    /// Reads them, where it is long enough since the last time. Between rounds, so that no round waits for it.
    pub fn read(&mut self, sensors: &Sensors<'_>) {
        if self.last.is_some_and(|last| last.elapsed() < EVERY) {
            return;
        }
        self.last = Some(Instant::now());
        for (name, unit, value) in sensors.counters().into_iter().filter(|(.., value)| value.is_finite()) {
            self.values.entry(name).or_insert((unit, vec![])).1.push(value);
        }
    }

    pub fn finish(self) -> Vec<CounterRecord> {
        let record = |(name, (unit, values)): (String, (String, Vec<f64>))| CounterRecord { name, unit, values };
        self.values.into_iter().map(record).collect()
    }
}

/// The processor's own energy counters, as the Linux kernel shows them to those who may read them.
struct Rapl {
    domains: Vec<Domain>,
    total: u64,
}

struct Domain {
    file: PathBuf,
    /// The counter begins again at 0 above this.
    range: u64,
    last: u64,
}

impl Rapl {
    /// One domain for each package; `None` where there is none, or it may not be read.
    fn find(folder: &Path) -> Option<Rapl> {
        let number = |file: &Path| std::fs::read_to_string(file).ok()?.trim().parse::<u64>().ok();
        let entries = std::fs::read_dir(folder).ok()?.flatten();
        // "intel-rapl:0" is a package, "intel-rapl:0:1" a part of it. AMD's processors are called so too.
        let package = |name: &str| name.starts_with("intel-rapl:") && name.matches(':').count() == 1;
        let packages = entries.filter(|entry| package(&entry.file_name().to_string_lossy()));
        let domain = |folder: PathBuf| {
            let file = folder.join("energy_uj");
            Some(Domain { last: number(&file)?, range: number(&folder.join("max_energy_range_uj"))?, file })
        };
        let domains: Vec<Domain> = packages.filter_map(|entry| domain(entry.path())).collect();
        (!domains.is_empty()).then_some(Rapl { domains, total: 0 })
    }

    /// Microjoules since it was found.
    fn read(&mut self) -> Option<u64> {
        for domain in &mut self.domains {
            let now: u64 = std::fs::read_to_string(&domain.file).ok()?.trim().parse().ok()?;
            self.total +=
                if now >= domain.last { now - domain.last } else { domain.range.saturating_sub(domain.last) + now };
            domain.last = now;
        }
        Some(self.total)
    }
}

#[cfg(test)]
mod tests {
    use super::{Rapl, Reading, Used};
    use std::time::{Duration, Instant};

    #[test]
    fn packages_are_added_up_and_a_counter_that_began_again_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let set = |name: &str, value: u64| {
            let domain = folder.path().join(name);
            std::fs::create_dir_all(&domain).unwrap();
            std::fs::write(domain.join("energy_uj"), format!("{value}\n")).unwrap();
            std::fs::write(domain.join("max_energy_range_uj"), "1000\n").unwrap();
        };
        set("intel-rapl:0", 900);
        set("intel-rapl:1", 10);
        set("intel-rapl:0:0", 5);
        let mut rapl = Rapl::find(folder.path()).unwrap();
        set("intel-rapl:0", 50);
        set("intel-rapl:1", 30);
        set("intel-rapl:0:0", 500);
        assert_eq!(rapl.read(), Some(150 + 20));
    }

    #[test]
    fn only_the_rounds_count_and_only_of_one_sensor() {
        let began = Instant::now();
        let reading = |seconds: u64, microjoules, source: &str| Reading {
            at: began + Duration::from_secs(seconds),
            microjoules,
            source: source.into(),
            scope: "device",
        };
        let first = Used::plus(None, &reading(0, 1_000_000, "NVML"), &reading(2, 5_000_000, "NVML"));
        let both = Used::plus(first, &reading(9, 90_000_000, "NVML"), &reading(10, 93_000_000, "NVML")).unwrap();
        assert_eq!((both.joules, both.seconds), (7.0, 3.0), "what lies between the rounds is left out");
        for (before, after) in [
            (reading(11, 1, "RAPL"), reading(12, 2, "RAPL")),
            (reading(11, 1, "RAPL"), reading(12, 2, "NVML")),
            (reading(11, 9, "NVML"), reading(12, 3, "NVML")),
        ] {
            let same = Used::plus(Some(both.clone()), &before, &after).unwrap();
            assert_eq!((same.joules, same.rounds), (7.0, 2), "a round that is not counted shows in their number");
        }
    }

    #[test]
    fn without_counters_there_is_no_sensor() {
        assert!(Rapl::find(tempfile::tempdir().unwrap().path()).is_none());
    }
}
