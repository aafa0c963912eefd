//! The parent of a worker: it opens no plugin, and ends whatever a plugin started, however it was started, when the worker is over or the
//! host is gone.
//!
//! It is a subreaper: a process whose parent ended becomes its child. So all that comes of a worker can be found and ended here, also
//! what began a session of its own or let its parent end.

use crate::children::all_below;
use crate::sandbox::close_inherited;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, getpid, getppid,
    kill_process, kill_process_group, pidfd_open, set_child_subreaper, setrlimit, wait, waitid,
};
use skillbench_record::scratch;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus};
use std::time::{Duration, Instant};

/// The argument with which a keeper starts the worker itself.
pub(crate) const KEPT: &str = "__kept";

/// Longer than anything takes to die that can be killed.
const PATIENCE: Duration = Duration::from_secs(10);

/// Starts the worker with this process's streams, waits for it or for the host's end, and leaves as the worker left.
///
/// `scratch`: the worker's folder for temporary files, which a host that was killed cannot remove.
pub(crate) fn keep(scratch: Option<PathBuf>) -> ExitCode {
    close_inherited();
    let host = getppid();
    // Without the right to, the worker is ended alone.
    let _ = set_child_subreaper(Some(getpid()));
    let Ok(executable) = crate::process::executable() else { return ExitCode::from(2) };
    let mut command = Command::new(executable);
    let started = command.args([crate::child::WORKER_ARGUMENT, KEPT]).process_group(0).spawn();
    let Some(worker) = started.ok().and_then(|child| Pid::from_raw(child.id() as i32)) else {
        return ExitCode::from(2);
    };
    wait_for(worker);
    let ended = end_all(worker);
    if getppid() != host {
        scratch.iter().for_each(|folder| scratch::sweep_around(folder));
        scratch::sweep();
    }
    match ended {
        Some(status) => leave_as(status),
        None => ExitCode::from(2),
    }
}

/// Until the worker ended, or the host closed its end of the channel.
fn wait_for(worker: Pid) {
    let ended = pidfd_open(worker, PidfdFlags::empty());
    let channel = rustix::stdio::stdin();
    // A kernel without descriptors of processes is asked now and then.
    let patience = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
    let patience = if ended.is_err() { Some(&patience) } else { None };
    loop {
        let mut polled = vec![PollFd::new(&channel, PollFlags::empty())];
        polled.extend(ended.iter().map(|ended| PollFd::new(ended, PollFlags::IN)));
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match poll(&mut polled, patience) {
            Err(Errno::INTR) => {}
            Ok(0) if !matches!(waitid(WaitId::Pid(worker), look), Ok(Some(_))) => {}
            _ => return,
        }
    }
}

/// Kills the worker and all that came of it, until nothing is left. Returns how the worker ended.
fn end_all(worker: Pid) -> Option<WaitStatus> {
    let began = Instant::now();
    let mut status = None;
    while began.elapsed() < PATIENCE {
        if status.is_none() {
            // Also where the system lists no children.
            let _ = kill_process_group(worker, Signal::KILL);
        }
        for pid in all_below(std::process::id()) {
            if let Some(pid) = Pid::from_raw(pid as i32) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, ended))) if pid == worker => status = Some(ended),
                Ok(Some(_)) => {}
                // Nothing is left.
                Err(Errno::CHILD) => return status,
                Ok(None) | Err(_) => break,
            }
        }
        std::thread::sleep(Duration::from_micros(500));
    }
    status
}

/// Ends this process as the worker ended, so that the host reads its status as the worker's.
fn leave_as(status: WaitStatus) -> ExitCode {
    use std::os::unix::process::ExitStatusExt;
    let status = ExitStatus::from_raw(status.as_raw());
    if let Some(signal) = status.signal().and_then(Signal::from_named_raw) {
        // The worker's own core is enough.
        let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
        // The handlers that Rust installs for some signals take themselves away when they are called first.
        for _ in 0..2 {
            let _ = kill_process(getpid(), signal);
        }
    }
    ExitCode::from(status.code().map_or(2, |code| code as u8))
}
