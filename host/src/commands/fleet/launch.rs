//! `host fleet launch`: prints what starts agents.

use super::agent;
use crate::cli::{AcceptArg, AgentFlags, Global, LaunchArgs, LaunchCommand};
use crate::commands::{CommandError, Done, Exit, failed, usage};
use crate::output;
use skillbench_fleet::keys::{Pass, Role};
use skillbench_fleet::launch::Start;
use std::path::{Path, PathBuf};

/// An agent that somebody else started ends after so many seconds without work, where nothing else is said: it holds a node.
const IDLE_EXIT: u64 = 600;
/// The program where it is installed.
const INSTALLED: &str = "skillbench";

pub fn launch(global: &Global, command: &LaunchCommand) -> Done {
    let text = match command {
        LaunchCommand::Slurm { pass, nodes, options, how } => {
            start(global, pass, Whose::Site, how, Some(IDLE_EXIT), Where::Here)?.slurm(nodes.get(), options)
        }
        LaunchCommand::Kubernetes { pass, image, nodes, selectors, resources, how } => {
            let start = start(global, pass, Whose::Site, how, Some(IDLE_EXIT), Where::There)?;
            start.kubernetes(image, nodes.get(), selectors, resources)
        }
        LaunchCommand::Systemd { pass, how } => {
            start(global, pass, Whose::Any, how, None, Where::Here)?.systemd(owner(pass)?)
        }
        LaunchCommand::Ssh { pass, machines, how } => {
            let whose = if machines.len() > 1 { Whose::Site } else { Whose::Any };
            start(global, pass, whose, how, Some(IDLE_EXIT), Where::There)?.ssh(machines)
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

/// Whose files the agents see.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    Here,
    There,
}

fn start(
    global: &Global,
    file: &Path,
    whose: Whose,
    how: &LaunchArgs,
    idle: Option<u64>,
    place: Where,
) -> Result<Start, CommandError> {
    let pass = Pass::read(file).map_err(usage)?;
    if !pass.role.measures() || (whose == Whose::Site && pass.role != Role::Site) {
        let wanted = match whose {
            Whose::Site => "several machines need one of a site",
            Whose::Any => "agents need one of an agent or a site",
        };
        return Err(usage(format!(
            "the pass of {} is for a {}: {wanted} (host fleet user DIR NAME --role site)",
            pass.name,
            pass.role.name()
        )));
    }
    if place == Where::There && !(global.registry.is_none() && global.search.is_empty()) {
        let why =
            "--registry and --search-path name files of this machine, which the agents do not see: set them up there";
        return Err(usage(why));
    }
    // A path of this machine is the same from wherever the agents are started.
    let own = |path: &PathBuf| match place {
        Where::Here => text(&std::path::absolute(path).map_err(failed)?),
        Where::There => text(path),
    };
    let program = match (&how.program, place) {
        (Some(program), _) => own(program)?,
        (None, Where::Here) => text(&std::env::current_exe().map_err(failed)?)?,
        (None, Where::There) => INSTALLED.into(),
    };
    let flags = AgentFlags { idle_exit: how.agent.idle_exit.or(idle), ..how.agent.clone() };
    let mut arguments = arguments(&flags);
    for argument in agent::arguments(global) {
        arguments.push(text(Path::new(&argument))?);
    }
    Ok(Start {
        fleet: pass.fleet,
        program,
        pass: text(&std::path::absolute(file).map_err(failed)?)?,
        spool: flags.spool.as_ref().map(own).transpose()?,
        arguments,
    })
}

fn text(path: &Path) -> Result<String, CommandError> {
    let text =
        path.to_str().ok_or_else(|| usage(format!("{} is not UTF-8, which no script can hold", path.display())))?;
    Ok(text.into())
}

/// The flags as words of a command line, but for the spool.
fn arguments(AgentFlags { labels, plugin, spool: _, idle_exit, once, accept }: &AgentFlags) -> Vec<String> {
    let mut words: Vec<String> = vec![];
    let mut add = |flag: &str, value: String| words.extend([flag.to_string(), value]);
    labels.iter().for_each(|label| add("--label", label.clone()));
    plugin.iter().for_each(|id| add("--plugin", id.clone()));
    idle_exit.iter().for_each(|seconds| add("--idle-exit", seconds.to_string()));
    match accept {
        AcceptArg::Installed => {}
        AcceptArg::Signed => add("--accept", "signed".into()),
        AcceptArg::Any => add("--accept", "any".into()),
    }
    if *once {
        words.push("--once".into());
    }
    words
}

/// The number of the user whose the file is.
fn owner(file: &Path) -> Result<u32, CommandError> {
    #[cfg(unix)]
    {
        let read = std::fs::metadata(file).map_err(|error| usage(format!("{}: {error}", file.display())))?;
        Ok(std::os::unix::fs::MetadataExt::uid(&read))
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        Err(usage("systemd is of Linux: print its unit there"))
    }
}
