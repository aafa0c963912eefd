//! `host run`: what to measure, how, and where results go.

use super::{GateArgs, LockArgs, ReportForm, seconds};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use skillbench_session::which::LATEST;
use std::path::PathBuf;

/// A list that takes commas, repeats and spaces: `--batch-sizes 1,4 --batch-sizes 8` or `--batch-sizes 1 4 8`.
#[derive(Args)]
pub struct RunArgs {
    /// Backends, optionally with a device: cpu, openvino:GPU, cuda:1; or all
    /// [default: the first by preference that loads the model]
    #[arg(long, aliases = ["hardware", "device"], value_delimiter = ',', num_args = 1.., value_name = "PLUGIN[:DEVICE]")]
    pub plugin: Vec<String>,
    /// Also measure on webnn and webgpu, emulated or not
    #[arg(long)]
    pub include_web_platforms: bool,
    /// Models: names, .onnx files, folders with them, or ids of a hub
    #[arg(long, alias = "models", alias = "model-id", value_delimiter = ',', num_args = 1.., value_name = "MODEL")]
    pub model: Vec<String>,
    /// Files that list one model a line
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "FILE")]
    pub model_list: Vec<PathBuf>,
    /// A set of models: one of each key class, their small variants, or your own list
    #[arg(long, value_enum, value_name = "SET")]
    pub models_set: Option<SetArg>,
    /// Your own list as JSON: {name: {name, family, size, modality, path}}
    #[arg(long, value_name = "FILE")]
    pub custom_models: Option<PathBuf>,
    /// Use the small variants of the key classes
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
    /// All models
    #[arg(long, alias = "benchmark-all", conflicts_with = "models_set")]
    pub all_models: bool,
    /// Benchmarks: inference, throughput, both, or one of another plugin
    #[arg(long, alias = "type", value_delimiter = ',', num_args = 1.., value_name = "BENCHMARK")]
    pub bench: Vec<String>,
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "N", value_parser = clap::value_parser!(i64).range(1..=65536))]
    pub batch_sizes: Vec<i64>,
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "N", value_parser = clap::value_parser!(i64).range(1..=1_048_576))]
    pub sequence_lengths: Vec<i64>,
    /// Height and width of images: 224, or 384x512
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "HxW", value_parser = image_size)]
    pub image_sizes: Vec<[i64; 2]>,
    /// Lengths of audio, in seconds
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "SECONDS", value_parser = seconds)]
    pub audio_seconds: Vec<f64>,
    /// Numbers of video frames, or of feature frames
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "N", value_parser = clap::value_parser!(i64).range(1..=1_048_576))]
    pub frames: Vec<i64>,
    /// Prompt lengths of the benchmark generation, in tokens
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "N", value_parser = clap::value_parser!(i64).range(1..=1_048_576))]
    pub prompt_lengths: Vec<i64>,
    /// Numbers of tokens that the benchmark generation makes
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "N", value_parser = clap::value_parser!(i64).range(1..=1_048_576))]
    pub new_tokens: Vec<i64>,
    /// Set another dimension of the models
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "NAME=N", value_parser = dimension)]
    pub dim: Vec<(String, i64)>,
    /// Minimum number of measured iterations, and maximum of fresh processes for start-up times [default: until the interval is tight or the budget is used]
    #[arg(long, alias = "runs", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub iterations: Option<u64>,
    /// Minimum number of warm-up iterations
    #[arg(long, value_name = "N")]
    pub warmup: Option<u64>,
    /// Concurrent requests of the throughput benchmarks
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=256))]
    pub concurrent_workers: Option<u64>,
    /// Threads of each backend [default: as many as usable processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub threads: Option<u64>,
    /// Set an option of every plugin that takes it, or of one plugin; with --resume: a path that the run was begun with, named again
    #[arg(long, value_name = "[PLUGIN:]KEY=VALUE")]
    pub option: Vec<String>,
    /// Precision: a backend applies it, or refuses with the reason; "-stored" is how weights are written, to be computed in float32
    #[arg(long, value_name = "PRECISION", value_parser = precision())]
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
    /// Resume an earlier run, by its id or its folder
    #[arg(long, value_name = "RUN", conflicts_with_all = ["plugin", "include_web_platforms", "model", "model_list", "models_set", "custom_models", "small_models",
        "specific_models", "model_families", "benchmark_category", "all_models", "image_sizes", "audio_seconds", "frames", "prompt_lengths",
        "new_tokens", "no_fix", "no_resource_pool", "cool_down", "wait_quiet", "launches", "parallel", "profile", "profile_detailed", "bench", "batch_sizes", "sequence_lengths", "dim", "iterations",
        "warmup", "concurrent_workers", "threads", "precision", "timeout", "budget", "memory_limit", "verify_only",
        "benchmark_only", "no_verify", "seed"])]
    pub resume: Option<String>,
    /// Only check outputs
    #[arg(long, conflicts_with_all = ["benchmark_only", "no_verify", "bench"])]
    pub verify_only: bool,
    /// Only measure: skip the checks of outputs and of what backends refuse
    #[arg(long)]
    pub benchmark_only: bool,
    /// Skip the check of outputs; results are marked unverified
    #[arg(long)]
    pub no_verify: bool,
    /// Apply no workaround where a backend refuses a model: no other precision, no smaller batch
    #[arg(long)]
    pub no_fix: bool,
    /// Load the model again for each cell
    #[arg(long)]
    pub no_resource_pool: bool,
    /// Rest so many seconds before each cell but the first
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub cool_down: Option<f64>,
    /// Wait before each cell until other programs leave the machine alone, at most so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub wait_quiet: Option<f64>,
    /// Measure each cell in so many fresh processes, which share its measuring time; intervals then hold for launches [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100))]
    pub launches: Option<u64>,
    /// Share a loaded model between cells of one point (always on)
    #[arg(long, hide = true, conflicts_with_all = ["no_resource_pool", "resume"])]
    pub use_resource_pool: bool,
    /// Run backends at the same time that share neither device nor cores; those on the processor need --threads
    #[arg(long)]
    pub parallel: bool,
    /// Also measure the phases of each cell
    #[arg(long)]
    pub profile: bool,
    /// Also profile operators: a table, and a trace file for each cell
    #[arg(long)]
    pub profile_detailed: bool,
    /// Seed of inputs [default: 42]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Only measure cells without results of this machine, or whose plugin or model changed since
    #[arg(long, alias = "incremental-benchmarks", conflicts_with_all = ["resume", "no_save", "verify_only"])]
    pub incremental: bool,
    #[command(flatten)]
    pub persist: PersistArgs,
}

