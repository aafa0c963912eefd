//! `host run`: what is asked for, and where results go.

use super::{FleetArgs, GateArgs, LockArgs, ReportForm, RequestArgs};
use clap::Args;
use skillbench_session::which::LATEST;
use std::path::PathBuf;

#[derive(Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub request: RequestArgs,
    /// Resume an earlier run, by its id or its folder
    #[arg(long, value_name = "RUN", conflicts_with_all = ["plugin", "include_web_platforms", "model", "model_list", "models_set", "custom_models", "small_models",
        "specific_models", "model_families", "benchmark_category", "all_models", "image_sizes", "audio_seconds", "frames", "prompt_lengths",
        "new_tokens", "rate", "batch_wait", "scenario", "arrivals", "slo", "generator_cores", "mlperf", "no_fix", "no_resource_pool", "use_resource_pool", "cool_down", "wait_quiet", "launches", "parallel", "profile", "profile_detailed", "bench", "batch_sizes", "sequence_lengths", "dim", "iterations",
        "warmup", "concurrent_workers", "threads", "precision", "timeout", "budget", "memory_limit", "verify_only",
        "benchmark_only", "no_verify", "seed", "fleet"])]
    pub resume: Option<String>,
    /// Only measure cells without results of this machine, or whose plugin or model changed since
    #[arg(long, alias = "incremental-benchmarks", conflicts_with_all = ["resume", "no_save", "verify_only", "fleet"])]
    pub incremental: bool,
    /// A request that an agent of a fleet wrote
    #[arg(long = "request", value_name = "FILE", hide = true, conflicts_with_all = ["resume", "incremental", "fleet"])]
    pub asked: Option<PathBuf>,
    #[command(flatten)]
    pub fleet: FleetArgs,
    #[command(flatten)]
    pub persist: PersistArgs,
}

/// Where results are kept, and the lock of the machine.
#[derive(Args, Clone)]
pub struct PersistArgs {
    /// The folder of runs [default: results]
    #[arg(long, aliases = ["output-dir", "input-dir"], value_name = "DIR")]
    pub results_dir: Option<PathBuf>,
    /// The database file [default: benchmarks.duckdb in the folder of runs] [env: BENCHMARK_DB_PATH]
    #[arg(long, alias = "db-path", value_name = "FILE")]
    pub db: Option<PathBuf>,
    /// Store the run in the database (always on)
    #[arg(long, alias = "auto-store-db", conflicts_with = "no_save", hide = true)]
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
