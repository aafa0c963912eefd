//! The command line's grammar. `run`: measuring. `compare`: what is held against what. `trend`: changes over time. `alert`: who is told. `schedule`: what is run again. `forecast`: what is asked ahead of measuring. `suite`: files that say what to run. `results`: what is asked of stored results.

mod alert;
mod compare;
mod forecast;
mod results;
mod run;
mod schedule;
mod suite;
mod trend;

pub use alert::AlertArgs;
pub use compare::{AcrossArg, BaselineCommand, CompareArgs, DoctorArgs, GateArgs, LiveArgs};
pub use forecast::{ForecastArgs, GoalArg, PredictArgs, RecommendArgs};
pub use results::{
    DbCommand, ExportForm, ImageArg, MatrixArgs, PlotArgs, QueryArgs, ReportArgs, ReportForm, Stored, WhichRuns,
};
pub use run::{PersistArgs, RunArgs, SetArg};
pub use schedule::{LockArgs, ScheduleArgs, UpdateArgs};
pub use suite::{InPlace, SuiteArgs, SuiteCommand};
pub use trend::TrendArgs;

use clap::{Args, Parser, Subcommand, ValueEnum};
use skillbench_engine::registry::Sources;
use skillbench_engine::run::Inventory;
use skillbench_report::Format;
use skillbench_worker::Stop;
use std::path::PathBuf;

#[derive(Parser)]
#[command(name = "host", version, about = "Measures models on accelerator backends that are loaded as plugins")]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Args, Clone)]
pub struct Global {
    /// A registry file that counts before all others
    #[arg(long, global = true, value_name = "FILE")]
    pub registry: Option<PathBuf>,
    /// A folder in which plugin libraries are looked for first
    #[arg(long = "search-path", global = true, value_name = "DIR")]
    pub search: Vec<PathBuf>,
    /// The form of what is printed
    #[arg(long, global = true, value_enum, default_value_t = FormatArg::Table)]
    pub format: FormatArg,
    /// No progress, no hints
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Also what plugins log
    #[arg(long, global = true)]
    pub debug: bool,
    /// Asked by Ctrl-C once the machine is held.
    #[arg(skip)]
    pub stop: Stop,
}

impl Global {
    /// The plugins that are here; what is done with them ends where Ctrl-C asks for it.
    pub fn inventory(&self) -> Inventory {
        Inventory::take(&self.sources(), &self.stop)
    }

