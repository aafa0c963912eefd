//! Machines of one class held against each other: which of them is slow, and by how much.

use crate::class::Class;
use skillbench_record::{Cell, CellName, Conditions, Run, Stats};
use skillbench_stats::{median, outliers, rules};
use std::collections::BTreeMap;

/// So many machines tell which of them is not like the others.
const LEAST: usize = 3;

/// A machine among those of its class.
#[derive(Clone, Debug, PartialEq)]
pub struct Peer {
    pub machine: String,
    pub plugin: String,
    /// What the devices of the class are called.
    pub device: String,
    /// So many machines the class has here, this one counted.
    pub machines: usize,
    /// So many cells were measured on at least [`LEAST`] of them, this one among them.
    pub cells: usize,
    /// Its median latency over that of the median machine; of all cells the median. `None`: nothing was measured on three machines.
    pub ratio: Option<f64>,
    /// The same of mean latencies, in which a machine shows that stalls now and then.
    pub ratio_of_means: Option<f64>,
    pub standing: Standing,
    /// So many of its cells had settled.
    pub settled: usize,
    /// What was around while it measured, the median of its cells.
    pub other_cores: Option<f64>,
    pub frequency_mhz: Option<f64>,
    pub temperature_c: Option<f64>,
    /// How often cores were slowed down for their heat, in all.
    pub throttled: Option<u64>,
}

/// How a machine stands among its peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Like,
    Slow,
    Fast,
    /// Fewer than three machines measured the same.
    Unknown,
}

impl Standing {
    /// The one of two that says more; slow before fast.
    fn or(self, other: Standing) -> Standing {
        match (self, other) {
            (Standing::Slow, _) | (_, Standing::Slow) => Standing::Slow,
            (Standing::Like | Standing::Unknown, other) => other,
            (fast, _) => fast,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Standing::Like => "like its peers",
            Standing::Slow => "slow",
            Standing::Fast => "fast",
            Standing::Unknown => "too few peers",
        }
    }
}

/// The cells of a class that have latencies, by machine.
type Measured<'r> = BTreeMap<&'r str, Vec<(&'r Cell, &'r Stats)>>;

/// Every machine of some runs among those of its class, class by class.
pub fn peers<'r>(runs: impl IntoIterator<Item = &'r Run>) -> Vec<Peer> {
    let mut classes: BTreeMap<Class, Measured<'r>> = BTreeMap::new();
    for run in runs {
        let machine = run.environment.fleet.as_ref().map_or(&run.run_id, |fleet| &fleet.machine);
        for cell in &run.cells {
            let latency = cell.outcome.metrics().and_then(|metrics| metrics.latency_ms.as_ref());
            let (Some(class), Some(latency)) = (Class::of_cell(cell), latency) else { continue };
            classes.entry(class).or_default().entry(machine).or_default().push((cell, latency));
        }
    }
    classes.into_iter().flat_map(|(class, measured)| of_class(&class, &measured)).collect()
}

/// What two machines of a class have to share so that their latencies can be held against each other.
fn same_work(cell: &Cell) -> String {
    let name = CellName { device: None, ..CellName::of(cell) };
    let threads = cell.threads.map_or_else(String::new, |threads| threads.to_string());
    format!("{name} {threads} {:?} {:?}", cell.options, cell.precision_requested)
}

/// Where a machine stands in one figure of its latencies: of so many cells, so far from the median machine, as the logarithm of a ratio.
#[derive(Clone, Copy, Default)]
struct Level {
    cells: usize,
    log: Option<f64>,
}

/// The levels of the machines, in their order.
fn levels(measured: &Measured<'_>, figure: fn(&Stats) -> f64) -> Vec<Level> {
    let mut of_work: BTreeMap<String, BTreeMap<&str, f64>> = BTreeMap::new();
    for (machine, cells) in measured {
        for (cell, latency) in cells.iter().filter(|(_, latency)| figure(latency) > 0.0) {
            of_work.entry(same_work(cell)).or_default().insert(machine, figure(latency));
        }
    }
    let mut logs: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for latencies in of_work.values().filter(|latencies| latencies.len() >= LEAST) {
        let Some(middle) = median(&latencies.values().copied().collect::<Vec<_>>()) else { continue };
        for (machine, latency) in latencies {
            logs.entry(machine).or_default().push((latency / middle).ln());
        }
    }
    let level = |logs: &Vec<f64>| Level { cells: logs.len(), log: median(logs) };
    measured.keys().map(|machine| logs.get(machine).map_or_else(Level::default, level)).collect()
}

