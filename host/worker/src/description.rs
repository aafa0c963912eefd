//! What a plugin says of itself: data that a worker reads from it.

use crate::loader::Entry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a plugin may offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PluginKind {
    Backend,
    Skillset,
    Benchmark,
}

impl PluginKind {
    pub const NAMES: [&'static str; 3] = ["backend", "skillset", "benchmark"];

    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    pub fn from_name(name: &str) -> Option<PluginKind> {
        [PluginKind::Backend, PluginKind::Skillset, PluginKind::Benchmark].into_iter().find(|kind| kind.name() == name)
    }
}

/// A plugin's descriptor: data, read by a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Description {
    pub id: String,
    pub name: String,
    pub version: String,
    pub vendor: String,
    pub license: String,
    pub url: String,
    pub entry: Entry,
    /// Major and minor of the contract that it was built with.
    pub contract: (u32, u32),
    pub backend: Option<BackendDescription>,
    pub skillset: Option<SkillsetDescription>,
    pub benchmarks: Vec<BenchmarkDescription>,
}

impl Description {
    /// "backend", "skillset", "benchmark": what the plugin offers.
    pub fn kinds(&self) -> Vec<&'static str> {
        let offers = [self.backend.is_some(), self.skillset.is_some(), !self.benchmarks.is_empty()];
        PluginKind::NAMES.into_iter().zip(offers).filter(|(_, offered)| *offered).map(|(name, _)| name).collect()
    }
}

/// What a benchmark that needs no target may be of.
pub const CATEGORIES: [&str; 3] = ["unit", "integration", "performance"];

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BackendDescription {
    pub id: String,
    pub options_schema: String,
    /// The slots it has of those that it may leave out.
    pub slots: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SkillsetDescription {
    pub id: String,
    pub summary: String,
    /// Each skill's description, as JSON text.
    pub skills: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BenchmarkDescription {
    pub id: String,
    pub version: String,
    pub category: String,
    pub summary: String,
    pub options_schema: String,
    pub needs_target: bool,
    pub cold_start: bool,
    #[serde(default)]
    pub shares_models: bool,
    /// The one skill it measures; `None`: any.
    #[serde(default)]
    pub skill: Option<String>,
}
