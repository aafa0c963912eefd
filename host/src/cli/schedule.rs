//! What is run again, and whose turn it is.

use super::suite::SuiteArgs;
use super::{Cli, HowArgs, PersistArgs, RequestArgs};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Args, Command, CommandFactory, Parser};
use skillbench_engine::schedule::{Day, Frequency, Time};
use skillbench_engine::suite::Schedule;
use skillbench_session::MachineLock;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// One benchmark at a time measures on a machine.
#[derive(Args, Clone, Default)]
pub struct LockArgs {
    /// Maximum wait for another benchmark on this machine [default: until it has ended]
    #[arg(long, value_name = "SECONDS", value_parser = wait)]
    pub lock_wait: Option<f64>,
    /// Measure even while another benchmark measures on this machine
    #[arg(long, conflicts_with = "lock_wait")]
    pub no_lock: bool,
}

impl LockArgs {
    /// The lock that is asked for, not taken yet.
    pub fn lock(&self) -> MachineLock {
        MachineLock::new(self.no_lock, self.lock_wait.map(Duration::from_secs_f64))
    }
}

fn wait(text: &str) -> Result<f64, String> {
    let value = text.parse::<f64>().ok().filter(|seconds| (0.0..=1e7).contains(seconds));
    value.ok_or("expected a number of seconds, 0 to 10,000,000".into())
}

#[derive(Args, Clone)]
#[command(group = ArgGroup::new("scheduler").args(["cron", "systemd"]))]
pub struct ScheduleArgs {
    /// The suite file [default: suite.json, where it is here; else what the flags ask for]
    pub suite: Option<PathBuf>,
    /// The name of the schedule [default: that of the suite, or of the folder]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Frequency: hourly, daily, weekly or monthly [default: what the suite says]
    #[arg(long, value_parser = frequency)]
    pub frequency: Option<Frequency>,
    /// Local time of day; an hourly schedule uses its minute [default: what the suite says, else 02:00]
    #[arg(long, value_name = "HH:MM", value_parser = time)]
    pub time: Option<Time>,
    /// Day of the week (sun) or of the month (1 to 28)
    #[arg(long, value_parser = Day::parse)]
    pub day: Option<Day>,
    /// Print a line for cron [default on Linux: units for systemd]
    #[arg(long)]
    pub cron: bool,
    /// Print a service and a timer for the user's systemd
    #[arg(long)]
    pub systemd: bool,
    /// The log file of the runs [default: NAME.log in the current folder]
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Write the units, or the line, to files in this folder
    #[arg(long, alias = "output", short_alias = 'o', value_name = "DIR", conflicts_with_all = ["install", "remove"])]
    pub units_dir: Option<PathBuf>,
    /// Install the schedule
    #[arg(long)]
    pub install: bool,
    /// Uninstall the schedule
    #[arg(long, conflicts_with_all = ["install", "frequency", "time", "day", "log"])]
    pub remove: bool,
    /// Only measure cells without results of this machine, or whose plugin or model changed since
    #[arg(long, alias = "incremental-benchmarks", conflicts_with = "no_save")]
    pub incremental: bool,
    /// Schedule benchmarks that are plain functions: those of --bench, else all
    #[arg(long, conflicts_with_all = ["suite", "incremental"])]
    pub functions: bool,
    #[command(flatten)]
    pub request: Box<RequestArgs>,
    #[command(flatten)]
    pub persist: Box<PersistArgs>,
    /// Flags to pass on as they are: -- --incremental
    #[arg(last = true, value_name = "FLAG")]
    pub flags: Vec<String>,
}

impl ScheduleArgs {
    /// One of flags that stand for them elsewhere.
    pub fn of(args: &SuiteArgs) -> ScheduleArgs {
        ScheduleArgs {
            suite: args.config.clone(),
            name: None,
            frequency: args.frequency,
            time: args.time,
            day: None,
            cron: false,
            systemd: false,
            log: None,
            units_dir: None,
            install: false,
            remove: false,
            incremental: args.incremental_benchmarks,
            functions: false,
            request: args.request.clone(),
            persist: Box::new(args.persist.clone()),
            flags: vec![],
        }
    }

    /// The flags of a run among what was typed, as a command line has them, but for `--bench` where functions are run: those are named without it.
    pub fn flags_of_run(typed: impl IntoIterator<Item = OsString>, functions: bool) -> Vec<String> {
        let matches = Cli::command().try_get_matches_from(typed);
        let Some((_, given)) = matches.as_ref().ok().and_then(ArgMatches::subcommand) else { return vec![] };
        let run = PersistArgs::augment_args(RequestArgs::augment_args(Command::new("run")));
        let is_given =
            |argument: &&Arg| given.value_source(argument.get_id().as_str()) == Some(ValueSource::CommandLine);
        let mut flags = vec![];
        for argument in run.get_arguments().filter(is_given) {
            let long = argument.get_long().unwrap_or_default();
            let values = || given.get_raw(argument.get_id().as_str()).into_iter().flatten();
            match argument.get_action() {
                _ if functions && long == "bench" => {
                    flags.extend(values().map(|value| value.to_string_lossy().into_owned()));
                }
                ArgAction::SetTrue => flags.push(format!("--{long}")),
                _ => flags.extend(values().map(|value| format!("--{long}={}", value.to_string_lossy()))),
            }
        }
        flags
    }

