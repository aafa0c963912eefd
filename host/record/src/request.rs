//! What a user asks for. It is kept with the run, so that a run can be resumed.

use crate::{Axes, Cell, subject};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// A backend, and a device within it: "openvino:GPU", "cuda:1".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

impl std::fmt::Display for BackendChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.plugin)?;
        self.device.iter().try_for_each(|device| write!(f, ":{device}"))
    }
}

/// Options in the form plugins get them.
pub type PluginOptions = BTreeMap<String, String>;

/// `KEY=VALUE` for every plugin that takes the key, or `PLUGIN:KEY=VALUE` for one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

    /// The options that one plugin was given, as `KEY=VALUE` or, as a run takes them, `PLUGIN:KEY=VALUE`.
    ///
    /// # Errors
    /// What was expected, or that one is for another plugin.
    pub fn all_of(plugin: &str, given: &[String]) -> Result<PluginOptions, String> {
        let mut own = PluginOptions::new();
        for text in given {
            let option = OptionChoice::parse(text)?;
            if let Some(other) = option.plugin.filter(|named| named != plugin) {
                return Err(format!("option {text} is for '{other}', and this is about '{plugin}' alone"));
            }
            own.insert(option.key, option.value);
        }
        Ok(own)
    }
}

/// A cell by what was asked for, wherever it stands in a plan.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct CellName {
    pub plugin: String,
    /// `None`: the backend's first usable one.
    #[serde(default)]
    pub device: Option<String>,
    pub model: String,
    pub benchmark: String,
    pub axes: Axes,
}

impl std::fmt::Display for CellName {
    /// "bert-tiny on rten:cpu, inference, batch=1 sequence=32"; of a function of no model "run_sort of examples".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let device = self.device.iter().map(|device| format!(":{device}")).collect::<String>();
        f.write_str(&subject(&self.model, &format!("{}{device}", self.plugin), &self.benchmark))?;
        match self.axes.is_empty() {
            true => Ok(()),
            false => write!(f, ", {}", self.axes),
        }
    }
}

impl CellName {
    /// The name of a cell of an earlier run, on the device that it ran on.
    pub fn of(cell: &Cell) -> CellName {
        CellName {
            plugin: cell.plugin.clone(),
            device: Some(cell.device.clone()).filter(|device| !device.is_empty()),
            model: cell.skill.clone(),
            benchmark: cell.benchmark.clone(),
            axes: cell.axes.clone(),
        }
    }
}

/// A run, as it was asked for. Empty lists stand for the defaults.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct RunRequest {
    pub backends: Vec<BackendChoice>,
    /// The backend that was chosen for a model, where none was asked for.
    #[serde(default)]
    pub chosen: BTreeMap<String, String>,
    /// Also on the web platforms, emulated or not.
    #[serde(default)]
    pub include_web_platforms: bool,
    pub models: Vec<String>,
    /// What the user's own models are called that would be called the same, by their paths; filled in by the plan.
    #[serde(default)]
    pub names: BTreeMap<String, String>,
    /// Models by what they are, beside those named.
    #[serde(default)]
    pub selection: Selection,
    pub benchmarks: Vec<String>,
    /// The benchmarks are plain functions; there are no backends.
    #[serde(default)]
    pub functions: bool,
    pub batch_sizes: Vec<i64>,
    pub sequence_lengths: Vec<i64>,
    /// Height and width.
    #[serde(default)]
    pub image_sizes: Vec<[i64; 2]>,
    #[serde(default)]
    pub audio_seconds: Vec<f64>,
    /// Of video, or of features.
    #[serde(default)]
    pub frames: Vec<i64>,
    #[serde(default)]
    pub prompt_lengths: Vec<i64>,
    #[serde(default)]
    pub new_tokens: Vec<i64>,
    /// Requests a second, of a benchmark that takes a rate.
    #[serde(default)]
    pub rates: Vec<f64>,
    /// Milliseconds for which requests wait for others to be served with, of a benchmark that puts them together.
    #[serde(default)]
    pub batch_wait_ms: Vec<f64>,
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
    /// No look at what a backend refuses before the first cell.
    #[serde(default)]
    pub no_precheck: bool,
    /// Nothing is changed about a model or a cell that fails as it was asked for.
    #[serde(default)]
    pub no_fix: bool,
    /// Every cell loads its own models.
    #[serde(default)]
    pub no_resource_pool: bool,
    /// Seconds of rest before each cell but the first.
    #[serde(default)]
    pub cool_down_s: Option<f64>,
    /// Fresh processes that share the measuring time of each cell; `None`: as many as by default.
    #[serde(default)]
    pub launches: Option<u64>,
    /// Seconds that a cell waits, at most, for other programs to leave the machine alone.
    #[serde(default)]
    pub wait_quiet_s: Option<f64>,
    /// Backends that share neither device nor cores run side by side.
    #[serde(default)]
    pub parallel: bool,
    /// Where each cell's time went.
    #[serde(default)]
    pub profile: bool,
    /// Also the operators, as the engine itself times them.
    #[serde(default)]
    pub profile_operators: bool,
    /// These cells and no others, in place of a grid; backends, models and benchmarks have to hold them. Empty: the grid.
    #[serde(default)]
    pub exactly: Vec<CellName>,
}