/// How the machines stand by their levels.
fn standings(levels: &[Level], significance: f64, effect: f64) -> Vec<Standing> {
    let logs: Vec<f64> = levels.iter().map(|level| level.log.unwrap_or(f64::NAN)).collect();
    let apart = outliers(&logs, significance);
    let standing = |(place, log): (usize, &f64)| match apart.contains(&place) {
        _ if log.is_nan() => Standing::Unknown,
        true if *log >= effect.ln_1p() => Standing::Slow,
        true if *log <= -effect.ln_1p() => Standing::Fast,
        _ => Standing::Like,
    };
    logs.iter().enumerate().map(standing).collect()
}

fn of_class(class: &Class, measured: &Measured<'_>) -> Vec<Peer> {
    let (medians, means) = (levels(measured, |latency| latency.median), levels(measured, |latency| latency.mean));
    // Each machine is looked at twice.
    let rules = &rules().peers;
    let [by_median, by_mean] =
        [&medians, &means].map(|levels| standings(levels, rules.significance / 2.0, rules.effect));
    let peer = |(place, (machine, cells)): (usize, (&&str, &Vec<(&Cell, &Stats)>))| {
        let conditions = || cells.iter().filter_map(|(cell, _)| cell.conditions.as_ref());
        let middle = |pick: fn(&Conditions) -> Option<f64>| median(&conditions().filter_map(pick).collect::<Vec<_>>());
        Peer {
            machine: (*machine).into(),
            plugin: class.plugin.clone(),
            device: class.name.clone(),
            machines: measured.len(),
            cells: medians[place].cells,
            ratio: medians[place].log.map(f64::exp),
            ratio_of_means: means[place].log.map(f64::exp),
            standing: by_median[place].or(by_mean[place]),
            settled: cells.iter().filter(|(cell, _)| cell.stable).count(),
            other_cores: middle(|conditions| conditions.other_cores),
            frequency_mhz: middle(|conditions| conditions.frequency_mhz),
            temperature_c: middle(|conditions| conditions.temperature_c),
            throttled: conditions()
                .map(|conditions| conditions.throttled)
                .reduce(|one, more| Some(one? + more?))
                .flatten(),
        }
    };
    measured.iter().enumerate().map(peer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use skillbench_record::{FleetRecord, HardwareRecord, Metrics, Outcome, RUN_SCHEMA};

    fn cell(device: &str, batch: u64, latency: f64) -> Cell {
        let hardware =
            json!({"name": device, "kind": "gpu", "vendor": "", "arch": "", "driver": "", "memory_mb": 81559.0});
        let hardware: HardwareRecord = serde_json::from_value(hardware).unwrap();
        let stats = json!({"n": 9, "min": latency, "mean": latency, "median": latency, "max": latency, "mad": 0.0, "outliers": 0});
        let metrics = Metrics { latency_ms: serde_json::from_value(stats).unwrap(), ..Metrics::default() };
        let axes = serde_json::from_value(json!({"batch": batch})).unwrap();
        let outcome = Outcome::Measured(Box::new(metrics));
        Cell { plugin: "cuda".into(), axes, hardware: Some(hardware), outcome, ..Cell::blank() }
    }

    fn run(machine: &str, cells: Vec<Cell>) -> Run {
        let environment = json!({"host_version": "0.1.0", "os": "linux", "arch": "x86_64", "clock": "monotonic", "plugin_sha256": {}});
        let mut run: Run = serde_json::from_value(json!({
            "schema": RUN_SCHEMA, "run_id": format!("s-{machine}"), "started_at": "2026-01-31T12:00:00Z", "command": [], "seed": 42,
            "environment": environment, "left_out": {}, "cells": []
        }))
        .unwrap();
        let machine = machine.to_string();
        run.environment.fleet = Some(FleetRecord {
            fleet: "lab".into(),
            submission: "s".into(),
            machine,
            submitter: "ann".into(),
            clock: None,
        });
        Run { cells, ..run }
    }

    /// Runs of machines that are so many times as slow as the first.
    fn fleet(device: &str, prefix: &str, speeds: &[f64]) -> Vec<Run> {
        let cells =
            |speed: f64| [(1, 2.0), (4, 7.0), (16, 30.0)].map(|(batch, latency)| cell(device, batch, latency * speed));
        speeds.iter().enumerate().map(|(place, speed)| run(&format!("{prefix}{place}"), cells(*speed).into())).collect()
    }

    fn standings(runs: &[Run]) -> Vec<(String, Standing)> {
        peers(runs).into_iter().map(|peer| (peer.machine, peer.standing)).collect()
    }

    #[test]
    fn the_slow_machine_of_a_class_is_named_with_its_ratio_and_a_slower_class_is_none() {
        let mut runs = fleet("H200", "h", &[1.0, 1.01, 1.35, 0.99, 1.02, 1.0]);
        runs.extend(fleet("L4", "l", &[4.0, 4.05, 3.97, 4.02, 4.01, 3.3]));
        for (machine, standing) in standings(&runs) {
            let expected = match machine.as_str() {
                "h2" => Standing::Slow,
                "l5" => Standing::Fast,
                _ => Standing::Like,
            };
            assert_eq!(standing, expected, "{machine}");
        }
        let slow = peers(&runs).into_iter().find(|peer| peer.machine == "h2").unwrap();
        assert_eq!((slow.machines, slow.cells, slow.device.as_str()), (6, 3, "H200"));
        assert!((slow.ratio.unwrap() - 1.35).abs() < 0.02, "{slow:?}");
    }

    #[test]
    fn a_machine_that_stalls_now_and_then_is_known_by_its_means() {
        let mut runs = fleet("H200", "h", &[1.0, 1.01, 1.02, 0.99, 1.0, 1.01]);
        for cell in &mut runs[4].cells {
            if let Outcome::Measured(metrics) = &mut cell.outcome {
                metrics.latency_ms.as_mut().unwrap().mean *= 1.5;
            }
        }
        let slow: Vec<_> = peers(&runs).into_iter().filter(|peer| peer.standing == Standing::Slow).collect();
        let [slow] = &slow[..] else { panic!("{slow:?}") };
        let ratios = [slow.ratio, slow.ratio_of_means].map(Option::unwrap);
        assert!(slow.machine == "h4" && (ratios[0] - 1.0).abs() < 0.01 && (ratios[1] - 1.5).abs() < 0.02, "{slow:?}");
    }

    #[test]
    fn a_difference_below_the_effect_is_none_and_two_machines_say_nothing() {
        let runs = fleet("H200", "h", &[1.0, 1.0001, 1.0002, 1.0001, 1.0, 1.03]);
        assert!(standings(&runs).iter().all(|(_, standing)| *standing == Standing::Like), "{:?}", standings(&runs));
        let runs = fleet("H200", "h", &[1.0, 2.0]);
        assert!(peers(&runs).iter().all(|peer| peer.standing == Standing::Unknown && peer.ratio.is_none()));
    }

    #[test]
    fn what_failed_or_ran_with_other_options_is_not_held_against_the_rest() {
        let mut runs = fleet("H200", "h", &[1.0, 1.01, 0.99, 1.02, 1.0]);
        runs[1].cells[0].outcome = Cell::blank().outcome;
        for cell in &mut runs[4].cells {
            cell.options.insert("streams".into(), "2".into());
        }
        let found = peers(&runs);
        assert_eq!(found.iter().map(|peer| peer.cells).collect::<Vec<_>>(), [3, 2, 3, 3, 0]);
        assert_eq!(found[4].standing, Standing::Unknown);
    }
}
