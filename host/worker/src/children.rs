//! The processes that a process started, as the Linux kernel lists them. Written once, for whoever adds up their memory, time or ticks.

use std::path::Path;

/// Those right below one, under the root of a machine's files. `None` where the system does not list them, or the process is gone.
pub(crate) fn children_of(root: &Path, pid: u32) -> Option<Vec<u32>> {
    let tasks = std::fs::read_dir(root.join(format!("proc/{pid}/task"))).ok()?.flatten();
    let mut lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok()).peekable();
    lists.peek()?;
    Some(lists.flat_map(|list| list.split_whitespace().flat_map(str::parse).collect::<Vec<u32>>()).collect())
}
