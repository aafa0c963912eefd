//! The processes that a process started, as the Linux kernel lists them. Written once, for whoever adds up their memory, time or ticks.

use std::path::Path;

/// Those right below one, under the root of a machine's files. `None` where the system does not list them, or the process is gone.
pub(crate) fn children_of(root: &Path, pid: u32) -> Option<Vec<u32>> {
    let tasks = std::fs::read_dir(root.join(format!("proc/{pid}/task"))).ok()?.flatten();
    let mut lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok()).peekable();
    lists.peek()?;
    Some(lists.flat_map(|list| list.split_whitespace().flat_map(str::parse).collect::<Vec<u32>>()).collect())
}

/// No plugin has as many; a look ends there.
const MOST: usize = 10_000;

/// All below one, the first so many of them. Not by recursion: a plugin says how deep they go.
pub(crate) fn all_below(pid: u32) -> Vec<u32> {
    let (mut all, mut next) = (vec![], vec![pid]);
    while let Some(pid) = next.pop().filter(|_| all.len() < MOST) {
        let children = children_of(Path::new("/"), pid).unwrap_or_default();
        next.extend(&children);
        all.extend(children);
    }
    all
}
