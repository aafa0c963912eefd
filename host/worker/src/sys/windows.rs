//! A child in a job object: it ends with all that it has started, when it is killed and when the host ends, however that does.

use super::sockets;
use std::collections::BTreeMap;
use std::io::{self, PipeWriter};
use std::os::windows::io::AsRawHandle;
use std::process::{Child, Command, ExitStatus};
use std::sync::{LazyLock, Mutex, PoisonError};
use win32job::{ExtendedLimitInfo, Job, JobError};

pub use super::sockets::{Channel, ask_to_stop, close, read, watch_host};

/// Jobs of children that may still run, by the child's id: a job ends what is in it once nobody holds it.
static JOBS: LazyLock<Mutex<BTreeMap<u32, Job>>> = LazyLock::new(Mutex::default);

/// Starts a child in a job of its own. A child has to do nothing before it is spoken to: what it starts ahead of that is not in the job.
pub fn start_group(command: &mut Command) -> io::Result<Child> {
    let mut child = command.spawn()?;
    match job_of(&child) {
        Ok(job) => {
            JOBS.lock().unwrap_or_else(PoisonError::into_inner).insert(child.id(), job);
            Ok(child)
        }
        Err(error) => {
            let _ = child.kill();
            let _ = child.wait();
            Err(io::Error::other(error))
        }
    }
}

fn job_of(child: &Child) -> Result<Job, JobError> {
    let mut limits = ExtendedLimitInfo::new();
    limits.limit_kill_on_job_close();
    let job = Job::create_with_limit_info(&limits)?;
    job.assign_process(child.as_raw_handle() as isize)?;
    Ok(job)
}

/// Starts a child in a job of its own, with a channel.
pub fn start(command: &mut Command) -> io::Result<(Child, Channel)> {
    sockets::start(command, start_group)
}

/// In the worker: the channel to the host.
pub fn adopt_channel() -> io::Result<Channel> {
    sockets::adopt(io::stdin())
}

/// Kills a child and all that it has started.
pub fn kill_group(child: &Child) {
    drop(JOBS.lock().unwrap_or_else(PoisonError::into_inner).remove(&child.id()));
}

/// What a plugin prints cannot be led elsewhere without its C library's help.
pub fn with_stdout<T>(_: PipeWriter, _: impl FnOnce() -> T) -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "what is printed is not looked at on Windows"))
}

/// How a child ended: a short code, and the words for it.
pub fn describe_exit(status: ExitStatus) -> (&'static str, String) {
    let Some(code) = status.code() else { return ("exit", "ended in an unknown way".into()) };
    // Exceptions that nobody caught are exit codes of this range.
    match code as u32 {
        exception @ 0xC000_0000.. => {
            ("signal", format!("was ended by the exception {exception:#X}{}", name(exception)))
        }
        _ => ("exit", format!("left with exit code {code}")),
    }
}

fn name(exception: u32) -> &'static str {
    match exception {
        0xC000_0005 => " (invalid memory access)",
        0xC000_001D => " (illegal instruction)",
        0xC000_0094 => " (integer division by zero)",
        0xC000_00FD => " (stack overflow)",
        0xC000_0135 => " (a library was not found)",
        0xC000_0409 => " (abort)",
        _ => "",
    }
}
