//! The browser's life is tied to its worker's.
//!
//! The browser stays in the worker's process group, which the host kills as a whole. Where nobody does that (a worker that
//! is killed by itself, a test), a shell waits for the end of a pipe that only the worker holds open, and kills the browser
//! then. A signal of the kernel at the parent's death would need code between fork and exec, and would go off with the
//! thread that opened the browser.

use std::process::{Child, Command, Stdio};

/// Kills a process when this process is gone. Dropped, it lets go of both.
pub(crate) struct Guard(Option<Child>);

impl Guard {
    /// Guards `pid`, which must not be waited for before the guard is dropped: its number could be another's by then.
    pub fn over(pid: u32) -> Guard {
        if !cfg!(unix) {
            return Guard(None);
        }
        let script = r#"read -r _; kill -KILL "$1""#;
        let mut command = Command::new("sh");
        command.args(["-c", script, "sh", &pid.to_string()]);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // Without a shell the process group has to do.
        Guard(command.spawn().ok())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::Guard;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    #[test]
    fn the_guarded_process_ends_with_its_worker() {
        let mut process = Command::new("sleep").arg("60").spawn().unwrap();
        let mut guard = Guard::over(process.id());
        // What the system does when the worker dies.
        drop(guard.0.as_mut().unwrap().stdin.take());
        assert_eq!(process.wait().unwrap().signal(), Some(9));
    }
}