impl RunRequest {
    /// How long a cell may take: as asked for; else the default in seconds, or twice the time for which it is measured, whichever is longer.
    pub fn time_limit(&self, default_s: f64) -> Duration {
        let longest = self.budget_s.map_or(default_s, |budget| default_s.max(2.0 * budget));
        Duration::from_secs_f64(self.timeout_s.unwrap_or(longest))
    }
}

/// Models by what they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Selection {
    pub set: Option<ModelSet>,
    /// The small variant of each key class in place of the model itself.
    pub small: bool,
    /// Only these key classes.
    pub keys: Vec<String>,
    /// Only these families.
    pub families: Vec<String>,
    /// Only these categories.
    pub categories: Vec<String>,
    /// Files of a user's own models.
    pub custom: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ModelSet {
    /// The model of each key class.
    Key,
    /// The small variant of each key class.
    Small,
    /// The user's own list.
    Custom,
    All,
}

impl ModelSet {
    pub const ALL: [ModelSet; 4] = [ModelSet::Key, ModelSet::Small, ModelSet::Custom, ModelSet::All];

    pub fn name(self) -> &'static str {
        match self {
            ModelSet::Key => "key",
            ModelSet::Small => "small",
            ModelSet::Custom => "custom",
            ModelSet::All => "all",
        }
    }

    pub fn parse(name: &str) -> Option<ModelSet> {
        ModelSet::ALL.into_iter().find(|set| set.name() == name)
    }
}

impl RunRequest {
    /// Whether the models are left to the defaults.
    pub fn asks_for_no_model(&self) -> bool {
        self.models.is_empty() && self.selection == Selection::default()
    }
}

impl Selection {
    /// The set whose members are taken; a filter alone filters a set of its own.
    pub fn base(&self) -> Option<ModelSet> {
        match self.set {
            Some(ModelSet::Key) if self.small => Some(ModelSet::Small),
            Some(set) => Some(set),
            None if !self.categories.is_empty() => Some(ModelSet::All),
            None if self.small => Some(ModelSet::Small),
            None if !self.families.is_empty() || !self.keys.is_empty() => Some(ModelSet::Key),
            None if self.custom.is_some() => Some(ModelSet::Custom),
            None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_budget_has_time_for_itself_unless_a_limit_was_given() {
        let limit = |budget_s, timeout_s| RunRequest { budget_s, timeout_s, ..RunRequest::default() }.time_limit(600.0);

        assert_eq!(limit(None, None), Duration::from_secs(600));
        assert_eq!(limit(Some(60.0), None), Duration::from_secs(600));
        assert_eq!(limit(Some(1600.0), None), Duration::from_secs(3200));
        assert_eq!(limit(Some(1600.0), Some(5.0)), Duration::from_secs(5));
    }
}
