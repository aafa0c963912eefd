//! Machines of one class held against each other: which of them is slow, and by how much.

use crate::class::Class;
use skillbench_record::{Cell, CellName, Conditions, Run, Stats};
use skillbench_stats::{median, outliers, rules};
use std::collections::BTreeMap;

/// So many machines tell which of them is not like the others.
const LEAST: usize = 3;

/// A device of a machine among those of its class.
#[derive(Clone, Debug, PartialEq)]
pub struct Peer {
    pub machine: String,
    pub plugin: String,
    /// What the backend calls the device among its own.
    pub id: String,
    /// What the devices of the class are called.
    pub device: String,
    /// So many devices the class has here, this one counted.
    pub peers: usize,
    /// So many cells were measured on at least three of them, this one among them.
    pub cells: usize,
    /// Its median latency over that of the median machine; of all cells the median. `None`: nothing was measured on three machines.
    pub ratio: Option<f64>,
    /// The same of mean latencies, in which a machine shows that stalls now and then.
    pub ratio_of_means: Option<f64>,
    pub standing: Standing,
    /// So many of these cells had settled.
    pub settled: usize,
    /// What was around while it measured them, in the median.
    pub other_cores: Option<f64>,
    pub frequency_mhz: Option<f64>,
    pub temperature_c: Option<f64>,
    /// How often cores were slowed down for their heat, in all.
    pub throttled: Option<u64>,
}

/// How a machine stands among its peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing tells it from the others, which of few says little.
    Like,
    Slow,
    Fast,
    /// Fewer than three devices measured the same.
    Unknown,
}

impl Standing {
    pub fn name(self) -> &'static str {
        match self {
            Standing::Like => "not apart",
            Standing::Slow => "slow",
            Standing::Fast => "fast",
            Standing::Unknown => "too few peers",
        }
    }
}

/// The cells of a class that have latencies, by machine and device.
type Measured<'r> = BTreeMap<Place<'r>, Vec<(&'r Cell, &'r Stats)>>;

/// A machine, and a device of it.
type Place<'r> = (&'r str, &'r str);

/// Every device of some runs among those of its class, class by class.
pub fn peers<'r>(runs: impl IntoIterator<Item = &'r Run>) -> Vec<Peer> {
    let mut classes: BTreeMap<Class, Measured<'r>> = BTreeMap::new();
    for run in runs {
        let machine = run.environment.fleet.as_ref().map_or(&run.run_id, |fleet| &fleet.machine);
        for cell in &run.cells {
            let latency = cell.outcome.metrics().and_then(|metrics| metrics.latency_ms.as_ref());
            let (Some(class), Some(latency)) = (Class::of_cell(cell, &run.environment), latency) else { continue };
            classes.entry(class).or_default().entry((machine, &cell.device)).or_default().push((cell, latency));
        }
    }
    // The chance to name one where all are alike is that of all classes together.
    let looked_at = classes.values().filter(|measured| measured.len() >= LEAST).count();
    let significance = rules().peers.significance / looked_at.max(1) as f64;
    classes.into_iter().flat_map(|(class, measured)| of_class(&class, &measured, significance)).collect()
}

/// What two machines of a class have to share so that their latencies can be held against each other.
fn same_work(cell: &Cell) -> String {
    let name = CellName { device: None, ..CellName::of(cell) };
    let threads = cell.threads.map_or_else(String::new, |threads| threads.to_string());
    format!("{name} {threads} {:?} {:?}", cell.options, cell.precision_requested)
}

/// What was measured on at least [`LEAST`] devices, by the work that it is.
type Compared<'r> = BTreeMap<String, BTreeMap<Place<'r>, (&'r Cell, &'r Stats)>>;

fn compared<'r>(measured: &Measured<'r>) -> Compared<'r> {
    let mut compared = Compared::new();
    for (place, cells) in measured {
        for (cell, latency) in cells {
            compared.entry(same_work(cell)).or_default().insert(*place, (*cell, *latency));
        }
    }
    compared.retain(|_, of_work| of_work.len() >= LEAST);
    compared
}

