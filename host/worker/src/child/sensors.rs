//! What is read between rounds besides the clock: energy (`energy`), and the backend's own figures.

use super::energy::{Idle, OfRound, Rapl, Reading, Used};
use crate::{Chosen, CounterRecord, EnergyRecord, OtherEnergy, RoundEnergy, too_coarse};
use skillbench_plugin_api::client::Instance;
use skillbench_plugin_api::{DeviceKind, Energy, Scope};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Counters are not read more often than that: some drivers take a while to answer.
const EVERY: Duration = Duration::from_millis(200);

pub(super) struct Sensors<'i> {
    instance: &'i Instance,
    devices: &'i Chosen,
    /// Of the processor, for a backend on it.
    rapl: Option<Mutex<Rapl>>,
    idle: Option<Idle>,
}

/// The energy counters at one moment: the one that counts, and a second one to hold it against.
pub(super) type Readings = (Reading, Option<Reading>);

impl<'i> Sensors<'i> {
    /// Looks for sensors, and, where one counts energy, how much flows while nothing is done.
    /// Without `with_idle`, nothing will be measured that the idle power is needed for.
    pub fn new(instance: &'i Instance, devices: &'i Chosen, with_idle: bool) -> Sensors<'i> {
        let on_cpu = devices.device.kind == DeviceKind::Cpu.name();
        let rapl = on_cpu.then(|| Rapl::find(Path::new("/sys/class/powercap"))).flatten();
        let mut sensors = Sensors { instance, devices, rapl: rapl.map(Mutex::new), idle: None };
        if with_idle {
            sensors.idle = Idle::watch(|| sensors.of_backend().or_else(|| sensors.of_processor()));
        }
        sensors
    }

    /// Whether there is something to read.
    pub fn has_some(&self) -> bool {
        self.energy().is_some() || !self.counters().is_empty()
    }

    /// Whether the counter tells too little of the rounds that were measured, and how far apart its moves are then.
    pub fn too_coarse_for(&self, used: &Used) -> Option<f64> {
        let Idle { watts, period_s, .. } = self.idle?;
        let rounds: Vec<RoundEnergy> = used.rounds.iter().map(|round| of_round(round, watts)).collect();
        period_s.filter(|period_s| !rounds.is_empty() && too_coarse(&rounds, *period_s))
    }

    /// The counters now; `None` without a sensor.
    pub fn energy(&self) -> Option<Readings> {
        match self.of_backend() {
            Some(first) => Some((first, self.of_processor())),
            None => Some((self.of_processor()?, None)),
        }
    }

    /// Of several devices what all of them used together. A counter of a package or a board counts what is in no one device, so that
    /// theirs are not added.
    fn of_backend(&self) -> Option<Reading> {
        let read = |index: &u32| self.instance.energy(*index).ok().flatten();
        let all: Vec<Energy> = self.devices.indices.iter().map(read).collect::<Option<_>>()?;
        let first = all.first()?;
        let alike = |energy: &Energy| energy.source == first.source && energy.scope == Scope::Device;
        if all.len() > 1 && !all.iter().all(alike) {
            return None;
        }
        let microjoules = all.iter().try_fold(0u64, |sum, energy| sum.checked_add(energy.microjoules))?;
        Some(Reading { at: Instant::now(), microjoules, source: first.source.clone(), scope: first.scope.name() })
    }

    /// The backend's own mark of the highest use of memory, in bytes; of several devices the sum of theirs.
    pub fn device_peak(&self) -> Option<u64> {
        let peak = |index: &u32| self.instance.memory(*index).ok()?.peak;
        self.devices.indices.iter().map(peak).sum()
    }

    fn of_processor(&self) -> Option<Reading> {
        let microjoules = super::target::lock(self.rapl.as_ref()?).read()?;
        Some(Reading { at: Instant::now(), microjoules, source: "RAPL".into(), scope: "package" })
    }

    /// With the idle power; `None` where that is not known, or where some of the measured rounds were not counted.
    pub fn record(&self, used: Used, measured_rounds: usize) -> Option<EnergyRecord> {
        let Idle { watts, half_watts, period_s } = self.idle?;
        let rounds = |used: &[OfRound]| used.iter().map(|round| of_round(round, watts)).collect();
        (used.rounds.len() == measured_rounds).then_some(EnergyRecord {
            rounds: rounds(&used.rounds),
            long: rounds(&used.long),
            source: used.source,
            scope: used.scope.into(),
            idle_half_watts: half_watts,
            period_s,
            other: used.other.map(|(source, scope)| OtherEnergy { source, scope: scope.into() }),
        })
    }

    /// Of several devices each has its place before the name: "1.temperature".
    pub fn counters(&self) -> Vec<(String, String, f64)> {
        let several = self.devices.indices.len() > 1;
        let of = |index: &u32| {
            let named = |name: String| if several { format!("{index}.{name}") } else { name };
            let all = self.instance.counters(*index).unwrap_or_default();
            all.into_iter().map(|counter| (named(counter.name), counter.unit, counter.value)).collect::<Vec<_>>()
        };
        self.devices.indices.iter().flat_map(of).collect()
    }
}

fn of_round(used: &OfRound, idle_watts: f64) -> RoundEnergy {
    let OfRound { joules, seconds, samples, median, other_joules } = *used;
    RoundEnergy { joules, seconds, idle_watts, samples, median, other_joules }
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
