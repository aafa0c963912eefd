//! What is asked ahead of measuring: predictions, and which hardware to take.

use super::results::Stored;
use super::run::precision;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Which models, points and hardware are meant.
#[derive(Args, Clone)]
pub struct ForecastArgs {
    #[command(flatten)]
    pub stored: Stored,
    /// Models by name, measured or not
    #[arg(long, aliases = ["models", "model-id"], value_delimiter = ',', num_args = 1.., value_name = "MODEL")]
    pub model: Vec<String>,
    /// Only this hardware [default: all that was measured on the machine]
    #[arg(long, aliases = ["plugin", "device"], value_delimiter = ',', num_args = 1.., value_name = "PLUGIN[:DEVICE]")]
    pub hardware: Vec<String>,
    /// One or several: several are a curve
    #[arg(long, alias = "batch-sizes", value_delimiter = ',', num_args = 1.., value_name = "N", value_parser = clap::value_parser!(i64).range(1..=65536))]
    pub batch_size: Vec<i64>,
    #[arg(long, alias = "sequence-lengths", value_delimiter = ',', num_args = 1.., value_name = "N", value_parser = clap::value_parser!(i64).range(1..=1_048_576))]
    pub sequence_length: Vec<i64>,
    /// Only what ran at this precision
    #[arg(long, value_name = "PRECISION", value_parser = precision())]
    pub precision: Option<String>,
    /// Only what ran with so many threads
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub threads: Option<u64>,
    /// The machine, by its host name [default: this one]
    #[arg(long, value_name = "NAME")]
    pub machine: Option<String>,
}

#[derive(Args)]
pub struct PredictArgs {
    #[command(flatten)]
    pub about: ForecastArgs,
    /// Models by hardware: measured where it was measured, predicted where it can be, or else the reason
    /// [of all models, unless some are named]
    #[arg(long)]
    pub generate_matrix: bool,
    /// Into this file, in place of the terminal; .json, .md, .csv and .html tell the form
    #[arg(long, alias = "output", short, value_name = "FILE")]
    pub output_file: Option<PathBuf>,
    /// Draw latency against the batch into this file: .svg or .png; measured points filled,
    /// predicted ones hollow
    #[arg(long, value_name = "FILE", conflicts_with_all = ["generate_matrix", "evaluate"])]
    pub plot: Option<PathBuf>,
    /// Also what is learned from, into this file: .csv or .json
    #[arg(long, value_name = "FILE")]
    pub training: Option<PathBuf>,
    /// How far predictions are off: each model held out and foretold from the others
    #[arg(long, conflicts_with_all = ["model", "generate_matrix", "batch_size", "sequence_length"])]
    pub evaluate: bool,
}

#[derive(Args)]
pub struct RecommendArgs {
    #[command(flatten)]
    pub about: ForecastArgs,
    /// What is meant by the best
    #[arg(long, value_enum, default_value_t = GoalArg::Latency)]
    pub optimize: GoalArg,
    /// A bound that has to be kept: 20ms, 512MB, 2J, 100/s, or latency_ms<=20, memory_mb<=512, energy_j_per_item<=2, throughput_per_s>=100
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "LIMIT")]
    pub within: Vec<String>,
    /// Also the best hardware for each model and each architecture over all that was measured, and what to change
    #[arg(long)]
    pub optimal_hardware_analysis: bool,
    /// Into this file, in place of the terminal; .json, .md, .csv and .html tell the form
    #[arg(long, alias = "output-file", short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GoalArg {
    Latency,
    Throughput,
    Energy,
    Memory,
}

impl GoalArg {
    /// The metric that is ranked by.
    pub fn metric(self) -> &'static str {
        match self {
            GoalArg::Latency => "latency_ms",
            GoalArg::Throughput => "throughput_per_s",
            GoalArg::Energy => "energy_j_per_item",
            GoalArg::Memory => "memory_mb",
        }
    }

    pub fn unit(self) -> &'static str {
        skillbench_record::catalog::metric(self.metric()).map_or("", |metric| metric.unit)
    }
}