    pub fn sources(&self) -> Sources {
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        Sources { registry: self.registry.clone(), search: self.search.iter().map(absolute).collect() }
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
    /// Which of two is faster, and how sure that is: stored runs, or backends measured in turns
    Compare(Box<CompareArgs>),
    /// List, inspect, check, write and register plugins
    #[command(subcommand)]
    Plugin(PluginCommand),
    /// What plugins need from outside
    #[command(subcommand)]
    Runtime(RuntimeCommand),
    /// Benchmarks that are plain functions
    #[command(subcommand)]
    Bench(BenchCommand),
    /// Suites: files that say what to run
    Suite(Box<SuiteArgs>),
    /// Run a suite again and again: a line for cron, or units for systemd
    Schedule(Box<ScheduleArgs>),
    /// Measure again what is stale of what was measured on this machine
    Update(Box<UpdateArgs>),
    /// The database of all runs: make it, fill it, check it, take results out
    #[command(subcommand)]
    Db(DbCommand),
    /// Ask the database a question in SQL
    Query(QueryArgs),
    /// What runs tell: in the terminal, as Markdown for a pull request, as a page to look at and explore
    Report(Box<ReportArgs>),
    /// Draw stored results into files
    Plot(Box<PlotArgs>),
    /// What runs where, and how well: models by hardware
    Matrix(MatrixArgs),
    /// Since when something is slower, and what changed then
    Trend(Box<TrendArgs>),
    /// What was not measured: latency, throughput and memory, foretold from what was, with intervals
    Predict(Box<PredictArgs>),
    /// Which hardware to take for a model, with the evidence
    Recommend(Box<RecommendArgs>),
    /// The devices of every backend, usable or not
    Devices {
        /// Everything that is known of each
        #[arg(long, short)]
        verbose: bool,
    },
    /// The models that can be measured; `clean` gives up those that are built
    Models(Box<ModelsArgs>),
    /// The whole story of one plugin, and of a model on it
    Why { plugin: String, model: Option<String> },
    /// What is wrong here, and what to do next
    Doctor(DoctorArgs),
    /// Runs that later ones are held against, of this machine
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
    /// Only these: names, files, folders; with the evidence for what they are
    pub model: Vec<String>,
}

#[derive(Subcommand)]
pub enum ModelsCommand {
    /// Give up built models, references and what was built half-way; those in use stay
    Clean {
        /// Keep so much, the last used
        #[arg(long, value_name = "GB", default_value_t = 0.0)]
        keep_gb: f64,
    },
}

#[derive(Subcommand)]
pub enum BenchCommand {
    /// All of them, and what was rejected and why
    List(BenchArgs),
    /// Run all, those of a model, or those of a category
    Run {
        #[command(flatten)]
        which: BenchArgs,
        /// Least number of measured calls [default: until the interval is tight or the budget is used]
        #[arg(long, alias = "runs", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        iterations: Option<u64>,
        /// Least number of calls before
        #[arg(long, value_name = "N")]
        warmup: Option<u64>,
        /// Time for the measured calls of one benchmark, in seconds [default: 1]
        #[arg(long, value_name = "SECONDS", value_parser = seconds)]
        budget: Option<f64>,
        /// Time limit of a benchmark, in seconds [default: 600]
        #[arg(long, value_name = "SECONDS", value_parser = seconds)]
        timeout: Option<f64>,
        /// An option of the benchmarks that take it, or of one
        #[arg(long, value_name = "[BENCHMARK:]KEY=VALUE")]
        option: Vec<String>,
        /// Where results and attachments are kept
        #[arg(long, value_name = "DIR", default_value = "results")]
        output_dir: PathBuf,
        #[command(flatten)]
        lock: LockArgs,
    },
}

#[derive(Args)]
pub struct BenchArgs {
    /// Only these: benchmarks, or plugins for all that they hold
    pub name: Vec<String>,
    /// unit, integration or performance
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "CATEGORY")]
    pub category: Vec<String>,
    /// Those that are about a model
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "MODEL")]
    pub model: Vec<String>,
    /// Another folder to look in, with folders by category and by model below it
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
pub enum PluginCommand {
    /// All plugins, and what was rejected and why
    List {
        /// Also files, search paths and hidden entries
        #[arg(long, short)]
        verbose: bool,
    },
    /// What a plugin says of itself
    Info { plugin: String },
    /// Hold a plugin, or any library, against the rules of a well-behaved one
    Check {
        /// A plugin's id, or the path of a library
        #[arg(required_unless_present = "list")]
        plugin: Option<String>,
        /// List the rules
        #[arg(long)]
        list: bool,
        /// An option of the plugin
        #[arg(long, value_name = "KEY=VALUE")]
        option: Vec<String>,
    },
    /// Write a vendor's first plugin: it builds and passes `check` as it is
    New {
        /// Its id: a-z, 0-9 and '-'
        name: String,
        #[arg(long, value_enum, default_value_t = Language::Rust)]
        lang: Language,
        /// Where the folder is made
        #[arg(long, value_name = "DIR", default_value = ".")]
        dir: PathBuf,
        /// The folder of the plugin-api crate, for Rust [default: the one this host was built from]
        #[arg(long, value_name = "DIR")]
        api: Option<PathBuf>,
    },
    /// Register a library in the user's registry.d
    Add {
        library: PathBuf,
        /// Under this id [default: the one it gives itself]
        #[arg(long)]
        id: Option<String>,
        /// Pin its hash: a changed library is refused
        #[arg(long)]
        pin: bool,
    },
    /// Take back `add`
    Remove { plugin: String },
}

#[derive(Clone, Copy, ValueEnum)]
pub enum Language {
    Rust,
    C,
}

#[derive(Subcommand)]
pub enum RuntimeCommand {
    /// What plugins need: which version is pinned, whether it is there, where, and how large
    List,
    /// Install what a plugin needs: with the machine's pip or npm, or from a folder; pinned and checked
    Install {
        /// Plugins, or packages of `runtime list` (NAME or NAME@VERSION)
        #[arg(required = true, value_delimiter = ',')]
        names: Vec<String>,
        /// Take it from this folder, without a network: what `pack` wrote, or packages as they were downloaded
        #[arg(long, value_name = "DIR")]
        from: Option<PathBuf>,
        /// Keep the pieces that are in the folder for a later call where others are missing
        #[arg(long, requires = "from")]
        partial: bool,
    },
    /// Write what a plugin needs into a folder, in pieces, for a machine without a network
    Pack {
        /// Plugins, or packages of `runtime list` (NAME or NAME@VERSION)
        #[arg(required = true, value_delimiter = ',')]
        names: Vec<String>,
        /// The folder
        #[arg(long, short, value_name = "DIR")]
        output: PathBuf,
        /// No piece is larger: bytes, or with kB, MB, GB, KiB, MiB, GiB
        #[arg(long, value_name = "SIZE", default_value = "60MB", value_parser = bytes)]
        piece_size: u64,
        /// Also what machines with such a device often have, such as CUDA and cuDNN
        #[arg(long)]
        complete: bool,
    },
    /// Remove what `install` fetched
    Remove {
        /// Plugins (what no other plugin needs is removed), or packages
        #[arg(required = true, value_delimiter = ',')]
        names: Vec<String>,
    },
    /// Print the path of what goes into an option of a plugin
    Path { plugin: String, option: String },
}
