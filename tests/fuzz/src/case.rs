//! One case: written down before it runs, so that it is there whatever becomes of the process.

use std::fs::File;
use std::io::{Seek, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// CPU time that a case may take. It is no wall time, so that a busy machine finds nothing.
const LONGEST: Duration = Duration::from_secs(2);
/// Seconds after which a case is taken to hang, and the process ends.
const HANGING: u64 = 120;

pub(crate) struct Cases<'r, R> {
    target: String,
    read: &'r R,
    folder: PathBuf,
    /// The case that runs.
    running: File,
    path: PathBuf,
    number: Arc<AtomicU64>,
    slowest: Duration,
}

impl<'r, R: Fn(&[u8]) -> bool> Cases<'r, R> {
    pub fn new(target: &str, read: &'r R) -> Cases<'r, R> {
        let folder = std::env::var_os("SKILLBENCH_FUZZ_FOUND").map_or_else(std::env::temp_dir, PathBuf::from);
        std::fs::create_dir_all(&folder).expect("the folder for what is found can be made");
        let path = folder.join(format!("fuzz-{target}-{}.running", std::process::id()));
        let running = File::create(&path).expect("the folder for what is found can be written");
        let number = Arc::new(AtomicU64::new(0));
        watch(Arc::downgrade(&number), path.clone());
        Cases { target: target.into(), read, folder, running, path, number, slowest: Duration::ZERO }
    }

    /// Whether the bytes were accepted.
    ///
    /// # Panics
    /// The case is one: it panicked, or took too long.
    pub fn run(&mut self, bytes: &[u8]) -> bool {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        self.running.rewind().and_then(|()| self.running.write_all(bytes)).expect("a case can be written down");
        self.running.set_len(bytes.len() as u64).expect("a case can be written down");
        let began = cpu_time();
        let ended = catch_unwind(AssertUnwindSafe(|| (self.read)(bytes)));
        let took = cpu_time().saturating_sub(began);
        self.slowest = self.slowest.max(took);
        match ended {
            Ok(accepted) if took < LONGEST => accepted,
            Ok(_) => panic!("{} took {took:?}", self.keep(number)),
            Err(_) => panic!("{} panicked", self.keep(number)),
        }
    }

    /// Keeps the case that runs, and says where.
    fn keep(&self, number: u64) -> String {
        let path = self.folder.join(format!("{}-{number}", self.target));
        let kept = std::fs::rename(&self.path, &path).map_or(&self.path, |()| &path);
        format!("{} (when it is mended, put it into tests/fuzz/corpus/{})", kept.display(), self.target)
    }

    /// CPU time of the slowest case.
    pub fn finish(self) -> Duration {
        drop(std::fs::remove_file(&self.path));
        self.slowest
    }
}

/// Ends the process where one case never ends.
fn watch(number: Weak<AtomicU64>, path: PathBuf) {
    std::thread::spawn(move || {
        let (mut seen, mut seconds) = (0, 0);
        while let Some(number) = number.upgrade().map(|number| number.load(Ordering::Relaxed)) {
            (seen, seconds) = if number == seen { (seen, seconds + 1) } else { (number, 0) };
            if seconds > HANGING {
                eprintln!("{} hangs", path.display());
                std::process::abort();
            }
            std::thread::sleep(Duration::from_secs(1));
        }
    });
}

/// Processor time of this thread; on a system that is not asked for it, the time that passes.
#[cfg(unix)]
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap_or_default(), time.tv_nsec.try_into().unwrap_or_default())
}

#[cfg(not(unix))]
fn cpu_time() -> Duration {
    static BEGAN: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    BEGAN.elapsed()
}

/// The most memory that this process has had; 0 where nobody says.
pub(crate) fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string(Path::new("/proc/self/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()).unwrap_or_default() / 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(read: impl Fn(&[u8]) -> bool) -> String {
        let payload = catch_unwind(AssertUnwindSafe(|| Cases::new("own-test", &read).run(b"a case"))).unwrap_err();
        let said = payload.downcast_ref::<String>().unwrap().clone();
        let file = said.split(' ').next().unwrap();
        assert_eq!(std::fs::read(file).unwrap(), b"a case", "the case is kept");
        std::fs::remove_file(file).unwrap();
        said
    }

    #[test]
    fn a_case_that_panics_or_takes_long_is_kept_and_named() {
        assert!(found(|_| panic!("on purpose")).contains("panicked"));
        let busy = |_: &[u8]| {
            let began = cpu_time();
            while cpu_time() - began < LONGEST {}
            true
        };
        assert!(found(busy).contains("took 2"));
    }

    #[test]
    fn a_case_that_sleeps_is_not_slow() {
        let sleeps = |_: &[u8]| {
            std::thread::sleep(LONGEST);
            true
        };
        assert!(Cases::new("own-sleep", &sleeps).run(b"a case"));
    }
}
