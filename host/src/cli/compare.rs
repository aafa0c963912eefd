//! `host compare`, and what a run is held against.

use super::{AlertArgs, LockArgs, Stored, seconds};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// What may differ between the two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AcrossArg {
    Machine,
    Model,
    Precision,
    /// Backends, devices, numbers of threads
    Plugin,
    /// Options of a backend, and numbers of concurrent requests
    Options,
}

#[derive(Args)]
pub struct CompareArgs {
    /// The sides: two runs, their folders or baselines; with --interleave two or more of `PLUGIN[:DEVICE][@KEY=VALUE,...]` or a
    /// plugin's library, each held against the first
    #[arg(value_name = "SIDE", required_unless_present = "runtime")]
    pub sides: Vec<String>,
    /// With --interleave: compare installed versions of a plugin's runtime, `cpu=1.30.0,1.31.1`, each with the first
    #[arg(long, value_name = "PLUGIN=VERSION,VERSION", requires = "interleave", conflicts_with = "sides")]
    pub runtime: Option<String>,
    #[command(flatten)]
    pub stored: Stored,
    /// Measure both sides now, in alternating rounds
    #[arg(long)]
    pub interleave: bool,
    /// Also compare cells that differ in this; the results say so
    #[arg(long, value_enum, value_delimiter = ',', num_args = 1.., value_name = "WHAT")]
    pub across: Vec<AcrossArg>,
    /// Exit with 1 if something is worse by more, and with 3 if that is undecided
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub fail_on_regression: Option<f64>,
    /// Report no smaller difference [default: 1, or that of --fail-on-regression]
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub effect: Option<f64>,
    /// Also compare these metrics of the catalogue, by one figure of each cell; `host trend --metric list` lists them
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "METRIC", conflicts_with = "interleave")]
    pub metric: Vec<String>,
    #[command(flatten)]
    pub alert: AlertArgs,
    #[command(flatten)]
    pub live: LiveArgs,
    #[command(flatten)]
    pub lock: LockArgs,
}

/// What is measured in alternation.
#[derive(Args, Default)]
pub struct LiveArgs {
    /// Models to measure [default: those of a plain run]
    #[arg(long, aliases = ["models", "model-id"], value_delimiter = ',', num_args = 1.., value_name = "MODEL", requires = "interleave")]
    pub model: Vec<String>,
    /// Benchmarks to measure with [default: inference]
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "BENCHMARK", requires = "interleave")]
    pub bench: Vec<String>,
    /// Batch sizes [default: 1]
    #[arg(long, alias = "batch-size", value_delimiter = ',', num_args = 1.., value_name = "N", requires = "interleave", value_parser = clap::value_parser!(i64).range(1..=65536))]
    pub batch_sizes: Vec<i64>,
    /// Sequence lengths: tokens in one item
    #[arg(long, alias = "sequence-length", value_delimiter = ',', num_args = 1.., value_name = "N", requires = "interleave", value_parser = clap::value_parser!(i64).range(1..=1_048_576))]
    pub sequence_lengths: Vec<i64>,
    /// Threads of both sides, unless a side sets its own
    #[arg(long, value_name = "N", requires = "interleave", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub threads: Option<u64>,
    /// Search the load that keeps these limits, on each side in turns: latency.p99<=20ms
    #[arg(long, value_name = "LIMITS", requires = "interleave", conflicts_with_all = ["bench", "pairs"])]
    pub slo: Option<String>,
    /// Time for each search, in seconds [default: 60]
    #[arg(long, value_name = "SECONDS", requires = "slo", value_parser = seconds)]
    pub budget: Option<f64>,
    /// Minimum number of fresh processes of each side [default: 5]; with --slo the searches of each [default: 3]
    #[arg(long, value_name = "N", requires = "interleave", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub launches: Option<u64>,
    /// Pairs of rounds in each process [default: 24]
    #[arg(long, value_name = "N", requires = "interleave", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub pairs: Option<u64>,
    /// Time limit of a cell, in seconds [default: 600]
    #[arg(long, value_name = "SECONDS", requires = "interleave", value_parser = seconds)]
    pub timeout: Option<f64>,
    /// Seed of inputs, of the order of rounds and of intervals [default: 42]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

/// Limits and a baseline that a run is held to.
#[derive(Args, Clone, Default)]
pub struct GateArgs {
    /// Compare the run with a baseline of this machine, or with another run; cells that look worse are measured again
    #[arg(long, value_name = "NAME|RUN")]
    pub baseline: Option<String>,
    /// Save the run as a baseline of this machine
    #[arg(long, value_name = "NAME")]
    pub save_baseline: Option<String>,
    /// Exit with 1 if something is worse than the baseline by more, and with 3 if that is undecided
    #[arg(long, value_name = "PERCENT", value_parser = percent, requires = "baseline")]
    pub fail_on_regression: Option<f64>,
    /// Limits that the run has to keep, all of it or a model or function: latency_ms.p90<=20, bert-tiny:throughput_per_s>=100
    #[arg(long, value_name = "[NAME:]METRIC<=VALUE")]
    pub limit: Vec<String>,
    #[command(flatten)]
    pub alert: AlertArgs,
}

/// Baselines of this machine.
#[derive(clap::Subcommand)]
pub enum BaselineCommand {
    /// List all baselines
    List,
    /// Save a run as a baseline
    Save {
        /// Its name
        name: String,
        /// The run: latest, its id, its folder
        #[arg(default_value = "latest")]
        run: String,
        #[command(flatten)]
        stored: Stored,
    },
    /// Remove a baseline
    Remove {
        /// Its name
        name: String,
    },
}

#[derive(Args)]
pub struct DoctorArgs {
    /// Measure the noise floor of this machine, and keep it for verdicts
    #[arg(long)]
    pub noise: bool,
    /// Measure how late this machine issues requests at each of these rates, a second [default: 100, 1000, 10000 and 100000]
    #[arg(long, value_delimiter = ',', num_args = 0.., value_name = "RATE", conflicts_with = "noise", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub generator: Option<Vec<u64>>,
    /// Backends to measure [default: all usable ones that are neither emulated, remote nor browsers]
    #[arg(long, aliases = ["hardware", "device"], value_delimiter = ',', num_args = 1.., value_name = "PLUGIN", requires = "noise")]
    pub plugin: Vec<String>,
    /// Models to measure [default: bert-tiny]
    #[arg(long, aliases = ["models", "model-id"], value_delimiter = ',', num_args = 1.., value_name = "MODEL", requires = "noise")]
    pub model: Vec<String>,
    /// Benchmarks to measure with [default: inference]
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "BENCHMARK", requires = "noise")]
    pub bench: Vec<String>,
    /// Comparisons of each model with itself [default: 12]
    #[arg(long, value_name = "N", requires = "noise", value_parser = clap::value_parser!(u64).range(2..=1000))]
    pub comparisons: Option<u64>,
    /// Also write the single comparisons to this file
    #[arg(long, value_name = "FILE", requires = "noise")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub lock: LockArgs,
}

fn percent(text: &str) -> Result<f64, String> {
    let value = text.trim_end_matches('%').parse::<f64>().ok().filter(|value| (0.0..=10_000.0).contains(value));
    value.map(|value| value / 100.0).ok_or("expected a percentage such as 5".into())
}
