//! A worker as the host sees it: started, spoken to, and always ended.

use super::folders::Folders;
use super::frame::{Frames, write_frame};
use super::output::Tail;
use super::protocol::{Command, Event, PROTOCOL, Reply};
use super::sandbox::{self, Mode, PASS, Passed, Reach, Sandbox};
use super::watch::{End, TICK, Watch, Watched};
use super::{Failure, FailureKind, Limits, sys};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::OnceLock;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a worker that is asked to stop has to end what it does and to tell so.
const STOP_PATIENCE: Duration = Duration::from_millis(500);
/// How long ending everything may take; then the process group is killed, and what left it lives on.
const KEEPER_PATIENCE: Duration = Duration::from_secs(15);

static EXECUTABLE: OnceLock<PathBuf> = OnceLock::new();

/// Has workers started from this file, in place of the program that runs. The first call counts.
pub fn use_executable(file: PathBuf) {
    let _ = EXECUTABLE.set(file);
}

pub(crate) fn executable() -> std::io::Result<PathBuf> {
    if let Some(file) = EXECUTABLE.get() {
        return Ok(file.clone());
    }
    // On Linux the very file that runs, also where another one has taken its place since.
    let running = Path::new("/proc/self/exe");
    if running.exists() { Ok(running.to_path_buf()) } else { std::env::current_exe() }
}

/// Gives a worker the variables that it may have. Returns the names of the others.
fn set_environment(command: &mut std::process::Command, sandbox: &Sandbox, folders: &Folders) -> Vec<String> {
    let mut dropped = vec![];
    if sandbox.mode != Mode::Off {
        let Passed { set, dropped: others } = sandbox::choose(&sandbox.environment);
        command.env_clear().envs(set);
        dropped = others;
    }
    // A plugin that panics says why in one line; a backtrace would push that line out of the kept tail.
    command.env("RUST_BACKTRACE", "0").env("TMPDIR", folders.scratch.path());
    if cfg!(windows) {
        command.env("TMP", folders.scratch.path()).env("TEMP", folders.scratch.path());
    }
    dropped
}

/// A child process that loads plugins.
pub struct Worker {
    child: Child,
    /// The process that opens plugins: the child, or a child of it.
    process: u32,
    channel: sys::Channel,
    frames: Frames,
    stdout: Tail,
    stderr: Tail,
    readers: Vec<JoinHandle<()>>,
    started: Instant,
    ended: bool,
    /// Variables of the environment that it did not get, until somebody was told.
    dropped: Vec<String>,
    /// Removed after it ended.
    _folders: Folders,
}

