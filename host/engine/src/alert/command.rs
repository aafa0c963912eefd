//! Alerts to a command of the user's.

use super::document::envelope;
use super::{Alert, Undelivered};
use skillbench_record::defaults::defaults;
use skillbench_worker::{describe_exit, kill_group, start_group};
use std::io::Write;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Has the shell run it, with all alerts as its input; what it prints goes to stderr, since stdout is for results.
pub fn run(text: &str, alerts: &[Alert]) -> Result<String, Undelivered> {
    let failed = |why: String| Undelivered { to: format!("the command '{text}'"), why };
    let mut command = Command::new("sh");
    command.args(["-c", text]).stdin(Stdio::piped()).stdout(Stdio::from(std::io::stderr()));
    let mut child = start_group(&mut command).map_err(|error| failed(error.to_string()))?;
    let document = envelope(alerts);
    // A command that does not read must not hold up the host.
    if let Some(mut input) = child.stdin.take() {
        std::thread::spawn(move || drop(input.write_all(&document)));
    }
    let limit = Duration::from_secs_f64(defaults().alert.command_s);
    let begun = Instant::now();
    let ended: Option<ExitStatus> = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) if begun.elapsed() < limit => std::thread::sleep(Duration::from_millis(10)),
            _ => {
                kill_group(&child);
                let _ = child.wait();
                break None;
            }
        }
    };
    match ended {
        Some(status) if status.success() => Ok(format!("the command '{text}' ended well")),
        Some(status) => Err(failed(describe_exit(status).1)),
        None => Err(failed(format!("it had not ended after {} s and was stopped", limit.as_secs_f64()))),
    }
}
