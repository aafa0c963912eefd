//! What this machine shows of the same code against itself: its noise floor, measured by `host doctor --noise` and kept under the
//! user's data. A difference that is no larger is none.

use super::Metric;
use crate::{Launches, rules};
use serde::{Deserialize, Serialize};
use skillbench_record::scratch::write_whole;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where a floor comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "from")]
pub enum FloorFrom {
    Measured {
        at: String,
        /// Comparisons with itself in which nothing larger was seen.
        comparisons: u64,
    },
    /// Nothing was measured on this machine; the value is a default.
    Assumed,
}

/// The largest deviations that were seen of one metric on one backend.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Floor {
    pub plugin: String,
    pub metric: String,
    /// Measured in turns: 0.03 for 3%.
    pub interleaved: f64,
    /// Measured one after the other, in processes of their own.
    pub apart: f64,
    pub comparisons: u64,
    /// Standard deviation of launches of the same code, over their middle, and how many there were.
    #[serde(default)]
    pub launch_deviation: Option<f64>,
    #[serde(default)]
    pub launches: u64,
    pub models: Vec<String>,
    pub measured_at: String,
}

/// What comparisons with itself showed of one metric.
#[derive(Clone, Debug, Default)]
pub struct Deviations {
    /// Ratio of each comparison.
    pub interleaved: Vec<f64>,
    /// What one side had in each comparison, by model: the same code at other moments.
    pub levels: BTreeMap<String, Vec<f64>>,
    /// What each launch had, by model.
    pub launches: BTreeMap<String, Vec<f64>>,
}

impl Deviations {
    /// The largest deviation of a comparison, and of two moments. `None` without two comparisons.
    pub fn largest(&self) -> Option<(f64, f64)> {
        if self.interleaved.len() < 2 {
            return None;
        }
        let away = |ratio: f64| ratio.max(1.0 / ratio) - 1.0;
        let interleaved = self.interleaved.iter().copied().map(away).fold(0.0, f64::max);
        let span = |levels: &Vec<f64>| {
            let (low, high) =
                levels.iter().fold((f64::MAX, 0.0_f64), |(low, high), level| (low.min(*level), high.max(*level)));
            if low > 0.0 && high > 0.0 { high / low - 1.0 } else { 0.0 }
        };
        let apart = self.levels.values().map(span).fold(interleaved, f64::max);
        Some((interleaved, apart))
    }
}

/// The floors of this machine.
#[derive(Debug, Default)]
pub struct Noise {
    file: PathBuf,
    machine: String,
    machines: BTreeMap<String, Vec<Floor>>,
}

impl Noise {
    /// Those that are kept in this folder, which is that of the user's data.
    pub fn load(folder: &Path, machine: &str) -> Noise {
        Noise::read(&folder.join("noise.json"), machine)
    }

    fn read(file: &Path, machine: &str) -> Noise {
        let known = std::fs::read(file).ok().and_then(|text| serde_json::from_slice(&text).ok());
        Noise { file: file.into(), machine: machine.into(), machines: known.unwrap_or_default() }
    }

    /// What is known of this machine.
    pub fn floors(&self) -> &[Floor] {
        self.machines.get(&self.machine).map_or(&[], Vec::as_slice)
    }

    /// How far launches of a backend are apart in a metric; `None`: nobody measured it here.
    pub fn launches(&self, plugin: &str, metric: &str) -> Option<Launches> {
        let known = self.floors().iter().find(|floor| floor.plugin == plugin && floor.metric == metric)?;
        Some(Launches { deviation: known.launch_deviation?, count: known.launches })
    }

