//! The browser's life, and its folder's, is tied to its worker's.
//!
//! The browser stays in the worker's process group, which the host kills as a whole, and closes by itself when its pipe ends.
//! What then is left is a folder, and a browser that does not react: a shell outside of that group waits for the end of a
//! pipe that only the worker holds open, and removes both. A signal of the kernel at the parent's death would need code
//! between fork and exec, and would go off with the thread that opened the browser.

use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Half a second for the browser to close; then its helpers may still write for a moment.
const SCRIPT: &str = r#"
read -r _
nap() { sleep 0.1 2>/dev/null || sleep 1; }
for _ in 1 2 3 4 5; do kill -0 "$1" 2>/dev/null || break; nap; done
kill -KILL "$1" 2>/dev/null
for _ in 1 2 3 4 5 6 7 8 9 10; do
    rm -rf -- "$2" 2>/dev/null
    [ -e "$2" ] || break
    nap
done
"#;

/// Kills a process and removes its folder when this process is gone. Dropped, it lets go of both.
pub(crate) struct Guard(Option<Child>);

impl Guard {
    /// Guards `pid`, which must not be waited for before the guard is dropped: its number could be another's by then.
    pub fn over(pid: u32, folder: &Path) -> Guard {
        if !cfg!(unix) {
            return Guard(None);
        }
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT, "skillbench-browser-guard", &pid.to_string()]).arg(folder).current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        // Without a shell the process group has to do, and the next worker removes the folder.
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
    use std::thread;
    use std::time::{Duration, Instant};

    #[test]
    fn the_guarded_process_and_its_folder_end_with_the_worker() {
        let folder = tempfile::tempdir().unwrap().keep();
        std::fs::write(folder.join("file"), "text").unwrap();
        let mut process = Command::new("sleep").arg("60").spawn().unwrap();
        let mut guard = Guard::over(process.id(), &folder);
        // What the system does when the worker dies.
        drop(guard.0.as_mut().unwrap().stdin.take());
        assert_eq!(process.wait().unwrap().signal(), Some(9));
        let died = Instant::now();
        while folder.exists() {
            assert!(died.elapsed() < Duration::from_secs(5), "the folder stays");
            thread::sleep(Duration::from_millis(10));
        }
    }
}
