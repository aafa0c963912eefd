//! The command line's grammar. `request`: what is asked of a run. `run`: measuring. `compare`: what is held against what. `trend`: changes over time. `alert`: who is told. `schedule`: what is run again. `forecast`: what is asked ahead of measuring. `fleet`: what is asked of many machines. `launch`: what starts agents there. `plugin`: plugins looked at, checked and written. `package`: plugin packages. `suite`: files that say what to run. `results`: what is asked of stored results.

mod alert;
mod compare;
mod examples;
mod fleet;
mod forecast;
mod launch;
mod package;
mod plugin;
mod request;
mod results;
mod run;
mod schedule;
mod suite;
mod trend;

pub use alert::AlertArgs;
pub use compare::{AcrossArg, BaselineCommand, CompareArgs, DoctorArgs, GateArgs, LiveArgs};
pub use fleet::{AcceptArg, AgentArgs, AgentFlags, FleetArgs, FleetCommand};
pub use forecast::{ForecastArgs, GoalArg, PredictArgs, RecommendArgs};
pub use launch::{LaunchArgs, LaunchCommand};
pub use package::{AddArgs, PackArgs, TrustArgs};
pub use plugin::{FuzzArgs, Kind, Language, PluginCommand};
pub use request::{HowArgs, RequestArgs, SeriesArgs};
pub use results::{
    DbCommand, ExportForm, ImageArg, MatrixArgs, PlotArgs, QueryArgs, RESULTS, ReportArgs, ReportForm, Stored,
    WhichRuns,
};
pub use run::{PersistArgs, RunArgs};
pub use schedule::{AuditArgs, LockArgs, ScheduleArgs, UpdateArgs};
pub use suite::{STARTER, SuiteArgs, SuiteCommand};
pub use trend::TrendArgs;

use crate::{called, output};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use skillbench_engine::registry::Sources;
use skillbench_engine::run::Inventory;
use skillbench_report::Format;
use skillbench_worker::Stop;
use skillbench_worker::sandbox::Mode;
use std::path::PathBuf;

#[derive(Parser)]
#[command(name = "host", version, about = "Measures models on accelerator backends that are loaded as plugins")]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// The command line that was typed.
///
/// # Errors
/// It cannot be read, or it asks for help.
pub fn parse() -> Result<Cli, clap::Error> {
    let mut matches = command().try_get_matches()?;
    Cli::from_arg_matches_mut(&mut matches)
}

/// The whole command line, with examples, under the name that the program was called by.
pub fn command() -> clap::Command {
    examples::with_examples(Cli::command()).name(called::name()).bin_name(called::name())
}

/// The names of the commands.
pub fn commands() -> Vec<String> {
    Cli::command().get_subcommands().map(|command| command.get_name().to_string()).collect()
}

#[derive(Args, Clone)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Read this registry file before all others
    #[arg(long, global = true, value_name = "FILE")]
    pub registry: Option<PathBuf>,
    /// Search this folder for plugin libraries first
    #[arg(long = "search-path", global = true, value_name = "DIR")]
    pub search: Vec<PathBuf>,
    /// Also read registry.toml and registry.d of the current folder, and load the plugins that they name
    #[arg(long, global = true)]
    pub trust_folder: bool,
    /// What plugins may reach: all that the user may, their own folders, or these without a network and the rest of the disk
    #[arg(long, global = true, value_enum, default_value_t = SandboxArg::Default)]
    pub sandbox: SandboxArg,
    /// Output format
    #[arg(long, global = true, value_enum, default_value_t = FormatArg::Table)]
    pub format: FormatArg,
    /// Show all columns of tables, however wide the terminal is
    #[arg(long, global = true)]
    pub wide: bool,
    /// Print no progress and no hints
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Say more: what is resolved, planned, started and logged on the way; in lists, all that is known
    #[arg(long, short, alias = "debug", global = true)]
    pub verbose: bool,
    /// Asked by Ctrl-C once the machine is held.
    #[arg(skip)]
    pub stop: Stop,
}

impl Global {
    /// The plugins that are here; what is done with them ends where Ctrl-C asks for it.
    pub fn inventory(&self) -> Inventory {
        let inventory = Inventory::take(&self.sources(), &self.stop);
        if self.verbose {
            tell_found(&inventory);
        }
        inventory
    }

    pub fn sources(&self) -> Sources {
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        Sources {
            registry: self.registry.clone(),
            search: self.search.iter().map(absolute).collect(),
            trust_folder: self.trust_folder,
            sandbox: self.sandbox.into(),
        }
    }
}

