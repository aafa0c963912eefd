//! What the machine did besides while a cell was measured: other work, clock frequency, temperature, throttling. Read from outside of the
//! worker, as the Linux kernel shows them.

use crate::children::children_of;
use skillbench_record::Conditions;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The kernel's clock ticks a second, as it counts them for programs: USER_HZ, 100 on every platform that matters here.
const TICKS: f64 = 100.0;

/// The files of a machine.
pub(crate) struct Machine {
    root: PathBuf,
}

impl Default for Machine {
    fn default() -> Machine {
        Machine { root: PathBuf::from("/") }
    }
}

impl Machine {
    fn read(&self, path: impl AsRef<Path>) -> Option<String> {
        std::fs::read_to_string(self.root.join(path)).ok()
    }

    fn number(&self, path: impl AsRef<Path>) -> Option<f64> {
        self.read(path)?.trim().parse().ok()
    }

    /// Numbers of one file in each folder below `folder` whose name begins so.
    fn numbers(&self, folder: &str, begins: &str, file: &str) -> Vec<f64> {
        let entries = std::fs::read_dir(self.root.join(folder)).into_iter().flatten().flatten();
        let fits = |name: &str| name.strip_prefix(begins).is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()));
        let named = entries.filter(|entry| fits(&entry.file_name().to_string_lossy()));
        named.filter_map(|entry| self.number(entry.path().join(file))).collect()
    }

    /// Ticks that all cores worked, and that a hypervisor took.
    fn ticks(&self) -> Option<(f64, f64)> {
        let text = self.read("proc/stat")?;
        let line = text.lines().find(|line| line.starts_with("cpu "))?;
        let numbers: Vec<f64> = line.split_whitespace().skip(1).filter_map(|word| word.parse().ok()).collect();
        // user nice system idle iowait irq softirq steal; guest time is in user.
        let [user, nice, system, _idle, _wait, irq, soft, steal, ..] = numbers[..] else { return None };
        Some((user + nice + system + irq + soft, steal))
    }

    /// Ticks of a process and of all below it.
    fn ticks_of(&self, pid: u32) -> f64 {
        let own = || {
            let text = self.read(format!("proc/{pid}/stat"))?;
            // The name may hold anything, a bracket too.
            let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
            let at = |index: usize| fields.get(index)?.parse::<f64>().ok();
            // utime, stime, and those of children that ended.
            Some(at(11)? + at(12)? + at(13)? + at(14)?)
        };
        let children = children_of(&self.root, pid).unwrap_or_default();
        own().unwrap_or(0.0) + children.into_iter().map(|child| self.ticks_of(child)).sum::<f64>()
    }

    fn megahertz(&self) -> Option<f64> {
        mean(&self.numbers("sys/devices/system/cpu", "cpu", "cpufreq/scaling_cur_freq"))
            .map(|kilohertz| kilohertz / 1e3)
    }

    fn celsius(&self) -> Option<f64> {
        let zones = self.numbers("sys/class/thermal", "thermal_zone", "temp");
        zones.into_iter().map(|milli| milli / 1e3).reduce(f64::max)
    }

    /// How often a core was slowed down for its heat, since the machine began.
    fn throttled(&self) -> Option<f64> {
        let counts = self.numbers("sys/devices/system/cpu", "cpu", "thermal_throttle/core_throttle_count");
        (!counts.is_empty()).then(|| counts.iter().sum())
    }
}

