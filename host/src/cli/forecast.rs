//! Flags of predictions and recommendations.

use super::request::precision;
use super::results::Stored;
use clap::{Args, ValueEnum};
use skillbench_results::questions::Goal;
use std::path::PathBuf;

/// Which models, points and hardware are meant.
#[derive(Args, Clone, Default)]
pub struct ForecastArgs {
    #[command(flatten)]
    pub stored: Stored,
    /// Only these models, measured or not
    #[arg(long, aliases = ["models", "model-id"], value_delimiter = ',', num_args = 1.., value_name = "MODEL")]
    pub model: Vec<String>,
    /// Only this hardware [default: all that was measured on the machine]
    #[arg(long = "plugin", aliases = ["hardware", "device"], value_delimiter = ',', num_args = 1.., value_name = "PLUGIN[:DEVICE]")]
    pub hardware: Vec<String>,
    /// Batch sizes; several make a curve
    #[arg(long = "batch-sizes", alias = "batch-size", value_delimiter = ',', num_args = 1.., value_name = "N", value_parser = clap::value_parser!(i64).range(1..=65536))]
    pub batch_size: Vec<i64>,
    /// Sequence lengths: tokens in one item
    #[arg(long = "sequence-lengths", alias = "sequence-length", value_delimiter = ',', num_args = 1.., value_name = "N", value_parser = clap::value_parser!(i64).range(1..=1_048_576))]
    pub sequence_length: Vec<i64>,
    /// Only results of this precision
    #[arg(long, value_name = "PRECISION", value_parser = precision())]
    pub precision: Option<String>,
    /// Only results with this number of threads
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub threads: Option<u64>,
    /// Also predict from other machines: files of `host predict --training`, folders of runs, databases
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "FILE|DIR")]
    pub from: Vec<PathBuf>,
    /// The machine, by its host name [default: this one]
    #[arg(long, value_name = "NAME")]
    pub machine: Option<String>,
}

#[derive(Args)]
pub struct PredictArgs {
    #[command(flatten)]
    pub about: ForecastArgs,
    /// Print a matrix of models by hardware: measured, else predicted, else the reason
    /// [default: of all models]
    #[arg(long)]
    pub generate_matrix: bool,
    /// Write to this file; the ending .json, .md, .csv or .html sets the format
    #[arg(long, alias = "output-file", short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Plot latency against batch size into this .svg or .png file: measured points filled,
    /// predicted ones hollow
    #[arg(long, value_name = "FILE", conflicts_with_all = ["generate_matrix", "evaluate"])]
    pub plot: Option<PathBuf>,
    /// Also write the training data to this .csv or .json file
    #[arg(long, value_name = "FILE")]
    pub training: Option<PathBuf>,
    /// Evaluate predictions: predict each model from the others, and compare with its measurements
    #[arg(long, conflicts_with_all = ["model", "generate_matrix", "batch_size", "sequence_length"])]
    pub evaluate: bool,
}

#[derive(Args)]
pub struct RecommendArgs {
    #[command(flatten)]
    pub about: ForecastArgs,
    /// The metric to rank by
    #[arg(long, value_enum, default_value_t = GoalArg::Latency)]
    pub optimize: GoalArg,
    /// Limits that hardware has to keep: 20ms, 512MB, 2J, 100/s, or latency_ms<=20, memory_mb<=512, energy_j_per_item<=2, throughput_per_s>=100
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "LIMIT")]
    pub within: Vec<String>,
    /// Only capacities within these limits, as `host run --slo` had them [default: all, each limit by itself]
    #[arg(long, value_name = "LIMITS")]
    pub slo: Option<String>,
    /// What hardware costs by the hour, in any currency: one amount for all, or cuda=2.50,cpu=0.20; adds the cost of a million requests and tokens, with --optimize throughput of a million items
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "[HARDWARE=]AMOUNT")]
    pub price: Vec<String>,
    /// Also show the best hardware for each model and architecture, and what to change
    #[arg(long)]
    pub optimal_hardware_analysis: bool,
    /// Write to this file; the ending .json, .md, .csv or .html sets the format
    #[arg(long, alias = "output-file", short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

impl RecommendArgs {
    /// The best over all that was measured.
    pub fn analysis(stored: Stored, output: Option<PathBuf>) -> RecommendArgs {
        let about = ForecastArgs { stored, ..ForecastArgs::default() };
        RecommendArgs {
            about,
            optimize: GoalArg::Latency,
            within: vec![],
            slo: None,
            price: vec![],
            optimal_hardware_analysis: true,
            output,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GoalArg {
    /// The lowest median latency
    Latency,
    /// The most items a second, one or a batch after the other
    Throughput,
    /// The least energy for each item
    Energy,
    /// The lowest peak of memory
    Memory,
    /// The largest rate of requests that keeps limits on their times
    Capacity,
    /// The least cost of a million requests at that rate, by --price
    Cost,
}

impl GoalArg {
    /// `None`: it is about capacities, of which nothing is predicted.
    pub fn goal(self) -> Option<Goal> {
        match self {
            GoalArg::Latency => Some(Goal::Latency),
            GoalArg::Throughput => Some(Goal::Throughput),
            GoalArg::Energy => Some(Goal::Energy),
            GoalArg::Memory => Some(Goal::Memory),
            GoalArg::Capacity | GoalArg::Cost => None,
        }
    }
}
