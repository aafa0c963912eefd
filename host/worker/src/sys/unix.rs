//! A channel that a child inherits, its process group, and a child that dies with its parent.

use rustix::process::{Pid, Signal};
use std::io::{self, PipeWriter, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

pub type Channel = UnixStream;

/// Starts a child in a process group of its own.
pub fn start_group(command: &mut Command) -> io::Result<Child> {
    command.process_group(0).spawn()
}

/// Starts a child in a process group of its own, with a channel as its standard input: no other descriptor has to be
/// inherited, and none can leak into a child that is started at the same time.
pub fn start(command: &mut Command) -> io::Result<(Child, Channel)> {
    let (ours, theirs) = UnixStream::pair()?;
    let child = start_group(command.stdin(Stdio::from(OwnedFd::from(theirs))))?;
    // The command holds the child's end until its input is replaced.
    command.stdin(Stdio::null());
    Ok((child, ours))
}

/// In the worker: moves the channel away from standard input, where a plugin might read.
pub fn adopt_channel() -> io::Result<Channel> {
    let channel = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    let null = std::fs::File::open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    Ok(UnixStream::from(channel))
}

/// In the worker: calls `stop` when the host asks it to stop, and ends the worker, and everything it started, when the host is gone,
/// wherever the control thread is. A signal of the kernel at the parent's death would reach the worker alone, and first.
pub fn watch_host(channel: UnixStream, stop: impl FnOnce() + Send + 'static) {
    std::thread::spawn(move || {
        let wait = |flags| {
            let mut polled = [rustix::event::PollFd::new(&channel, flags)];
            while let Err(rustix::io::Errno::INTR) = rustix::event::poll(&mut polled, None) {}
            polled[0].revents()
        };
        #[cfg(target_os = "linux")]
        if !wait(rustix::event::PollFlags::RDHUP).contains(rustix::event::PollFlags::HUP) {
            stop();
        }
        #[cfg(not(target_os = "linux"))]
        let _ = stop;
        wait(rustix::event::PollFlags::empty());
        let own = rustix::process::getpid();
        let _ = rustix::process::kill_process_group(own, Signal::KILL);
    });
}

/// Tells the other side that no more comes from here: a worker is to stop what it does, and says how it ended.
pub fn ask_to_stop(channel: &Channel) {
    let _ = channel.shutdown(std::net::Shutdown::Write);
}

/// Tells the other side that this one is over.
pub fn close(channel: &Channel) {
    let _ = channel.shutdown(std::net::Shutdown::Both);
}

/// Kills a child and its process group.
pub fn kill_group(child: &Child) {
    if let Some(pid) = Pid::from_raw(child.id() as i32) {
        let _ = rustix::process::kill_process_group(pid, Signal::KILL);
    }
}

/// Waits up to `wait` for bytes. `None`: nothing came; 0: the other end is closed.
pub fn read(channel: &mut Channel, buffer: &mut [u8], wait: Duration) -> io::Result<Option<usize>> {
    let mut polled = [rustix::event::PollFd::new(&*channel, rustix::event::PollFlags::IN)];
    let wait = rustix::event::Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: i64::from(wait.subsec_nanos()) };
    match rustix::event::poll(&mut polled, Some(&wait)) {
        Ok(0) | Err(rustix::io::Errno::INTR) => Ok(None),
        Ok(_) => match channel.read(buffer) {
            // A worker that was killed while we were writing to it.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(Some(0)),
            read => read.map(Some),
        },
        Err(error) => Err(error.into()),
    }
}

/// Runs something while what goes to standard output goes to a pipe, whose last end is closed here.
pub fn with_stdout<T>(to: PipeWriter, run: impl FnOnce() -> T) -> io::Result<T> {
    let own = rustix::io::dup(rustix::stdio::stdout())?;
    rustix::stdio::dup2_stdout(&to)?;
    drop(to);
    let ran = run();
    rustix::stdio::dup2_stdout(&own)?;
    Ok(ran)
}

/// How a child ended: a short code, and the words for it.
pub fn describe_exit(status: ExitStatus) -> (&'static str, String) {
    match (status.signal(), status.code()) {
        (Some(signal), _) => ("signal", format!("was killed by {}", signal_name(signal))),
        (None, Some(code)) => ("exit", format!("left with exit code {code}")),
        (None, None) => ("exit", "ended in an unknown way".into()),
    }
}

fn signal_name(number: i32) -> String {
    let name = match number {
        4 => "SIGILL (illegal instruction)",
        6 => "SIGABRT (abort)",
        7 => "SIGBUS (bus error)",
        8 => "SIGFPE (arithmetic error)",
        9 => "SIGKILL",
        11 => "SIGSEGV (invalid memory access)",
        15 => "SIGTERM",
        other => return format!("signal {other}"),
    };
    name.into()
}