/// Cores that are busy on this machine over a while, which is waited for; `None`: it does not tell.
pub fn busy_cores(window: Duration) -> Option<f64> {
    let machine = Machine::default();
    let (before, _) = machine.ticks()?;
    let start = Instant::now();
    std::thread::sleep(window);
    let (after, _) = machine.ticks()?;
    Some((after - before) / TICKS / start.elapsed().as_secs_f64())
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// What is read at the beginning of measured rounds, and again at their end.
struct Mark {
    at: Instant,
    ticks: Option<(f64, f64)>,
    own: f64,
    throttled: Option<f64>,
}

/// Follows a machine through the measured rounds of a cell.
#[derive(Default)]
pub(crate) struct Follow {
    machine: Machine,
    begun: Option<Mark>,
    time: Duration,
    busy: f64,
    own: f64,
    stolen: f64,
    counted: bool,
    throttled: Option<f64>,
    megahertz: Vec<f64>,
    celsius: Option<f64>,
    /// The moment before, of figures over time.
    before: Option<Mark>,
}

impl Follow {
    fn mark(&self, pid: u32) -> Mark {
        let machine = &self.machine;
        Mark { at: Instant::now(), ticks: machine.ticks(), own: machine.ticks_of(pid), throttled: machine.throttled() }
    }

    /// Measured rounds of a worker begin.
    pub fn begin(&mut self, pid: u32) {
        if self.begun.is_none() {
            self.begun = Some(self.mark(pid));
            self.look();
        }
    }

    /// They end.
    pub fn end(&mut self, pid: u32) {
        let Some(begun) = self.begun.take() else { return };
        let ended = self.mark(pid);
        self.time += ended.at - begun.at;
        if let (Some((before, stolen)), Some((after, taken))) = (begun.ticks, ended.ticks) {
            self.busy += after - before;
            self.stolen += taken - stolen;
            self.own += ended.own - begun.own;
            self.counted = true;
        }
        if let (Some(before), Some(after)) = (begun.throttled, ended.throttled) {
            self.throttled = Some(self.throttled.unwrap_or(0.0) + after - before);
        }
    }

    /// Reads what only moments show.
    pub fn look(&mut self) {
        if self.begun.is_some() {
            self.megahertz.extend(self.machine.megahertz());
            self.celsius = self.celsius.into_iter().chain(self.machine.celsius()).reduce(f64::max);
        }
    }

    /// The next moment is the first.
    pub fn forget_moment(&mut self) {
        self.before = None;
    }

    /// What the machine does since the moment before: names, units and values.
    pub fn moment(&mut self, pid: u32) -> Vec<(&'static str, &'static str, f64)> {
        let now = self.mark(pid);
        let mut all = vec![];
        all.extend(self.machine.megahertz().map(|value| ("clock", "MHz", value)));
        all.extend(self.machine.celsius().map(|value| ("temperature", "°C", value)));
        if let Some(before) = &self.before
            && let (Some((busy_before, stolen_before)), Some((busy, stolen))) = (before.ticks, now.ticks)
        {
            let seconds = (now.at - before.at).as_secs_f64();
            let cores = |ticks: f64| ticks.max(0.0) / TICKS / seconds;
            all.push(("other_cores", "cores", cores(busy - busy_before - (now.own - before.own))));
            all.push(("stolen_cores", "cores", cores(stolen - stolen_before)));
        }
        self.before = Some(now);
        all
    }

    /// `None`: nothing was measured.
    pub fn conditions(&self) -> Option<Conditions> {
        let seconds = self.time.as_secs_f64();
        let cores = |ticks: f64| (ticks.max(0.0) / TICKS / seconds).max(0.0);
        // Ticks are coarse: of less than a tenth of a second they say nothing.
        let counts = self.counted && seconds > 0.1;
        (seconds > 0.0).then(|| Conditions {
            other_cores: counts.then(|| cores(self.busy - self.own)),
            stolen_cores: counts.then(|| cores(self.stolen)),
            frequency_mhz: mean(&self.megahertz),
            frequency_least_mhz: self.megahertz.iter().copied().reduce(f64::min),
            temperature_c: self.celsius,
            throttled: self.throttled.map(|count| count.max(0.0) as u64),
            other_cores_of_the_other: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &str)]) -> (tempfile::TempDir, Machine) {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let file = folder.path().join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        let root = folder.path().to_path_buf();
        (folder, Machine { root })
    }

    /// As kernels show it on a laptop with two cores.
    const FILES: [(&str, &str); 9] = [
        ("proc/stat", "cpu  100 0 50 9000 10 0 5 7 0 0\ncpu0 50 0 25 4500 5 0 2 3 0 0\n"),
        ("proc/7/stat", "7 (a (strange) name) S 1 7 7 0 -1 4194560 1 0 0 0 30 12 3 1 20 0 9 0 100 0 0"),
        ("proc/7/task/7/children", "8 "),
        ("proc/8/stat", "8 (child) S 7 7 7 0 -1 4194560 1 0 0 0 5 0 0 0 20 0 1 0 100 0 0"),
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2400000\n"),
        ("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "1600000\n"),
        ("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "4\n"),
        ("sys/class/thermal/thermal_zone0/temp", "61000\n"),
        ("sys/class/thermal/thermal_zone1/temp", "48500\n"),
    ];

    #[test]
    fn a_machine_tells_what_it_works_at() {
        let (_folder, machine) = machine(&FILES);
        assert_eq!(machine.ticks(), Some((155.0, 7.0)));
        assert_eq!(machine.ticks_of(7), 51.0, "with what it started");
        assert_eq!((machine.megahertz(), machine.celsius()), (Some(2000.0), Some(61.0)));
        assert_eq!(machine.throttled(), Some(4.0));
    }

    #[test]
    fn other_work_is_what_is_not_the_workers() {
        let (folder, machine) = machine(&FILES);
        let mut follow = Follow { machine, ..Follow::default() };
        follow.begin(7);
        std::thread::sleep(Duration::from_millis(150));
        std::fs::write(folder.path().join("proc/stat"), "cpu  130 0 50 9000 10 0 5 9 0 0\n").unwrap();
        follow.end(7);
        let seen = follow.conditions().unwrap();
        // 30 ticks of 0.15 s: two cores.
        assert!((1.5..=2.0).contains(&seen.other_cores.unwrap()), "{seen:?}");
        assert_eq!((seen.throttled, seen.temperature_c), (Some(0), Some(61.0)));
    }

    #[test]
    fn a_moment_tells_what_happened_since_the_one_before() {
        let (folder, machine) = machine(&FILES);
        let mut follow = Follow { machine, ..Follow::default() };
        assert_eq!(follow.moment(7), [("clock", "MHz", 2_000.0), ("temperature", "°C", 61.0)]);
        std::thread::sleep(Duration::from_millis(150));
        std::fs::write(folder.path().join("proc/stat"), "cpu  130 0 50 9000 10 0 5 9 0 0\n").unwrap();
        let told = follow.moment(7);
        let cores = |name: &str| told.iter().find(|(known, ..)| *known == name).map(|(.., value)| *value).unwrap();
        // 30 and 2 ticks of 0.15 s or more.
        assert!((0.0..=2.0).contains(&cores("other_cores")), "{told:?}");
        let ratio = cores("other_cores") / cores("stolen_cores");
        assert!((ratio - 15.0).abs() < 1e-6, "{told:?}");
        follow.forget_moment();
        assert_eq!(follow.moment(7).len(), 2);
    }

    #[test]
    fn a_machine_that_tells_nothing_has_no_figures() {
        let (_folder, machine) = machine(&[]);
        let mut follow = Follow { machine, ..Follow::default() };
        follow.begin(7);
        follow.end(7);
        let seen = follow.conditions().unwrap();
        assert_eq!((seen.other_cores, seen.frequency_mhz, seen.throttled), (None, None, None));
    }
}
