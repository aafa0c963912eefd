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
    /// Benchmarks that are plain functions
    #[command(subcommand)]
    Bench(BenchCommand),
    /// Suites: files that say what to run
    #[command(subcommand)]
    Suite(SuiteCommand),
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
    Doctor,
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
    /// Models by name, .onnx files, folders of them, or ids of a hub
    #[arg(long, alias = "models", alias = "model-id", value_delimiter = ',', num_args = 1.., value_name = "MODEL")]
    pub model: Vec<String>,
    /// Files with one model a line
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "FILE")]
    pub model_list: Vec<PathBuf>,
    /// The model of each key class, their small variants, or a list of your own
    #[arg(long, value_enum, value_name = "SET")]
    pub models_set: Option<SetArg>,
    /// Your own list: {name: {name, family, size, modality, path}} as JSON
    #[arg(long, value_name = "FILE")]
    pub custom_models: Option<PathBuf>,
    /// The small variants of the key classes
    #[arg(long, alias = "small-models-only")]
    pub small_models: bool,
    /// Only these key classes: bert, vit, whisper ...
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "KEY")]
    pub specific_models: Vec<String>,
    /// Only these families: embedding, text_generation, vision, audio, multimodal [of the key models, unless a set is named]
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "FAMILY")]
    pub model_families: Vec<String>,
    /// Only these categories: text-encoders, vision, video ... [of all models, unless a set is named]
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "CATEGORY")]
    pub benchmark_category: Vec<String>,
    /// Every model that there is
    #[arg(long, alias = "benchmark-all", conflicts_with = "models_set")]
    pub all_models: bool,
    /// inference, throughput, both, or a benchmark of another plugin
    #[arg(long, alias = "type", value_delimiter = ',', num_args = 1.., value_name = "BENCHMARK")]
    pub bench: Vec<String>,
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "N", value_parser = clap::value_parser!(i64).range(1..=65536))]
    pub batch_sizes: Vec<i64>,
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "N", value_parser = clap::value_parser!(i64).range(1..=1_048_576))]
    pub sequence_lengths: Vec<i64>,
    /// Height and width of images: 224, or 384x512
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "HxW", value_parser = image_size)]
    pub image_sizes: Vec<[i64; 2]>,
    /// Lengths of audio
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "SECONDS", value_parser = seconds)]
    pub audio_seconds: Vec<f64>,
    /// Frames of video, or of features
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "N", value_parser = clap::value_parser!(i64).range(1..=1_048_576))]
    pub frames: Vec<i64>,
    /// Lengths of the prompt, in tokens, of the benchmark generation
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "N", value_parser = clap::value_parser!(i64).range(1..=1_048_576))]
    pub prompt_lengths: Vec<i64>,
    /// How many tokens the benchmark generation makes
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "N", value_parser = clap::value_parser!(i64).range(1..=1_048_576))]
    pub new_tokens: Vec<i64>,
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
    #[arg(long, value_name = "RUN", conflicts_with_all = ["plugin", "include_web_platforms", "model", "model_list", "models_set", "custom_models", "small_models",
        "specific_models", "model_families", "benchmark_category", "all_models", "image_sizes", "audio_seconds", "frames", "prompt_lengths",
        "new_tokens", "no_fix", "no_resource_pool", "parallel", "profile", "profile_detailed", "bench", "batch_sizes", "sequence_lengths", "dim", "iterations",
        "warmup", "concurrent_workers", "threads", "option", "precision", "timeout", "budget", "memory_limit", "verify_only",
        "benchmark_only", "no_verify", "seed"])]
    pub resume: Option<String>,
    /// Check the outputs, and measure no round
    #[arg(long, conflicts_with_all = ["benchmark_only", "no_verify", "bench"])]
    pub verify_only: bool,
    /// Measure without any check before
    #[arg(long)]
    pub benchmark_only: bool,
    /// Measure without holding outputs against the reference; the results say so
    #[arg(long)]
    pub no_verify: bool,
    /// Change nothing about what a backend refuses: no other precision, no smaller batch
    #[arg(long)]
    pub no_fix: bool,
    /// Load every model anew for each cell
    #[arg(long)]
    pub no_resource_pool: bool,
    /// Run backends side by side that share neither device nor cores; those on the processor need --threads
    #[arg(long)]
    pub parallel: bool,
    /// Also where each cell's time went
    #[arg(long)]
    pub profile: bool,
    /// Also the operators, as the engine itself times them: a table, and a trace file for each cell
    #[arg(long)]
    pub profile_detailed: bool,
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

#[derive(Subcommand)]
pub enum SuiteCommand {
    /// Run a suite
    Run {
        file: PathBuf,
        /// Where runs are kept
        #[arg(long, value_name = "DIR", default_value = "results")]
        output_dir: PathBuf,
    },
    /// Write a suite to begin with
    Init {
        /// JSON, or TOML where it ends in .toml
        #[arg(default_value = "suite.json")]
        file: PathBuf,
    },
    /// Read a suite and say what it would do, without running it
    Check { file: PathBuf },
    /// One suite for each skill that a folder of skillset plugins or ONNX files offers; and run them
    Generate {
        #[arg(long, value_name = "DIR")]
        skillset_dir: PathBuf,
        /// Where the suites go, and results beside them
        #[arg(long, value_name = "DIR")]
        output_dir: PathBuf,
        /// Write the suites and run none
        #[arg(long)]
        generate_only: bool,
    },
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

fn image_size(text: &str) -> Result<[i64; 2], String> {
    let (height, width) = text.split_once(['x', 'X']).unwrap_or((text, text));
    let pixels = |text: &str| text.parse::<i64>().ok().filter(|pixels| (1..=65_536).contains(pixels));
    match (pixels(height), pixels(width)) {
        (Some(height), Some(width)) => Ok([height, width]),
        _ => Err("expected a size such as 224, or 384x512 for height and width".into()),
    }
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
pub enum SetArg {
    Key,
    Small,
    Custom,
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
