//! What stands in a suite file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skillbench_record::ModelSet;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What is asked of a run: the text of a suite file, and what the flags of `host run` say. An empty list, a number that is missing and
/// `false` mean what a run does where nothing is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SuiteFile {
    pub batch_sizes: Vec<i64>,
    pub sequence_lengths: Vec<i64>,
    /// Height and width.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub image_sizes: Vec<[i64; 2]>,
    /// Lengths of audio.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub audio_seconds: Vec<f64>,
    /// Of video, or of features.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<i64>,
    /// Tokens of a prompt, of the benchmark generation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prompt_lengths: Vec<i64>,
    /// Tokens that the benchmark generation makes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub new_tokens: Vec<i64>,
    /// Requests a second, of the benchmark serving.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<f64>,
    /// Milliseconds for which requests wait for others to be served with, of the benchmark serving.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub batch_wait_ms: Vec<f64>,
    /// single-stream, multi-stream, offline, server or interactive, of the benchmark serving.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// constant, poisson or gamma:SHAPE, of the benchmark serving.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<String>,
    /// How long requests may take, of the benchmark serving: "latency.p99<=20ms".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slo: Option<String>,
    /// Cores that are kept for the thread that issues requests, of the benchmark serving.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generator_cores: Option<u64>,
    /// Whether cells of requests are measured and judged by the rules of MLPerf's LoadGen.
    #[serde(skip_serializing_if = "is_false")]
    pub mlperf: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warmup_iterations: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub benchmark_iterations: Option<u64>,
    /// Seconds for the measured rounds of one series.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<f64>,
    /// Seconds for a cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<f64>,
    /// MiB for a cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_limit: Option<u64>,
    /// Seconds of rest before each cell but the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cool_down: Option<f64>,
    /// Seconds that a cell waits, at most, for other programs to leave the machine alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_quiet: Option<f64>,
    /// Fresh processes that share the measuring time of a cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launches: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// inference, throughput, both, generation, or one of another plugin.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub benchmarks: Vec<String>,
    /// Backends; a device may follow after a colon.
    pub hardware_types: Vec<String>,
    pub include_web_platforms: bool,
    /// Of each backend.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u64>,
    /// Requests at once, of the throughput benchmarks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<String>,
    /// "KEY=VALUE", or "PLUGIN:KEY=VALUE".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    pub parallel: bool,
    pub use_resource_pool: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub verify_only: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub benchmark_only: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub no_verify: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub no_fix: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub profile: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub profile_detailed: bool,
    pub generate_plots: bool,
    /// `false`: the files of the matrix are left as they are.
    pub update_compatibility_matrix: bool,
    /// Figures that have to be kept: "latency_ms.p90<=20".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<String>,
    /// Ids of models, paths of their files or of folders with them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
    /// Files that list one model a line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub model_list: Vec<PathBuf>,
    /// key, small, custom or all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub models_set: Option<ModelSet>,
    /// A list of one's own, for the set `custom`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_models: Option<PathBuf>,
    #[serde(skip_serializing_if = "is_false")]
    pub small_models: bool,
    /// Only these key classes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub specific_models: Vec<String>,
    /// Only these families.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub families: Vec<String>,
    /// Only these categories.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub benchmark_category: Vec<String>,
    /// Other named dimensions of models.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub dims: BTreeMap<String, i64>,
    /// Ids of models, or paths of their files, by family.
    pub model_families: BTreeMap<String, Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Schedule>,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// When a suite is to be run again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    pub enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency: Option<String>,
    /// "HH:MM".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

impl SuiteFile {
    pub const KEYS: [&str; 52] = [
        "batch_sizes",
        "sequence_lengths",
        "image_sizes",
        "audio_seconds",
        "frames",
        "prompt_lengths",
        "new_tokens",
        "rates",
        "batch_wait_ms",
        "scenario",
        "arrivals",
        "slo",
        "generator_cores",
        "mlperf",
        "warmup_iterations",
        "benchmark_iterations",
        "budget",
        "timeout",
        "memory_limit",
        "cool_down",
        "wait_quiet",
        "launches",
        "seed",
        "benchmarks",
        "hardware_types",
        "include_web_platforms",
        "threads",
        "workers",
        "precision",
        "options",
        "parallel",
        "use_resource_pool",
        "verify_only",
        "benchmark_only",
        "no_verify",
        "no_fix",
        "profile",
        "profile_detailed",
        "generate_plots",
        "update_compatibility_matrix",
        "limits",
        "models",
        "model_list",
        "models_set",
        "custom_models",
        "small_models",
        "specific_models",
        "families",
        "benchmark_category",
        "dims",
        "model_families",
        "schedule",
    ];

    /// Names that flags have for keys, in the form of keys.
    pub const OTHER_NAMES: [(&str, &str); 15] = [
        ("plugin", "hardware_types"),
        ("hardware", "hardware_types"),
        ("device", "hardware_types"),
        ("bench", "benchmarks"),
        ("type", "benchmarks"),
        ("model", "models"),
        ("option", "options"),
        ("iterations", "benchmark_iterations"),
        ("warmup", "warmup_iterations"),
        ("concurrent_workers", "workers"),
        ("limit", "limits"),
        ("plots", "generate_plots"),
        ("dim", "dims"),
        ("rate", "rates"),
        ("batch_wait", "batch_wait_ms"),
    ];
}

impl Default for SuiteFile {
    fn default() -> SuiteFile {
        SuiteFile {
            batch_sizes: vec![],
            sequence_lengths: vec![],
            image_sizes: vec![],
            audio_seconds: vec![],
            frames: vec![],
            prompt_lengths: vec![],
            new_tokens: vec![],
            rates: vec![],
            batch_wait_ms: vec![],
            scenario: None,
            arrivals: None,
            slo: None,
            generator_cores: None,
            mlperf: false,
            warmup_iterations: None,
            benchmark_iterations: None,
            budget: None,
            timeout: None,
            memory_limit: None,
            cool_down: None,
            wait_quiet: None,
            launches: None,
            seed: None,
            benchmarks: vec![],
            hardware_types: vec![],
            include_web_platforms: false,
            threads: None,
            workers: None,
            precision: None,
            options: vec![],
            parallel: false,
            use_resource_pool: true,
            verify_only: false,
            benchmark_only: false,
            no_verify: false,
            no_fix: false,
            profile: false,
            profile_detailed: false,
            generate_plots: false,
            update_compatibility_matrix: true,
            limits: vec![],
            models: vec![],
            model_list: vec![],
            models_set: None,
            custom_models: None,
            small_models: false,
            specific_models: vec![],
            families: vec![],
            benchmark_category: vec![],
            dims: BTreeMap::new(),
            model_families: BTreeMap::new(),
            schedule: None,
        }
    }
}

impl Schedule {
    pub const KEYS: [&str; 3] = ["enabled", "frequency", "time"];
    pub const FREQUENCIES: [&str; 4] = ["hourly", "daily", "weekly", "monthly"];
}

/// How a suite is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Json,
    Toml,
}

impl Format {
    /// By the name of a file: TOML where it ends so, else JSON.
    pub fn of(path: &Path) -> Format {
        match path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml")) {
            true => Format::Toml,
            false => Format::Json,
        }
    }
}

impl SuiteFile {
    /// The text of the file.
    ///
    /// # Errors
    /// A number that the format cannot hold.
    pub fn to_text(&self, format: Format) -> std::io::Result<String> {
        match format {
            Format::Json => Ok(serde_json::to_string_pretty(self)? + "\n"),
            Format::Toml => toml::to_string(self).map_err(std::io::Error::other),
        }
    }
}
