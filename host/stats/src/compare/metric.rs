//! What is compared. Times go down, throughput goes up, memory goes down.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metric {
    /// As results name it: "latency_ms", "throughput_per_s", "peak_memory_mb"; of a benchmark's own series its name.
    pub name: String,
    pub unit: String,
    pub higher_is_better: bool,
}

impl Metric {
    pub const LATENCY: &str = "latency_ms";
    pub const THROUGHPUT: &str = "throughput_per_s";
    pub const MEMORY: &str = "peak_memory_mb";

    pub fn new(name: &str, unit: &str, higher_is_better: bool) -> Metric {
        Metric { name: name.into(), unit: unit.into(), higher_is_better }
    }

    /// CPU time of an iteration: what other work on the machine does to it is little.
    pub fn cpu() -> Metric {
        Metric::new("cpu_ms", "ms", false)
    }

    /// The load that keeps limits.
    pub fn capacity() -> Metric {
        Metric::new("capacity_per_s", "1/s", true)
    }

    pub fn memory() -> Metric {
        Metric::new(Metric::MEMORY, "MiB", false)
    }

    /// What a series is compared by. `None`: nobody says which direction of it is better.
    pub fn of_series(series: &str, unit: &str, kind: &str, higher_is_better: Option<bool>) -> Option<Metric> {
        let name = match (series, kind) {
            ("concurrent", "duration") => return Some(Metric::new(Metric::THROUGHPUT, "1/s", true)),
            ("sequential", "duration") => return Some(Metric::new("sequential_per_s", "1/s", true)),
            ("latency" | "execution_time", "duration") => return Some(Metric::new(Metric::LATENCY, "ms", false)),
            (_, "duration") => return Some(Metric::new(&format!("{series}_ms"), "ms", false)),
            _ => series,
        };
        Some(Metric::new(name, unit, higher_is_better?))
    }
}
