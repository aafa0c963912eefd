//! CPU time: of this thread, of this process, and of all that it started. A browser computes in processes of its own, and so may a
//! plugin: what is done there costs as much.

use std::time::Duration;

/// CPU time of the whole process; `None` on a system that is not asked for it.
pub(super) fn of_process() -> Option<Duration> {
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

#[cfg(target_os = "linux")]
pub(super) use tree::Tree;

/// The processes that this one started, and those that they started.
#[cfg(target_os = "linux")]
mod tree {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::time::clock_getcpuclockid;
    use nix::unistd::Pid;
    use std::collections::BTreeMap;
    use std::time::{Duration, Instant};

    /// Processes are looked for no more often than that: to list them takes longer than to read their clocks.
    const EVERY: Duration = Duration::from_millis(100);

    #[derive(Default)]
    pub struct Tree {
        /// The clock of each when it was last read; 0 of one that was not there before.
        known: BTreeMap<i32, Duration>,
        looked: Option<Instant>,
        /// Nanoseconds of all that are known; less than nothing where one ended, whose whole time the system then adds elsewhere.
        known_ns: i64,
        ended: Duration,
    }

    impl Tree {
        /// CPU time of all processes below this one since the first call. Of one that ended meanwhile it is what this process learned
        /// when it waited for it; what another process waited for is lost.
        pub fn time(&mut self) -> Duration {
            if self.looked.is_none_or(|looked| looked.elapsed() > EVERY) {
                let own = std::process::id() as i32;
                let first = self.looked.is_none();
                let mut found = vec![];
                below(own, &mut found);
                for pid in found {
                    // What it did before anybody asked is in no difference.
                    let since = if first { clock(pid).unwrap_or_default() } else { Duration::ZERO };
                    self.known.entry(pid).or_insert(since);
                }
                self.looked = Some(Instant::now());
            }
            let sum = &mut self.known_ns;
            self.known.retain(|pid, last| match clock(*pid) {
                Some(now) => {
                    *sum += now.saturating_sub(*last).as_nanos() as i64;
                    *last = now;
                    true
                }
                None => {
                    *sum -= last.as_nanos() as i64;
                    false
                }
            });
            self.ended = ended().unwrap_or(self.ended);
            Duration::from_nanos((self.ended.as_nanos() as i64).saturating_add(self.known_ns).max(0) as u64)
        }
    }

    fn clock(pid: i32) -> Option<Duration> {
        let time = clock_getcpuclockid(Pid::from_raw(pid)).ok()?.now().ok()?;
        Some(Duration::new(time.tv_sec() as u64, time.tv_nsec() as u32))
    }

    /// Of children that ended and were waited for.
    fn ended() -> Option<Duration> {
        let used = getrusage(UsageWho::RUSAGE_CHILDREN).ok()?;
        let microseconds = |time: nix::sys::time::TimeVal| (time.tv_sec() * 1_000_000 + time.tv_usec()) as u64;
        Some(Duration::from_micros(microseconds(used.user_time()) + microseconds(used.system_time())))
    }

    fn below(pid: i32, found: &mut Vec<i32>) {
        let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
        let children: Vec<i32> =
            lists.flat_map(|list| list.split_whitespace().flat_map(str::parse).collect::<Vec<_>>()).collect();
        for child in children {
            found.push(child);
            below(child, found);
        }
    }
}

/// Nobody tells on this system.
#[cfg(not(target_os = "linux"))]
#[derive(Default)]
pub(super) struct Tree;

#[cfg(not(target_os = "linux"))]
impl Tree {
    pub fn time(&mut self) -> Duration {
        Duration::ZERO
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

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
        let mut tree = Tree::default();
        let before = tree.time();
        let mut child = busy();
        worked(&mut child);
        std::thread::sleep(Duration::from_millis(110));
        let alive = tree.time() - before;
        assert!(alive > Duration::from_millis(20), "{alive:?}");
        drop(child.stdin.take());
        child.wait().unwrap();
        let ended = tree.time() - before;
        assert!(ended + Duration::from_millis(5) > alive && ended < alive * 2, "{alive:?} {ended:?}");
    }

    #[test]
    fn what_a_child_computed_before_anybody_asked_does_not_count() {
        let mut child = busy();
        worked(&mut child);
        let mut tree = Tree::default();
        let before = tree.time();
        drop(child.stdin.take());
        child.wait().unwrap();
        let ended = tree.time().saturating_sub(before);
        assert!(ended < Duration::from_millis(15), "{ended:?}");
    }
}
