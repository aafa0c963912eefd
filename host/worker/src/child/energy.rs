//! Energy counters: what one moved between two readings, and how much flows while nothing is done.

use skillbench_stats::{median, student, summarize};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long the machine is watched doing nothing, in so many parts, and how often the counter is looked at meanwhile.
const IDLE: Duration = Duration::from_secs(1);
const PARTS: usize = 4;
const LOOK: Duration = Duration::from_millis(1);

/// An energy counter at one moment.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    pub at: Instant,
    pub microjoules: u64,
    pub source: String,
    pub scope: &'static str,
}

/// What flows while nothing is done, and what that says of the counter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Idle {
    pub watts: f64,
    /// Half of the 95% interval of it.
    pub half_watts: f64,
    /// The median time from one move of the counter to the next; `None`: it did not move twice.
    pub period_s: Option<f64>,
}

impl Idle {
    /// Looks at a counter for a second. `None`: there is none.
    pub fn watch(read: impl Fn() -> Option<Reading>) -> Option<Idle> {
        let began = read()?.at;
        let mut seen = vec![];
        while began.elapsed() < IDLE {
            seen.push(read()?);
            std::thread::sleep(LOOK);
        }
        seen.push(read()?);
        Idle::of(&seen)
    }

    fn of(seen: &[Reading]) -> Option<Idle> {
        let moves: Vec<&Reading> =
            seen.windows(2).filter(|pair| pair[0].microjoules != pair[1].microjoules).map(|pair| &pair[1]).collect();
        // From one move to another the counter tells all that flowed; what it did not tell yet is in neither end then.
        let edges = if moves.len() > 1 { moves.clone() } else { vec![seen.first()?, seen.last()?] };
        let (joules, seconds) = between(edges.first()?, edges.last()?)?;
        let parts = PARTS.min(edges.len() - 1);
        let ends: Vec<&Reading> = (0..=parts).map(|part| edges[part * (edges.len() - 1) / parts]).collect();
        let parts = ends.windows(2).filter_map(|pair| between(pair[0], pair[1]));
        let watts: Vec<f64> = parts.map(|(joules, seconds)| joules / seconds).collect();
        let mean = joules / seconds;
        let deviation = summarize(&watts, 1.0).and_then(|stats| Some((stats.n, stats.std?)));
        let half_watts = deviation.map_or(mean, |(n, std)| student(n - 1) * std / (n as f64).sqrt());
        let steps: Vec<f64> = moves.windows(2).map(|pair| (pair[1].at - pair[0].at).as_secs_f64()).collect();
        Some(Idle { watts: mean, half_watts, period_s: median(&steps) })
    }
}

/// Energy that was used in rounds of a series.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Used {
    pub source: String,
    pub scope: &'static str,
    /// Of the measured rounds.
    pub rounds: Vec<OfRound>,
    /// Of rounds for the counter alone.
    pub long: Vec<OfRound>,
    /// The name of a second sensor, and what it counts.
    pub other: Option<(String, &'static str)>,
}

/// What was used in a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct OfRound {
    pub joules: f64,
    pub seconds: f64,
    pub samples: u64,
    /// The median of the samples of a round for the counter alone; `None`: a measured round.
    pub median: Option<f64>,
    /// By the second sensor.
    pub other_joules: Option<f64>,
}

impl Used {
    /// Adds what was used in a round of so many samples, between two readings. A round whose readings are not of one sensor, or went
    /// backwards, is not counted. `median`: see [`OfRound::median`].
    pub fn plus(
        known: Option<Used>,
        before: &super::sensors::Readings,
        after: &super::sensors::Readings,
        samples: u64,
        median: Option<f64>,
    ) -> Option<Used> {
        let ((before, other_before), (after, other_after)) = (before, after);
        let Some((joules, seconds)) = between(before, after) else { return known };
        let other = other_before.as_ref().zip(other_after.as_ref());
        let other_joules = other.and_then(|(before, after)| Some(between(before, after)?.0));
        let mut known = known.unwrap_or_else(|| Used {
            source: after.source.clone(),
            scope: after.scope,
            rounds: vec![],
            long: vec![],
            other: other.map(|(_, after)| (after.source.clone(), after.scope)),
        });
        if known.source != after.source {
            return Some(known);
        }
        let rounds = if median.is_some() { &mut known.long } else { &mut known.rounds };
        rounds.push(OfRound { joules, seconds, samples, median, other_joules });
        Some(known)
    }
}

/// Watts between two readings of one sensor; `None`: they are none of one, or the counter went back.
pub(super) fn power(before: &Reading, after: &Reading) -> Option<f64> {
    between(before, after).map(|(joules, seconds)| joules / seconds)
}

/// Joules and seconds between two readings of one sensor.
fn between(before: &Reading, after: &Reading) -> Option<(f64, f64)> {
    let microjoules = after.microjoules.checked_sub(before.microjoules)?;
    let seconds = after.at.duration_since(before.at).as_secs_f64();
    (before.source == after.source && seconds > 0.0).then_some((microjoules as f64 * 1e-6, seconds))
}