impl Worker {
    /// Starts a worker that reaches what this command needs, and waits for nothing. It can be sent other commands that need no more.
    ///
    /// # Errors
    /// The executable cannot be started, or a folder that the command writes to cannot be made.
    pub fn start(first: &Command) -> Result<Worker, Failure> {
        let failed = |error: std::io::Error| Failure::failed("worker", format!("no worker could be started: {error}"));
        let reach = Reach::of(first);
        let folders = Folders::make(&reach).map_err(failed)?;
        let mut command = std::process::Command::new(executable().map_err(failed)?);
        command
            .arg(crate::child::WORKER_ARGUMENT)
            .arg(folders.scratch.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let dropped = set_environment(&mut command, &reach.sandbox, &folders);
        let started = Instant::now();
        let (mut child, mut channel) = sys::start(&mut command).map_err(failed)?;
        // A worker that ended already shows as a closed channel when it is read.
        let _ = write_frame(&mut channel, &reach.confinement(folders.scratch.path()));
        let (stdout, stderr) = (Tail::default(), Tail::default());
        let mut readers = vec![];
        readers.extend(child.stdout.take().map(|stream| stdout.drain(stream)));
        readers.extend(child.stderr.take().map(|stream| stderr.drain(stream)));
        let (frames, process) = (Frames::default(), child.id());
        let ended = false;
        Ok(Worker {
            child,
            process,
            channel,
            frames,
            stdout,
            stderr,
            readers,
            started,
            ended,
            dropped,
            _folders: folders,
        })
    }

    /// The process that opens plugins.
    pub fn id(&self) -> u32 {
        self.process
    }

    /// Starts a worker for one command.
    ///
    /// # Errors
    /// As [`Worker::call`].
    pub fn call_once(command: &Command, limits: &Limits) -> Result<Reply, Failure> {
        Worker::start(command)?.call(command, limits, &mut |_| {}).0
    }

    /// Has a command done. Whatever becomes of the worker, it comes back as one failure with its reason.
    pub fn call(
        &mut self,
        command: &Command,
        limits: &Limits,
        on_event: &mut dyn FnMut(&Event),
    ) -> (Result<Reply, Failure>, Watched) {
        self.call_in_turns(command, limits, on_event, &mut |_, _| true)
    }

    /// As [`Worker::call`], for a command whose rounds wait for their turns: `on_round` is given the series and whether the round is
    /// a measured one, and answers when the turn has come. The limits do not count the waiting.
    pub fn call_in_turns(
        &mut self,
        command: &Command,
        limits: &Limits,
        on_event: &mut dyn FnMut(&Event),
        on_round: &mut dyn FnMut(&str, bool) -> bool,
    ) -> (Result<Reply, Failure>, Watched) {
        let mut watch = Watch::new(limits);
        match write_frame(&mut self.channel, command) {
            // A worker that ended already shows as a closed channel when it is read.
            Err(error) if error.kind() != ErrorKind::InvalidData && error.kind() != ErrorKind::Other => {}
            Err(error) => {
                let text = format!("what the worker is to do cannot be written down: {error}");
                return (Err(Failure::failed("protocol", text)), watch.seen);
            }
            Ok(()) => {}
        }
        if !self.dropped.is_empty() {
            let names = std::mem::take(&mut self.dropped).join(", ");
            let message = format!("variables that a worker does not get ({PASS} names more): {names}");
            on_event(&Event::Log { level: 4, message });
        }
        let mut buffer = vec![0; 256 << 10];
        let mut asked_to_stop = None;
        let end = loop {
            match sys::read(&mut self.channel, &mut buffer, TICK) {
                Ok(Some(0)) => break End::Closed,
                Ok(Some(read)) => self.frames.push(&buffer[..read]),
                // It ended, and what it started holds the channel open.
                Ok(None) if self.child.try_wait().is_ok_and(|ended| ended.is_some()) => break End::Closed,
                Ok(None) => {}
                Err(error) => break End::Protocol(error.to_string()),
            }
            match self.take_events(&mut watch, on_event, on_round) {
                Ok(Some(end)) => break end,
                Ok(None) => {}
                Err(error) => break End::Protocol(error.to_string()),
            }
            match watch.look(self.process) {
                // What looks whether it is to stop gives its devices back in order.
                Some(End::Stopped) if asked_to_stop.is_none() => {
                    sys::ask_to_stop(&self.channel);
                    asked_to_stop = Some(Instant::now());
                }
                Some(End::Stopped) if asked_to_stop.is_some_and(|asked| asked.elapsed() < STOP_PATIENCE) => {}
                Some(end) => break end,
                None => {}
            }
        };
        // However a worker ended that was asked to stop: its cell did not come to its own end.
        let end = if asked_to_stop.is_some() { End::Stopped } else { end };
        watch.look_at_children(self.process);
        watch.follow.end(self.process);
        watch.seen.conditions = watch.follow.conditions();
        let result = self.conclude(end, &watch);
        (result, watch.seen)
    }

    fn take_events(
        &mut self,
        watch: &mut Watch,
        on_event: &mut dyn FnMut(&Event),
        on_round: &mut dyn FnMut(&str, bool) -> bool,
    ) -> std::io::Result<Option<End>> {
        while let Some(event) = self.frames.take::<Event>()? {
            match event {
                Event::Done(reply) => return Ok(Some(End::Reply(reply))),
                Event::Failed(failure) => return Ok(Some(End::Failed(failure))),
                Event::Hello { protocol, .. } if protocol != PROTOCOL => {
                    return Ok(Some(End::Protocol(format!(
                        "the worker speaks version {protocol}, this host {PROTOCOL}"
                    ))));
                }
                Event::Hello { process, .. } => {
                    // The first word of a process counts, before it has opened anything.
                    if self.process == self.child.id() {
                        self.process = process;
                    }
                    watch.seen.ready = Some(self.started.elapsed());
                }
                Event::Stage(ref stage) => watch.enter(stage.clone()),
                Event::Slot(slot) => {
                    watch.slot = slot;
                    continue;
                }
                Event::Measuring(on) => {
                    watch.measuring = on;
                    match on {
                        true => watch.follow.begin(self.process),
                        false => watch.follow.end(self.process),
                    }
                }
                Event::Round(begins) => watch.round(begins, self.process),
                Event::RoundWaits { ref series, measured } => {
                    let asked = Instant::now();
                    let granted = on_round(series, measured);
                    watch.pass_over(asked.elapsed());
                    // A worker that ended meanwhile shows as a closed channel when it is read.
                    let _ = write_frame(&mut self.channel, &Command::Permit(granted));
                    continue;
                }
                _ => {}
            }
            on_event(&event);
        }
        Ok(None)
    }

    fn conclude(&mut self, end: End, watch: &Watch) -> Result<Reply, Failure> {
        let during = watch.slot.as_deref().map_or_else(|| watch.stage.name().into(), |slot| format!("`{slot}`"));
        let failure = match end {
            End::Reply(reply) => return Ok(*reply),
            End::Failed(failure) => return Err(failure),
            End::Closed => {
                let status = self.wait_briefly();
                let (code, text) = status.map_or(("exit", "closed its channel".into()), sys::describe_exit);
                Failure::new(FailureKind::Crashed, code, format!("the worker {text} during {during}"))
            }
            End::TimedOut(limit) => {
                let next = match watch.limits.can_be_set {
                    true => "raise --timeout if that is right",
                    false => "the plugin hangs, or the machine was suspended or has too much to do: try again",
                };
                let text = format!("no end after {:.1} s of {during}; {next}", limit.as_secs_f64());
                Failure::new(FailureKind::TimedOut, "timeout", text)
            }
            End::Memory { used, limit } => {
                let next = if watch.limits.can_be_set { "; raise --memory-limit if that is right" } else { "" };
                let (used, limit) = (used >> 20, limit >> 20);
                let text = format!("the worker held {used} MiB during {during}, the limit is {limit} MiB{next}");
                Failure::new(FailureKind::Crashed, "memory-limit", text)
            }
            End::Stopped => Failure::new(FailureKind::Stopped, "stopped", "the run was stopped before this cell ended"),
            End::Protocol(text) => {
                Failure::new(FailureKind::Crashed, "protocol", format!("the worker spoke no sense: {text}"))
            }
        };
        self.end();
        Err(self.with_output(failure))
    }

    /// Has a worker end by itself, as a process does whose work is done: what its libraries do at their end shows in its own.
    ///
    /// # Errors
    /// It crashed, or was still there after `patience`.
    pub fn leave(mut self, patience: Duration) -> Result<(), Failure> {
        sys::ask_to_stop(&self.channel);
        let began = Instant::now();
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if began.elapsed() < patience => std::thread::sleep(Duration::from_millis(2)),
                _ => break None,
            }
        };
        self.end();
        let failure = match status {
            Some(status) if status.success() => return Ok(()),
            Some(status) => {
                let (code, text) = sys::describe_exit(status);
                Failure::new(FailureKind::Crashed, code, format!("the worker {text} as it left, after all was closed"))
            }
            None => {
                let text =
                    format!("the worker did not leave within {:.1} s, after all was closed", patience.as_secs_f64());
                Failure::new(FailureKind::TimedOut, "timeout", text)
            }
        };
        Err(self.with_output(failure))
    }

    /// Adds the tail of what the worker printed.
    fn with_output(&self, mut failure: Failure) -> Failure {
        let (stderr, _) = self.stderr.text();
        let (stdout, printed) = self.stdout.text();
        if let Some(last) = last_lines(&stderr) {
            failure.reason.message.push_str(&format!("; it wrote: {last}"));
        }
        if printed > 1 << 20 {
            failure.reason.message.push_str(&format!("; it flooded its output with {} MiB", printed >> 20));
        } else if let Some(last) = last_lines(&stdout) {
            failure.reason.message.push_str(&format!("; it printed: {last}"));
        }
        failure
    }

    /// Waits for a worker that closed its channel by itself.
    fn wait_briefly(&mut self) -> Option<std::process::ExitStatus> {
        let patience = Instant::now() + Duration::from_secs(5);
        while Instant::now() < patience {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        None
    }

    /// Ends the worker with everything it started, and leaves no zombie. After a reply nothing of it is needed any more.
    fn end(&mut self) {
        if !std::mem::replace(&mut self.ended, true) {
            // The worker's keeper ends all that came of it, and then itself.
            sys::close(&self.channel);
            let patience = Instant::now() + KEEPER_PATIENCE;
            while cfg!(target_os = "linux") && matches!(self.child.try_wait(), Ok(None)) && Instant::now() < patience {
                std::thread::sleep(Duration::from_micros(200));
            }
            sys::kill_group(&self.child);
            let _ = self.child.wait();
            // What it printed last is read soon; a process that left the group may hold the stream for ever, and is not waited for.
            let patience = Instant::now() + Duration::from_millis(300);
            while Instant::now() < patience && !self.readers.iter().all(JoinHandle::is_finished) {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.end();
    }
}

/// The last lines of a text, shortened; `None` where there are none.
fn last_lines(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines[lines.len().saturating_sub(3)..].join(" | ");
    let start = last.char_indices().rev().nth(299).map_or(0, |(at, _)| at);
    (!last.is_empty()).then(|| last[start..].to_string())
}
