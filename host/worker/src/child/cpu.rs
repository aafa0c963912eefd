//! CPU time: of this thread, of this process, and of all that it started. A browser computes in processes of its own, and so may a
//! plugin: what is done there costs as much.

use std::time::Duration;

/// CPU time of the whole process; `None` on a system that is not asked for it.
pub(crate) fn of_process() -> Option<Duration> {
    #[cfg(unix)]
    return Some(read(rustix::time::ClockId::ProcessCPUTime));
    #[cfg(not(unix))]
    None
}

/// CPU time of this thread.
pub(super) fn of_thread() -> Option<Duration> {
    #[cfg(unix)]
    return Some(read(rustix::time::ClockId::ThreadCPUTime));
    #[cfg(not(unix))]
    None
}

#[cfg(unix)]
fn read(clock: rustix::time::ClockId) -> Duration {
    let time = rustix::time::clock_gettime(clock);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// CPU time of the processes below this one. Only differences mean something, and only while none ended: of one that did, this process
/// learns all that it ever used, and what used it before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Below {
    pub ns: i64,
    /// How many have ended.
    pub gone: u64,
}

/// CPU time at one moment: of this process, and of those below it, where the system lists them.
#[derive(Clone, Copy)]
pub(super) struct Cpu {
    pub own: Duration,
    pub below: Option<Below>,
}

impl Cpu {
    /// What was used from one moment to another. `None` where a process ended between: nobody knows what of its time was used then.
    pub fn since(self, then: Cpu) -> Option<Duration> {
        let below = match (then.below, self.below) {
            (Some(then), Some(now)) if then.gone == now.gone => now.ns - then.ns,
            (None, None) => 0,
            _ => return None,
        };
        let own = self.own.checked_sub(then.own)?.as_nanos() as i64;
        Some(Duration::from_nanos(own.saturating_add(below).max(0) as u64))
    }
}

#[cfg(target_os = "linux")]
pub(super) use tree::Tree;

/// The processes that this one started, and those that they started.
#[cfg(target_os = "linux")]
mod tree {
    use super::Below;
    use crate::children::children_of;
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::time::clock_getcpuclockid;
    use nix::unistd::Pid;
    use std::collections::BTreeMap;
    use std::path::Path;
    use std::time::{Duration, Instant};

    /// Processes are looked for no more often than that: to list them takes longer than to read their clocks.
    const EVERY: Duration = Duration::from_millis(100);

    #[derive(Default)]
    pub struct Tree {
        /// The clock of each when it was last read; 0 of one that was not there before.
        known: BTreeMap<u32, Duration>,
        looked: Option<Instant>,
        /// Nanoseconds of all that are known; less than nothing where one ended, whose whole time the system then adds elsewhere.
        known_ns: i64,
        /// How many are gone.
        gone: u64,
    }

    impl Tree {
        /// CPU time of all processes below this one. `None` where the system does not list them.
        pub fn time(&mut self) -> Option<Below> {
            if self.looked.is_none_or(|looked| looked.elapsed() > EVERY) {
                let first = self.looked.is_none();
                let mut found = vec![];
                below(std::process::id(), &mut found)?;
                for pid in found {
                    // What it did before anybody asked is in no difference.
                    let since = if first { clock(pid).unwrap_or_default() } else { Duration::ZERO };
                    self.known.entry(pid).or_insert(since);
                }
                self.looked = Some(Instant::now());
            }
            let (sum, gone) = (&mut self.known_ns, &mut self.gone);
            self.known.retain(|pid, last| match clock(*pid) {
                Some(now) => {
                    *sum += now.saturating_sub(*last).as_nanos() as i64;
                    *last = now;
                    true
                }
                None => {
                    *sum -= last.as_nanos() as i64;
                    *gone += 1;
                    false
                }
            });
            let ns = (ended()?.as_nanos() as i64).saturating_add(self.known_ns);
            Some(Below { ns, gone: self.gone })
        }
    }

    fn clock(pid: u32) -> Option<Duration> {
        let time = clock_getcpuclockid(Pid::from_raw(pid as i32)).ok()?.now().ok()?;
        Some(Duration::new(time.tv_sec() as u64, time.tv_nsec() as u32))
    }

    /// Of children that ended and were waited for.
    fn ended() -> Option<Duration> {
        let used = getrusage(UsageWho::RUSAGE_CHILDREN).ok()?;
        let microseconds = |time: nix::sys::time::TimeVal| (time.tv_sec() * 1_000_000 + time.tv_usec()) as u64;
        Some(Duration::from_micros(microseconds(used.user_time()) + microseconds(used.system_time())))
    }

    /// `None` where the system lists no children.
    fn below(pid: u32, found: &mut Vec<u32>) -> Option<()> {
        for child in children_of(Path::new("/"), pid)? {
            found.push(child);
            // One that is gone meanwhile has none.
            let _ = below(child, found);
        }
        Some(())
    }
}

/// This system does not list them.
#[cfg(not(target_os = "linux"))]
#[derive(Default)]
pub(super) struct Tree;

#[cfg(not(target_os = "linux"))]
impl Tree {
    pub fn time(&mut self) -> Option<Below> {
        None
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// All children of this process count, so one test at a time has some.
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

    const BUSY: &str = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo; read _";

    fn busy() -> std::process::Child {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", BUSY]).stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        shell.spawn().unwrap()
    }

    /// Waits until its work is done; it lives on.
    fn worked(child: &mut std::process::Child) {
        use std::io::Read;
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    }

    #[test]
    fn what_a_child_computes_counts_while_it_lives_and_after_it_ended() {
        let _alone = ALONE.lock();
        let mut tree = Tree::default();
        let before = tree.time().unwrap();
        let mut child = busy();
        worked(&mut child);
        std::thread::sleep(Duration::from_millis(110));
        let alive = tree.time().unwrap();
        let used = alive.ns - before.ns;
        assert!(used > 20_000_000 && alive.gone == 0, "{used}");
        drop(child.stdin.take());
        child.wait().unwrap();
        let ended = tree.time().unwrap();
        let all = ended.ns - before.ns;
        assert!(all + 5_000_000 > used && all < used * 2 && ended.gone == 1, "{used} {all}");
    }

    #[test]
    fn what_a_child_computed_before_anybody_asked_does_not_count() {
        let _alone = ALONE.lock();
        let mut child = busy();
        worked(&mut child);
        let mut tree = Tree::default();
        let before = tree.time().unwrap();
        std::thread::sleep(Duration::from_millis(110));
        let used = tree.time().unwrap().ns - before.ns;
        assert!(used < 15_000_000, "{used}");
        drop(child.stdin.take());
        child.wait().unwrap();
    }
}
