//! `host schedule`: what runs a suite again, printed, or handed to the scheduler of the machine.

use super::typed::SECRET;
use super::{CommandError, Done, Exit, failed, usage};
use crate::cli::{FormatArg, Global, STARTER, ScheduleArgs};
use crate::output;
use skillbench_engine::schedule::{Job, When, cron, name_of, systemd};
use skillbench_engine::suite;
use skillbench_record::defaults::defaults;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

mod install;

/// What the scheduler is given.
enum Written {
    Line(String),
    Units(systemd::Units),
}

pub fn schedule(global: &Global, args: &ScheduleArgs) -> Done {
    let file = suite_of(args)?;
    let name = name_of(args.name.as_deref(), file.as_deref().unwrap_or(&std::env::current_dir().map_err(failed)?));
    let by_cron = args.cron || !(args.systemd || cfg!(target_os = "linux"));
    if args.remove {
        return remove(&name, args);
    }
    let own = file.as_ref().map(|file| suite::read(file)).transpose().map_err(usage)?.and_then(|suite| suite.schedule);
    let when = When::new(args.frequency, args.time, args.day, own.as_ref()).map_err(usage)?;
    let job = job(global, args, file.as_deref(), name)?;
    let written = match by_cron {
        true => Written::Line(cron::line(&job, when).map_err(usage)?),
        false => Written::Units(systemd::units(&job, when).map_err(usage)?),
    };
    match (&written, args.install) {
        (Written::Line(line), true) => install::line(&job, line)?,
        (Written::Units(units), true) => install::units(units)?,
        _ => match &args.units_dir {
            Some(folder) => to_files(&job, &written, folder)?,
            None => show(global, &job, &written)?,
        },
    }
    if args.install || !global.quiet {
        output::say(&format!("its output goes to {}", job.log));
    }
    Ok(Exit::Good)
}

/// Takes the suite out of the scheduler that is named, else out of both. The suite itself may be gone.
fn remove(name: &str, args: &ScheduleArgs) -> Done {
    let of_cron = !args.systemd && install::remove_line(name, args.cron)?;
    let of_systemd = !args.cron && install::remove_units(name)?;
    if !of_cron && !of_systemd {
        output::say(&format!("{name} is in no schedule here; nothing is changed"));
    }
    Ok(Exit::Good)
}

/// The suite that is scheduled: the one that is named, or the usual one where it is here and the flags name no models. `None`: what the
/// flags ask for is scheduled.
fn suite_of(args: &ScheduleArgs) -> Result<Option<PathBuf>, CommandError> {
    let usual = || {
        Some(PathBuf::from(STARTER))
            .filter(|file| file.is_file() && !args.functions && !args.request.suite().names_models())
    };
    args.suite.clone().or_else(usual).map(|file| in_full(&file)).transpose()
}

/// A path that means the same from every folder, also where its file is gone.
fn in_full(path: &Path) -> Result<PathBuf, CommandError> {
    let told = |error: std::io::Error| usage(format!("{}: {error}", path.display()));
    let path = std::path::absolute(path).map_err(told)?;
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    Ok(match (folder, path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path,
    })
}

fn text(path: &Path) -> Result<String, CommandError> {
    let text = path.to_str().map(String::from);
    text.ok_or_else(|| usage(format!("{}: a schedule holds no path that is not UTF-8", path.display())))
}

fn job(global: &Global, args: &ScheduleArgs, file: Option<&Path>, name: String) -> Result<Job, CommandError> {
    let program = std::env::current_exe().map_err(failed)?;
    if !program.is_file() {
        return Err(failed(format!("{}: this program is no longer where it was started", program.display())));
    }
    let folder = std::env::current_dir().map_err(failed)?;
    let log = args.log.clone().unwrap_or_else(|| PathBuf::from(format!("{name}.log")));
    let log = std::path::absolute(&log).map_err(failed)?;
    if !log.parent().is_some_and(Path::is_dir) || log.is_dir() {
        return Err(usage(format!("--log {}: name a file in a folder that is there", log.display())));
    }
    let mut arguments = vec![];
    if let Some(registry) = &global.registry {
        arguments.extend(["--registry".to_string(), text(&in_full(registry)?)?]);
    }
    for place in &global.sources().search {
        arguments.extend(["--search-path".to_string(), text(place)?]);
    }
    match file {
        Some(file) => arguments.extend(["suite".to_string(), "run".to_string(), text(file)?]),
        None if args.functions => arguments.extend(["bench".to_string(), "run".to_string()]),
        None => arguments.push("run".into()),
    }
    arguments.extend(ScheduleArgs::flags_of_run(std::env::args_os(), args.functions));
    arguments.extend(args.incremental.then(|| "--incremental".to_string()));
    arguments.extend(args.flags.iter().cloned());
    if arguments.iter().any(|argument| argument.starts_with(SECRET)) {
        return Err(usage(format!(
            "{SECRET}: who has the address may post to it, and no schedule holds it; SKILLBENCH_ALERT_WEBHOOK names it"
        )));
    }
    ScheduleArgs::check(&arguments).map_err(usage)?;
    Ok(Job {
        name,
        what: file.map_or_else(|| Ok("a run".into()), text)?,
        command: [vec![text(&program)?], arguments].concat(),
        folder: text(&folder)?,
        log: text(&log)?,
        environment: environment()?,
    })
}

/// Variables that change what a run does; a scheduler has none of them.
fn environment() -> Result<BTreeMap<String, String>, CommandError> {
    let mut kept = BTreeMap::new();
    for name in &defaults().schedule.variables {
        match std::env::var(name) {
            Ok(value) => drop(kept.insert(name.clone(), value)),
            Err(std::env::VarError::NotPresent) => {}
            Err(error) => return Err(usage(format!("{name}: {error}"))),
        }
    }
    Ok(kept)
}

fn show(global: &Global, job: &Job, written: &Written) -> Result<(), CommandError> {
    if matches!(global.format, FormatArg::Json) {
        let files: BTreeMap<String, &str> = files(job, written).into_iter().collect();
        let scheduler = if matches!(written, Written::Line(_)) { "cron" } else { "systemd" };
        let document = serde_json::json!({"name": job.name, "scheduler": scheduler, "log": job.log, "files": files});
        output::print(&(serde_json::to_string_pretty(&document).map_err(failed)? + "\n"));
        return Ok(());
    }
    match written {
        Written::Line(line) => output::print(&format!("{line}\n")),
        Written::Units(_) => {
            let texts = files(job, written).into_iter().map(|(name, text)| format!("# {name}\n{text}"));
            output::print(&texts.collect::<Vec<_>>().join("\n"));
        }
    }
    if !global.quiet {
        output::say("nothing is installed: --install does that, --units-dir DIR writes files");
    }
    Ok(())
}

/// What is written, each with the name of its file.
fn files<'w>(job: &Job, written: &'w Written) -> Vec<(String, &'w str)> {
    match written {
        Written::Line(line) => vec![(format!("{}.cron", job.name), line)],
        Written::Units(units) => {
            [&units.service, &units.timer].map(|(name, text)| (name.clone(), text.as_str())).into()
        }
    }
}

fn to_files(job: &Job, written: &Written, folder: &Path) -> Result<(), CommandError> {
    for (name, text) in files(job, written) {
        let line_end = if text.ends_with('\n') { "" } else { "\n" };
        output::to_file(&folder.join(name), format!("{text}{line_end}").as_bytes()).map_err(failed)?;
    }
    Ok(())
}