/// The processor's own energy counters, as the Linux kernel shows them to those who may read them.
pub(super) struct Rapl {
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
    pub fn find(folder: &Path) -> Option<Rapl> {
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
    pub fn read(&mut self) -> Option<u64> {
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
    use super::*;

    /// A tree as the kernel's powercap driver lays it out: two packages, one with a part, as read on a machine with two sockets.
    fn powercap(folder: &Path, microjoules: [u64; 3]) {
        let range = "262143328850";
        let domains = ["intel-rapl:0", "intel-rapl:1", "intel-rapl:0:0"];
        for ((domain, name), value) in domains.iter().zip(["package-0", "package-1", "core"]).zip(microjoules) {
            let domain = folder.join(domain);
            std::fs::create_dir_all(&domain).unwrap();
            std::fs::write(domain.join("name"), format!("{name}\n")).unwrap();
            std::fs::write(domain.join("energy_uj"), format!("{value}\n")).unwrap();
            std::fs::write(domain.join("max_energy_range_uj"), format!("{range}\n")).unwrap();
        }
    }

    #[test]
    fn packages_are_added_up_and_a_counter_that_began_again_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        powercap(folder.path(), [262_143_328_750, 10, 5]);
        let mut rapl = Rapl::find(folder.path()).unwrap();
        powercap(folder.path(), [50, 30, 500]);
        assert_eq!(rapl.read(), Some(150 + 20));
    }

    #[test]
    fn without_counters_there_is_no_sensor() {
        assert!(Rapl::find(tempfile::tempdir().unwrap().path()).is_none());
    }

    fn reading(began: Instant, seconds: f64, microjoules: u64, source: &str) -> Reading {
        let at = began + Duration::from_secs_f64(seconds);
        Reading { at, microjoules, source: source.into(), scope: "device" }
    }

    #[test]
    fn only_the_rounds_count_and_only_of_one_sensor() {
        let began = Instant::now();
        let one = |seconds: u64, microjoules, source: &str| (reading(began, seconds as f64, microjoules, source), None);
        let plus = |known, before, after| Used::plus(known, &before, &after, 10, None);
        let first = plus(None, one(0, 1_000_000, "NVML"), one(2, 5_000_000, "NVML"));
        let both = plus(first, one(9, 90_000_000, "NVML"), one(10, 93_000_000, "NVML")).unwrap();
        let joules: Vec<[f64; 2]> = both.rounds.iter().map(|round| [round.joules, round.seconds]).collect();
        assert_eq!(joules, [[4.0, 2.0], [3.0, 1.0]], "what lies between the rounds is left out");
        for (before, after) in [
            (one(11, 1, "RAPL"), one(12, 2, "RAPL")),
            (one(11, 1, "RAPL"), one(12, 2, "NVML")),
            (one(11, 9, "NVML"), one(12, 3, "NVML")),
        ] {
            let same = plus(Some(both.clone()), before, after).unwrap();
            assert_eq!(same.rounds.len(), 2, "a round that is not counted shows in their number");
        }
        let long = Used::plus(Some(both), &one(13, 0, "NVML"), &one(15, 9, "NVML"), 99, Some(1e6)).unwrap();
        assert_eq!((long.rounds.len(), long.long[0].samples), (2, 99), "a round for the counter stands apart");
    }

    #[test]
    fn a_second_sensor_counts_each_round_beside_the_first() {
        let began = Instant::now();
        let both = |seconds: f64, first, second| {
            (reading(began, seconds, first, "vendor"), Some(reading(began, seconds, second, "RAPL")))
        };
        let used = Used::plus(None, &both(0.0, 0, 0), &both(1.0, 5_000_000, 6_000_000), 1, None);
        let alone = (reading(began, 4.0, 20_000_000, "vendor"), None);
        let used = Used::plus(used, &alone, &both(5.0, 21_000_000, 0), 1, None).unwrap();
        assert_eq!(used.other, Some(("RAPL".into(), "device")));
        let other: Vec<Option<f64>> = used.rounds.iter().map(|round| round.other_joules).collect();
        assert_eq!(other, [Some(6.0), None], "it did not count the second round");
    }

    /// A counter of 20 watts that moves every so many milliseconds, looked at each millisecond.
    fn watched(period_ms: u64) -> Idle {
        let began = Instant::now();
        let at = |ms: u64| reading(began, ms as f64 * 1e-3, ms / period_ms * period_ms * 20_000, "RAPL");
        Idle::of(&(0..=1000).map(at).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn a_slow_counter_tells_the_idle_power_from_one_of_its_moves_to_another() {
        for period_ms in [1, 20, 30, 100] {
            let idle = watched(period_ms);
            let period = idle.period_s.unwrap();
            assert!((period - period_ms as f64 * 1e-3).abs() < 1e-6, "{idle:?}");
            assert!((idle.watts - 20.0).abs() < 1e-6 && idle.half_watts < 1e-6, "{idle:?}");
        }
        assert_eq!(watched(400).half_watts, 20.0, "one step says nothing of how steps differ");
        assert_eq!(watched(2000).period_s, None, "it did not move");
    }
}
