//! `host fleet launch`: prints what starts agents.

use crate::cli::{AgentFlags, LaunchArgs, LaunchCommand};
use crate::commands::{CommandError, Done, Exit, failed, usage};
use crate::output;
use skillbench_fleet::keys::{Pass, Role};
use skillbench_fleet::launch::Start;
use std::path::{Path, PathBuf};

/// An agent that somebody else started ends after so many seconds without work, where nothing else is said: it holds a node.
const IDLE_EXIT: u64 = 600;
/// The program where it is installed.
const INSTALLED: &str = "skillbench";

pub fn launch(command: &LaunchCommand) -> Done {
    let text = match command {
        LaunchCommand::Slurm { pass, nodes, options, how } => {
            start(pass, Whose::Site, how, Some(IDLE_EXIT), Where::Here)?.slurm(nodes.get(), options)
        }
        LaunchCommand::Kubernetes { pass, image, nodes, selectors, resources, how } => {
            start(pass, Whose::Site, how, Some(IDLE_EXIT), Where::There)?.kubernetes(
                image,
                nodes.get(),
                selectors,
                resources,
            )
        }
        LaunchCommand::Systemd { pass, how } => start(pass, Whose::Any, how, None, Where::Here)?.systemd(owner(pass)),
        LaunchCommand::Ssh { pass, machines, how } => {
            let whose = if machines.len() > 1 { Whose::Site } else { Whose::Any };
            start(pass, whose, how, Some(IDLE_EXIT), Where::There)?.ssh(machines)
        }
    };
    output::print(&text.map_err(usage)?);
    Ok(Exit::Good)
}

/// Whose pass it has to be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    Site,
    Any,
}

/// Which program is meant where none is named.
enum Where {
    Here,
    There,
}

fn start(file: &Path, whose: Whose, how: &LaunchArgs, idle: Option<u64>, place: Where) -> Result<Start, CommandError> {
    let pass = Pass::read(file).map_err(usage)?;
    if !pass.role.measures() || (whose == Whose::Site && pass.role != Role::Site) {
        let wanted = if whose == Whose::Site {
            "several machines need one of a site"
        } else {
            "agents need one of an agent or a site"
        };
        return Err(usage(format!(
            "the pass of {} is for a {}: {wanted} (host fleet user DIR NAME --role site)",
            pass.name,
            pass.role.name()
        )));
    }
    let program = match (&how.program, place) {
        (Some(program), _) => program.clone(),
        (None, Where::Here) => std::env::current_exe().map_err(failed)?,
        (None, Where::There) => PathBuf::from(INSTALLED),
    };
    let flags = AgentFlags { idle_exit: how.agent.idle_exit.or(idle), ..how.agent.clone() };
    Ok(Start {
        fleet: pass.fleet,
        program: text(&program)?,
        pass: text(&std::path::absolute(file).map_err(failed)?)?,
        arguments: arguments(&flags)?,
    })
}

fn text(path: &Path) -> Result<String, CommandError> {
    let text =
        path.to_str().ok_or_else(|| usage(format!("{} is not UTF-8, which no script can hold", path.display())))?;
    Ok(text.into())
}

/// The flags as words of a command line.
fn arguments(flags: &AgentFlags) -> Result<Vec<String>, CommandError> {
    let AgentFlags { labels, plugin, spool, idle_exit, once } = flags;
    let mut words: Vec<String> = vec![];
    let mut add = |flag: &str, value: String| words.extend([flag.to_string(), value]);
    labels.iter().for_each(|label| add("--label", label.clone()));
    plugin.iter().for_each(|id| add("--plugin", id.clone()));
    if let Some(spool) = spool {
        add("--spool", text(spool)?);
    }
    idle_exit.iter().for_each(|seconds| add("--idle-exit", seconds.to_string()));
    if *once {
        words.push("--once".into());
    }
    Ok(words)
}

/// Whose the file is; `None`: root's, or nobody can say.
fn owner(file: &Path) -> Option<u32> {
    #[cfg(unix)]
    {
        let uid = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(file).ok()?);
        Some(uid).filter(|uid| *uid != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        None
    }
}