    /// Reads the command that is to be scheduled as it will be read then.
    ///
    /// # Errors
    /// What is wrong with it, in one sentence.
    pub fn check(arguments: &[String]) -> Result<(), String> {
        let program = std::iter::once("host").chain(arguments.iter().map(String::as_str));
        let told = |error: clap::Error| {
            let text = error.render().to_string();
            let first = text.lines().next().unwrap_or_default();
            format!("the scheduled command would not run: {}", first.trim_start_matches("error: "))
        };
        Cli::try_parse_from(program).map(drop).map_err(told)
    }
}

pub(super) fn frequency(text: &str) -> Result<Frequency, String> {
    Frequency::parse(text).ok_or_else(|| format!("expected one of {}", Schedule::FREQUENCIES.join(", ")))
}

pub(super) fn time(text: &str) -> Result<Time, String> {
    Time::parse(text).ok_or("expected a time from 00:00 to 23:59, as HH:MM".into())
}

#[derive(Args)]
pub struct UpdateArgs {
    /// Stale from this age on: days, or 12h, 30d, 2w; 0: all [default: 30d]
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub older_than: Option<f64>,
    /// Only these models
    #[arg(long, aliases = ["models", "model-id"], value_delimiter = ',', num_args = 1.., value_name = "MODEL")]
    pub model: Vec<String>,
    /// Only these backends
    #[arg(long, aliases = ["hardware", "device"], value_delimiter = ',', num_args = 1.., value_name = "PLUGIN")]
    pub plugin: Vec<String>,
    /// Only these benchmarks
    #[arg(long, alias = "type", value_delimiter = ',', num_args = 1.., value_name = "BENCHMARK")]
    pub bench: Vec<String>,
    /// Measure nothing: list the stale results, with the reason
    #[arg(long)]
    pub dry_run: bool,
    /// Take over this path that a record opened a plugin with; any other path of a record is not loaded
    #[arg(long, value_name = "[PLUGIN:]KEY=VALUE")]
    pub option: Vec<String>,
    #[command(flatten)]
    pub how: HowArgs,
    #[command(flatten)]
    pub persist: PersistArgs,
}

#[derive(Args)]
pub struct AuditArgs {
    /// The run: its id in the folder of runs, or its own folder
    pub run: String,
    /// Measure so many of its cells again, chosen by chance
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub cells: usize,
    /// Make inputs from this seed [default: by chance]
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u64>,
    /// Take over this path that a record opened a plugin with; any other path of a record is not loaded
    #[arg(long, value_name = "[PLUGIN:]KEY=VALUE")]
    pub option: Vec<String>,
    /// The folder of runs
    #[arg(long, aliases = ["output-dir", "input-dir"], value_name = "DIR", default_value = "results")]
    pub results_dir: PathBuf,
    #[command(flatten)]
    pub lock: LockArgs,
}

/// An age in days.
pub(super) fn age(text: &str) -> Result<f64, String> {
    let (digits, days) = match text.char_indices().last() {
        Some((at, 'h')) => (&text[..at], 1.0 / 24.0),
        Some((at, 'd')) => (&text[..at], 1.0),
        Some((at, 'w')) => (&text[..at], 7.0),
        _ => (text, 1.0),
    };
    let plain = digits.chars().all(|c| c.is_ascii_digit() || c == '.');
    let value = digits.parse::<f64>().ok().filter(|value| plain && value.is_finite());
    value.map(|value| value * days).ok_or("expected a number of days, or an age such as 12h, 30d or 2w".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_number_is_days_and_other_units_are_named() {
        assert_eq!(
            (age("30"), age("30d"), age("0"), age("2w"), age("12h")),
            (Ok(30.0), Ok(30.0), Ok(0.0), Ok(14.0), Ok(0.5))
        );
        for text in ["", "d", "-1", "30m", "1e3", "inf", "nan", "30 d", "monthé"] {
            assert!(age(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_command_that_could_not_run_at_night_is_told_by_day() {
        let command = |flags: &[&str]| {
            [&["suite", "run", "s.json"], flags].concat().iter().map(|text| text.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(ScheduleArgs::check(&command(&["--incremental", "--lock-wait", "60"])), Ok(()));
        assert!(ScheduleArgs::check(&command(&["--incremetal"])).unwrap_err().contains("--incremetal"));
        assert!(ScheduleArgs::check(&command(&["--help"])).is_err());
    }
}
