//! `host suite`: files that say what to run, and the flags of tools that had no subcommands.

use super::schedule::{age, frequency, time};
use super::{FleetArgs, PersistArgs, RequestArgs};
use clap::{Args, Subcommand};
use skillbench_engine::schedule::{Frequency, Time};
use std::path::PathBuf;

/// The suite's name where nobody named another.
pub const STARTER: &str = "suite.json";

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct SuiteArgs {
    #[command(subcommand)]
    pub command: Option<SuiteCommand>,
    /// The suite, as `run FILE` and `check FILE` take it [default: the one that `init` writes]
    #[arg(long, value_name = "FILE", hide = true)]
    pub config: Option<PathBuf>,
    /// As `init FILE`
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = STARTER, hide = true,
        conflicts_with_all = ["config", "check", "model", "plugin", "results_dir", "save", "no_save", "report", "plots", "plot_only", "update_matrix_only"])]
    pub create_config: Option<PathBuf>,
    /// As `check`; where no suite is meant, as `host doctor`
    #[arg(long, hide = true, conflicts_with_all = ["results_dir", "save", "no_save", "report", "plots", "plot_only", "update_matrix_only"])]
    pub check: bool,
    /// As `host schedule`
    #[arg(long, hide = true, conflicts_with_all = ["check", "create_config", "update_benchmarks", "incremental_benchmarks"])]
    pub schedule_benchmarks: bool,
    #[arg(long, hide = true, requires = "schedule_benchmarks", value_parser = frequency)]
    pub frequency: Option<Frequency>,
    #[arg(long, hide = true, requires = "schedule_benchmarks", value_parser = time)]
    pub time: Option<Time>,
    /// As `run FILE --incremental`
    #[arg(long, hide = true, alias = "incremental", conflicts_with_all = ["check", "create_config", "no_save"])]
    pub incremental_benchmarks: bool,
    /// As `host update`
    #[arg(long, hide = true, conflicts_with_all = ["check", "create_config", "config", "incremental_benchmarks"])]
    pub update_benchmarks: bool,
    #[arg(long, hide = true, requires = "update_benchmarks", value_parser = age)]
    pub older_than: Option<f64>,
    #[command(flatten)]
    pub request: Box<RequestArgs>,
    #[command(flatten)]
    pub persist: PersistArgs,
}

#[derive(Subcommand)]
pub enum SuiteCommand {
    /// Run a suite
    Run {
        /// The suite
        file: PathBuf,
        #[command(flatten)]
        request: Box<RequestArgs>,
        /// Only measure cells without results of this machine, or whose plugin or model changed since
        #[arg(long, alias = "incremental-benchmarks", conflicts_with_all = ["no_save", "fleet"])]
        incremental: bool,
        #[command(flatten)]
        fleet: FleetArgs,
        #[command(flatten)]
        persist: Box<PersistArgs>,
    },
    /// Write a suite to start from
    Init {
        /// The file: TOML if it ends in .toml, else JSON
        #[arg(default_value = STARTER)]
        file: PathBuf,
    },
    /// Check a suite, and say what it would measure
    Check {
        /// The suite
        file: PathBuf,
        #[command(flatten)]
        request: Box<RequestArgs>,
    },
    /// Write a suite for each skill of a folder of skillset plugins or ONNX files, and run them
    Generate {
        /// The folder of skillset plugins or ONNX files
        #[arg(long, value_name = "DIR")]
        skillset_dir: PathBuf,
        /// The folder for the suites and the results
        #[arg(long, value_name = "DIR")]
        output_dir: PathBuf,
        #[command(flatten)]
        request: Box<RequestArgs>,
        /// Another folder for the suites
        #[arg(long, alias = "benchmark-dir", value_name = "DIR")]
        suite_dir: Option<PathBuf>,
        /// Write the suites, and run none
        #[arg(long)]
        generate_only: bool,
    },
}
