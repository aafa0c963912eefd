//! What a user asks for. It is kept with the run, so that a run can be resumed.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A backend, and a device within it: "openvino:GPU", "cuda:1".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackendChoice {
    pub plugin: String,
    pub device: Option<String>,
}

impl BackendChoice {
    /// The name that stands for every backend that can be used here.
    pub const ALL: &str = "all";

    pub fn parse(text: &str) -> BackendChoice {
        match text.split_once(':') {
            Some((plugin, device)) => BackendChoice { plugin: plugin.into(), device: Some(device.into()) },
            None => BackendChoice { plugin: text.into(), device: None },
        }
    }
}

/// `KEY=VALUE` for every plugin that takes the key, or `PLUGIN:KEY=VALUE` for one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionChoice {
    pub plugin: Option<String>,
    pub key: String,
    pub value: String,
}

impl OptionChoice {
    /// # Errors
    /// What was expected.
    pub fn parse(text: &str) -> Result<OptionChoice, String> {
        let (key, value) = text.split_once('=').ok_or_else(|| format!("expected KEY=VALUE, found '{text}'"))?;
        let (plugin, key) = match key.split_once(':') {
            Some((plugin, key)) => (Some(plugin.to_string()), key),
            None => (None, key),
        };
        Ok(OptionChoice { plugin, key: key.into(), value: value.into() })
    }
}

/// A run, as it was asked for. Empty lists stand for the defaults.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RunRequest {
    pub backends: Vec<BackendChoice>,
    /// The backend that was chosen for a model, where none was asked for.
    #[serde(default)]
    pub chosen: BTreeMap<String, String>,
    /// Also on the web platforms, emulated or not.
    #[serde(default)]
    pub include_web_platforms: bool,
    pub models: Vec<String>,
    pub benchmarks: Vec<String>,
    pub batch_sizes: Vec<i64>,
    pub sequence_lengths: Vec<i64>,
    /// Other named dimensions.
    pub dims: BTreeMap<String, i64>,
    pub iterations: Option<u64>,
    pub warmup: Option<u64>,
    pub concurrent_workers: Option<u64>,
    pub threads: Option<u64>,
    pub options: Vec<OptionChoice>,
    pub precision: Option<String>,
    pub timeout_s: Option<f64>,
    pub memory_limit_mb: Option<u64>,
    pub budget_s: Option<f64>,
    pub no_verify: bool,
    pub verify_only: bool,
    pub seed: Option<u64>,
}

/// A request that names what is not there, or asks for what cannot be. The command line exits with 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct RequestError(pub String);