/// What every entry of the registry came to.
fn tell_found(inventory: &Inventory) {
    for plugin in &inventory.plugins {
        let (id, version, origin) = (&plugin.id, &plugin.description.version, &plugin.entry.origin);
        output::debug(&format!("plugin {id} {version}: {}, by {origin}", plugin.library.path.display()));
    }
    for rejected in &inventory.rejected {
        output::debug(&format!("plugin {} is left out: {}, by {}", rejected.id, rejected.reason, rejected.origin));
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub enum SandboxArg {
    Off,
    Default,
    Strict,
}

impl From<SandboxArg> for Mode {
    fn from(sandbox: SandboxArg) -> Mode {
        match sandbox {
            SandboxArg::Off => Mode::Off,
            SandboxArg::Default => Mode::Default,
            SandboxArg::Strict => Mode::Strict,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub enum FormatArg {
    Table,
    Json,
    Csv,
    Markdown,
    Html,
}

impl From<FormatArg> for Format {
    fn from(format: FormatArg) -> Format {
        match format {
            FormatArg::Table => Format::Table,
            FormatArg::Json => Format::Json,
            FormatArg::Csv => Format::Csv,
            FormatArg::Markdown => Format::Markdown,
            FormatArg::Html => Format::Html,
        }
    }
}

#[derive(Subcommand)]
pub enum Command {
    /// Measure models on backends
    Run(Box<RunArgs>),
    /// Compare two stored runs, or two backends measured in alternation, with confidence intervals
    Compare(Box<CompareArgs>),
    /// List, inspect, check, write and register plugins
    #[command(subcommand)]
    Plugin(PluginCommand),
    /// Install, find and pack the libraries that plugins need
    #[command(subcommand)]
    Runtime(RuntimeCommand),
    /// List and run benchmarks that are plain functions
    #[command(subcommand)]
    Bench(BenchCommand),
    /// Run, write and check suites: files that say what to run
    Suite(Box<SuiteArgs>),
    /// Write a suite to begin with, every key of it explained
    Init {
        /// The file: TOML if it ends in .toml, else JSON without explanations
        #[arg(default_value = "suite.toml")]
        file: PathBuf,
    },
    /// Schedule a suite, or a run, with cron or systemd
    Schedule(Box<ScheduleArgs>),
    /// Measure stale results of this machine again
    Update(Box<UpdateArgs>),
    /// Measure cells of a stored run again with other seeds, and say which numbers stand
    Audit(AuditArgs),
    /// Create, fill, check and export the database of all runs
    #[command(subcommand)]
    Db(DbCommand),
    /// Query the database in SQL
    Query(QueryArgs),
    /// Report runs in the terminal, as Markdown for a pull request, or as an HTML page
    Report(Box<ReportArgs>),
    /// Plot stored results into files
    Plot(Box<PlotArgs>),
    /// Show the compatibility matrix: which model runs on which hardware, and how fast
    Matrix(MatrixArgs),
    /// Find since when something is slower, and what changed then
    Trend(Box<TrendArgs>),
    /// Predict latency, throughput and memory of unmeasured cells, with intervals
    Predict(Box<PredictArgs>),
    /// Recommend hardware for a model, with the evidence
    Recommend(Box<RecommendArgs>),
    /// List the devices of every backend, usable or not
    Devices,
    /// List the models that can be measured; `clean` deletes built models
    Models(Box<ModelsArgs>),
    /// Explain step by step why a plugin works here or not, and a model on it
    Why {
        /// A plugin's id
        plugin: String,
        /// A model's name or file
        model: Option<String>,
        /// An option of the plugin
        #[arg(long, value_name = "KEY=VALUE")]
        option: Vec<String>,
    },
    /// Print a shell's completions
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write the manual pages
    Man {
        /// The folder to write to
        dir: PathBuf,
    },
    /// Diagnose this machine, and say what to do next
    Doctor(DoctorArgs),
    /// Measure on many machines: make a fleet, run its server and its agents, follow what was asked
    #[command(subcommand)]
    Fleet(FleetCommand),
    /// Save, list and remove baselines of this machine
    #[command(subcommand)]
    Baseline(BaselineCommand),
}

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct ModelsArgs {
    #[command(subcommand)]
    pub command: Option<ModelsCommand>,
    /// Only this family
    #[arg(long)]
    pub family: Option<String>,
    /// Only this architecture
    #[arg(long)]
    pub architecture: Option<String>,
    /// Only this category
    #[arg(long)]
    pub category: Option<String>,
    /// Only this task
    #[arg(long)]
    pub task: Option<String>,
    /// Only models of so many parameters at least: 10M, 1.5B
    #[arg(long, value_name = "N", value_parser = count)]
    pub min_size: Option<u64>,
    /// Only models of so many parameters at most
    #[arg(long, value_name = "N", value_parser = count)]
    pub max_size: Option<u64>,
    /// Only these models: names, files, folders; with the evidence for their kind
    pub model: Vec<String>,
}

#[derive(Subcommand)]
pub enum ModelsCommand {
    /// Delete built models, reference outputs and unfinished builds that are not in use
    Clean {
        /// Keep the most recently used, up to this size
        #[arg(long, value_name = "GB", default_value_t = 0.0)]
        keep_gb: f64,
    },
}

#[derive(Subcommand)]
pub enum BenchCommand {
    /// List all benchmarks, and those that were rejected with the reason
    List(BenchArgs),
    /// Run all benchmarks, or those of a model or a category
    Run {
        #[command(flatten)]
        which: BenchArgs,
        #[command(flatten)]
        series: SeriesArgs,
        /// Set an option of every benchmark that takes it, or of one benchmark
        #[arg(long, value_name = "[BENCHMARK:]KEY=VALUE")]
        option: Vec<String>,
        #[command(flatten)]
        fleet: Box<FleetArgs>,
        #[command(flatten)]
        persist: Box<PersistArgs>,
    },
}

#[derive(Args)]
pub struct BenchArgs {
    /// Only these benchmarks, or all of these plugins
    pub name: Vec<String>,
    /// Only these categories: unit, integration, performance
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "CATEGORY")]
    pub category: Vec<String>,
    /// Only benchmarks of these models
    #[arg(long, aliases = ["models", "model-id"], value_delimiter = ',', num_args = 1.., value_name = "MODEL")]
    pub model: Vec<String>,
    /// Also look in this folder, which has subfolders by category and by model
    #[arg(long, alias = "benchmark-dir", value_name = "DIR")]
    pub dir: Vec<PathBuf>,
}

/// A number with K, M or B for thousands, millions and billions.
fn count(text: &str) -> Result<u64, String> {
    let (digits, scale) = match text.to_uppercase().strip_suffix(['K', 'M', 'B', 'G']) {
        None => (text.to_string(), 1.0),
        Some(digits) => {
            let scale = match text.to_uppercase().chars().last() {
                Some('K') => 1e3,
                Some('M') => 1e6,
                _ => 1e9,
            };
            (digits.to_string(), scale)
        }
    };
    let value = digits.parse::<f64>().ok().filter(|value| *value >= 0.0 && value.is_finite());
    value.map(|value| (value * scale) as u64).ok_or("expected a number such as 500000, 10M or 1.5B".into())
}

/// A number of bytes: "60MB" is 60,000,000, "1MiB" is 1,048,576.
fn bytes(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 8] = [
        ("KIB", 1 << 10),
        ("MIB", 1 << 20),
        ("GIB", 1 << 30),
        ("KB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("B", 1),
        ("", 1),
    ];
    let upper = text.to_uppercase();
    let found = UNITS.iter().find_map(|(unit, scale)| Some((upper.strip_suffix(unit)?, scale)));
    let size = found.and_then(|(digits, scale)| digits.trim().parse::<u64>().ok()?.checked_mul(*scale));
    size.filter(|size| *size > 0).ok_or("expected a size such as 60MB".into())
}

fn seconds(text: &str) -> Result<f64, String> {
    let value = text.parse::<f64>().ok().filter(|seconds| *seconds > 0.0 && *seconds <= 1e7);
    value.ok_or("expected a number of seconds above 0, and 10,000,000 at most".into())
}

#[derive(Subcommand)]
pub enum RuntimeCommand {
    /// List what plugins need: pinned version, size, and where it is installed
    List,
    /// Install what a plugin needs, with the machine's pip or npm or from a folder; pinned and checked
    Install {
        /// Plugins, or packages of `runtime list` (NAME or NAME@VERSION)
        #[arg(required = true, value_delimiter = ',')]
        names: Vec<String>,
        /// Install from this folder, without a network: what `pack` wrote, or downloaded packages
        #[arg(long, value_name = "DIR")]
        from: Option<PathBuf>,
        /// Accept a folder that lacks some pieces, and keep those that are there for a later call
        #[arg(long, requires = "from")]
        partial: bool,
    },
    /// Pack what a plugin needs into a folder, in pieces, for a machine without a network
    Pack {
        /// Plugins, or packages of `runtime list` (NAME or NAME@VERSION)
        #[arg(required = true, value_delimiter = ',')]
        names: Vec<String>,
        /// The folder to write to
        #[arg(long, alias = "output", short_alias = 'o', value_name = "DIR")]
        output_dir: PathBuf,
        /// Maximum size of a piece: bytes, or with kB, MB, GB, KiB, MiB, GiB
        #[arg(long, value_name = "SIZE", default_value = "60MB", value_parser = bytes)]
        piece_size: u64,
        /// Also pack what machines with such a device often have, such as CUDA and cuDNN
        #[arg(long)]
        complete: bool,
    },
    /// Remove what `install` fetched
    Remove {
        /// Plugins (what no other plugin needs is removed), or packages
        #[arg(required = true, value_delimiter = ',')]
        names: Vec<String>,
    },
    /// Print the path that an option of a plugin gets
    Path {
        /// A plugin's id
        plugin: String,
        /// The name of one of its options
        option: String,
    },
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::{Command, CommandFactory};

    /// The one name of what flags have been called in other places. Old names are hidden.
    const NAMES: [(&str, &str); 12] = [
        ("batch-size", "batch-sizes"),
        ("sequence-length", "sequence-lengths"),
        ("hardware", "plugin"),
        ("device", "plugin"),
        ("models", "model"),
        ("model-id", "model"),
        ("db-path", "db"),
        ("input-dir", "results-dir"),
        ("output-file", "output"),
        ("form", "file-format"),
        ("image", "file-format"),
        ("debug", "verbose"),
    ];

    /// Each flag of each command, with the command's name.
    fn flags<'a>(command: &'a Command, path: &str, found: &mut Vec<(String, &'a clap::Arg)>) {
        let path = format!("{path} {}", command.get_name());
        let own = command.get_arguments().filter(|argument| argument.get_long().is_some() && !argument.is_hide_set());
        found.extend(own.map(|argument| (path.clone(), argument)));
        command.get_subcommands().for_each(|inner| flags(inner, &path, found));
    }

    #[test]
    fn every_flag_is_described() {
        let (command, mut found) = (Cli::command(), vec![]);
        flags(&command, "", &mut found);
        let bare = found.iter().filter(|(_, argument)| argument.get_help().is_none());
        let bare: Vec<String> = bare.map(|(path, argument)| format!("{path} --{}", argument.get_id())).collect();
        assert!(bare.is_empty() && found.len() > 200, "{bare:?} of {}", found.len());
    }

    #[test]
    fn one_thing_has_one_name_in_every_command() {
        let (command, mut found) = (Cli::command(), vec![]);
        flags(&command, "", &mut found);
        let is_other = |long: &str| NAMES.iter().any(|(other, _)| *other == long);
        let named = found.iter().filter(|(_, argument)| argument.get_long().is_some_and(is_other));
        let named: Vec<String> = named.map(|(path, argument)| format!("{path} --{}", argument.get_id())).collect();
        assert!(named.is_empty(), "{named:?}");
        // -o is a file to write, everywhere.
        let short = found.iter().filter(|(_, argument)| argument.get_short() == Some('o'));
        let other: Vec<_> = short.filter(|(_, argument)| argument.get_long() != Some("output")).collect();
        assert!(other.is_empty(), "{other:?}");
    }

    #[test]
    fn every_argument_without_a_flag_is_described() {
        fn bare(command: &Command, found: &mut Vec<String>) {
            let positional = command.get_positionals().filter(|argument| argument.get_help().is_none());
            found.extend(positional.map(|argument| format!("{} {}", command.get_name(), argument.get_id())));
            command.get_subcommands().for_each(|inner| bare(inner, found));
        }
        let mut found = vec![];
        bare(&Cli::command(), &mut found);
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn flags_of_every_command_have_a_heading_of_their_own() {
        let command = Cli::command();
        let global = command.get_arguments().filter(|argument| argument.is_global_set());
        let headings: Vec<_> = global.map(|argument| argument.get_help_heading()).collect();
        assert!(headings.len() > 6 && headings.iter().all(|heading| *heading == Some("Global options")));
        Cli::command().debug_assert();
    }
}
