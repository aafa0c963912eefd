//! Handing schedules to cron and to the user's systemd, and taking them back.

use crate::commands::{CommandError, failed};
use crate::output;
use skillbench_engine::schedule::{Job, cron, systemd};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// Puts the line into the user's crontab, in place of an earlier one for the suite.
pub fn line(job: &Job, line: &str) -> Result<(), CommandError> {
    let there = crontab()?;
    write_crontab(&cron::with(&there, &job.name, line).map_err(failed)?)?;
    output::say(&format!("in the crontab, as {}:\n{line}", job.name));
    Ok(())
}

/// Takes the line out of the crontab. `asked`: that it is cron was said, so that a machine without cron is an error.
pub fn remove_line(name: &str, asked: bool) -> Result<bool, CommandError> {
    let there = match crontab() {
        Err(_) if !asked => return Ok(false),
        there => there?,
    };
    let Some(rest) = cron::without(&there, name).map_err(failed)? else { return Ok(false) };
    write_crontab(&rest)?;
    output::say(&format!("{name} is out of the crontab"));
    Ok(true)
}

/// The user's crontab as it is; that there is none yet is an empty one.
fn crontab() -> Result<String, CommandError> {
    let ran = Command::new("crontab").arg("-l").env("LC_ALL", "C").stdin(Stdio::null()).output();
    let ran = ran.map_err(|error| failed(format!("crontab cannot be started ({error}); --systemd needs no cron")))?;
    let said = String::from_utf8_lossy(&ran.stderr).trim().to_string();
    match ran.status.success() {
        true => String::from_utf8(ran.stdout).map_err(|_| failed("the crontab is no UTF-8; add the line by hand")),
        false if said.contains("no crontab") || said.contains("No such file") => Ok(String::new()),
        false => Err(failed(format!("crontab -l: {said}"))),
    }
}

fn write_crontab(text: &str) -> Result<(), CommandError> {
    let told = |error: std::io::Error| failed(format!("crontab -: {error}"));
    let mut command = Command::new("crontab");
    let child = command.arg("-").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.map_err(told)?;
    let written = child.stdin.take().map_or(Ok(()), |mut input| input.write_all(text.as_bytes()));
    let ran = child.wait_with_output().map_err(told)?;
    // What crontab says of a text that it refuses tells more than the pipe that it closed.
    good("crontab -", &ran).and(written.map_err(told))
}

fn good(what: &str, ran: &Output) -> Result<(), CommandError> {
    match ran.status.success() {
        true => Ok(()),
        false => {
            let said = String::from_utf8_lossy(&ran.stderr);
            Err(failed(format!("{what}: {} ({})", said.trim(), ran.status)))
        }
    }
}

/// Where a user's own units are.
fn unit_folder() -> Result<PathBuf, CommandError> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    // The specification has relative ones ignored.
    let config = set("XDG_CONFIG_HOME").filter(|folder| folder.is_absolute());
    let config = config.or_else(|| set("HOME").map(|home| home.join(".config")));
    let config = config
        .ok_or_else(|| failed("neither XDG_CONFIG_HOME nor HOME says where units go; --units-dir writes them"))?;
    Ok(config.join("systemd/user"))
}

/// Writes the units, and has the timer started, now and at every start of the machine.
pub fn units(units: &systemd::Units) -> Result<(), CommandError> {
    let folder = unit_folder()?;
    for (name, text) in [&units.service, &units.timer] {
        output::to_file(&folder.join(name), text.as_bytes()).map_err(failed)?;
    }
    let timer = &units.timer.0;
    for arguments in [&["daemon-reload"][..], &["enable", timer], &["restart", timer]] {
        systemctl(arguments).map_err(|error| {
            failed(format!("{error}; the units are written and not started, and --cron is another way"))
        })?;
    }
    output::say(&format!("{timer} is started; `systemctl --user list-timers` shows when it runs"));
    output::say("it runs while you are logged in; `loginctl enable-linger` lets it run always");
    Ok(())
}

pub fn remove_units(name: &str) -> Result<bool, CommandError> {
    let Ok(folder) = unit_folder() else { return Ok(false) };
    let files = systemd::files(name);
    let there: Vec<PathBuf> = files.iter().map(|file| folder.join(file)).filter(|path| path.exists()).collect();
    if there.is_empty() {
        return Ok(false);
    }
    let [_, timer] = &files;
    let stopped = systemctl(&["disable", "--now", timer]);
    for path in there {
        std::fs::remove_file(&path).map_err(|error| failed(format!("{}: {error}", path.display())))?;
        output::say(&format!("removed: {}", path.display()));
    }
    stopped.and_then(|()| systemctl(&["daemon-reload"])).map_err(|error| {
        failed(format!("{error}; the units are removed, and a timer that was started runs until you log out"))
    })?;
    Ok(true)
}

fn systemctl(arguments: &[&str]) -> Result<(), CommandError> {
    let what = format!("systemctl --user {}", arguments.join(" "));
    let ran = Command::new("systemctl").arg("--user").args(arguments).stdin(Stdio::null()).output();
    good(&what, &ran.map_err(|error| failed(format!("{what}: {error}")))?)
}