/// Where results are kept, and the lock of the machine.
#[derive(Args, Clone)]
pub struct PersistArgs {
    /// The folder of runs [default: results]
    #[arg(long, value_name = "DIR")]
    pub output_dir: Option<PathBuf>,
    /// The database file [default: benchmarks.duckdb in the folder of runs] [env: BENCHMARK_DB_PATH]
    #[arg(long, alias = "db-path", value_name = "FILE")]
    pub db: Option<PathBuf>,
    /// Store the run in the database (always on)
    #[arg(long, alias = "auto-store-db", conflicts_with = "no_save")]
    pub save: bool,
    /// Do not store the run in the database
    #[arg(long)]
    pub no_save: bool,
    /// Also write a report to the run's folder [default where the flag has no value: html]
    #[arg(long, value_enum, value_delimiter = ',', num_args = 0.., default_missing_value = "html", value_name = "FORM")]
    pub report: Vec<ReportForm>,
    /// Also write plots to the run's folder
    #[arg(long, alias = "generate-plots")]
    pub plots: bool,
    #[command(flatten)]
    pub gate: GateArgs,
    /// Measure nothing: plot this run [default where the flag has no value: latest]
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = LATEST, conflicts_with = "update_matrix_only")]
    pub plot_only: Option<String>,
    /// Measure nothing: update the compatibility matrix next to the database, once the runs of this folder are in it
    #[arg(long, value_name = "DIR", num_args = 0..=1, conflicts_with = "no_save")]
    pub update_matrix_only: Option<Option<PathBuf>>,
    #[command(flatten)]
    pub lock: LockArgs,
}

fn dimension(text: &str) -> Result<(String, i64), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=N")?;
    let value = value.parse::<i64>().ok().filter(|value| *value > 0).ok_or("expected NAME=N with N of 1 or more")?;
    Ok((name.into(), value))
}

/// The names that graphs have, and the short ones for them.
pub(super) fn precision() -> impl TypedValueParser<Value = String> {
    const SHORT: [(&str, &str); 3] = [("fp32", "float32"), ("fp16", "float16"), ("bf16", "bfloat16")];
    let long = SHORT.map(|(short, name)| PossibleValue::new(name).alias(short));
    const OTHERS: [&str; 6] = ["int8", "int4", "float16-stored", "bfloat16-stored", "int8-stored", "int4-stored"];
    let all = long.into_iter().chain(OTHERS.map(PossibleValue::new));
    PossibleValuesParser::new(all).map(|typed| {
        let name = SHORT.into_iter().find(|(short, _)| *short == typed).map(|(_, name)| name.to_string());
        name.unwrap_or(typed)
    })
}

fn image_size(text: &str) -> Result<[i64; 2], String> {
    let (height, width) = text.split_once(['x', 'X']).unwrap_or((text, text));
    let pixels = |text: &str| text.parse::<i64>().ok().filter(|pixels| (1..=65_536).contains(pixels));
    match (pixels(height), pixels(width)) {
        (Some(height), Some(width)) => Ok([height, width]),
        _ => Err("expected a size such as 224, or 384x512 for height and width".into()),
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub enum SetArg {
    Key,
    Small,
    Custom,
}
