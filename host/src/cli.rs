//! The command line's grammar.

use clap::{Args, Parser, Subcommand, ValueEnum};
use skillbench_engine::registry::Sources;
use skillbench_report::Format;
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
}

impl Global {
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
}

impl From<FormatArg> for Format {
    fn from(format: FormatArg) -> Format {
        match format {
            FormatArg::Table => Format::Table,
            FormatArg::Json => Format::Json,
            FormatArg::Csv => Format::Csv,
            FormatArg::Markdown => Format::Markdown,
        }
    }
}

#[derive(Subcommand)]
pub enum Command {
    /// Measure models on backends
    Run(Box<RunArgs>),
    /// List, inspect, check, write and register plugins
    #[command(subcommand)]
    Plugin(PluginCommand),
    /// What plugins need from outside
    #[command(subcommand)]
    Runtime(RuntimeCommand),
    /// The devices of every backend, usable or not
    Devices {
        /// Everything that is known of each
        #[arg(long, short)]
        verbose: bool,
    },
    /// The models that can be measured
    Models {
        /// Only this family
        #[arg(long)]
        family: Option<String>,
        /// Only this architecture
        #[arg(long)]
        architecture: Option<String>,
        /// Only this category
        #[arg(long)]
        category: Option<String>,
        /// Only this task
        #[arg(long)]
        task: Option<String>,
    },
    /// The whole story of one plugin, and of a model on it
    Why { plugin: String, model: Option<String> },
    /// What is wrong here, and what to do next
    Doctor,
}

/// A list that takes commas, repeats and spaces: `--batch-sizes 1,4 --batch-sizes 8` or `--batch-sizes 1 4 8`.
#[derive(Args)]
pub struct RunArgs {
    /// Backends, with a device where one is meant: cpu, openvino:GPU, cuda:1; or all that can be used here
    /// [default: the first by preference that loads the model]
    #[arg(long, alias = "hardware", value_delimiter = ',', num_args = 1.., value_name = "PLUGIN[:DEVICE]")]
    pub plugin: Vec<String>,
    /// Also on webnn and webgpu, emulated or not
    #[arg(long)]
    pub include_web_platforms: bool,
    /// Models by name, or .onnx files
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "MODEL")]
    pub model: Vec<String>,
    /// inference, throughput, both, or a benchmark of another plugin
    #[arg(long, alias = "type", value_delimiter = ',', num_args = 1.., value_name = "BENCHMARK")]
    pub bench: Vec<String>,
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "N", value_parser = clap::value_parser!(i64).range(1..=65536))]
    pub batch_sizes: Vec<i64>,
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "N", value_parser = clap::value_parser!(i64).range(1..=1_048_576))]
    pub sequence_lengths: Vec<i64>,
    /// Another dimension of the models
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "NAME=N", value_parser = dimension)]
    pub dim: Vec<(String, i64)>,
    /// Least number of measured iterations [default: until the interval is tight or the budget is used]
    #[arg(long, alias = "runs", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub iterations: Option<u64>,
    /// Least number of warm-up iterations
    #[arg(long, value_name = "N")]
    pub warmup: Option<u64>,
    /// Workers of the throughput benchmarks
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=256))]
    pub concurrent_workers: Option<u64>,
    /// Threads of each backend [default: the processors it may use]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub threads: Option<u64>,
    /// An option of the plugins that take it, or of one
    #[arg(long, value_name = "[PLUGIN:]KEY=VALUE")]
    pub option: Vec<String>,
    /// float32, float16, bfloat16 or int8: applied, or refused with the reason
    #[arg(long, value_name = "PRECISION", value_parser = ["float32", "float16", "bfloat16", "int8"])]
    pub precision: Option<String>,
    /// Time limit of a cell, in seconds [default: 600]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<f64>,
    /// Time for the measured rounds of one series, in seconds [default: 1]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub budget: Option<f64>,
    /// Memory limit of a cell, in MiB [default: nine tenths of what is available]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(16..=1 << 24))]
    pub memory_limit: Option<u64>,
    /// Go on with an earlier run: its id, or its folder
    #[arg(long, value_name = "RUN", conflicts_with_all = ["plugin", "include_web_platforms", "model", "bench", "batch_sizes", "sequence_lengths", "dim", "iterations",
        "warmup", "concurrent_workers", "threads", "option", "precision", "timeout", "budget", "memory_limit", "verify_only",
        "benchmark_only", "no_verify", "seed"])]
    pub resume: Option<String>,
    /// Check the outputs, and measure no round
    #[arg(long, conflicts_with_all = ["benchmark_only", "no_verify", "bench"])]
    pub verify_only: bool,
    /// Measure without the checks before; the same as --no-verify
    #[arg(long)]
    pub benchmark_only: bool,
    /// Measure without holding outputs against the reference; the results say so
    #[arg(long)]
    pub no_verify: bool,
    /// Seed of inputs [default: 42]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Where runs are kept
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub output_dir: PathBuf,
}

fn dimension(text: &str) -> Result<(String, i64), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=N")?;
    let value = value.parse::<i64>().ok().filter(|value| *value > 0).ok_or("expected NAME=N with N of 1 or more")?;
    Ok((name.into(), value))
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
    /// Fetch what a plugin needs, with the machine's pip or npm, pinned and checked
    Install {
        /// Plugins, or packages of `runtime list` (NAME or NAME@VERSION)
        #[arg(required = true, value_delimiter = ',')]
        names: Vec<String>,
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
