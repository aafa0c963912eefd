//! `host compare`, and what a run is held against.

use super::{AlertArgs, LockArgs, Stored, seconds};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// What is compared although it is not the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AcrossArg {
    Machine,
    Model,
    Precision,
    /// Backends, devices, numbers of threads
    Plugin,
    /// Options of a backend, and how many requests are at once
    Options,
}

#[derive(Args)]
pub struct CompareArgs {
    /// Before: a run, its folder or a baseline; with --interleave `PLUGIN[:DEVICE][@KEY=VALUE,...]` or a plugin's library
    pub before: String,
    /// After: as before
    pub after: String,
    #[command(flatten)]
    pub stored: Stored,
    /// Measure both now, round by round in turns
    #[arg(long)]
    pub interleave: bool,
    /// Compare all the same what differs in this; the results say so
    #[arg(long, value_enum, value_delimiter = ',', num_args = 1.., value_name = "WHAT")]
    pub across: Vec<AcrossArg>,
    /// Exit with 1 where something is worse by more, and with 3 where that cannot be told
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub fail_on_regression: Option<f64>,
    /// No smaller difference is told [default: 1, or that of --fail-on-regression]
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub effect: Option<f64>,
    #[command(flatten)]
    pub alert: AlertArgs,
    #[command(flatten)]
    pub live: LiveArgs,
    #[command(flatten)]
    pub lock: LockArgs,
}

/// What is measured in turns.
#[derive(Args, Default)]
pub struct LiveArgs {
    /// Models to measure in turns [default: those of a plain run]
    #[arg(long, alias = "models", value_delimiter = ',', num_args = 1.., value_name = "MODEL", requires = "interleave")]
    pub model: Vec<String>,
    /// Benchmarks to measure with [default: inference]
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "BENCHMARK", requires = "interleave")]
    pub bench: Vec<String>,
    /// [default: 1]
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "N", requires = "interleave", value_parser = clap::value_parser!(i64).range(1..=65536))]
    pub batch_sizes: Vec<i64>,
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "N", requires = "interleave", value_parser = clap::value_parser!(i64).range(1..=1_048_576))]
    pub sequence_lengths: Vec<i64>,
    /// Threads of both, unless a side says otherwise
    #[arg(long, value_name = "N", requires = "interleave", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub threads: Option<u64>,
    /// Fresh processes on each side, at least [default: 5]
    #[arg(long, value_name = "N", requires = "interleave", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub launches: Option<u64>,
    /// Pairs of rounds in each launch [default: 24]
    #[arg(long, value_name = "N", requires = "interleave", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub pairs: Option<u64>,
    /// Time limit of a cell, in seconds [default: 600]
    #[arg(long, value_name = "SECONDS", requires = "interleave", value_parser = seconds)]
    pub timeout: Option<f64>,
    /// Seed of inputs, of the order of rounds and of intervals [default: 42]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

/// What a run is held against.
#[derive(Args, Clone, Default)]
pub struct GateArgs {
    /// Hold the run against a baseline of this machine, or another run; what looks worse is measured again
    #[arg(long, value_name = "NAME|RUN")]
    pub baseline: Option<String>,
    /// Keep the run as a baseline of this machine
    #[arg(long, value_name = "NAME")]
    pub save_baseline: Option<String>,
    /// Exit with 1 where something is worse than the baseline by more, and with 3 where that cannot be told
    #[arg(long, value_name = "PERCENT", value_parser = percent, requires = "baseline")]
    pub fail_on_regression: Option<f64>,
    /// A figure that has to be kept: latency_ms.p90<=20, bert-tiny:throughput_per_s>=100
    #[arg(long, value_name = "[MODEL:]METRIC<=VALUE")]
    pub limit: Vec<String>,
    #[command(flatten)]
    pub alert: AlertArgs,
}

/// Baselines of this machine.
#[derive(clap::Subcommand)]
pub enum BaselineCommand {
    /// All of them
    List,
    /// Keep a run as a baseline
    Save {
        name: String,
        /// A run: latest, its id, its folder
        #[arg(default_value = "latest")]
        run: String,
        #[command(flatten)]
        stored: Stored,
    },
    /// Give one up
    Remove { name: String },
}

#[derive(Args)]
pub struct DoctorArgs {
    /// Measure what this machine shows of the same code against itself, and keep it for verdicts
    #[arg(long)]
    pub noise: bool,
    /// Backends to measure [default: all that can be used here, are not emulated and no browsers]
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "PLUGIN", requires = "noise")]
    pub plugin: Vec<String>,
    /// Models to measure [default: bert-tiny]
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "MODEL", requires = "noise")]
    pub model: Vec<String>,
    /// Benchmarks to measure with [default: inference]
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "BENCHMARK", requires = "noise")]
    pub bench: Vec<String>,
    /// How often each model is compared with itself [default: 12]
    #[arg(long, value_name = "N", requires = "noise", value_parser = clap::value_parser!(u64).range(2..=1000))]
    pub comparisons: Option<u64>,
    /// Also the comparisons themselves, into this file
    #[arg(long, value_name = "FILE", requires = "noise")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub lock: LockArgs,
}

fn percent(text: &str) -> Result<f64, String> {
    let value = text.trim_end_matches('%').parse::<f64>().ok().filter(|value| (0.0..=10_000.0).contains(value));
    value.map(|value| value / 100.0).ok_or("expected a percentage such as 5".into())
}