/// How far each device is from the median one in a figure of its latencies: the logarithm of a ratio, of its cells the median.
fn levels<'r>(compared: &Compared<'r>, figure: fn(&Stats) -> f64) -> BTreeMap<Place<'r>, f64> {
    let mut logs: BTreeMap<Place<'r>, Vec<f64>> = BTreeMap::new();
    for of_work in compared.values() {
        let figures: Vec<f64> = of_work.values().map(|(_, latency)| figure(latency)).collect();
        let Some(middle) = median(&figures).filter(|_| figures.iter().all(|figure| *figure > 0.0)) else { continue };
        for (place, (_, latency)) in of_work {
            logs.entry(*place).or_default().push((figure(latency) / middle).ln());
        }
    }
    logs.into_iter().filter_map(|(place, logs)| Some((place, median(&logs)?))).collect()
}

/// The devices that stand apart by their levels.
fn apart<'r>(levels: &BTreeMap<Place<'r>, f64>, significance: f64, effect: f64) -> BTreeMap<Place<'r>, Standing> {
    let places: Vec<(&Place<'r>, &f64)> = levels.iter().collect();
    let found = outliers(&levels.values().copied().collect::<Vec<_>>(), significance);
    let beyond = found.into_iter().map(|index| places[index]).filter(|(_, log)| log.abs() >= effect.ln_1p());
    beyond.map(|(place, log)| (*place, if *log > 0.0 { Standing::Slow } else { Standing::Fast })).collect()
}

fn of_class(class: &Class, measured: &Measured<'_>, significance: f64) -> Vec<Peer> {
    let compared = compared(measured);
    let (medians, means) = (levels(&compared, |latency| latency.median), levels(&compared, |latency| latency.mean));
    // Each device is looked at twice.
    let [by_median, by_mean] = [&medians, &means].map(|levels| apart(levels, significance / 2.0, rules().peers.effect));
    let peer = |place: &Place<'_>| {
        let own: Vec<&Cell> = compared.values().filter_map(|of_work| Some(of_work.get(place)?.0)).collect();
        let conditions = || own.iter().filter_map(|cell| cell.conditions.as_ref());
        let middle = |pick: fn(&Conditions) -> Option<f64>| median(&conditions().filter_map(pick).collect::<Vec<_>>());
        let standing = match (by_median.get(place), by_mean.get(place)) {
            (Some(Standing::Slow), _) | (_, Some(Standing::Slow)) => Standing::Slow,
            (Some(other), _) | (None, Some(other)) => *other,
            (None, None) if medians.contains_key(place) => Standing::Like,
            (None, None) => Standing::Unknown,
        };
        Peer {
            machine: place.0.into(),
            plugin: class.plugin.clone(),
            id: place.1.into(),
            device: class.name.clone(),
            peers: measured.len(),
            cells: own.len(),
            ratio: medians.get(place).map(|log| log.exp()),
            ratio_of_means: means.get(place).map(|log| log.exp()),
            standing,
            settled: own.iter().filter(|cell| cell.stable).count(),
            other_cores: middle(|conditions| conditions.other_cores),
            frequency_mhz: middle(|conditions| conditions.frequency_mhz),
            temperature_c: middle(|conditions| conditions.temperature_c),
            throttled: conditions()
                .map(|conditions| conditions.throttled)
                .reduce(|one, more| Some(one? + more?))
                .flatten(),
        }
    };
    measured.keys().map(peer).collect()
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
        assert_eq!((slow.peers, slow.cells, slow.device.as_str()), (6, 3, "H200"));
        assert!((slow.ratio.unwrap() - 1.35).abs() < 0.02, "{slow:?}");
    }

    #[test]
    fn two_devices_of_a_machine_are_two_peers_and_the_slow_one_is_named() {
        let mut runs = fleet("H200", "h", &[1.0, 1.01, 0.99, 1.0]);
        for (place, run) in runs.iter_mut().enumerate() {
            let speed = if place == 2 { 1.6 } else { 1.0 + 0.005 * place as f64 };
            let mut second = fleet("H200", "", &[speed]).remove(0).cells;
            second.iter_mut().for_each(|cell| cell.device = "1".into());
            run.cells.extend(second);
        }
        let slow: Vec<Peer> = peers(&runs).into_iter().filter(|peer| peer.standing == Standing::Slow).collect();
        assert_eq!(
            slow.iter().map(|peer| (peer.machine.as_str(), peer.id.as_str())).collect::<Vec<_>>(),
            [("h2", "1")]
        );
        assert_eq!((slow[0].peers, slow[0].cells), (8, 3));
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
