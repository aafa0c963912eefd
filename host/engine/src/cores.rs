//! The cores that this process may use, and binding work to some of them.
//!
//! What a thread starts is bound as the thread is, from its first instruction on: a worker needs to know nothing of it.

use skillbench_worker::{processor_list, processors_of};
use std::collections::BTreeSet;
use std::io;
use std::path::Path;

/// The usable physical cores, each with those of its processors that are usable: two threads of one core are not two cores. No
/// more than the control group grants. `None` where the system does not tell.
pub fn usable() -> Option<Vec<Vec<usize>>> {
    let granted = std::thread::available_parallelism().map_or(usize::MAX, usize::from);
    Some(grouped(&affinity()?, Path::new("/sys/devices/system/cpu"), granted))
}

/// Processors by the core they are on. One whose siblings are not known is a core by itself.
fn grouped(usable: &[usize], told: &Path, granted: usize) -> Vec<Vec<usize>> {
    let mut cores: Vec<Vec<usize>> = vec![];
    for processor in usable {
        if cores.iter().any(|core| core.contains(processor)) {
            continue;
        }
        let list = told.join(format!("cpu{processor}/topology/thread_siblings_list"));
        let siblings = std::fs::read_to_string(list).ok().and_then(|text| processor_list(&text)).unwrap_or_default();
        cores.push(usable.iter().copied().filter(|one| one == processor || siblings.contains(one)).collect());
    }
    cores.truncate(granted);
    cores
}

/// The processors that any thread of a process may run on; `None` where the process is gone, or the system does not tell.
pub fn of_process(pid: u32) -> Option<BTreeSet<usize>> {
    Some(processors_of(pid)?.into_iter().flatten().collect())
}

/// Binds this thread, and what it starts from now on, to these processors.
///
/// # Errors
/// The system does not let it.
#[cfg(target_os = "linux")]
pub fn bind(processors: &[usize]) -> io::Result<()> {
    let mut set = rustix::thread::CpuSet::new();
    for processor in processors {
        if *processor >= rustix::thread::CpuSet::MAX_CPU {
            return Err(io::Error::other(format!("there is no way to bind to processor {processor}")));
        }
        set.set(*processor);
    }
    Ok(rustix::thread::sched_setaffinity(None, &set)?)
}

/// Does something bound to these processors, and goes back to where this thread was, however that ends.
///
/// # Errors
/// The system does not let it.
pub fn within<T>(processors: &[usize], work: impl FnOnce() -> T) -> io::Result<T> {
    struct Back(Vec<usize>);
    impl Drop for Back {
        fn drop(&mut self) {
            // It was there before.
            let _ = bind(&self.0);
        }
    }
    let before = affinity().ok_or_else(|| io::Error::from(io::ErrorKind::Unsupported))?;
    bind(processors)?;
    let _back = Back(before);
    Ok(work())
}

#[cfg(target_os = "linux")]
fn affinity() -> Option<Vec<usize>> {
    let set = rustix::thread::sched_getaffinity(None).ok()?;
    Some((0..rustix::thread::CpuSet::MAX_CPU).filter(|processor| set.is_set(*processor)).collect())
}

/// Binds this thread, and what it starts from now on, to these processors.
///
/// # Errors
/// Always: this system has no way that is known here.
#[cfg(not(target_os = "linux"))]
pub fn bind(_processors: &[usize]) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "work cannot be bound to cores on this system"))
}

#[cfg(not(target_os = "linux"))]
fn affinity() -> Option<Vec<usize>> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_one_core_stay_together_and_a_core_that_is_not_told_of_stands_alone() {
        let told = tempfile::tempdir().unwrap();
        for (processor, list) in [(0, "0,4\n"), (1, "1,5\n"), (4, "0,4\n")] {
            let folder = told.path().join(format!("cpu{processor}/topology"));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("thread_siblings_list"), list).unwrap();
        }
        let groups = [vec![0, 4], vec![1], vec![2]];
        assert_eq!(grouped(&[0, 1, 2, 4], told.path(), 8), groups, "5 is not usable, and 2 is not told of");
        assert_eq!(grouped(&[0, 1, 2, 4], told.path(), 2), groups[..2], "no more than is granted");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_a_bound_thread_starts_is_bound_as_well() {
        let usable = affinity().unwrap();
        let last = *usable.last().unwrap();
        let of_child = std::thread::spawn(move || {
            bind(&[last]).unwrap();
            let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
            let found = of_process(child.id());
            child.kill().unwrap();
            child.wait().unwrap();
            found
        });
        assert_eq!(of_child.join().unwrap(), Some([last].into()));
        assert_eq!(affinity().unwrap(), usable, "another thread is not");
    }
}
