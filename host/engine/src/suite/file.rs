//! What stands in a suite file.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// A suite. An empty list, or a number that is missing, means what a run does where nothing is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SuiteFile {
    pub batch_sizes: Vec<i64>,
    pub sequence_lengths: Vec<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warmup_iterations: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub benchmark_iterations: Option<u64>,
    /// Seconds for a cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<f64>,
    /// Backends; a device may follow after a colon.
    pub hardware_types: Vec<String>,
    pub include_web_platforms: bool,
    pub parallel: bool,
    pub use_resource_pool: bool,
    pub generate_plots: bool,
    /// `false`: the files of the matrix are left as they are.
    pub update_compatibility_matrix: bool,
    /// Figures that have to be kept: "latency_ms.p90<=20".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<String>,
    /// Ids of models, or paths of their files, by family.
    pub model_families: BTreeMap<String, Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Schedule>,
}

/// When a suite is to be run again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    pub enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency: Option<String>,
    /// "HH:MM".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

impl SuiteFile {
    pub const KEYS: [&str; 14] = [
        "batch_sizes",
        "sequence_lengths",
        "warmup_iterations",
        "benchmark_iterations",
        "timeout",
        "hardware_types",
        "include_web_platforms",
        "parallel",
        "use_resource_pool",
        "generate_plots",
        "update_compatibility_matrix",
        "limits",
        "model_families",
        "schedule",
    ];
}

impl Default for SuiteFile {
    fn default() -> SuiteFile {
        SuiteFile {
            batch_sizes: vec![],
            sequence_lengths: vec![],
            warmup_iterations: None,
            benchmark_iterations: None,
            timeout: None,
            hardware_types: vec![],
            include_web_platforms: false,
            parallel: false,
            use_resource_pool: true,
            generate_plots: false,
            update_compatibility_matrix: true,
            limits: vec![],
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
