//! One file for each subcommand. Here: which is called, how it can fail, and with which code the program ends.

pub mod alert;
mod asked;
mod audit;
mod baseline;
mod bench;
mod check;
mod compare;
mod complete;
mod db;
mod devices;
mod doctor;
mod export;
mod fleet;
mod forecast;
mod fuzz;
mod gate;
mod generator;
mod kit;
mod ladder;
mod matrix;
mod models;
mod noise;
mod package;
mod persist;
mod plot;
mod plugin;
mod predict;
mod query;
mod recommend;
mod report;
mod run;
mod runtime;
mod schedule;
mod starter;
mod stored;
mod suite;
mod trend;
mod typed;
mod update;
pub mod version;
mod why;

use crate::cli::{Cli, Command, PluginCommand};
use crate::output;
use skillbench_engine::lock::LockError;
use std::process::ExitCode;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Good,
    /// A broken rule or limit.
    Broken,
    Usage,
    /// The data cannot tell.
    NoVerdict,
    /// Some cells were not measured.
    Unmeasured,
    /// No requested backend is available.
    Unavailable,
    /// Outputs are wrong.
    Wrong,
    /// Stopped by the user.
    Stopped,
}

impl Exit {
    /// Of two, the one that counts first.
    pub fn or(self, other: Exit) -> Exit {
        let order = [
            Exit::Stopped,
            Exit::Usage,
            Exit::Unavailable,
            Exit::Wrong,
            Exit::Unmeasured,
            Exit::Broken,
            Exit::NoVerdict,
        ];
        order.into_iter().find(|exit| *exit == self || *exit == other).unwrap_or(Exit::Good)
    }

    pub fn code(self) -> ExitCode {
        ExitCode::from(match self {
            Exit::Good => 0,
            Exit::Broken => 1,
            Exit::Usage => 2,
            Exit::NoVerdict => 3,
            Exit::Unmeasured => 4,
            Exit::Unavailable => 5,
            Exit::Wrong => 6,
            Exit::Stopped => 130,
        })
    }
}

/// What ends a command before it is done.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// A name or value that cannot be.
    #[error("{0}")]
    Usage(String),
    /// The machine did not let it happen.
    #[error("{0}")]
    Failed(String),
    /// All is told already.
    #[error("")]
    Exit(Exit),
}

impl CommandError {
    pub fn exit(&self) -> Exit {
        match self {
            CommandError::Usage(_) => Exit::Usage,
            CommandError::Failed(_) => Exit::Broken,
            CommandError::Exit(exit) => *exit,
        }
    }
}

pub type Done = Result<Exit, CommandError>;

/// A plugin's id as it may stand in a registry and in a file's name.
fn plugin_id(name: &str) -> Result<&str, CommandError> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    match !name.is_empty() && name.chars().all(allowed) {
        true => Ok(name),
        false => Err(usage(format!("'{name}' is no plugin id: expected a-z, 0-9 and '-'"))),
    }
}

fn usage(text: impl ToString) -> CommandError {
    CommandError::Usage(text.to_string())
}

/// How the program ends that does not get the machine.
fn locked_out(error: &LockError) -> CommandError {
    if matches!(error, LockError::Stopped) {
        return CommandError::Exit(Exit::Stopped);
    }
    output::error(&error.to_string());
    CommandError::Exit(Exit::Unmeasured)
}

fn failed(text: impl ToString) -> CommandError {
    CommandError::Failed(text.to_string())
}

/// How the program ends whose own code or library panicked.
pub fn panicked(text: String) -> Done {
    Err(failed(format!(
        "the host stopped: {text}; runs are safe in their folders (host db import). Where memory or threads are limited (ulimit -v, -u), raise \
         the limits; elsewhere it is a fault of the host"
    )))
}

pub fn dispatch(cli: Cli) -> Done {
    if let Err(text) = skillbench_results::threads::start() {
        return panicked(text);
    }
    let global = &cli.global;
    match cli.command {
        Command::Run(args) => run::run(global, &args),
        Command::Compare(args) => compare::compare(global, &args),
        Command::Plugin(PluginCommand::List) => plugin::list(global),
        Command::Plugin(PluginCommand::Info { plugin }) => plugin::info(global, &plugin),
        Command::Plugin(PluginCommand::Check { list: true, .. }) => check::list(global),
        Command::Plugin(PluginCommand::Check { plugin, option, .. }) => {
            check::check(global, &plugin.unwrap_or_default(), &option)
        }
        Command::Plugin(PluginCommand::Ladder { plugin, operators }) => ladder::ladder(global, &plugin, &operators),
        Command::Plugin(PluginCommand::Fuzz(args)) => fuzz::fuzz(global, &args),
        Command::Plugin(PluginCommand::Slots) => check::slots(global),
        Command::Plugin(PluginCommand::New { name, lang, kind, dir }) => kit::new(&name, lang, kind, &dir),
        Command::Plugin(PluginCommand::Sdk { dir }) => kit::sdk(&dir),
        Command::Plugin(PluginCommand::Add(args)) => package::add(global, &args),
        Command::Plugin(PluginCommand::Pack(args)) => package::pack(global, &args),
        Command::Plugin(PluginCommand::Trust(args)) => package::trust(global, &args),
        Command::Plugin(PluginCommand::Index { dir }) => package::index(global, &dir),
        Command::Plugin(PluginCommand::Remove { plugin }) => plugin::remove(&plugin),
        Command::Runtime(command) => runtime::runtime(global, &command),
        Command::Bench(command) => bench::bench(global, &command),
        Command::Suite(args) => suite::suite(global, &args),
        Command::Init { file } => suite::init(global, &file),
        Command::Schedule(args) => schedule::schedule(global, &args),
        Command::Audit(args) => audit::audit(global, &args),
        Command::Update(args) => update::update(global, &args),
        Command::Db(command) => db::db(global, &command),
        Command::Query(args) => query::query(global, &args),
        Command::Report(args) => report::report(global, &args),
        Command::Plot(args) => plot::plot(global, &args),
        Command::Matrix(args) => matrix::matrix(global, &args),
        Command::Trend(args) => trend::trend(global, &args),
        Command::Predict(args) => predict::predict(global, &args),
        Command::Recommend(args) => recommend::recommend(global, &args),
        Command::Devices => devices::devices(global),
        Command::Models(args) => models::models(global, &args),
        Command::Completions { shell } => complete::completions(shell),
        Command::Man { dir } => complete::man(&dir),
        Command::Why { plugin, model, option } => why::why(global, &plugin, model.as_deref(), &option),
        Command::Doctor(args) if args.noise => noise::noise(global, &args),
        Command::Doctor(args) if args.generator.is_some() => generator::generator(global, &args),
        Command::Doctor(_) => doctor::doctor(global),
        Command::Fleet(command) => fleet::fleet(global, &command),
        Command::Baseline(command) => baseline::baseline(global, &command),
    }
}