    /// Takes floors in place of those of the same backends and metrics. A file that is broken is set aside, not written over.
    ///
    /// # Errors
    /// They cannot be kept, or the file is there and cannot be read.
    pub fn keep(&mut self, floors: Vec<Floor>) -> std::io::Result<()> {
        match std::fs::read(&self.file) {
            Ok(text) if serde_json::from_slice::<BTreeMap<String, Vec<Floor>>>(&text).is_err() => {
                std::fs::rename(&self.file, self.file.with_extension("broken.json"))?;
            }
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        // Somebody may have measured another backend since this was read.
        self.machines = Noise::read(&self.file, &self.machine).machines;
        let known = self.machines.entry(self.machine.clone()).or_default();
        for floor in floors {
            known.retain(|old| (&old.plugin, &old.metric) != (&floor.plugin, &floor.metric));
            known.push(floor);
        }
        write_whole(&self.file, |out| Ok(serde_json::to_writer_pretty(out, &self.machines)?))
    }

    /// The floor for a comparison of these backends: the largest of theirs. A metric that was not measured has the floor of the
    /// times of that backend, memory its own; a backend that was not measured has the default.
    pub fn floor(&self, plugins: &[&str], metric: &Metric, in_turns: bool) -> (f64, FloorFrom) {
        let assumed = &rules().compare;
        let of = |floor: &Floor| if in_turns { floor.interleaved } else { floor.apart };
        let is_memory = metric.name == Metric::MEMORY;
        let mut worst: Option<(f64, FloorFrom)> = None;
        for plugin in plugins {
            let mine = || self.floors().iter().filter(|floor| floor.plugin == *plugin);
            let own: Vec<&Floor> = mine().filter(|floor| floor.metric == metric.name).collect();
            let fitting = match own.is_empty() && !is_memory {
                true => mine().filter(|floor| floor.metric != Metric::MEMORY).collect(),
                false => own,
            };
            let largest = fitting.into_iter().max_by(|one, other| of(one).total_cmp(&of(other)));
            let Some(floor) = largest else {
                let default = match (is_memory, in_turns) {
                    (true, _) => assumed.assumed_memory,
                    (false, true) => assumed.assumed_interleaved,
                    (false, false) => assumed.assumed_apart,
                };
                return (default, FloorFrom::Assumed);
            };
            if worst.as_ref().is_none_or(|(known, _)| *known < of(floor)) {
                let from = FloorFrom::Measured { at: floor.measured_at.clone(), comparisons: floor.comparisons };
                worst = Some((of(floor), from));
            }
        }
        worst.unwrap_or((assumed.assumed_apart, FloorFrom::Assumed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floor(plugin: &str, metric: &str, interleaved: f64) -> Floor {
        Floor {
            plugin: plugin.into(),
            metric: metric.into(),
            interleaved,
            apart: interleaved * 4.0,
            comparisons: 12,
            launch_deviation: Some(0.01),
            launches: 60,
            models: vec!["bert-tiny".into()],
            measured_at: "2026-01-01T00:00:00Z".into(),
        }
    }

    #[test]
    fn floors_are_kept_for_each_machine_and_replaced_when_measured_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deeper/noise.json");
        let mut here = Noise::read(&file, "here, one");
        here.keep(vec![floor("cpu", "latency_ms", 0.02), floor("rten", "latency_ms", 0.03)]).unwrap();
        here.keep(vec![floor("cpu", "latency_ms", 0.05)]).unwrap();
        let latency = Metric::new("latency_ms", "ms", false);
        let again = Noise::read(&file, "here, one");
        assert_eq!(again.floors().len(), 2);
        assert_eq!(again.floor(&["cpu", "rten"], &latency, true).0, 0.05, "the larger of both");
        assert_eq!(again.floor(&["rten"], &latency, false).0, 0.12);
        assert_eq!(Noise::read(&file, "there, two").floor(&["cpu"], &latency, true).1, FloorFrom::Assumed);
    }

    #[test]
    fn what_was_not_measured_is_assumed_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let mut noise = Noise::read(&folder.path().join("noise.json"), "here");
        noise.keep(vec![floor("cpu", "latency_ms", 0.02)]).unwrap();
        let throughput = Metric::new("throughput_per_s", "1/s", true);
        assert_eq!(noise.floor(&["cpu"], &throughput, true).0, 0.02, "the floor of its times");
        assert_eq!(noise.floor(&["cpu"], &Metric::memory(), true).1, FloorFrom::Assumed);
        assert_eq!(noise.floor(&["cpu", "qnn"], &throughput, true).1, FloorFrom::Assumed);
    }

    #[test]
    fn a_broken_file_is_set_aside() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("noise.json");
        std::fs::write(&file, "{ not").unwrap();
        assert!(Noise::read(&file, "here").floors().is_empty());
        Noise::read(&file, "here").keep(vec![floor("cpu", "latency_ms", 0.02)]).unwrap();
        assert_eq!(Noise::read(&file, "here").floors().len(), 1);
        assert!(folder.path().join("noise.broken.json").exists());
    }

    #[test]
    fn the_largest_deviations_are_those_of_a_comparison_and_of_two_moments() {
        let levels = [("a".to_string(), vec![10.0, 12.0, 11.0]), ("b".to_string(), vec![100.0, 101.0])];
        let seen = Deviations { interleaved: vec![1.02, 0.95, 1.0], levels: levels.into(), ..Deviations::default() };
        let (interleaved, apart) = seen.largest().unwrap();
        assert!((interleaved - (1.0 / 0.95 - 1.0)).abs() < 1e-12 && (apart - 0.2).abs() < 1e-12);
        assert_eq!(Deviations { interleaved: vec![1.0], ..seen }.largest(), None);
    }
}
