//! The processors that threads may run on, as the Linux kernel shows them.

use crate::children::all_below;
use std::collections::BTreeSet;

/// A list as the kernel writes it: "0-3,8".
pub fn processor_list(text: &str) -> Option<BTreeSet<usize>> {
    let mut all = BTreeSet::new();
    for range in text.trim().split(',').filter(|range| !range.is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        all.extend(first.parse::<usize>().ok()?..=last.parse::<usize>().ok()?);
    }
    Some(all)
}

/// Those of each thread of a process; `None` where the process is gone, or the system does not tell.
pub fn processors_of(pid: u32) -> Option<Vec<BTreeSet<usize>>> {
    let mut all = vec![];
    for thread in std::fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
        // A thread that ended meanwhile runs nowhere.
        let Ok(status) = std::fs::read_to_string(thread.path().join("status")) else { continue };
        all.push(processor_list(status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?)?);
    }
    (!all.is_empty()).then_some(all)
}

/// Whether more of a process, and of what it started, may run on processors than the one thread that they are kept for.
pub(crate) fn are_shared(pid: u32, kept: &BTreeSet<usize>) -> bool {
    let threads = all_below(pid).into_iter().chain([pid]).filter_map(processors_of).flatten();
    more_than_one(threads, kept)
}

fn more_than_one(threads: impl IntoIterator<Item = BTreeSet<usize>>, kept: &BTreeSet<usize>) -> bool {
    let mut there = threads.into_iter().filter(|thread| !thread.is_disjoint(kept));
    match there.next() {
        None => false,
        Some(first) => !first.is_subset(kept) || there.next().is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_the_kernel_are_read() {
        assert_eq!(processor_list("0-2,7\n"), Some([0, 1, 2, 7].into()));
        assert_eq!(processor_list("0-"), None);
    }

    #[test]
    fn one_thread_may_be_where_nobody_else_is() {
        let of = |threads: &[&str]| {
            let threads = threads.iter().map(|text| processor_list(text).unwrap());
            more_than_one(threads, &[2, 3].into())
        };
        assert!(!of(&["0-1", "0-1"]) && !of(&["0-1", "2-3", "0"]) && !of(&["3"]));
        for shared in [&["0-3"][..], &["0-1", "1-2"], &["2", "3"], &["2-3", "0-3"]] {
            assert!(of(shared), "{shared:?}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_tells_where_its_threads_may_run() {
        assert!(processors_of(std::process::id()).unwrap().iter().all(|thread| !thread.is_empty()));
        let here = &processors_of(std::process::id()).unwrap()[0];
        std::thread::scope(|scope| {
            let other = scope.spawn(std::thread::park);
            assert!(are_shared(std::process::id(), here), "two threads are where one may be");
            other.thread().unpark();
        });
    }
}
