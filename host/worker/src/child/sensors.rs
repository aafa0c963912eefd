//! What is read between rounds besides the clock: energy (`energy`), and the backend's own figures.

use super::energy::{Idle, Rapl, Reading, Used};
use crate::{CounterRecord, EnergyRecord, OtherEnergy, RoundEnergy};
use skillbench_plugin_api::client::Instance;
use skillbench_plugin_api::{Device, DeviceKind};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Counters are not read more often than that: some drivers take a while to answer.
const EVERY: Duration = Duration::from_millis(200);

pub(super) struct Sensors<'i> {
    instance: &'i Instance,
    device: u32,
    /// Of the processor, for a backend on it.
    rapl: Option<Mutex<Rapl>>,
    idle: Option<Idle>,
}

/// The energy counters at one moment: the one that counts, and a second one to hold it against.
pub(super) type Readings = (Reading, Option<Reading>);

impl<'i> Sensors<'i> {
    /// Looks for sensors, and, where one counts energy, how much flows while nothing is done.
    /// Without `with_idle`, nothing will be measured that the idle power is needed for.
    pub fn new(instance: &'i Instance, device: (u32, &Device), with_idle: bool) -> Sensors<'i> {
        let rapl = (device.1.kind == DeviceKind::Cpu).then(|| Rapl::find(Path::new("/sys/class/powercap"))).flatten();
        let mut sensors = Sensors { instance, device: device.0, rapl: rapl.map(Mutex::new), idle: None };
        if with_idle {
            sensors.idle = Idle::watch(|| sensors.of_backend().or_else(|| sensors.of_processor()));
        }
        sensors
    }

    /// The counters now; `None` without a sensor.
    pub fn energy(&self) -> Option<Readings> {
        match self.of_backend() {
            Some(first) => Some((first, self.of_processor())),
            None => Some((self.of_processor()?, None)),
        }
    }

    fn of_backend(&self) -> Option<Reading> {
        let energy = self.instance.energy(self.device).ok()??;
        let (microjoules, scope, source) = (energy.microjoules, energy.scope.name(), energy.source);
        Some(Reading { at: Instant::now(), microjoules, source, scope })
    }

    fn of_processor(&self) -> Option<Reading> {
        let microjoules = super::target::lock(self.rapl.as_ref()?).read()?;
        Some(Reading { at: Instant::now(), microjoules, source: "RAPL".into(), scope: "package" })
    }

    /// With the idle power; `None` where that is not known, or where some of the measured rounds were not counted.
    pub fn record(&self, used: Used, measured_rounds: usize) -> Option<EnergyRecord> {
        let Idle { watts, half_watts, period_s } = self.idle?;
        let other = used.other.map(|(source, scope, joules)| OtherEnergy { source, scope: scope.into(), joules });
        let round = |[joules, seconds]: [f64; 2]| RoundEnergy { joules, seconds, idle_watts: watts };
        (used.rounds.len() == measured_rounds).then_some(EnergyRecord {
            source: used.source,
            scope: used.scope.into(),
            rounds: used.rounds.into_iter().map(round).collect(),
            idle_half_watts: half_watts,
            period_s,
            other,
        })
    }

    fn counters(&self) -> Vec<(String, String, f64)> {
        let all = self.instance.counters(self.device).unwrap_or_default();
        all.into_iter().map(|counter| (counter.name, counter.unit, counter.value)).collect()
    }
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
